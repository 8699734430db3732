"""scripts/swarm summarise: what `run` wrote, without what no table or plot needs. The records of a
race fill 60 KB each; their summaries are what docs/results keeps."""

import json
import pathlib

from swarm_lab import figures, report


def options(command):
    command.add_argument("path", nargs="+", help="records of races, summaries, or folders of them")
    command.add_argument("--out", metavar="DIR", required=True,
                         help="a file for each scenario; what it holds is replaced")


def summarise(chosen):
    for name, by_client in report.grouped(report.records(chosen.path)).items():
        scenario, runs = None, []
        for found in by_client.values():
            for number, record in enumerate(found):
                short = figures.summary(record)
                scenario = short["scenario"]
                # Plots have the curves of one run of each client.
                left_out = {"scenario", "rank", "buffers"} if number > 0 else {"scenario"}
                runs.append({key: value for key, value in short.items() if key not in left_out})
        path = pathlib.Path(chosen.out) / f"{name}.json"
        write(path, scenario, sorted(runs, key=lambda run: run["date"]))
        print(f"{path}: {len(runs)} runs, {path.stat().st_size} bytes")
    return 0


def write(path, scenario, runs):
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join(json.dumps(run, separators=(",", ":")) for run in runs)
    path.write_text(f'{{"scenario":{json.dumps(scenario)},"runs":[\n{lines}\n]}}\n',
                    encoding="utf-8")
