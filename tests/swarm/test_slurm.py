#!/usr/bin/python3
"""`scripts/swarm run --on slurm` with a real Slurm on this machine (slurm_here.py): a controller and two
nodes. Skipped where Slurm is missing or the machine does not allow the namespaces that it runs in."""

import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests"), str(pathlib.Path(__file__).parent)]

import counted_unittest
import slurm_here
from running.programs import Program
from swarm_lab import collect, hosts, report

SCENARIO = """
title = "four peers: two that crash half-way, one that leaves, one that comes later"
content_mib = 4
deadline_s = 90
[seed]
up_mbit = 40
[[peers]]
count = 1
up_mbit = 16
down_mbit = 32
arrives_s = 0.3
[[peers]]
count = 1
up_mbit = 16
leaves_on_finish = true
[[peers]]
count = 2
up_mbit = 16
crashes_at = 0.4
"""
BEHIND_A_FIREWALL = """
title = "four peers, one of which accepts no connections"
content_mib = 4
deadline_s = 90
[seed]
up_mbit = 40
[[peers]]
count = 3
up_mbit = 20
down_mbit = 60
[[peers]]
count = 1
up_mbit = 20
reachable = false
"""
ENDLESS = """
title = "a seed that sends too little for any peer to end"
content_mib = 4
deadline_s = 3600
[seed]
up_mbit = 0.1
[[peers]]
count = 2
up_mbit = 1
"""


class OnSlurm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            slurm_here.check()
            folder = cls.enterClassContext(tempfile.TemporaryDirectory())
            cls.slurm = cls.enterClassContext(slurm_here.Slurm(folder, 2))
        except slurm_here.Unavailable as reason:
            raise unittest.SkipTest(str(reason)) from None

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.out = self.folder / "runs"

    def command(self, scenario, *more):
        path = self.folder / "small.toml"
        path.write_text(scenario, encoding="utf-8")
        return [str(ROOT / "scripts" / "swarm"), "run", str(path), "--on", "slurm", "--network",
                "127.0.0.0/8", "--out", str(self.out), *more]

    def run_swarm(self, scenario, *more):
        return subprocess.run(self.command(scenario, *more), env=self.slurm.environment,
                              capture_output=True, text=True, timeout=100, check=False)

    def test_a_race_of_tasks_on_two_nodes_has_the_record_of_any_race(self):
        done = self.run_swarm(SCENARIO)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        (path,) = self.out.glob("*.json")
        record = json.loads(path.read_text(encoding="utf-8"))
        self.assertEqual(collect.failed(record), [])  # every byte of every finisher was compared
        self.assertEqual((record["finishers"], record["expected_finishers"]), (2, 2))
        self.assertEqual(record["placement"]["hosts"], {"node1": 3, "node2": 3})
        self.assertEqual([peer["crashed"] for peer in record["peers"]], [False, False, True, True])
        self.assertIsNotNone(record["peers"][1]["left_s"])
        self.assertGreaterEqual(record["peers"][0]["started_s"], 0.3)
        for peer in record["peers"][:2]:
            self.assertGreater(peer["cpu_s"], 0)
            self.assertGreater(peer["facts"]["blocks_innovative"], 0)
        # Else the clients' limits or the bound are wrong.
        self.assertGreaterEqual(record["ratio"], 1)
        self.assertIn("firn on slurm", done.stdout)
        self.assertIn("firn on slurm", report.tables(report.load([self.out])))
        self.assertEqual(list(self.out.iterdir()), [path])  # the job's folder is gone
        self.assertEqual(self.slurm.queue(), [])

    def test_tasks_that_are_root_have_hosts_that_accept_no_connections_and_count_bytes(self):
        try:
            hosts.check()
        except hosts.NoNetwork as reason:
            self.skipTest(str(reason))
        done = self.run_swarm(BEHIND_A_FIREWALL, "--links", "namespaces")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        (path,) = self.out.iterdir()
        record = json.loads(path.read_text(encoding="utf-8"))
        self.assertEqual(collect.failed(record), [])
        self.assertEqual(record["finishers"], 4)
        self.assertEqual(record["placement"]["links"], "namespaces")
        self.assertGreaterEqual(record["ratio"], 1)
        for peer in record["peers"]:
            self.assertGreater(peer["wire_received"], 4 << 20)
        self.assertEqual(list(hosts.NETNS.iterdir()), [])

    def test_what_a_task_lacks_is_told_and_its_log_is_kept(self):
        done = self.run_swarm(SCENARIO, "--client", "firn:build=/nowhere")
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("/nowhere/client/firn is missing", done.stderr)
        (folder,) = self.out.iterdir()
        self.assertIn("/nowhere", (folder / "slurm.log").read_text(encoding="utf-8"))
        self.assertEqual((folder / "plan.json").stat().st_mode & 0o077, 0)

    def test_an_interrupted_command_takes_its_job_with_it(self):
        swarm = Program("swarm", self.command(ENDLESS), env=self.slurm.environment)
        self.addCleanup(swarm.kill)
        job = swarm.wait_line(r"Slurm job (\d+)", 60, stream="stderr").group(1)
        swarm.send(signal.SIGINT)
        self.assertNotEqual(swarm.wait_exit(60), 0)
        self.assertIn("CANCELLED", self.state(job))

    def state(self, job):
        """Of a job, once its processes are gone too."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            told = subprocess.run(["scontrol", "show", "job", job], env=self.slurm.environment,
                                  capture_output=True, text=True, check=True).stdout
            if "JobState=COMPLETING" not in told:
                return told
        self.fail(f"job {job} does not end: {told}")


if __name__ == "__main__":
    try:
        slurm_here.check()
    except slurm_here.Unavailable:
        pass  # the tests say why they are skipped
    else:
        slurm_here.enter()
    counted_unittest.main()
