"""scripts/swarm worth: two programs side by side, in honest races and in ones with hostile peers.

The programs are builds of tests/sim/lab/swarm_lab from before and after a change. For each cell of cells.py the
table has the seconds that the last honest peer took, as the mean of the seeds, and how much longer or shorter
that is after the change.
"""

import concurrent.futures
import fnmatch
import json
import os
import pathlib
import statistics
import subprocess
import sys

from running.building import Failed, machine
from swarm_lab import cells

WORST = 5


def options(command):
    command.add_argument("before", type=pathlib.Path, help="a swarm_lab program")
    command.add_argument("after", type=pathlib.Path, help="another")
    command.add_argument("--cells", action="append", metavar="PATTERN", default=[],
                         help="repeatable; group/setting/hostile, * for any letters (default: all but thousands)")
    command.add_argument("--first-seed", type=int, default=1)
    command.add_argument("--seeds", type=int, default=3, help="runs of each")
    command.add_argument("--jobs", type=int, default=1, help="runs at a time")
    command.add_argument("--out", metavar="FILE", help="the figures, as JSON")


def worth(chosen):
    before, after = programs = [_program(path) for path in (chosen.before, chosen.after)]
    found = _chosen(chosen.cells)
    if not found:
        raise Failed(f"no cell is called {' or '.join(chosen.cells)}")
    seeds = range(chosen.first_seed, chosen.first_seed + chosen.seeds)
    jobs = [(program, cell, seed) for cell in sorted(found, key=_size, reverse=True)
            for seed in seeds for program in programs]
    with concurrent.futures.ThreadPoolExecutor(chosen.jobs) as pool:
        done = dict(zip(jobs, pool.map(lambda job: _run(*job), jobs)))
    # A program of another version may not have an option of the cell.
    known = [cell for cell in found if all(done[program, cell, seed] for program in programs for seed in seeds)]
    for cell in found:
        if cell not in known:
            print(f"scripts/swarm: {cell.name} is left out: a program does not know its options", file=sys.stderr)
    rows = [_row(cell, *([done[program, cell, seed] for seed in seeds] for program in programs)) for cell in known]
    if chosen.out:
        path = pathlib.Path(chosen.out)
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
        head = json.dumps({"machine": machine(), "before": str(before), "after": str(after), "seeds": list(seeds)})
        path.write_text(f'{head[:-1]}, "worth":[\n{lines}\n]}}\n', encoding="utf-8")
    print(table(rows))
    return 0 if all(row["after"]["done"] == row["runs"] and row["after"]["banned"] == 0 for row in rows) else 1


def _program(path):
    path = path.absolute()  # a name without a folder would be looked for in PATH
    if not path.is_file() or not os.access(path, os.X_OK):
        raise Failed(f"{path} is not a program")
    return path


def _chosen(patterns):
    found = {cell.name: cell for cell in cells.honest() + cells.hostile()}
    if not patterns:
        return [cell for name, cell in found.items() if not name.startswith("thousand")]
    # Names have a * in them: one that is given in full stands for its cell alone.
    return [cell for name, cell in found.items()
            if any(name == pattern if pattern in found else fnmatch.fnmatchcase(name, pattern)
                   for pattern in patterns)]


def _size(cell):
    """About how long its run takes: the longest first, so that the last does not begin when all others are done."""
    return int(cell.options.split("peers=")[1].split()[0]) * (9 if "mib=256" in cell.options else 1)


def _run(program, cell, seed):
    done = subprocess.run([program, f"seed={seed}", *cells.runs(cell).split()], capture_output=True, text=True,
                          check=False)
    if "unknown key" in done.stderr:
        return None
    if done.returncode not in (0, 1) or not done.stdout:
        raise Failed(f"{program} {cells.runs(cell)} seed={seed}: {done.stderr.strip()}")
    record = json.loads(done.stdout)
    return {"done": record["done"], **record["result"], "cpu": record["cost"]["cpu_seconds"]}


def _side(races):
    finished = [race["last_seconds"] for race in races if race["done"]]
    return {"done": len(finished), "seconds": [round(one, 3) for one in finished],
            "banned": int(sum(race["honest_banned"] for race in races)),
            "cpu": round(sum(race["cpu"] for race in races), 1)}


def _row(cell, races_before, races_after):
    before, after = _side(races_before), _side(races_after)
    everybody = before["done"] == after["done"] == len(races_before)
    change = statistics.mean(after["seconds"]) / statistics.mean(before["seconds"]) - 1 if everybody else None
    return {"cell": cell.name, "limit": cell.limit, "runs": len(races_before), "before": before, "after": after,
            "change": None if change is None else round(change, 4)}


def _seconds(side, runs):
    if side["done"] < runs:
        return f"never, {runs - side['done']} of {runs}"
    return f"{statistics.mean(side['seconds']):.2f}"


def _over(row):
    """The change costs more than the limit. That is so too if more of the races never finish."""
    if row["change"] is None:
        return row["after"]["done"] < row["before"]["done"]
    return row["change"] > cells.LIMITS[row["limit"]]


def table(rows):
    """Markdown: the cells, then each kind's mean and its worst cells."""
    lines = ["| cell | before, s | after, s | change | at most | honest banned |", "|" + "---|" * 6]
    for row in rows:
        change = "-" if row["change"] is None else f"{100 * row['change']:+.1f} %"
        before, after = row["before"], row["after"]
        lines.append(f"| `{row['cell']}` | {_seconds(before, row['runs'])} | {_seconds(after, row['runs'])} | "
                     f"{change}{' (over)' if _over(row) else ''} | {100 * cells.LIMITS[row['limit']]:.0f} % | "
                     f"{before['banned']}, {after['banned']} |")
    lines += ["", "| kind | cells | mean | over their limit | not done before, after | worst |", "|" + "---|" * 6]
    for kind in cells.LIMITS:
        if of := [row for row in rows if row["limit"] == kind]:
            lines.append(_kind(kind, of))
    return "\n".join(lines)


def _kind(kind, rows):
    known = sorted((row for row in rows if row["change"] is not None), key=lambda row: -row["change"])
    mean = f"{100 * statistics.mean(row['change'] for row in known):+.2f} %" if known else "-"
    missing = [sum(row[side]["done"] < row["runs"] for row in rows) for side in ("before", "after")]
    worst = ", ".join(f"`{row['cell']}` {100 * row['change']:+.1f}" for row in known[:WORST])
    return (f"| {kind} ({100 * cells.LIMITS[kind]:.0f} %) | {len(rows)} | {mean} | {sum(map(_over, rows))} | "
            f"{missing[0]}, {missing[1]} | {worst or '-'} |")
