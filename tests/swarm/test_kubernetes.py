#!/usr/bin/python3
"""`scripts/swarm run --on kubernetes`: the manifest against the published schemas (skipped where they
are missing, docs/hacking.md), and a race whose pods are processes of this machine (kubectl_here.py).
There is no cluster in these tests."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import tasks_here
import counted_unittest
from running.programs import BUILD, Program
from swarm_lab import collect, scenario
from swarm_lab.cluster import kubernetes, plan

try:
    import kubernetes_schemas
except ImportError:
    kubernetes_schemas = None  # no python3-jsonschema

SMALL = """
title = "two peers"
content_mib = 2
deadline_s = 90
[seed]
up_mbit = 40
[[peers]]
count = 2
up_mbit = 20
"""
SETTINGS = {"image": "registry.example/firn:1", "cpu": "250m", "memory": "512Mi", "disk": "160Mi",
            "deadline_s": 900}


def manifest():
    one = scenario.load("flash-8")
    job = kubernetes.name(one.name, 1)
    told = tasks_here.plan_of(one, pathlib.Path("/nowhere"), record=None, meet_file=None,
                              meet_host=kubernetes.meeting_host(job), meet_port=kubernetes.PORT)
    return kubernetes.manifest(job, told, plan.tasks(one), SETTINGS)


class Manifests(unittest.TestCase):
    def item(self, kind):
        (found,) = [item for item in manifest()["items"] if item["kind"] == kind]
        return found

    def test_the_job_has_a_pod_for_each_host_and_a_name_for_the_first(self):
        job, service = self.item("Job"), self.item("Service")
        self.assertEqual((job["spec"]["completions"], job["spec"]["parallelism"]), (14, 14))
        pod = job["spec"]["template"]
        self.assertEqual(pod["spec"]["subdomain"], service["metadata"]["name"])
        self.assertLessEqual(service["spec"]["selector"].items(), pod["metadata"]["labels"].items())

    def test_the_token_is_in_the_secret_alone(self):
        token = "a secret"
        found = [item["kind"] for item in manifest()["items"] if token in json.dumps(item)]
        self.assertEqual(found, ["Secret"])

    def test_names_are_labels_with_room_for_an_index(self):
        for given in ("flash-8", "Ünusual_Name.of " * 10, "-", "9"):
            found = kubernetes.name(given, "0a1b2c")
            self.assertRegex(found, r"^[a-z]([-a-z0-9]*[a-z0-9])?$")
            self.assertLessEqual(len(f"{found}-99999"), 63)

    def test_a_config_map_takes_the_program(self):
        self.assertLess(len(json.dumps(self.item("ConfigMap"))), 1 << 20)


@unittest.skipUnless(kubernetes_schemas and kubernetes_schemas.available(),
                     "no schemas of Kubernetes in .cache (docs/hacking.md)")
class Schemas(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.schemas = kubernetes_schemas.load()

    def errors(self, items):
        return [error for item in items for error in kubernetes_schemas.errors(item, self.schemas)]

    def test_every_object_of_the_manifest_is_as_published(self):
        self.assertEqual(self.errors(manifest()["items"]), [])

    def test_mistakes_are_found(self):
        def job(change):
            item = json.loads(json.dumps(manifest()["items"][3]))
            change(item["spec"])
            return self.errors([item])
        self.assertIn("completionmode", str(job(lambda spec: spec.update(completionmode="Indexed"))))
        self.assertIn("'12' is not", str(job(lambda spec: spec.update(completions="12"))))
        self.assertIn("'template' is a required", str(job(lambda spec: spec.pop("template"))))
        pod = "'hostNetwrok' was unexpected"
        self.assertIn(pod, str(job(lambda spec: spec["template"]["spec"].update(hostNetwrok=True))))
        self.assertIn("mountPath", str(job(lambda spec: spec["template"]["spec"]["containers"][0]
                                           ["volumeMounts"][0].pop("mountPath"))))


class Races(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.out = self.folder / "runs"
        self.state = self.folder / "cluster"
        self.state.mkdir()
        programs = self.folder / "programs"
        programs.mkdir()
        (programs / "kubectl").symlink_to(pathlib.Path(__file__).parent / "kubectl_here.py")
        (programs / "python3").symlink_to(sys.executable)
        path = [programs, BUILD / "client", BUILD / "tracker", "/usr/bin", "/bin"]
        self.environment = dict(os.environ, KUBECTL_HERE=str(self.state),
                                PATH=os.pathsep.join(str(part.absolute()) if
                                                     isinstance(part, pathlib.Path) else part
                                                     for part in path))
        self.addCleanup(subprocess.run, [programs / "kubectl", "delete"], env=self.environment,
                        check=True)

    def command(self, text):
        path = self.folder / "small.toml"
        path.write_text(text, encoding="utf-8")
        return [str(tasks_here.ROOT / "scripts" / "swarm"), "run", str(path), "--on", "kubernetes",
                "--image", "firn", "--kubectl=--namespace=races", "--out", str(self.out)]

    def run_swarm(self, text):
        return subprocess.run(self.command(text), env=self.environment, capture_output=True, text=True,
                              timeout=150, check=False)

    def asked(self):
        lines = (self.state / "asked").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]

    def test_a_race_of_pods_has_the_record_of_any_race_and_is_deleted(self):
        done = self.run_swarm(SMALL)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        (path,) = self.out.iterdir()
        record = json.loads(path.read_text(encoding="utf-8"))
        self.assertEqual(collect.failed(record), [])
        self.assertTrue(record["complete"])
        self.assertEqual(record["client"], "firn")
        self.assertEqual(record["placement"]["hosts"], {"node0": 2, "node1": 2})
        self.assertIn("firn on kubernetes", done.stdout)
        for words in self.asked():
            self.assertEqual(words[0], "--namespace=races")
        self.check_deleted()

    def check_deleted(self):
        # A question that was interrupted as it was asked may come after.
        last = [words for words in self.asked() if "get" not in words][-1]
        self.assertIn("delete", last)
        kinds = {word.partition("/")[0] for word in last if "/" in word}
        self.assertEqual(kinds, {"job", "service", "configmap", "secret"})

    def test_what_the_image_lacks_is_told(self):
        self.environment["PATH"] = re.sub(r"[^:]*/client:", "", self.environment["PATH"])
        done = self.run_swarm(SMALL)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("firn is missing", done.stderr)
        self.check_deleted()

    def test_an_interrupted_command_deletes_what_it_created(self):
        swarm = Program("swarm", self.command(SMALL.replace("up_mbit = 40", "up_mbit = 0.1")),
                        env=self.environment)
        self.addCleanup(swarm.kill)
        swarm.wait_line("Kubernetes job", 60, stream="stderr")
        swarm.send(signal.SIGINT)
        self.assertNotEqual(swarm.wait_exit(60), 0)
        self.check_deleted()


if __name__ == "__main__":
    counted_unittest.main()
