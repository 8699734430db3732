#!/usr/bin/python3
"""A tracker behind a proxy that names its clients: PROXY protocol, version 2."""

import ipaddress
import random
import select
import shutil
import socket
import ssl
import struct
import subprocess
import time
import unittest

import harness
from pypeer.connection import Closed
from pypeer.identity import Identity
from pypeer.tracker import TrackerConnection

EXAMPLE = harness.ROOT / "docs/examples/haproxy.cfg"
SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"
HAPROXY = shutil.which("haproxy") or shutil.which("/usr/sbin/haproxy")
needs_haproxy = unittest.skipUnless(HAPROXY, "no haproxy here")


def header(source, port=40000):
    """What a proxy writes before a TCP connection from `source`."""
    ip = ipaddress.ip_address(source)
    family = 0x11 if ip.version == 4 else 0x21
    addresses = ip.packed * 2 + struct.pack("!HH", port, 4711)
    return SIGNATURE + struct.pack("!BBH", 0x21, family, len(addresses)) + addresses


class Proxied(harness.SwarmTest):
    def setUp(self):
        super().setUp()
        self.content = random.Random(7).randbytes(32)

    def behind(self, proxies="127.0.0.1", *options):
        self.running = self.tracker("tracker", "127.0.0.1:0", "--proxy-protocol", proxies, *options)
        return self.running.endpoint()

    def visit(self, endpoint, source=None, before=b""):
        connection = TrackerConnection(Identity(self.folder), endpoint, source, before)
        self.addCleanup(connection.close)
        return connection

    def assert_refused_before_tls(self, endpoint, before=b""):
        with self.assertRaises((Closed, ssl.SSLError, ConnectionError)):
            self.visit(endpoint, before=before).announce(self.content)

    def listed(self, connection):
        """The addresses of the content's other peers, as a peer behind `connection` hears them."""
        reply = connection.announce(self.content)
        return {(str(ipaddress.ip_address(peer.ip)), peer.port) for peer in reply.announce.peers}


class Headers(Proxied):
    def test_a_peer_is_listed_where_the_header_says_it_is(self):
        endpoint = self.behind()
        self.visit(endpoint, before=header("192.0.2.33")).announce(self.content, 5001)
        self.visit(endpoint, before=header("2001:db8::33")).announce(self.content, 5002)
        asker = self.visit(endpoint, before=header("198.51.100.7"))
        self.assertEqual({("192.0.2.33", 5001), ("2001:db8::33", 5002)}, self.listed(asker))

    def test_rates_are_those_of_the_named_address(self):
        # A network may announce fifty times at once, and a connection six times.
        endpoint = self.behind("127.0.0.0/8", "--rates", "0.01")
        ours = [self.visit(endpoint, before=header("192.0.2.33")) for _ in range(20)]
        replies = [one.announce(self.content).WhichOneof("body") for one in ours for _ in range(5)]
        self.assertEqual(50, replies[:50].count("announce"))
        self.assertIn("error", replies)
        other = self.visit(endpoint, before=header("198.51.100.7"))
        self.assertEqual("announce", other.announce(self.content).WhichOneof("body"))

    def test_the_named_proxies_alone_may_and_must_send_it(self):
        endpoint = self.behind("127.0.0.1")
        self.assert_refused_before_tls(endpoint)
        self.running.wait_line("PROXY header from 127.0.0.1.*does not begin", stream="stderr")
        direct = self.visit(endpoint, source="127.3.0.1")
        self.assertEqual("announce", direct.announce(self.content).WhichOneof("body"))
        with self.assertRaises((Closed, ssl.SSLError, ConnectionError)):
            self.visit(endpoint, "127.3.0.2", header("192.0.2.33")).announce(self.content)

    def test_addresses_that_are_none_are_wrong_usage(self):
        for text in ("proxy.example", "10.0.0.0/33"):
            tracker = self.tracker("wrong", "127.0.0.1:0", "--proxy-protocol", text)
            self.assertEqual(harness.USAGE, tracker.wait_exit(), tracker.story())
            self.assertIn("--proxy-protocol", tracker.output("stderr"))
            self.assertIn(text, tracker.output("stderr"))


@needs_haproxy
class Haproxy(Proxied):
    def proxy(self, tracker):
        """A running haproxy of the example, with ports of this test: its port."""
        port = harness.free_port()
        text = EXAMPLE.read_text()
        for ours, of_test in (("bind :4711", f"bind 127.0.0.1:{port}"),
                              ("server tracker 127.0.0.1:4712", f"server tracker {tracker.rpartition('@')[2]}")):
            self.assertIn(ours, text)
            text = text.replace(ours, of_test)
        config = self.folder / "haproxy.cfg"
        config.write_text(text)
        log = (self.folder / "haproxy.log").open("w+")
        self.addCleanup(log.close)
        process = subprocess.Popen([HAPROXY, "-db", "-f", config], stdout=log, stderr=log)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.wait_for_listener(port, process)
        return port

    def test_the_example_is_valid(self):
        checked = subprocess.run([HAPROXY, "-c", "-f", EXAMPLE], capture_output=True, text=True)
        self.assertEqual(0, checked.returncode, checked.stderr + checked.stdout)

    def test_peers_reach_a_tracker_through_it_and_are_listed_where_they_are(self):
        endpoint = self.behind()
        port = self.proxy(endpoint)
        through = f"{endpoint.rpartition('@')[0]}@127.0.0.1:{port}"
        self.visit(through, source="127.7.0.1").announce(self.content, 5001)
        asker = self.visit(through, source="127.8.0.1")
        self.assertEqual({("127.7.0.1", 5001)}, self.listed(asker))

    def wait_for_listener(self, port, process):
        """The proxy has no line that says so; a connection is refused until it listens."""
        deadline = time.monotonic() + 20
        while True:
            try:
                return socket.create_connection(("127.0.0.1", port)).close()
            except ConnectionRefusedError:
                said = (self.folder / "haproxy.log").read_text()
                self.assertIsNone(process.poll(), said)
                self.assertLess(time.monotonic(), deadline, said)
                select.select([], [], [], 0.05)


if __name__ == "__main__":
    harness.main()
