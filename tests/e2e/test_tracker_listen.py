#!/usr/bin/python3
"""`firn-tracker --listen` several times: peers of all of its addresses find one another."""

import re
import socket
import unittest

import harness
from harness import KIB


def has_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
        return True
    except OSError:
        return False


class Listens(harness.SwarmTest):
    def assert_meet(self, first, second):
        source = self.file(20 * KIB)
        seed = self.share(source, "--tracker", first)
        content = harness.bare(seed.link())
        self.assert_downloaded(source, self.get(f"{content}?tr={second}"))

    def endpoints(self, *listen):
        options = [word for where in listen[1:] for word in ("--listen", where)]
        self.running = self.tracker("tracker", listen[0], "-v", *options)
        return [self.running.wait_line(f"^listening on (.+@{re.escape(where[:-2])}:[0-9]+)$").group(1)
                for where in listen]

    def test_two_addresses_are_one_tracker(self):
        self.assert_meet(*self.endpoints("127.0.0.1:0", "127.0.0.2:0"))

    @unittest.skipUnless(has_ipv6(), "no IPv6 here")
    def test_an_address_of_each_kind(self):
        lines = self.endpoints("127.0.0.1:0", "[::1]:0")
        # Peers of the one kind cannot reach those of the other; the tracker answers both.
        for ip, line in zip(("127.0.0.1", "::1"), lines):
            host = f"[{ip}]" if ":" in ip else ip
            self.firn("of " + ip, "share", self.file(9 * KIB, "content"), "--listen", host + ":0",
                      "--tracker", line)
            self.running.wait_line(f" at {re.escape(ip)}: announce", stream="stderr")

    def test_one_that_cannot_be_listened_at_ends_it(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            tracker = self.tracker("tracker", "127.0.0.1:0", "--listen", f"127.0.0.1:{port}")
            self.assertEqual(3, tracker.wait_exit(), tracker.story())
            self.assertEqual("", tracker.output("stdout"))
            self.assertIn(str(port), tracker.output("stderr"))


if __name__ == "__main__":
    harness.main()
