"""scripts/swarm worth: two programs side by side, in honest races and in ones with hostile peers.

The programs are builds of tests/sim/lab/swarm_lab from before and after a change. For each cell of cells.py the
table has the seconds that the last honest peer took, as the mean of the seeds, and how much longer or shorter
that is after the change.
"""

import concurrent.futures
import fnmatch
import json
import pathlib
import statistics
import subprocess

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
    found = [cell for cell in cells.honest() + cells.hostile() if _chosen(cell.name, chosen.cells)]
    seeds = range(chosen.first_seed, chosen.first_seed + chosen.seeds)
    jobs = [(program, cell, seed) for cell in sorted(found, key=_size, reverse=True)
            for seed in seeds for program in (chosen.before, chosen.after)]
    with concurrent.futures.ThreadPoolExecutor(chosen.jobs) as pool:
        done = dict(zip(jobs, pool.map(lambda job: _run(*job), jobs)))
    rows = [_row(cell, [[done[program, cell, seed] for seed in seeds] for program in (chosen.before, chosen.after)])
            for cell in found]
    if chosen.out:
        lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
        head = json.dumps({"machine": machine(), "seeds": list(seeds)})
        pathlib.Path(chosen.out).write_text(f'{head[:-1]}, "worth":[\n{lines}\n]}}\n', encoding="utf-8")
    print(table(rows))
    return 0 if all(row["after"]["done"] == len(seeds) for row in rows) else 1


def _chosen(name, patterns):
    if not patterns:
        return not name.startswith("thousand")
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def _size(cell):
    return int(cell.options.split("peers=")[1].split()[0]) * (9 if "mib=256" in cell.options else 1)


def _run(program, cell, seed):
    done = subprocess.run([program, f"seed={seed}", *cells.runs(cell).split()], capture_output=True, text=True,
                          check=False)
    if done.returncode not in (0, 1) or not done.stdout:
        raise Failed(f"{program} {cells.runs(cell)} seed={seed}: {done.stderr.strip()}")
    record = json.loads(done.stdout)
    return {"done": record["done"], **record["result"], "cpu": record["cost"]["cpu_seconds"]}


def _side(races):
    finished = [race["last_seconds"] for race in races if race["done"]]
    return {"done": len(finished), "seconds": [round(one, 3) for one in finished],
            "banned": int(sum(race["honest_banned"] for race in races)),
            "cpu": round(sum(race["cpu"] for race in races), 1)}


def _row(cell, sides):
    before, after = (_side(races) for races in sides)
    everybody = before["done"] == after["done"] == len(sides[0])
    change = statistics.mean(after["seconds"]) / statistics.mean(before["seconds"]) - 1 if everybody else None
    return {"cell": cell.name, "limit": cell.limit, "before": before, "after": after,
            "change": None if change is None else round(change, 4)}


def _seconds(side, runs):
    if side["done"] < runs:
        return f"never, {runs - side['done']} of {runs}"
    return f"{statistics.mean(side['seconds']):.2f}"


def table(rows):
    """Markdown: the cells, then each kind's mean and its worst cells."""
    lines = ["| cell | before, s | after, s | change | at most | honest banned |", "|" + "---|" * 6]
    for row in rows:
        runs = max(row["before"]["done"], row["after"]["done"])
        limit = cells.LIMITS[row["limit"]]
        change = row["change"]
        text = "-" if change is None else f"{100 * change:+.1f} %" + (" (over)" if change > limit else "")
        lines.append(f"| {row['cell']} | {_seconds(row['before'], runs)} | {_seconds(row['after'], runs)} | {text} | "
                     f"{100 * limit:.0f} % | {row['before']['banned']}, {row['after']['banned']} |")
    lines += ["", "| kind | cells | mean | over their limit | not done before, after | worst |", "|" + "---|" * 6]
    for kind, limit in cells.LIMITS.items():
        of = [row for row in rows if row["limit"] == kind]
        known = sorted((row for row in of if row["change"] is not None), key=lambda row: -row["change"])
        if not known:
            continue
        most = max(max(row[side]["done"] for side in ("before", "after")) for row in of)
        missing = [sum(row[side]["done"] < most for row in of) for side in ("before", "after")]
        worst = ", ".join(f"{row['cell']} {100 * row['change']:+.1f}" for row in known[:WORST])
        lines.append(f"| {kind} ({100 * limit:.0f} %) | {len(of)} | "
                     f"{100 * statistics.mean(row['change'] for row in known):+.2f} % | "
                     f"{sum(row['change'] > limit for row in known)} | {missing[0]}, {missing[1]} | {worst} |")
    return "\n".join(lines)
