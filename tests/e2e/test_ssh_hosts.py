#!/usr/bin/python3
"""The hosts that tests of ssh use (ssh_hosts.py) are what those tests take them for."""

import subprocess

import ssh_hosts
from harness import MIB, SwarmTest, main


class Hosts(SwarmTest):
    def setUp(self):
        super().setUp()
        self.hosts = ssh_hosts.start(self, 2)

    def ssh(self, host, command, *options, timeout=30):
        """(exit status, what it said) of a command there."""
        done = subprocess.run([*self.hosts.ssh, "-o", "BatchMode=yes", "-o", "ConnectTimeout=5", *options, "--",
                               host, command], capture_output=True, text=True, timeout=timeout, check=False,
                              stdin=subprocess.DEVNULL)
        return done.returncode, done.stdout + done.stderr

    def test_each_host_has_its_own_home_name_and_programs(self):
        self.hosts["host2"].install("#!/bin/sh\necho another\n")
        for host in self.hosts:
            (host.home / "mark").write_text(host.name)
        self.assertEqual((0, "host1\nhost1\n/root\n"), self.ssh("host1", "cat ~/mark; echo; hostname; pwd"))
        self.assertEqual((0, "host2"), self.ssh("host2", "cat mark"))
        self.assertEqual(0, self.ssh("host1", "firn --version")[0])
        self.assertEqual((0, "another\n"), self.ssh("host2", "firn"))
        self.hosts["host1"].install(None)
        self.assertEqual(127, self.ssh("host1", "firn")[0])

    def test_logins_fail_in_the_ways_of_ssh(self):
        one = self.hosts["host1"]
        one.forget_key()
        self.assertIn("Host key verification failed", self.ssh("host1", "true")[1])
        one.change_key()
        self.assertIn("REMOTE HOST IDENTIFICATION HAS CHANGED", self.ssh("host1", "true")[1])
        self.assertEqual((0, ""), self.ssh("host2", "true"))
        two = self.hosts["host2"]
        two.deny()
        self.assertIn("Permission denied", self.ssh("host2", "true")[1])
        two.permit()
        two.refuse()
        self.assertIn("Connection refused", self.ssh("host2", "true")[1])

    def test_a_session_can_be_killed_frozen_and_cut(self):
        one, two = self.hosts["host1"], self.hosts["host2"]
        alive = ["-o", "ServerAliveInterval=1", "-o", "ServerAliveCountMax=2"]
        session = self.programs.start("session", [*self.hosts.ssh, "host1", "echo ready; exec sleep 1000"])
        session.wait_line("ready")
        self.assertEqual(1, len(one.pids("sleep")))
        self.assertEqual([], two.pids("sleep"))
        one.kill_sessions()
        self.assertEqual(255, session.wait_exit())

        for break_it, mend in ((one.freeze, one.thaw), (one.cut, one.join)):
            session = self.programs.start("session", [*self.hosts.ssh, *alive, "host1", "echo ready; exec sleep 1000"])
            session.wait_line("ready")
            break_it()
            self.assertEqual(255, session.wait_exit(), session.story())
            mend()

        one.mount_small("small", MIB)
        self.assertIn("No space left", self.ssh("host1", "head -c 2M /dev/zero >~/small/file")[1])
        self.assertEqual(MIB, one.inside(ssh_hosts.HOME / "small/file").stat().st_size)

    def test_a_host_that_allows_only_ssh_is_called_by_nobody_and_calls_nobody(self):
        one, two = self.hosts["host1"], self.hosts["host2"]
        for host in (one, two):
            server = self.programs.start("server", host.command("python3", "-u", "-m", "http.server", "8000"))
            server.wait_line("Serving")

        def calls(caller, called):
            call = f"import socket; socket.create_connection(('{called}', 8000), 3)"
            return subprocess.run([*caller, "python3", "-c", call], capture_output=True, check=False).returncode == 0

        self.assertTrue(calls(one.command(), two.address))
        self.assertTrue(calls([], one.address))
        one.allow_only_ssh()
        self.assertFalse(calls(one.command(), two.address))
        self.assertFalse(calls(two.command(), one.address))
        self.assertFalse(calls([], one.address))
        self.assertTrue(calls([], two.address))
        self.assertTrue(calls(one.command(), "127.0.0.1"))
        self.assertEqual((0, "here\n"), self.ssh("host1", "echo here"))

    def test_a_host_of_a_slow_line_still_answers(self):
        self.hosts["host1"].limit(1)
        status, said = self.ssh("host1", "head -c 100K /dev/zero | wc -c; head -c 100K /dev/zero")
        self.assertEqual((0, "102400"), (status, said.split("\n")[0]))


if __name__ == "__main__":
    main()
