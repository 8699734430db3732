"""scripts/swarm matrix: races every cell of matrix.toml, clients in turn within the same minutes.

Each race is a process of its own (`scripts/swarm run`), so that one that fails is a gap in the table
and nothing more, and that several may run at a time where there are cores for them."""

import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

from running import building
from swarm_lab import hosts, matrix, report, shaper, slow_link

SCRIPT = pathlib.Path(__file__).resolve().parents[1] / "swarm"
# What the uplinks of a race carry together that takes one place of --at-once: peers of faster links
# need more of the cores.
PLACE_MBIT = 100


def options(command):
    command.add_argument("--cells", action="append", metavar="PATTERN", default=[],
                         help="repeatable; names of cells, * for any letters (default: all)")
    command.add_argument("--client", action="append", metavar="NAME[:key=value,...]",
                         help="repeatable; the first is judged (default: firn, and the rivals)")
    command.add_argument("--rounds", type=int, default=3)
    command.add_argument("--at-once", type=int, default=1, metavar="N",
                         help="places for races at a time; one takes a place for each "
                         f"{PLACE_MBIT} Mbit/s of its uplinks (rounded), all N at most")
    command.add_argument("--out", required=True, metavar="DIR", help="one JSON file for each run")
    command.add_argument("--matrix", metavar="FILE", default=matrix.PATH,
                         help="other cells than scripts/swarm_lab/matrix.toml")
    command.add_argument("--list", action="store_true", help="the cells, and no race")
    command.add_argument("--table", action="store_true", help="of the runs in --out, and no race")


def command(chosen):
    found = matrix.load(chosen.matrix)
    cells = found.chosen(chosen.cells)
    clients = chosen.client or ["firn", *found.rivals]
    if chosen.list:
        print("\n".join(cell.name for cell in cells))
        return 0
    if not chosen.table:
        hosts.check()
        building.program(slow_link.PROGRAM)  # once, and not by races that run beside each other
        race(cells, clients, chosen)
    # A run that was started twice, or of other cells, is in the table where its cell is.
    records = report.load([chosen.out]) if pathlib.Path(chosen.out).is_dir() else []
    print(matrix.table(report.grouped(records), cells, found.target, clients))
    return 0


def race(cells, clients, chosen):
    """Every race once, all of a round before the next one."""
    out = pathlib.Path(chosen.out)
    out.mkdir(parents=True, exist_ok=True)
    cores = len(os.sched_getaffinity(0))
    for cell in cells:
        if cell.cores > cores:
            print(f"{cell.name}: skipped, it needs {cell.cores} cores", file=sys.stderr)
    cells = [cell for cell in cells if cell.cores <= cores and _carries(cell)]
    with tempfile.TemporaryDirectory() as folder:
        files = {}
        for cell in cells:
            files[cell.name] = pathlib.Path(folder, f"{cell.name}.toml")
            files[cell.name].write_text(cell.scenario_text(), encoding="utf-8")
        jobs = [(cell, client) for _ in range(chosen.rounds) for cell in cells
                for client in clients]
        in_turn(jobs, chosen.at_once,
                lambda cell, client: run_one(files[cell.name], client, out))


def _carries(cell):
    complaint = shaper.complaint(cell)
    if complaint:
        print(f"{cell.name}: skipped, {complaint}", file=sys.stderr)
    return not complaint


def in_turn(jobs, at_once, run):
    """Runs the jobs in their order, those beside each other that find room in `at_once` places."""
    places = threading.Semaphore(at_once)

    def job(cell, client, taken):
        try:
            run(cell, client)
        finally:
            for _ in range(taken):
                places.release()

    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        for cell, client in jobs:
            takes = min(max(round(cell.uplinks_mbit() / PLACE_MBIT), 1), at_once)
            for _ in range(takes):
                places.acquire()
            pool.submit(job, cell, client, takes)


def run_one(file, client, out):
    """One race, as a process. It says itself what failed, and the table has what it wrote."""
    done = subprocess.run([sys.executable, SCRIPT, "run", file, "--client", client, "--out", out],
                          capture_output=True, text=True, check=False,
                          env=os.environ | {"FIRN_AS_BUILT": "1"})
    print(done.stdout + done.stderr, end="", flush=True)
    if done.returncode != 0:
        print(f"{file.stem}, {client}: failed (status {done.returncode})", file=sys.stderr,
              flush=True)
