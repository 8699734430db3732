"""scripts/swarm hostile: what hostile peers cost a simulated swarm, beside the same swarm without them.

Each race of hostile peers has one beside it in which these stay away: same seed, same honest peers.
"""

import concurrent.futures
import fnmatch
import json
import math
import pathlib
import statistics

from running.building import machine, program
from swarm_lab import cells, sim
from swarm_lab.sim import LAB

TARGETS = {"one": 1.03, "third": 1.10, "half": 1.25, "allied": 1.15, "hundred": 1.10, "thousand": 1.10,
           "thousand-allied": 1.15}


def options(command):
    command.add_argument("--groups", action="append", metavar="PATTERN", default=[],
                         help="repeatable; * for any letters (default: all but the thousands): "
                              + ", ".join(dict.fromkeys(cell.group for cell in cells.hostile())))
    command.add_argument("--seeds", type=int, default=5, help="runs of each, seeds 1, 2, ...")
    command.add_argument("--mib", type=int, default=32, help="size of the content")
    command.add_argument("--jobs", type=int, default=1, help="runs at a time")
    command.add_argument("--out", metavar="FILE", help="the figures, as JSON")


def hostile(chosen):
    program(LAB)
    found = [cell for cell in cells.hostile() if _chosen(cell.group, chosen.groups)]
    jobs = {}  # (options, seed) -> record; races without hostile peers are the same for many cells
    for cell in found:
        for seed in range(1, chosen.seeds + 1):
            for words in (cells.runs(cell, chosen.mib), cells.without_hostile(cell, chosen.mib)):
                jobs.setdefault((words, seed))
    # The longest first, so that the last does not begin when all others are done.
    order = sorted(jobs, key=lambda job: -int(job[0].split("peers=")[1].split()[0]))
    with concurrent.futures.ThreadPoolExecutor(chosen.jobs) as pool:
        for job, record in zip(order, pool.map(lambda job: sim.run_lab(*job), order)):
            jobs[job] = record
    rows = [_row(cell, jobs, chosen) for cell in found]
    result = {"machine": machine(), **sim.made(), "program": f"swarm_lab mib={chosen.mib}",
              "seeds": chosen.seeds, "hostile": rows}
    if chosen.out:
        path = pathlib.Path(chosen.out)
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in result.pop("hostile"))
        path.write_text(f'{json.dumps(result)[:-1]}, "hostile":[\n{lines}\n]}}\n', encoding="utf-8")
    print(table(rows))
    return 0 if all(row["done"] == chosen.seeds for row in rows) else 1


def _chosen(group, patterns):
    if not patterns:
        return not group.startswith("thousand")
    return any(fnmatch.fnmatchcase(group, pattern) for pattern in patterns)


def _row(cell, jobs, chosen):
    race, calm = cells.runs(cell, chosen.mib), cells.without_hostile(cell, chosen.mib)
    seeds = range(1, chosen.seeds + 1)
    races = [jobs[race, seed] for seed in seeds]
    # A race that is not over at its limit counts as one without end.
    times = [r["result"]["last_seconds"] / jobs[calm, seed]["result"]["last_seconds"]
             if r["done"] else float("inf") for seed, r in zip(seeds, races)]
    done = [one for one in times if one != float("inf")]
    return {"group": cell.group, "source": cell.setting, "hostile": cell.hostile, "done": len(done),
            "seconds": _median(races), "calm_seconds": _median([jobs[calm, seed] for seed in seeds]),
            "times": round(statistics.median(times), 4) if len(done) * 2 > len(times) else None,
            "worst": round(max(times), 4) if len(done) == len(times) else None,
            "ratio": round(statistics.median(r["result"]["ratio"] for r in races), 4),
            "honest_banned": int(sum(r["result"]["honest_banned"] for r in races)),
            "false_passed_on": int(sum(r["result"]["false_passed_on"] for r in races)),
            "cpu_seconds": round(sum(r["cost"]["cpu_seconds"] for r in races), 1)}


def _median(races):
    """Seconds of the last honest peer; None if most races are not over at their limit."""
    seconds = statistics.median(race["result"]["last_seconds"] if race["done"] else math.inf for race in races)
    return None if seconds == math.inf else round(seconds, 2)


def _seconds(row, key):
    return (row[key] or "never") if key in row else "-"  # older records have no seconds


def table(rows):
    """Markdown: a line for each group, then those cells that miss their group's target."""
    lines = ["| hostile | races | target | met | median | worst | honest banned |", "|" + "---|" * 7]
    missed = []
    for group in dict.fromkeys(row["group"] for row in rows):
        of = [row for row in rows if row["group"] == group]
        target = TARGETS.get(group)
        medians = [row["times"] or float("inf") for row in of]
        worst = max(row["worst"] or float("inf") for row in of)
        met = sum(one <= target + 1e-9 for one in medians) if target else None
        lines.append(f"| {group} | {len(of)} | {target or 'all finish'} | "
                     f"{met if target else sum(row['worst'] is not None for row in of)} of {len(of)} | "
                     f"{min(medians):.3f} to {max(medians):.3f} | {worst:.3f} | "
                     f"{sum(row['honest_banned'] for row in of)} |")
        missed += [row for row in of if target and (row["times"] or 99) > target + 1e-9]
    if missed:
        lines += ["", "| over its target | source | hostile | median | worst | seconds | without hostile |",
                  "|" + "---|" * 7]
        lines += [f"| {row['group']} ({TARGETS[row['group']]:g}) | {row['source']} | `{row['hostile']}` | "
                  f"{row['times'] or 'never'} | {row['worst'] or 'never'} | {_seconds(row, 'seconds')} | "
                  f"{_seconds(row, 'calm_seconds')} |" for row in missed]
    return "\n".join(lines)
