"""scripts/swarm hostile: what hostile peers cost a simulated swarm, beside the same swarm without them.

Each race of hostile peers has one beside it in which these stay away: same seed, same honest peers.
"""

import concurrent.futures
import fnmatch
import json
import pathlib
import statistics

from running.building import machine, program
from swarm_lab import sim
from swarm_lab.sim import LAB

SETTINGS = {"8": "seed_mbit=8", "16": "seed_mbit=16", "mixed": "seed_mbit=8 up=2,4,8,18"}
# Deeds of each hostile peer: tests/hostile/deeds.h.
DEEDS = ("noise", "byte", "sparse:10", "sparse:50", "turns:5", "noise+colluding", "low-rank:1", "low-rank:4",
         "replay", "rank-liar+silent", "silent", "half", "reports+silent", "false-sums",
         "noise+fresh:10", "silent+fresh:10")
TARGETS = {"one": 1.03, "third": 1.10, "half": 1.25, "allied": 1.15, "hundred": 1.10, "thousand": 1.10,
           "thousand-allied": 1.15}
LARGE = ("byte", "noise+colluding", "noise+fresh:10")


def cells():
    """(group, setting, what the hostile peers are, options) of all races with hostile peers."""
    found = []
    for group, count in (("one", 1), ("third", 4), ("half", 6)):
        for setting, options in SETTINGS.items():
            found += [(group, setting, f"{count}*{deeds}", f"peers=12 {options}") for deeds in DEEDS]
    for setting, options in SETTINGS.items():
        found.append(("allied", setting, "4*noise+colluding,2*low-rank:4+colluding",
                      f"peers=12 {options}"))
        # The content has no authority; its authority is away; the source (which is the authority)
        # leaves once honest peers hold a copy.
        found += [("no authority", setting, f"{count}*byte", f"peers=12 {options} authority=0")
                  for count in (1, 4)]
        found.append(("authority away", setting, "4*byte", f"peers=12 {options} authority=-1"))
        found.append(("source leaves", setting, "4*byte",
                      f"peers=12 {options} honest_copies=1.05 tracker_dies_s=5"))
    found += [("hundred", "8", f"30*{deeds}", "peers=100 seed_mbit=8") for deeds in LARGE]
    found += [("thousand", "8", f"300*{deeds}", "peers=1000 seed_mbit=8") for deeds in LARGE]
    found.append(("thousand-allied", "8", "300*noise+colluding,200*low-rank:4+colluding",
                  "peers=1000 seed_mbit=8"))
    return found


def options(command):
    command.add_argument("--groups", action="append", metavar="PATTERN", default=[],
                         help="repeatable; * for any letters (default: all but the thousands): "
                              + ", ".join(dict.fromkeys(cell[0] for cell in cells())))
    command.add_argument("--seeds", type=int, default=5, help="runs of each, seeds 1, 2, ...")
    command.add_argument("--mib", type=int, default=32, help="size of the content")
    command.add_argument("--jobs", type=int, default=1, help="runs at a time")
    command.add_argument("--out", metavar="FILE", help="the figures, as JSON")


def hostile(chosen):
    program(LAB)
    found = [cell for cell in cells() if _chosen(cell[0], chosen.groups)]
    jobs = {}  # (options, seed) -> record; races without hostile peers are the same for many cells
    for _, _, deeds, given in found:
        for seed in range(1, chosen.seeds + 1):
            for words in _words(given, deeds, chosen.mib):
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


def _words(given, deeds, mib):
    """Options of the race with hostile peers, and without. The latter does not depend on what they
    would have done, only on how many they are."""
    count = sum(int(part.split("*")[0]) for part in deeds.split(","))
    base = f"{given} mib={mib} limit=8"
    return f"{base} hostile={deeds}", f"{base} hostile={count}*silent without_hostile=1"


def _row(cell, jobs, chosen):
    group, setting, deeds, given = cell
    race, calm = _words(given, deeds, chosen.mib)
    seeds = range(1, chosen.seeds + 1)
    races = [jobs[race, seed] for seed in seeds]
    # A race that is not over at its limit counts as one without end.
    times = [r["result"]["last_seconds"] / jobs[calm, seed]["result"]["last_seconds"]
             if r["done"] else float("inf") for seed, r in zip(seeds, races)]
    done = [one for one in times if one != float("inf")]
    return {"group": group, "source": setting, "hostile": deeds, "done": len(done),
            "times": round(statistics.median(times), 4) if len(done) * 2 > len(times) else None,
            "worst": round(max(times), 4) if len(done) == len(times) else None,
            "ratio": round(statistics.median(r["result"]["ratio"] for r in races), 4),
            "honest_banned": int(sum(r["result"]["honest_banned"] for r in races)),
            "false_passed_on": int(sum(r["result"]["false_passed_on"] for r in races)),
            "cpu_seconds": round(sum(r["cost"]["cpu_seconds"] for r in races), 1)}


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
        lines += ["", "| over its target | source | hostile | median | worst |", "|" + "---|" * 5]
        lines += [f"| {row['group']} ({TARGETS[row['group']]:g}) | {row['source']} | `{row['hostile']}` | "
                  f"{row['times'] or 'never'} | {row['worst'] or 'never'} |" for row in missed]
    return "\n".join(lines)
