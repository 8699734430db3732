#!/usr/bin/python3
"""The examples for Kubernetes: held to the published schemas, and their containers' commands run here."""

import sys
import unittest

import harness
from harness import KIB

sys.path.insert(0, str(harness.ROOT / "tests/swarm"))
try:
    import kubernetes_schemas
    import yaml
except ImportError:
    kubernetes_schemas = yaml = None

EXAMPLES = sorted((harness.ROOT / "docs/examples").glob("kubernetes-*.yaml"))


def items(name=""):
    """The objects of the examples whose names end so."""
    return [item for path in EXAMPLES if path.stem.endswith(name)
            for item in yaml.safe_load_all(path.read_text(encoding="utf-8"))]


def pods():
    return [item["spec"]["template"]["spec"] for item in items() if "template" in item.get("spec", {})]


def containers():
    return [container for pod in pods() for container in pod.get("initContainers", []) + pod["containers"]]


@unittest.skipUnless(yaml, "python3-yaml or python3-jsonschema is missing: scripts/setup installs them")
class Schemas(unittest.TestCase):
    def setUp(self):
        if not kubernetes_schemas.available():
            self.skipTest("no schemas of Kubernetes in .cache (docs/hacking.md)")
        self.schemas = kubernetes_schemas.load()

    def test_every_object_is_as_published(self):
        self.assertEqual({"ConfigMap", "Service", "DaemonSet", "Deployment"}, {item["kind"] for item in items()})
        for item in items():
            self.assertEqual([], kubernetes_schemas.errors(item, self.schemas))

    def test_a_mistake_in_one_is_found(self):
        (daemon_set,) = [item for item in items() if item["kind"] == "DaemonSet"]
        daemon_set["spec"]["template"]["spec"]["containers"][0]["resource"] = {}
        self.assertIn("'resource' was unexpected", str(kubernetes_schemas.errors(daemon_set, self.schemas)))


@unittest.skipUnless(yaml, "python3-yaml or python3-jsonschema is missing: scripts/setup installs them")
class Pods(unittest.TestCase):
    def test_none_runs_as_root_or_may_become_it(self):
        for pod in pods():
            self.assertTrue(pod["securityContext"]["runAsNonRoot"])
        for container in containers():
            self.assertEqual({"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}},
                             container["securityContext"])

    def test_the_limit_of_memory_is_twice_what_firn_takes_by_itself(self):
        """docs/operations.md: --memory is 128M, or half of the limit if that is less."""
        limits = {container["resources"]["limits"]["memory"] for container in containers() if "resources" in container}
        self.assertEqual({"256Mi"}, limits)

    def test_ports_have_the_names_and_numbers_of_the_service(self):
        (service,) = [item for item in items() if item["kind"] == "Service"]
        given = {port["name"]: port["containerPort"] for container in containers() for port in container.get("ports", [])}
        self.assertEqual({port["name"]: port["port"] for port in service["spec"]["ports"]}, given)


@unittest.skipUnless(yaml, "python3-yaml or python3-jsonschema is missing: scripts/setup installs them")
class Commands(harness.SwarmTest):
    """What the containers run, with folders of this test in place of the volumes' and loopback for their ports."""

    def setUp(self):
        super().setUp()
        (config,) = [item for item in items("peers") if item["kind"] == "ConfigMap"]
        self.mounted = self.folder / "etc"
        self.mounted.mkdir()
        seed = self.share(self.file(300 * KIB))
        for name, text in config["data"].items():
            if name.endswith(".link"):
                text = seed.link()
            self.assertTrue(text.strip())
            (self.mounted / name).write_text(text.replace('"*:4711"', '"127.0.0.1:0"').replace('"*:9711"', '"localhost:0"'))

    def run_container(self, container, name, **values):
        words = container["args"]
        for old, new in {"/etc/firn": self.mounted, "/models": self.folder / name,
                         **{f"$({key}):4711": value for key, value in values.items()}}.items():
            words = [word.replace(old, str(new)) for word in words]
        return self.firn(name, *words, "--json", *(() if "--config" in words else harness.LISTEN))

    def test_the_peer_fetches_the_content_and_the_init_container_takes_it_from_there(self):
        (daemon_set,) = [item for item in items("peers") if item["kind"] == "DaemonSet"]
        (deployment,) = items("model")
        peer = self.run_container(daemon_set["spec"]["template"]["spec"]["containers"][0], "peer")
        peer.wait_event("metrics")
        peer.wait_event("complete")
        self.assertIsNone(peer.process.poll())
        (init,) = deployment["spec"]["template"]["spec"]["initContainers"]
        got = self.run_container(init, "model", NODE=peer.endpoint())
        self.assert_completes(got)
        self.assert_same(self.folder / "source/content.bin", self.folder / "model/content.bin")


if __name__ == "__main__":
    harness.main()
