"""A race as one Slurm job: a batch script with one `srun` of one task for each host of the scenario.
Its folder must be seen by all nodes under the same path: the tasks read program and plan there, and
the first one writes its address and the record."""

import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time

from swarm_lab.cluster import plan

POLL_S = 2.0
SILENT_MAX = 60  # looks that Slurm does not answer
GOING_ON = ("PENDING", "CONFIGURING", "RUNNING", "COMPLETING", "SUSPENDED", "REQUEUED", "RESIZING",
            "SIGNALING", "STAGE_OUT", "STOPPED")
MEET, RECORD, LOG = "meeting.address", "record.json", "slurm.log"


class JobFailed(Exception):
    """The job could not be submitted or did not end well; the text says how."""


def check():
    if shutil.which("sbatch") is None:
        raise JobFailed("`sbatch` is missing: run this where jobs are submitted to Slurm "
                        "(scripts/setup --all installs it, package slurm-client)")


def script(folder, name, tasks, minutes, options):
    """The batch script. `options` are sbatch's own, given by the user."""
    folder = pathlib.Path(folder)
    settings = [f"--job-name={name}", f"--ntasks={tasks}", f"--time={minutes}",
                f"--output={folder / LOG}", "--open-mode=append", *options]
    program, told = shlex.quote(str(folder / plan.PROGRAM)), shlex.quote(str(folder / "plan.json"))
    return "\n".join([
        "#!/bin/bash", *(f"#SBATCH {setting}" for setting in settings),
        "# One task for each host of the scenario. If one fails the race is void, and all end.",
        # srun does not take this one from sbatch by itself.
        "export SRUN_CPUS_PER_TASK=${SLURM_CPUS_PER_TASK:-1}",
        f"exec srun --kill-on-bad-exit=1 --wait=0 python3 {program} {told}", ""])


def submit(folder, batch_script):
    """Runs the job to its end; raises JobFailed with the end of its log."""
    path = pathlib.Path(folder) / "job.sh"
    path.write_text(batch_script, encoding="utf-8")
    asked = subprocess.run(["sbatch", "--parsable", str(path)], stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, text=True, check=False)
    if asked.returncode != 0:
        raise JobFailed(f"sbatch refused the job (exit status {asked.returncode}); its words are above")
    number = asked.stdout.strip().partition(";")[0]
    try:
        print(f"Slurm job {number} in {folder}", file=sys.stderr, flush=True)
        state = _wait(number)
    except BaseException:  # an interrupt too: the job must not go on without its submitter
        subprocess.run(["scancel", number], check=False)
        raise
    if state != "COMPLETED":
        raise JobFailed(f"Slurm job {number} ended as {state}\n{tail(folder)}")


def _wait(number):
    """The state in which the job ends. (`sbatch --wait` looks but twice a minute.)"""
    silent = 0  # a controller may be away for a moment
    while silent < SILENT_MAX:
        state = _state(number)
        if state and state not in GOING_ON:
            return state
        silent = 0 if state else silent + 1
        time.sleep(POLL_S)
    raise JobFailed(f"Slurm says nothing of job {number}, which is cancelled")


def _state(number):
    """Slurm's word for it; None: it gave none."""
    told = subprocess.run(["scontrol", "--oneliner", "show", "job", number], text=True, check=False,
                          stdout=subprocess.PIPE)
    found = re.search(r"\bJobState=(\w+)", told.stdout)
    return found.group(1) if found else None


def tail(folder, lines=15):
    """Of the job's log."""
    try:
        text = (pathlib.Path(folder) / LOG).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return f"  there is no {LOG}"
    return "\n".join(f"  {line}" for line in text.splitlines()[-lines:])
