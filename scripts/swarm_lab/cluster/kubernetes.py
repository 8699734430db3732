"""A race as one indexed Job of Kubernetes: a pod for each host of the scenario, the first of which has
a name by a headless Service. The manifest is JSON, which kubectl takes as it takes YAML.

Program and plan come with the manifest (a ConfigMap and, for the meeting's token, a Secret), so the
image needs python3, `firn` and `firn-tracker` alone. The record comes in the first pod's log.
"""

import base64
import json
import re
import subprocess
import shutil
import sys
import time

from swarm_lab.cluster import addresses, plan, results
from swarm_lab.cluster.slurm import JobFailed

PORT = 4710         # of the meeting, in the first pod
POLL_S = 1.0
PROGRAM_FOLDER, PLAN_FOLDER, DATA_FOLDER = "/firn/program", "/firn/plan", "/firn/data"


def check():
    if shutil.which("kubectl") is None:
        raise JobFailed("`kubectl` is missing: run this where a cluster is at hand "
                        "(Debian's package kubernetes-client, or your cluster's)")


def name(scenario_name, number):
    """Of the Job and all that goes with it, as a DNS label that leaves room for a pod's index."""
    label = re.sub(r"[^a-z0-9]+", "-", scenario_name.lower()).strip("-")[:40].strip("-")
    return f"firn-{label or 'race'}-{number}"


def meeting_host(job):
    """The first pod's name, which the headless Service makes known."""
    return f"{job}-0.{job}"


def manifest(job, told, tasks, settings):
    """A List of Secret, ConfigMap, Service and Job. `settings`: image, cpu, memory, disk,
    deadline_s."""
    labels = {"app.kubernetes.io/name": "firn-swarm", "app.kubernetes.io/instance": job}

    def item(version, kind, **rest):
        return {"apiVersion": version, "kind": kind,
                "metadata": {"name": job, "labels": labels}, **rest}

    return {"apiVersion": "v1", "kind": "List", "items": [
        item("v1", "Secret", stringData={"plan.json": told.text()}),
        item("v1", "ConfigMap", binaryData={
            plan.PROGRAM: base64.b64encode(plan.program()).decode()}),
        item("v1", "Service", spec={
            "clusterIP": "None", "selector": labels, "publishNotReadyAddresses": True,
            "ports": [{"name": "meeting", "port": PORT}]}),
        item("batch/v1", "Job", spec={
            "completionMode": "Indexed", "completions": tasks, "parallelism": tasks,
            "backoffLimit": 0, "activeDeadlineSeconds": settings["deadline_s"],
            "template": {"metadata": {"labels": labels}, "spec": _pod(job, labels, settings)}}),
    ]}


def _pod(job, labels, settings):
    return {
        "subdomain": job, "restartPolicy": "Never", "automountServiceAccountToken": False,
        "enableServiceLinks": False, "terminationGracePeriodSeconds": 15,
        "securityContext": {"runAsNonRoot": True, "runAsUser": 4711, "runAsGroup": 4711,
                            "fsGroup": 4711, "seccompProfile": {"type": "RuntimeDefault"}},
        "topologySpreadConstraints": [{
            "maxSkew": 1, "topologyKey": "kubernetes.io/hostname",
            "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": {"matchLabels": labels}}],
        "containers": [{
            "name": "task", "image": settings["image"],
            "command": ["python3", f"{PROGRAM_FOLDER}/{plan.PROGRAM}", f"{PLAN_FOLDER}/plan.json"],
            "env": [{"name": addresses.GIVEN,
                     "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
                    {"name": "FIRN_SWARM_NODE",
                     "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
                    {"name": "TMPDIR", "value": DATA_FOLDER}],
            "resources": {"requests": {"cpu": settings["cpu"], "memory": settings["memory"],
                                       "ephemeral-storage": settings["disk"]},
                          "limits": {"memory": settings["memory"]}},
            "securityContext": {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                                "capabilities": {"drop": ["ALL"]}},
            "volumeMounts": [
                {"name": "program", "mountPath": PROGRAM_FOLDER, "readOnly": True},
                {"name": "plan", "mountPath": PLAN_FOLDER, "readOnly": True},
                {"name": "data", "mountPath": DATA_FOLDER}]}],
        "volumes": [
            {"name": "program", "configMap": {"name": job}},
            {"name": "plan", "secret": {"secretName": job, "defaultMode": 0o440}},
            {"name": "data", "emptyDir": {"sizeLimit": settings["disk"]}}]}


class Cluster:
    """What kubectl, with the user's own options, is asked."""

    def __init__(self, options):
        self._options = options

    def _kubectl(self, *words, **more):
        return subprocess.run(["kubectl", *self._options, *words], text=True, check=False,
                              stdout=subprocess.PIPE, **more)

    def run(self, job, items, deadline_s):
        """Creates it all, waits, and returns the record; whatever happens, it is deleted then."""
        try:
            if self._kubectl("create", "-f", "-", input=json.dumps(items)).returncode != 0:
                raise JobFailed("kubectl could not create the job; its words are above")
            print(f"Kubernetes job {job}", file=sys.stderr, flush=True)
            failure = self._wait(job, deadline_s)
            log = self._log(job, 0)
            try:
                return results.from_log(log)
            except results.NoRecord as problem:
                last = "\n".join(f"  {line}" for line in log.splitlines()[-15:])
                raise JobFailed(f"job {job}: {failure or problem}\n{last}") from None
        finally:
            self._kubectl("delete", "--ignore-not-found", "--wait=false",
                          *(f"{kind}/{job}" for kind in ("job", "service", "configmap", "secret")))

    def _wait(self, job, deadline_s):
        """None when all pods have ended well, or what went wrong."""
        deadline = time.monotonic() + deadline_s
        while time.monotonic() < deadline:
            asked = self._kubectl("get", f"job/{job}", "-o", "json")
            if asked.returncode == 0:
                status = json.loads(asked.stdout).get("status", {})
                for condition in status.get("conditions", []):
                    if condition["status"] == "True" and condition["type"] == "Complete":
                        return None
                    if condition["status"] == "True" and condition["type"] == "Failed":
                        return (f"{condition.get('reason', 'failed')}: "
                                f"{condition.get('message', 'no message')}")
            time.sleep(POLL_S)
        return f"not over after {deadline_s:.0f} s"

    def _log(self, job, index):
        """Of the pod of that index."""
        asked = self._kubectl("get", "pods", "-l", f"app.kubernetes.io/instance={job}", "-o", "json")
        pods = json.loads(asked.stdout)["items"] if asked.returncode == 0 else []
        for pod in pods:
            notes = pod["metadata"].get("annotations", {})
            if notes.get("batch.kubernetes.io/job-completion-index") == str(index):
                return self._kubectl("logs", f"pod/{pod['metadata']['name']}", "--tail=-1").stdout
        return ""
