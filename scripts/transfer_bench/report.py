"""The tables of scripts/bench-transfer. "At least" is what a stage's work costs when measured alone,
which a program may undercut."""

import statistics

from transfer_bench.chain import ENDS
from transfer_bench.floors import floor_of, within_stages

# What threads did outside all stages, and threads without stages.
UNEXPLAINED = ("none", "main_turns", "io_turns", "worker_turns")
LEAST_S = 0.005  # what would be printed as 0.00
THREADS = {"firn": "main thread", "firn-io": "I/O threads", "firn-worker": "workers",
           "firn-coder": "GPU's thread"}


def print_document(document):
    repeats = len(next(iter((document["runs"] or document["chains"]).values())))
    print(f"{document['bytes'] / 2**30:.2f} GiB, {repeats} runs each, {document['cpu']}, "
          f"{document['cpus']} CPUs")
    if document.get("runs"):
        print_races(document)
        print_ratios(document["runs"])
    for name, profile in profiles_of(document):
        print_profile(document, name, profile)


def print_races(document):
    print()
    told = any("manifest_cpu_s" in run for runs in document["runs"].values() for run in runs)
    print(f"| contender | MB/s, median (min-max) | CPU s, {'manifest + ' if told else ''}seed + get "
          "| peak MiB, seed / get |")
    print("|---|---|---|---|")
    for name, runs in document["runs"].items():
        rates = [r["mb_per_s"] for r in runs]
        row = f"| {name} | {statistics.median(rates):.0f} ({min(rates):.0f}-{max(rates):.0f}) |"
        if "seed_cpu_s" in runs[0]:
            seed_cpu = statistics.median(r["seed_cpu_s"] for r in runs)
            get_cpu = statistics.median(r["get_cpu_s"] for r in runs)
            # What `firn share` does before it serves; a torrent is made before its seed starts.
            manifest = statistics.median(r.get("manifest_cpu_s", 0) for r in runs)
            making = f"{manifest:.1f} + " if "manifest_cpu_s" in runs[0] else ""
            row += (f" {making}{seed_cpu - manifest:.1f} + {get_cpu:.1f} "
                    f"| {max(r['seed_peak_mib'] for r in runs):.0f}"
                    f" / {max(r['get_peak_mib'] for r in runs):.0f} |")
        else:
            row += " | |"
        print(row)
    for name, why in document.get("absent", {}).items():
        print(f"| {name} | {why} | | |")


def print_ratios(runs):
    """Firn's medians over those of each rival. Processor time is that of both ends without making
    the manifest, as torrents are made beforehand."""
    firn = [name for name in runs if name.startswith("firn")]
    rivals = [name for name in runs if name not in firn and "seed_cpu_s" in runs[name][0]]
    if not rivals:
        return

    def rate(name):
        return statistics.median(run["mb_per_s"] for run in runs[name])

    def cpu(name):
        return statistics.median(run["seed_cpu_s"] - run.get("manifest_cpu_s", 0) +
                                 run["get_cpu_s"] for run in runs[name])

    print("\n| times the rival's | " + " | ".join(
        f"rate: {name} | processor time" for name in firn) + " |")
    print("|---" * (1 + 2 * len(firn)) + "|")
    for rival in rivals:
        print(f"| {rival} |" + "".join(f" {rate(name) / rate(rival):.2f} | {cpu(name) / cpu(rival):.2f} |"
                                       for name in firn))


def profiles_of(document):
    """(name, {end: profile}) of each way of coding: of its runs the one with the median of
    processor time. Older results have one to one, and no counts."""
    for name, ends in document.get("profiles", {}).items():
        yield name, {end: {"stages": {s: v for s, v in stages.items() if s != "page_faults"},
                           "page_faults": stages.get("page_faults")}
                     for end, stages in ends.items()}
    for name, runs in document.get("chains", {}).items():
        by_cpu = sorted(runs, key=lambda run: sum(run[end]["cpu_s"] for end in ENDS))
        yield name, {end: by_cpu[len(by_cpu) // 2][end] for end in ENDS}


def print_profile(document, name, profile):
    dense = name != "systematic"
    print(f"\nProcessor seconds for each GiB, {name}:\n")
    print("| stage | " + " | ".join(f"{end} | at least" for end in profile) + " |")
    print("|---" * (1 + 2 * len(profile)) + "|")
    stages = {s for ends in profile.values() for s in ends["stages"]} - set(UNEXPLAINED)
    seconds = {s: [ends["stages"].get(s, 0) for ends in profile.values()] for s in stages}
    least = {end: 0 for end in profile}
    for stage in sorted(stages, key=lambda s: (-sum(seconds[s]), s)):
        if max(seconds[stage]) < LEAST_S:
            continue
        row = f"| {stage} |"
        for (end, ends), spent in zip(profile.items(), seconds[stage]):
            floor = floor_of(document["floors"], end, stage, ends, dense)
            row += f" {spent:.2f} |" if spent >= LEAST_S else " - |"
            shown = floor if spent >= LEAST_S else None
            row += f" {shown:.2f} |" if shown is not None else " |"
            least[end] += shown or 0
        print(row)
    totals = [sum(ends["stages"].values()) for ends in profile.values()]
    left = [sum(ends["stages"].get(s, 0) for s in UNEXPLAINED) for ends in profile.values()]
    print("| unexplained |" + "".join(f" {seconds:.2f} ({100 * seconds / total:.1f} %) | |"
                                      for seconds, total in zip(left, totals)))
    print("| all |" + "".join(f" {total:.2f} | {floor:.2f} |"
                              for total, floor in zip(totals, least.values())))
    if all("threads" in ends for ends in profile.values()):
        print_beside(document, profile)


def print_beside(document, profile):
    """What the stages contain, what is counted, and what threads waited for."""
    print("\nOf that, and beside it, for each GiB:\n")
    print("| | " + " | ".join(profile) + " |")
    print("|---" * (1 + len(profile)) + "|")

    def row(what, values):
        print(f"| {what} | " + " | ".join(values) + " |")

    within = [within_stages(document["floors"], ends) for ends in profile.values()]
    for what in within[0]:
        row(f"{what}, s within the stages", [f"{one[what]:.2f}" for one in within])
    for what, count in (("page faults", lambda p: p["page_faults"]),
                        ("stages entered", lambda p: sum(p["entered"].values())),
                        ("threads woken by others", lambda p: p["entered"]["wake_ups"]),
                        ("context switches, voluntary", lambda p: p["switches_waiting"]),
                        ("context switches, involuntary", lambda p: p["switches_interrupted"])):
        row(what, [f"{count(ends):,}" for ends in profile.values()])
    names = [n for n in THREADS if any(n in ends["threads"] for ends in profile.values())]
    for name in names:
        values = []
        for ends in profile.values():
            times = ends["threads"].get(name)
            values.append("" if times is None else f"{times['ran']:.2f} / "
                          f"{times['waited_for_core']:.2f} / {times['waited']:.2f}")
        row(f"{THREADS[name]}: s running / waiting for a core / for work", values)
