"""scripts/swarm traces: whether two builds of the swarm core decide alike.

Every simulated run appends a line to the file that FIRN_TRACES names (tests/sim/action_trace.h): a
hash over all actions of all its cores. A change that is to leave behaviour alone leaves the hashes
alone. They are not kept: an honest change of a policy changes all of them.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

from swarm_lab import lab_words, scenario, sim

# Their test cases are the scenarios; each names its seeds.
PROGRAMS = ("sim_test", "lab/lab_test")
# With these options, for seeds 1 to 3.
LAB_SCENARIOS = ("flash-16", "mixed", "source-leaves", "source-leaves-safe", "leave-on-finish", "kill-a-third",
                 "staggered", "downlinks", "unreachable", "taker", "peers-100")
LAB_OPTIONS = "mib=8"
SHOWN_MAX = 20


def _runs():
    """(name, words of the command line) of every program to run."""
    for name in PROGRAMS:
        yield name, [f"tests/sim/{name}"]
    for name in LAB_SCENARIOS:
        for seed in (1, 2, 3):
            words = lab_words.words(scenario.as_table(scenario.load(name)))
            yield name, [sim.LAB, f"seed={seed}", *words.split(), LAB_OPTIONS]


def record(build):
    """The lines of all runs of a build, each with its program or scenario and its number there."""
    lines, counts = [], {}
    with tempfile.TemporaryDirectory() as folder:
        for name, words in _runs():
            path = pathlib.Path(folder) / "traces"
            path.write_text("", encoding="utf-8")
            subprocess.run([build / words[0], *words[1:]], check=False, stdout=subprocess.DEVNULL,
                           env=dict(os.environ, FIRN_TRACES=str(path)))
            for line in path.read_text(encoding="utf-8").splitlines():
                counts[name] = counts.get(name, 0) + 1
                lines.append(f"{name} {counts[name]} {line}")
    return lines


def options(command):
    command.add_argument("--out", metavar="FILE", help="where the lines go; else to stdout")
    command.add_argument("--against", metavar="FILE", help="lines of another build; says which "
                         "differ, and exits 1 if any does")


def traces(chosen):
    for name in PROGRAMS:
        sim.program(f"tests/sim/{name}")
    sim.program(sim.LAB)
    lines = record(sim.BUILD)
    text = "\n".join(lines) + "\n"
    if chosen.out:
        pathlib.Path(chosen.out).write_text(text, encoding="utf-8")
    elif not chosen.against:
        sys.stdout.write(text)
    if not chosen.against:
        return 0
    before = pathlib.Path(chosen.against).read_text(encoding="utf-8").splitlines()
    differ = [line for line in lines if line not in set(before)]
    for line in differ[:SHOWN_MAX]:
        print(f"differs: {line}")
    missing = max(len(before) - len(lines), 0)
    print(f"{len(lines)} runs, {len(differ)} differ from {chosen.against}, {missing} are missing")
    return 1 if differ or missing else 0
