#!/usr/bin/python3
"""Stands in for kubectl and a cluster: the pods of an indexed Job are processes of this machine. It does
what the manifest says (command, environment, files, names), for as much of it as races use:

    kubectl create -f -       kubectl get job/NAME -o json       kubectl get pods -l LABEL=VALUE -o json
    kubectl logs pod/NAME     kubectl delete KIND/NAME...

State is in the folder KUBECTL_HERE; `asked` there has the arguments of each call.
"""

import base64
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys

STATE = pathlib.Path(os.environ["KUBECTL_HERE"])
NODES = 2


def named(items, kind, name):
    return next(item for item in items if item["kind"] == kind and item["metadata"]["name"] == name)


def create(items):
    job = next(item for item in items if item["kind"] == "Job")
    (STATE / "job").write_text(json.dumps(job))
    spec = job["spec"]
    assert spec["completionMode"] == "Indexed" and spec["parallelism"] == spec["completions"]
    with socket.create_server(("127.0.0.1", 0)) as probe:
        free_port = probe.getsockname()[1]
    for index in range(spec["completions"]):
        start_pod(job, items, index, free_port)


def start_pod(job, items, index, free_port):
    folder = STATE / f"pod-{index}"
    template = job["spec"]["template"]
    container = template["spec"]["containers"][0]
    mounted = {}
    for mount in container["volumeMounts"]:
        path = folder / mount["name"]
        path.mkdir(parents=True)
        mounted[mount["mountPath"]] = str(path)
        volume = next(v for v in template["spec"]["volumes"] if v["name"] == mount["name"])
        for name, data in files_of(volume, items).items():
            (path / name).write_bytes(in_this_world(data, job, items, free_port))
    environment = {"PATH": os.environ["PATH"], "JOB_COMPLETION_INDEX": str(index)}
    fields = {"status.podIP": "127.0.0.1", "spec.nodeName": f"node{index % NODES}"}
    for entry in container["env"]:
        value = entry.get("value") or fields[entry["valueFrom"]["fieldRef"]["fieldPath"]]
        environment[entry["name"]] = relocated(value, mounted)
    command = [relocated(word, mounted) for word in container["command"]]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            ["sh", "-c", '"$@"; echo $? > "$0.part"; mv "$0.part" "$0"', folder / "status", *command],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment,
            start_new_session=True)
    (folder / "pid").write_text(str(process.pid))


def files_of(volume, items):
    if "configMap" in volume:
        data = named(items, "ConfigMap", volume["configMap"]["name"])["binaryData"]
        return {name: base64.b64decode(text) for name, text in data.items()}
    if "secret" in volume:
        data = named(items, "Secret", volume["secret"]["secretName"])["stringData"]
        return {name: text.encode() for name, text in data.items()}
    assert "emptyDir" in volume
    return {}


def in_this_world(data, job, items, free_port):
    """Pods here have neither names nor addresses of their own. The first one's name stands for it only
    if a headless Service gives it that name."""
    spec, name = job["spec"]["template"]["spec"], job["metadata"]["name"]
    service = named(items, "Service", spec["subdomain"])
    labels = job["spec"]["template"]["metadata"]["labels"]
    selector = service["spec"]["selector"]
    if service["spec"]["clusterIP"] == "None" and selector.items() <= labels.items():
        data = data.replace(f'"{name}-0.{spec["subdomain"]}"'.encode(), b'"127.0.0.1"')
        port = service["spec"]["ports"][0]["port"]
        data = data.replace(f'"meet_port": {port},'.encode(), f'"meet_port": {free_port},'.encode())
    return data


def relocated(word, mounted):
    for path, here in mounted.items():
        if word == path or word.startswith(path + "/"):
            return here + word[len(path):]
    return word


def statuses():
    """The exit status of each pod, None: it runs."""
    found = {}
    for folder in STATE.glob("pod-*"):
        path = folder / "status"
        found[folder.name] = int(path.read_text()) if path.exists() else None
    return found


def get_job():
    job = json.loads((STATE / "job").read_text())
    ended = list(statuses().values())
    conditions = []
    if any(ended):
        conditions = [{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded",
                       "message": "Job has reached the specified backoff limit"}]
        end_pods()
    elif None not in ended:
        conditions = [{"type": "Complete", "status": "True"}]
    print(json.dumps({**job, "status": {"conditions": conditions}}))


def get_pods():
    print(json.dumps({"items": [{"metadata": {
        "name": folder, "annotations": {
            "batch.kubernetes.io/job-completion-index": folder.rpartition("-")[2]}}}
        for folder in sorted(statuses())]}))


def end_pods():
    for folder in STATE.glob("pod-*"):
        if not (folder / "status").exists():
            try:
                os.killpg(int((folder / "pid").read_text()), signal.SIGKILL)
            except ProcessLookupError:
                pass


def main(words):
    with (STATE / "asked").open("a", encoding="utf-8") as asked:
        asked.write(json.dumps(words) + "\n")
    words = [word for word in words if not word.startswith("--")]
    if words[0] == "create":
        create(json.load(sys.stdin)["items"])
    elif words[0] == "get":
        get_pods() if words[1] == "pods" else get_job()
    elif words[0] == "logs":
        print((STATE / words[1].partition("/")[2] / "log").read_text(), end="")
    elif words[0] == "delete":
        end_pods()
    else:
        sys.exit(f"unknown: {words}")


if __name__ == "__main__":
    main(sys.argv[1:])
