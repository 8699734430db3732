"""`scripts/swarm run --on slurm|kubernetes`: a job for each run, one after the other, each with the
record that a run on this machine has."""

import json
import math
import os
import pathlib
import secrets
import shutil
import tempfile
import time

from running.programs import BUILD
from swarm_lab import scenario
from swarm_lab.adapters.firn import INSTALLED, commit
from swarm_lab.cluster import kubernetes, plan, refusals, results, slurm

ON = ("slurm", "kubernetes")
AFTER_S = 120  # for the end of processes, digests and clocks, after the scenario's own deadline


def options(command):
    group = command.add_argument_group("on a cluster (docs/experiments.md)")
    group.add_argument("--on", choices=ON, help="hosts are tasks of a job there, not namespaces here")
    group.add_argument("--dry-run", action="store_true",
                       help="with --on: print the batch script or the manifest, and submit nothing")
    group.add_argument("--links", choices=("clients", "namespaces"), default="clients",
                       help="clients keep to the scenario's limits themselves (default), or each "
                            "task makes network namespaces, joined by tunnels (root; Slurm)")
    group.add_argument("--network", metavar="A.B.C.D/N",
                       help="tasks use their address in this network (default: that of their route "
                            "to the world, or the pod's)")
    group.add_argument("--start-within", type=float, default=600, metavar="SECONDS",
                       help="all tasks must be there by then, counted from the first (default: 600)")
    group.add_argument("--sbatch", action="append", default=[], metavar="OPTION",
                       help="Slurm: an option for sbatch, such as --sbatch=--partition=p; repeatable")
    group.add_argument("--kubectl", action="append", default=[], metavar="OPTION",
                       help="Kubernetes: an option for kubectl, such as --kubectl=--namespace=n; "
                            "repeatable")
    group.add_argument("--image", help="Kubernetes: of all pods; has python3, firn and firn-tracker")
    group.add_argument("--cpu", default="250m", help="Kubernetes: of each pod (default: 250m)")
    group.add_argument("--memory", default="512Mi", help="Kubernetes: of each pod (default: 512Mi)")


def check(chosen, scenarios, clients):
    """Refuses what cannot be done there before anything is submitted."""
    for one in scenarios:
        for client in clients:
            refusals.check(one, client, chosen.on, chosen.links)
    if chosen.on == "kubernetes" and not chosen.image:
        raise refusals.CannotPlace("--on kubernetes needs --image: what the pods run")
    if chosen.on == "kubernetes" and chosen.keep:
        raise refusals.CannotPlace("--keep is not for --on kubernetes: pods' folders go with them")
    if not chosen.dry_run:
        {"slurm": slurm, "kubernetes": kubernetes}[chosen.on].check()


def told(chosen, one, client, **where):
    """The plan of one run."""
    return plan.Plan(
        on=chosen.on, token=secrets.token_hex(16), scenario=scenario.as_table(one), client=client,
        content_seed=chosen.seed, start_within_s=chosen.start_within, network=chosen.network,
        commit=commit() or None, links=chosen.links,
        **{"record": None, "meet_file": None, "meet_host": None, **where})


def run(chosen, one, client):
    """The record of one run; None where --dry-run printed what would be submitted."""
    record = (_on_slurm if chosen.on == "slurm" else _on_kubernetes)(chosen, one, client)
    if record and "failed" in record:
        raise slurm.JobFailed(f"{one.name} on {chosen.on}: {record['failed']}")
    return record


def _seconds(chosen, one):
    """How long a job may take in all, once its first task runs."""
    return math.ceil(chosen.start_within + one.deadline_s + AFTER_S)


def _on_slurm(chosen, one, client):
    out = pathlib.Path(chosen.out).absolute()
    folder = out / "job" if chosen.dry_run else pathlib.Path(
        tempfile.mkdtemp(prefix=f".job-{one.name}-", dir=out))
    batch_script = slurm.script(folder, f"firn-{one.name}", plan.tasks(one),
                                math.ceil(_seconds(chosen, one) / 60), chosen.sbatch)
    if chosen.dry_run:
        print(batch_script, end="")
        return None
    what = told(chosen, one, client, build=str(BUILD.absolute()), meet_file=str(folder / slurm.MEET),
                record=str(folder / slurm.RECORD))
    (folder / plan.PROGRAM).write_bytes(plan.program())
    _private(folder / "plan.json", what.text())
    try:
        slurm.submit(folder, batch_script)
    except slurm.JobFailed:
        if not (folder / slurm.RECORD).exists():
            raise
        # The first task says more about it than Slurm does.
    try:
        record = results.from_file(folder / slurm.RECORD)
    except results.NoRecord as problem:
        raise slurm.JobFailed(f"{problem}\n{slurm.tail(folder)}") from None
    if "failed" not in record:
        if chosen.keep:
            pathlib.Path(chosen.keep).mkdir(parents=True, exist_ok=True)
            shutil.move(folder, pathlib.Path(chosen.keep) / f"{one.name}-{int(time.time())}")
        else:
            shutil.rmtree(folder)
    return record


def _private(path, text):
    """The token in it is for this user's tasks alone."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w",
              encoding="utf-8") as file:
        file.write(text)


def _on_kubernetes(chosen, one, client):
    job = kubernetes.name(one.name, secrets.token_hex(3))
    what = told(chosen, one, client, build=INSTALLED, meet_port=kubernetes.PORT,
                meet_host=kubernetes.meeting_host(job))
    # A job's time runs as soon as it is created, while its pods wait for nodes and images.
    deadline_s = math.ceil(chosen.start_within) + _seconds(chosen, one)
    disk = f"{math.ceil(3 * one.content_mib) + 64}Mi"
    items = kubernetes.manifest(job, what, plan.tasks(one), {
        "image": chosen.image, "cpu": chosen.cpu, "memory": chosen.memory, "disk": disk,
        "deadline_s": deadline_s})
    if chosen.dry_run:
        print(json.dumps(items, indent=2))
        return None
    return kubernetes.Cluster(chosen.kubectl).run(job, items, deadline_s + AFTER_S)
