"""scripts/swarm sim and faults: the production core in virtual time. Sweeps are in sweep.py.

The programs are tests/sim/lab/swarm_lab (measures; coefficients only) and tests/sim/sim_test
(checks every byte). They are built when they are missing.
"""

import concurrent.futures
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

from running.building import BUILD, ROOT, machine, program
from swarm_lab import lab_words, scenario

# What a simulated result depends on.
CODE = ("client/core", "codec", "proto", "tests/sim")


def made():
    """When and with what a result is made: the last commit of the code that decides it, with a +
    where that code has been changed since; None outside of a checkout, and without git."""
    def git(*words):
        if not shutil.which("git"):
            return ""
        done = subprocess.run(["git", "-C", ROOT, *words, "--", *CODE], capture_output=True,
                              text=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else ""
    commit = git("log", "-1", "--format=%h", "--abbrev=10")
    changed = git("status", "--porcelain", "--untracked-files=no")
    return {"date": time.strftime("%Y-%m-%dT%H:%MZ", time.gmtime()),
            "commit": commit + ("+" if changed else "") if commit else None}


LAB = "tests/sim/lab/swarm_lab"
RIVALS = "tests/sim/lab/rivals/rival_lab"


def run_lab(options, seed, name=LAB):
    """One run; its record. A run that does not complete is a result as well."""
    done = subprocess.run([BUILD / name, f"seed={seed}", *options.split()],
                          capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1) or not done.stdout:
        raise RuntimeError(f"{name} {options} seed={seed}: {done.stderr.strip()}")
    return {**json.loads(done.stdout), **made()}


KEPT = ("ratio", "finished", "last_seconds", "redundant_share", "seed_copies", "wire_share",
        "control_share", "busy_share", "first_generation_seconds", "rows_share_max")


def small(record):
    """What is kept of a record: its figures in short, and not the lab's options, which the
    scenario's name or the sweep gives."""
    def short(value, digits=5):
        return float(f"{value:.{digits}g}") if isinstance(value, float) else value
    result = {key: short(record["result"][key], 7 if key == "ratio" else 5) for key in KEPT}
    return {"done": record["done"], "result": result,
            "cost": {key: short(record["cost"][key], 4) for key in ("cpu_seconds", "memory_mib")},
            "date": record["date"], "commit": record["commit"]}


def run_all(jobs, at_once):
    """[(options, seed)] -> records in the same order."""
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        return list(pool.map(lambda job: run_lab(*job), jobs))


def line_of(name, records):
    def mean(key):
        return statistics.mean(r["result"][key] for r in records)
    firsts = [r["result"]["first_generation_seconds"] / r["result"]["last_seconds"]
              for r in records if r["result"]["last_seconds"] > 0]
    first = statistics.mean(firsts) if firsts else float("nan")
    missing = sum(not r["done"] for r in records)
    return (f"{name:26} {mean('ratio'):7.4f} {max(r['result']['ratio'] for r in records):7.4f} "
            f"{100 * mean('redundant_share'):9.2f} {mean('seed_copies'):6.3f} "
            f"{mean('wire_share'):6.3f} {100 * mean('control_share'):7.2f} "
            f"{100 * first:6.1f} {100 * mean('rows_share_max'):6.1f} "
            f"{statistics.mean(r['cost']['cpu_seconds'] for r in records):8.1f} "
            f"{max(r['cost']['memory_mib'] for r in records):6.0f}"
            + (f"  {missing} of {len(records)} did not complete" if missing else ""))


HEAD = (f"{'scenario':26} {'ratio':>7} {'worst':>7} {'redund %':>9} {'copies':>6} {'wire':>6} "
        f"{'state %':>7} {'1st %':>6} {'rows %':>6} {'cpu s':>8} {'MiB':>6}")
LEGEND = """
ratio, worst: last finisher over the fluid bound, mean and most of the seeds; redund: blocks that did not help;
copies: blocks the source sent over those of the content; wire: bytes of all over content and finishers; state: part
of the bytes that are no blocks; 1st: first generation verified, in % of the download; rows: most content held as
unfinished rows by any peer; cpu, MiB: of the simulation"""


def _write(path, record):
    if not path:
        return
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    runs = ",\n".join(f"{json.dumps(name)}:{json.dumps(found, separators=(',', ':'))}"
                      for name, found in record.pop("runs").items())
    path.write_text(f'{json.dumps(record)[:-1]}, "runs":{{\n{runs}\n}}}}\n', encoding="utf-8")


def sim_options(command):
    command.add_argument("scenario", nargs="*",
                         help="as of `run`: a name that `list` shows, or a file; and KEY=VALUE in the words of "
                              "tests/sim/lab/setting.h, which hold for all of them")
    command.add_argument("--seeds", type=int, default=3, help="runs of each, seeds 1, 2, ...")
    command.add_argument("--jobs", type=int, default=1, help="runs at a time")
    command.add_argument("--out", metavar="FILE", help="the figures of all runs, as JSON")


def sim(chosen):
    extra = " ".join(word for word in chosen.scenario if "=" in word)
    wanted = [scenario.load(word) for word in chosen.scenario if "=" not in word]
    try:
        table = {one.name: lab_words.words(scenario.as_table(one)) for one in wanted} or {"as given": ""}
    except lab_words.NotSimulated as what:
        print(f"scripts/swarm: the simulator has no word for {what}", file=sys.stderr)
        return 2
    program(LAB)
    print(HEAD)
    all_done, records = True, {}
    for name, words in table.items():
        options = f"{words} {extra}"
        records[name] = run_all([(options, seed) for seed in range(1, chosen.seeds + 1)],
                                chosen.jobs)
        all_done &= all(r["done"] for r in records[name])
        print(line_of(name, records[name]), flush=True)
        _write(chosen.out, {"machine": machine(), "options": extra,
                            "runs": {of: [small(r) for r in rs] for of, rs in records.items()}})
    print(LEGEND)
    return 0 if all_done else 1


def faults_options(command):
    command.add_argument("--first", type=int, default=1000, help="first seed")
    command.add_argument("--count", type=int, default=5000, help="runs")
    command.add_argument("--jobs", type=int, default=1)
    command.add_argument("--batch", type=int, default=100, help="seeds a process")


def faults(chosen):
    """Seeded runs with faults; prints the seeds that break a rule. Those become tests."""
    path = program("tests/sim/sim_test")

    def batch(first):
        last = min(first + chosen.batch, chosen.first + chosen.count)
        return first, last, subprocess.run(
            [path, "--test-case=small swarms under random faults*"], capture_output=True,
            text=True, check=False, env=dict(os.environ, SIM_SEEDS=f"{first}:{last}"))

    broken = 0
    with concurrent.futures.ThreadPoolExecutor(chosen.jobs) as pool:
        starts = range(chosen.first, chosen.first + chosen.count, chosen.batch)
        for first, last, done in pool.map(batch, starts):
            if done.returncode != 0:
                broken += 1
                print(f"seeds {first} to {last - 1}:\n{done.stdout}", flush=True)
    print(f"{chosen.count} seeded runs from {chosen.first}: "
          + ("no rule broken" if broken == 0 else f"{broken} batches with broken rules"))
    return 1 if broken else 0
