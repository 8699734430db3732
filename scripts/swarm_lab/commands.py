"""The commands of scripts/swarm."""

import argparse
import json
import os
import pathlib
import signal
import sys
import tempfile
import time

from running import building
from swarm_lab import (adapters, collect, compare, hostile, hosts, matrix, matrix_command, origin, plots, report,
                       scenario, sim, slow_link, summarise, sweep, tables, traces, viewing, worth)
from swarm_lab.cluster import refusals, slurm
from swarm_lab.cluster import run as cluster_run


def main(arguments, about):
    parser = argparse.ArgumentParser(prog="scripts/swarm", description=about,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (function, help_text) in COMMANDS.items():
        command = commands.add_parser(name, help=help_text)
        command.set_defaults(function=function)
        OPTIONS.get(name, lambda _: None)(command)
    chosen = parser.parse_args(arguments)
    try:
        status = chosen.function(chosen)
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # as of `list | head`; what is left must not be tried again at the exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except (scenario.BadScenario, adapters.BadClient, hosts.NoNetwork, matrix.BadMatrix,
            slow_link.BrokenLink, building.Failed, refusals.CannotPlace,
            slurm.JobFailed) as problem:
        print(f"scripts/swarm: {problem}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


# --- run ---

def _run_options(command):
    command.add_argument("scenario", nargs="+", help="a name from scripts/swarm_lab/scenarios, or a file")
    command.add_argument("--client", action="append", metavar="NAME[:key=value,...]",
                         help="repeatable; clients take turns within each round (default: firn)")
    command.add_argument("--out", required=True, metavar="DIR", help="one JSON file for each run")
    command.add_argument("--rounds", type=int, default=1)
    command.add_argument("--keep", metavar="DIR", help="keep content, downloads and logs there; with "
                                                       "--on slurm plan and log of the job")
    command.add_argument("--seed", type=int, default=1, help="of the content's random bytes")
    cluster_run.options(command)


def _interrupted(number, _frame):
    raise SystemExit(128 + number)


def run(chosen):
    # SIGINT too: a shell may have it ignored for what runs in the background.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupted)
    scenarios = [scenario.load(name) for name in chosen.scenario]
    clients = chosen.client or ["firn"]
    if chosen.on:
        cluster_run.check(chosen, scenarios, clients)
    elif chosen.dry_run:
        raise refusals.CannotPlace("--dry-run goes with --on: here nothing is submitted")
    else:
        _check_here(scenarios, clients)
    out = pathlib.Path(chosen.out)
    if not chosen.dry_run:
        out.mkdir(parents=True, exist_ok=True)
    one_run = cluster_run.run if chosen.on else _run_here
    worst = 0
    for _ in range(chosen.rounds):
        for one in scenarios:
            for client in clients:
                result = one_run(chosen, one, client)
                if result:
                    worst = max(worst, _tell(result, _write(out, one.name, client, result)))
    if not chosen.dry_run:
        print(f"tables and plots of these: scripts/swarm report {out} --plots DIR")
    return worst


def _check_here(scenarios, clients):
    """What is missing is said before the first race."""
    hosts.check()
    for name in hosts.remove_stale():
        print(f"removed {name}, left by a run that was killed", file=sys.stderr)
    for one in scenarios:
        hosts.check_size(one)
        if one.seed.origin:
            origin.check()
    for client in clients:
        adapter = adapters.make(client)
        if any(next(one.hostile_members(), None) for one in scenarios):
            adapter.check_hostile()


def _run_here(chosen, one, client):
    from swarm_lab.race import Race
    with tempfile.TemporaryDirectory(prefix=hosts.folder_prefix()) as folder:
        if chosen.keep:
            folder = pathlib.Path(chosen.keep) / f"{one.name}-{int(time.time())}"
            folder.mkdir(parents=True)
        return Race(one, adapters.make(client), folder, chosen.seed).run()


def _write(out, name, client, result):
    safe = "".join(c if c.isalnum() else "-" for c in client)
    for number in range(1, 10_000):
        path = out / f"{name}.{safe}.{number}.json"
        try:
            with path.open("x", encoding="utf-8") as file:
                json.dump(result, file, separators=(",", ":"))
                file.write("\n")
            return path
        except FileExistsError:
            continue
    raise OSError(f"{out} is full of runs of this name")


def _tell(result, path):
    print(report.one_line(result), f"  {path.name}", flush=True)
    problems = collect.failed(result)
    for line in problems:
        print(f"  {line}", file=sys.stderr)
    return 1 if problems else 0


# --- report, bound, list, clean ---

def _report_options(command):
    command.add_argument("path", nargs="+", help="records, or folders of them")
    command.add_argument("--plots", metavar="DIR", help="draw plots there (needs matplotlib)")
    command.add_argument("--by", metavar="SETTING",
                         help="one table of runs that differ in a setting, or in `version`")
    command.add_argument("--figure", action="append", choices=report.FIGURES,
                         help="with --by, repeatable (default: ratio)")


def report_command(chosen):
    records = report.load(chosen.path)
    if not records:
        print("scripts/swarm: no records there", file=sys.stderr)
        return 2
    if chosen.by:
        print(report.variants(records, chosen.by, chosen.figure or ["ratio"]))
        return 0
    print(report.tables(records))
    return _draw(plots.draw, records, chosen.plots)


def _draw(draw, records, folder):
    """By a function of plots.py; nothing, if there is no folder."""
    if not folder:
        return 0
    try:
        for path in draw(records, pathlib.Path(folder)):
            print(path)
    except plots.NoPlots as reason:
        print(f"scripts/swarm: {reason}", file=sys.stderr)
        return 2
    return 0


def _viewers_options(command):
    command.add_argument("path", nargs="+", help="records or summaries of races with a film, or folders of them")
    command.add_argument("--plots", metavar="DIR", help="draw what viewers held there (needs matplotlib)")


def viewers_command(chosen):
    records = report.load(chosen.path)
    text = viewing.table(report.grouped(records))
    if not text:
        print("scripts/swarm: no races with viewers there", file=sys.stderr)
        return 2
    print(text)
    return _draw(plots.draw_buffers, records, chosen.plots)


def _bound_options(command):
    command.add_argument("scenario", nargs="+")


def bound_command(chosen):
    for name in chosen.scenario:
        one = scenario.load(name)
        limit = one.bound_if_all_stay()
        print(f"{one.name}: {limit.seconds:.2f} s, limited by {limit.limited_by()} (first copy "
              f"{limit.first_copy:.2f}, downlinks {limit.downlinks:.2f}, capacity "
              f"{limit.capacity:.2f})")
    return 0


def list_command(_):
    for name in scenario.names():
        print(f"{name:20} {scenario.load(name).title}")
    print("\nclients and their settings:")
    for line in adapters.describe():
        print(f"  {line}")
    return 0


def clean(_):
    hosts.check()
    for name in hosts.remove_stale():
        print(f"removed {name}")
    return 0


COMMANDS = {
    "run": (run, "race clients on hosts made of network namespaces, or on those of a cluster"),
    "matrix": (matrix_command.command, "race clients on links of many kinds, and make one table"),
    "report": (report_command, "tables and plots of what `run` wrote"),
    "viewers": (viewers_command, "what viewers of a film saw in races that `run` wrote"),
    "summarise": (summarise.summarise, "what `run` wrote, without what no table or plot needs"),
    "bound": (bound_command, "the fluid lower bound of scenarios"),
    "list": (list_command, "scenarios and clients"),
    "sim": (sim.sim, "the production core in virtual time"),
    "sweep": (sweep.sweep, "many simulated swarms, over one option, and their rivals"),
    "table": (tables.table, "what `sim`, `sweep`, `hostile` and `worth` wrote, as Markdown"),
    "compare": (compare.compare, "stored races beside their simulation"),
    "hostile": (hostile.hostile, "what hostile peers cost simulated swarms, of all kinds"),
    "worth": (worth.worth, "two builds of the core side by side, in honest races and hostile ones"),
    "faults": (sim.faults, "seeded simulated swarms in which things break, at length"),
    "traces": (traces.traces, "hashes over all that simulated cores decide, to compare builds"),
    "clean": (clean, "remove what a killed run left"),
}
OPTIONS = {"run": _run_options, "report": _report_options, "bound": _bound_options, "matrix": matrix_command.options,
           "viewers": _viewers_options, "summarise": summarise.options, "sim": sim.sim_options,
           "hostile": hostile.options, "sweep": sweep.options,
           "table": tables.options, "compare": compare.options, "faults": sim.faults_options,
           "traces": traces.options, "worth": worth.options}
