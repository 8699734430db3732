"""scripts/swarm compare: stored races of real processes beside the same scenarios in simulation."""

import statistics
import sys

from swarm_lab import lab_words, report, sim


def options(command):
    command.add_argument("path", nargs="+", help="records of races, or folders of them")
    command.add_argument("--client", default="firn", help="whose races (default: firn)")


def compare(chosen):
    records = [r for r in report.load(chosen.path)
               if r["client"] == chosen.client and not r.get("placement")]
    if not records:
        print(f"scripts/swarm: no races of {chosen.client} there", file=sys.stderr)
        return 2
    sim.program(sim.LAB)
    print("| scenario | races | real s | simulated s | difference |\n|---|---|---|---|---|")
    for name, by_client in report.grouped(records).items():
        runs = [r for r in by_client[chosen.client] if r["complete"]]
        if not runs:
            continue
        try:
            words = lab_words.words(runs[0]["scenario"])
        except lab_words.NotSimulated as reason:
            print(f"| `{name}` | {len(runs)} | - | not simulated: {reason} | - |")
            continue
        real = statistics.median(r["last_s"] for r in runs)
        lab = sim.run_all([(words, seed) for seed in range(1, lab_words.ASSUMED["seeds"] + 1)], 1)
        if not all(run["done"] for run in lab):
            print(f"| `{name}` | {len(runs)} | {real:.2f} | did not complete | - |")
            continue
        simulated = lab_words.ASSUMED["start_seconds"] + statistics.mean(
            run["result"]["last_seconds"] for run in lab)
        print(f"| `{name}` | {len(runs)} | {real:.2f} | {simulated:.2f} | "
              f"{100 * (simulated / real - 1):+.1f} % |", flush=True)
    return 0
