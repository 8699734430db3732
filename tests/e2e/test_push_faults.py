#!/usr/bin/python3
"""Hosts of `firn push` that fail, each in its own way: the others get everything and do not wait, and the line of
each names its fault."""

import re
import shlex
import time

import harness
import ssh_hosts
from harness import MIB, UNREACHABLE, SwarmTest

OTHER_FIRN = """#!/bin/sh
echo "usage: firn COMMAND" >&2
exit 2
"""


class Faults(SwarmTest):
    def push(self, *words):
        return self.firn("push", "push", *words, "--ssh", shlex.join(self.hosts.ssh), "--listen", f"{self.hosts.address}:0",
                         "--json", "--no-tracker")

    def start(self, count, size):
        self.hosts = ssh_hosts.start(self, count)
        self.source = self.file(size)

    def rows(self, push):
        """{host: its last event}, once the push has ended."""
        return {event["host"]: event for event in push.events if event["event"] == "push_host"}

    def assert_has_it(self, name, rows, folder="."):
        self.assertEqual("complete", rows[name]["state"], rows[name])
        self.assert_same(self.source, self.hosts[name].home / folder / self.source.name)

    def assert_failed(self, row, *words):
        """Its line has one of the words, and no control character."""
        self.assertEqual("failed", row["state"], row)
        reason = row["reason"] or ""
        self.assertTrue(any(re.search(word, reason, re.IGNORECASE) for word in words), row)
        self.assertTrue(reason.isprintable(), row)

    def assert_first(self, push, first, then):
        """The host `first` was done before `then` was."""
        order = [event["host"] for event in push.events
                 if event["event"] == "push_host" and event["state"] in ("complete", "failed")]
        self.assertLess(order.index(first), order.index(then), order)

    def test_logins_that_fail_each_in_its_way(self):
        self.start(8, 3 * MIB)
        hosts = self.hosts
        hosts["host2"].refuse()
        hosts["host3"].forget_key()
        hosts["host4"].change_key()
        hosts["host5"].deny()
        hosts["host6"].install(None)
        hosts["host7"].install(OTHER_FIRN)
        push = self.push(self.source, *(f"host{number}" for number in range(1, 9)), "nowhere.invalid")
        self.assertEqual(UNREACHABLE, push.wait_exit(90), push.story())
        rows = self.rows(push)
        for name in ("host1", "host8"):
            self.assert_has_it(name, rows)
        for name, words in (("host2", "refused"), ("host3", "not known here"), ("host4", "not the one"),
                            ("host5", "permission denied"), ("host6", "no firn"), ("host7", "no firn|another|not firn|version"),
                            ("nowhere.invalid", "name is not known")):
            with self.subTest(host=name):
                self.assert_failed(rows[name], words)

    def test_folders_that_take_nothing(self):
        self.start(6, 8 * MIB)
        hosts = self.hosts
        hosts["host2"].mount_small("small", 2 * MIB)
        (hosts["host3"].home / "data").mkdir()
        (hosts["host3"].home / "data" / self.source.name).write_text("another's")
        (hosts["host4"].home / "data").write_text("a file")
        hosts["host5"].mount_small("fixed", MIB)
        hosts["host5"].run("mount", "-o", "remount,ro", ssh_hosts.HOME / "fixed")
        push = self.push(self.source, "-o", "data", "host1", "host2:small", "host3", "host4", "host5:fixed/new", "host6",
                         "-t", "15s")
        self.assertEqual(UNREACHABLE, push.wait_exit(120), push.story())
        rows = self.rows(push)
        for name in ("host1", "host6"):
            self.assert_has_it(name, rows, "data")
        for name, words in (("host2", "space|full"), ("host3", "there already|overwrite"), ("host4", "no folder|not a folder|not a directory|exists"),
                            ("host5", "read-only")):
            with self.subTest(host=name):
                self.assert_failed(rows[name], words)
        self.assertEqual("another's", (hosts["host3"].home / "data" / self.source.name).read_text())

    def test_hosts_that_stop_half_way(self):
        """One is killed, one frozen, one cut off, one slow: the rest is done before these, and the slow one gets all."""
        self.start(5, 4 * MIB)
        hosts = self.hosts
        for name in ("host2", "host3", "host4", "host5"):
            hosts[name].limit(4)
        push = self.push(self.source, *(host.name for host in hosts))

        for name, break_it in (("host2", lambda host: host.kill("firn")), ("host3", lambda host: host.freeze()),
                               ("host4", lambda host: host.cut())):
            self.wait_until((hosts[name].home / ".firn").exists, f"{name} receives", 60)
            break_it(hosts[name])
        self.assertEqual(UNREACHABLE, push.wait_exit(150), push.story())
        rows = self.rows(push)
        for name in ("host1", "host5"):
            self.assert_has_it(name, rows)
        for name in ("host3", "host4", "host5"):
            self.assert_first(push, "host1", name)
        for name, words in (("host2", "killed|signal 9"), ("host3", "connection lost|does not answer"),
                            ("host4", "connection lost|does not answer")):
            with self.subTest(host=name):
                self.assert_failed(rows[name], words)

    def test_nothing_runs_on_after_the_push_is_killed(self):
        self.start(2, 8 * MIB)
        for host in self.hosts:
            host.limit(4)
        push = self.push(self.source, "host1", "host2")
        for host in self.hosts:
            self.wait_until((host.home / ".firn").exists, f"{host.name} receives", 60)
        push.kill()
        for host in self.hosts:
            self.wait_until(lambda host=host: not host.pids("firn"), f"firn on {host.name} has ended")

    def wait_until(self, holds, what, timeout=30):
        deadline = time.monotonic() + timeout
        while not holds():
            self.assertLess(time.monotonic(), deadline, what)
            time.sleep(0.05)


if __name__ == "__main__":
    harness.main()
