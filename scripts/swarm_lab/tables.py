"""scripts/swarm table: Markdown tables of what `sweep`, `sim`, `hostile` and `worth --out` wrote, as docs has
them."""

import json
import pathlib
import statistics

from swarm_lab import hostile, scenario, sweep, worth


def options(command):
    command.add_argument("path", nargs="+", help="files of `sweep`, `sim`, `hostile` or `worth`")


def table(chosen):
    for place, path in enumerate(chosen.path):
        if place:
            print()
        print(of_file(path))
    return 0


def of_file(path):
    found = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    if "hostile" in found:
        return hostile.table(found["hostile"])
    if "worth" in found:
        return worth.table(found["worth"])
    return of_sweep(found) if "sweep" in found else of_sim(found["runs"])


def row(cells):
    return "| " + " | ".join(cells) + " |"


def of_sweep(found):
    """Means of the ratio, a line for each strategy; a dash where the run was not made."""
    key = found["sweep"]
    values = sorted({p[key] for p in found["points"]})
    lines = [row([sweep.AXIS[key], *(f"{value:g}" for value in values)]),
             "|" + "---|" * (len(values) + 1)]
    for strategy in sweep.STRATEGIES:
        points = {p[key]: p["runs"] for p in found["points"] if p["strategy"] == strategy}
        if points:
            lines.append(row([strategy, *(cell(points.get(value)) for value in values)]))
    return "\n".join(lines)


def cell(runs):
    if not runs:
        return "-"
    done = [run["result"]["ratio"] for run in runs if run["done"]]
    if not done:
        return "never"
    never = len(runs) - len(done)
    return f"{statistics.mean(done):.3f}" + (f" ({never} of {len(runs)} never)" if never else "")


def of_sim(by_name):
    lines = [row(["scenario", "", "ratio", "worst", "redundant", "source's copies"]),
             "|" + "---|" * 6]
    for name, runs in by_name.items():
        def mean(key, of=runs):
            return statistics.mean(run["result"][key] for run in of)
        lines.append(row([
            f"`{name}`", scenario.load(name).title if name in scenario.names() else "", cell(runs),
            f"{max(run['result']['ratio'] for run in runs):.3f}",
            f"{100 * mean('redundant_share'):.2f} %", f"{mean('seed_copies'):.3f}"]))
    return "\n".join(lines)
