"""scripts/swarm sweep: curves over the size of a swarm, its neighbourhoods, n, and how soon the
source leaves; of the production core and of rivals that do not recode (tests/sim/lab/rivals), on
the same simulated links.

Rivals appear twice. "x" asks by requests that take their way: with 2 and with 3 open at each
neighbour, the better at each point. "x, omniscient" chooses each block the moment an uplink is free
for it, knowing what all its neighbours have at that moment: no protocol can, and what such a rival needs
to know costs it no byte.
"""

import fcntl
import json
import os
import pathlib
import statistics
import sys

from swarm_lab import sim

RIVAL_NAMES = ("rarest-first", "super-seeding", "source-only")
PIPELINES = (2, 3)
STRATEGIES = ("firn", *RIVAL_NAMES, *(f"{name}, omniscient" for name in RIVAL_NAMES))

# A sweep: the option that varies, its values, and what stays.
SWEEPS = {
    "peers": ("peers", [12, 24, 50, 100, 300, 1000, 3000, 10000], ""),
    "neighbours": ("neighbours", [4, 6, 8, 12, 16, 24, 36, 50], "peers=100"),
    "n": ("n", [16, 32, 64, 128, 256], "peers=100"),
    "copies": ("source_copies", [1.0, 1.02, 1.05, 1.1, 1.25, 1.5], "seed_mbit=16 limit=4"),
}
AXIS = {"peers": "downloaders", "neighbours": "neighbours wanted", "n": "blocks in a generation",
        "source_copies": "copies after which the source left"}


def programs_for(strategy):
    """[(program, options)]: the variants of which the best counts."""
    name, _, ideal = strategy.partition(", ")
    if name == "firn":
        return [(sim.LAB, "")]
    return [(sim.RIVALS, f"strategy={name} pipeline={pipeline}")
            for pipeline in ((0,) if ideal else PIPELINES)]


def options(command):
    command.add_argument("sweep", choices=SWEEPS)
    command.add_argument("--strategy", action="append", choices=STRATEGIES,
                         help="repeatable (default: all)")
    command.add_argument("--values", help="instead of the sweep's own, separated by commas")
    command.add_argument("--most", type=float, default=float("inf"),
                         help="leave out values above this")
    command.add_argument("--seeds", type=int, default=3, help="runs of each, seeds 1, 2, ...")
    command.add_argument("--one-seed-from", type=float, default=float("inf"), metavar="VALUE",
                         help="a single run of values from here on")
    command.add_argument("--jobs", type=int, default=1)
    command.add_argument("--missing", action="store_true",
                         help="leave out points that the file holds, by any program that made them")
    command.add_argument("--out", metavar="FILE", required=True,
                         help="JSON; what it holds of other strategies and values is kept")
    command.add_argument("--plot", metavar="FILE", help="SVG or PNG (needs matplotlib)")
    command.add_argument("option", nargs="*", help="KEY=VALUE options of the lab, for all runs")


def sweep(chosen):
    key, values, fixed = SWEEPS[chosen.sweep]
    if chosen.values:
        values = [float(value) for value in chosen.values.split(",")]
    fixed = " ".join([fixed, *chosen.option]).strip()
    points = load(chosen.out, key, fixed)
    for name in (sim.LAB, sim.RIVALS):
        sim.program(name)
    print(sim.HEAD)
    for strategy in chosen.strategy or STRATEGIES:
        for value in values:
            if value > chosen.most:
                continue
            if chosen.missing and any((p["strategy"], p[key]) == (strategy, value) for p in points):
                continue
            seeds = 1 if value >= chosen.one_seed_from else chosen.seeds
            point = measure(strategy, key, value, fixed, seeds, chosen.jobs)
            print(sim.line_of(f"{strategy} {value:g}"[:34], point["runs"]), flush=True)
            points = store(chosen.out, key, fixed, point)
    if chosen.plot:
        plot(key, fixed, points, chosen.plot)
    return 0


def measure(strategy, key, value, fixed, seeds, jobs):
    """A point of a curve: the variant with the best mean, and how many of its runs completed."""
    best = None
    for program, own in programs_for(strategy):
        runs = sim.run_all([(f"{fixed} {own} {key}={value:g}", seed, program)
                            for seed in range(1, seeds + 1)], jobs)
        # All options stand in the record of the sweep and of the point.
        point = {"strategy": strategy, key: value, "variant": own,
                 "date": runs[-1]["date"], "commit": runs[-1]["commit"],
                 "runs": [{"seed": seed, **{k: sim.small(run)[k] for k in ("done", "result", "cost")}}
                          for seed, run in enumerate(runs, 1)]}
        if best is None or goodness(point) < goodness(best):
            best = point
    return best


def goodness(point):
    """Lower is better: runs that did not complete, then the mean ratio."""
    runs = point["runs"]
    return (sum(not run["done"] for run in runs),
            statistics.mean(run["result"]["ratio"] for run in runs))


def load(path, key, fixed):
    path = pathlib.Path(path)
    if not path.exists():
        return []
    found = json.loads(path.read_text(encoding="utf-8"))
    if (found["sweep"], found["options"]) != (key, fixed):
        sys.exit(f"scripts/swarm: {path} holds another sweep ({found['sweep']}, "
                 f"{found['options'] or 'no options'})")
    return found["points"]


def store(path, key, fixed, point):
    """Puts a point into the file, in place of the one of its strategy and value; returns all.

    Sweeps of several strategies may run at a time: the file is read again, its folder locked.
    """
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    order = {name: place for place, name in enumerate(STRATEGIES)}
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        place = (point["strategy"], point[key])
        points = [p for p in load(path, key, fixed) if (p["strategy"], p[key]) != place]
        points = sorted([*points, point], key=lambda p: (order[p["strategy"]], p[key]))
        head = {"machine": sim.machine(), "sweep": key, "options": fixed}
        lines = ",\n".join(json.dumps(p, separators=(",", ":")) for p in points)
        text = json.dumps(head)[:-1] + f', "points": [\n{lines}\n]}}\n'
        path.write_text(text, encoding="utf-8")
    finally:
        os.close(folder)
    return points


def plot(key, fixed, points, path):
    import matplotlib
    matplotlib.use("Agg")
    # The same points, the same small file.
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "firn"})
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(figsize=(7, 4.5))
    for strategy in STRATEGIES:
        done = sorted((p[key], statistics.mean(r["result"]["ratio"] for r in p["runs"]))
                      for p in points
                      if p["strategy"] == strategy and all(r["done"] for r in p["runs"]))
        if not done:
            continue
        name, _, ideal = strategy.partition(", ")
        axes.plot(*zip(*done), marker="o", markersize=4, label=strategy,
                  color=f"C{(('firn', *RIVAL_NAMES)).index(name)}", linestyle=":" if ideal else "-")
    if key in ("peers", "neighbours", "n"):
        axes.set_xscale("log")
        ticks = sorted({p[key] for p in points})
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()
    axes.set_xlabel(AXIS[key])
    axes.set_ylabel("last finisher / fluid bound")
    axes.set_title(fixed, fontsize="small")
    axes.grid(True, alpha=0.3)
    axes.legend(fontsize="small")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None} if str(path).endswith(".svg") else None)
    pyplot.close(figure)
