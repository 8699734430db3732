"""The tasks of one run as processes of this machine, each with its rank: what a cluster does."""

import json
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests")]

from running.programs import BUILD, Program
from swarm_lab import scenario
from swarm_lab.cluster import plan

NETWORK = "127.0.0.0/8"


def plan_of(one, folder, **other):
    """The plan of a run of the scenario, whose files are in `folder`."""
    settings = {"on": "processes", "token": "a secret", "scenario": scenario.as_table(one),
                "client": "firn", "build": str(BUILD.absolute()), "content_seed": 1,
                "start_within_s": 60, "record": str(folder / "record.json"),
                "meet_file": str(folder / "meeting.address"), "meet_host": None,
                "network": NETWORK, "commit": "abc"}
    return plan.Plan(**{**settings, **other})


def write(told, folder):
    """Plan and program, as a submitting command writes them."""
    (folder / "plan.json").write_text(told.text(), encoding="utf-8")
    (folder / plan.PROGRAM).write_bytes(plan.program())


def start(folder, rank, wrap=lambda *words: words, variable="SLURM_PROCID"):
    """`wrap`: what the command becomes where the task is to run."""
    # Also a task that is killed leaves its files where the test removes them.
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("SLURM", "JOB_"))}
    command = wrap(sys.executable, folder / plan.PROGRAM, folder / "plan.json")
    return Program(f"task {rank}", command,
                   env=dict(environment, TMPDIR=str(folder), **{variable: str(rank)}))


def record(folder):
    return json.loads((folder / "record.json").read_text(encoding="utf-8"))
