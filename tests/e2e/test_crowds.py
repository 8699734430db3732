#!/usr/bin/python3
"""Strangers that try to fill a seed's tables: with connections that say nothing, with neighbours
that do nothing, with messages without end. Loopback addresses of their own stand for their hosts."""

import itertools
import re
import socket
import struct
import threading

import harness
from harness import LISTEN, MIB
from pypeer.connection import Closed, Connection
from pypeer.identity import Identity
from pypeer.manifest import Manifest
from pypeer.wire import frame, peer_pb2

PLACES = 40  # of a content


class Crowds(harness.SwarmTest):
    def setUp(self):
        super().setUp()
        self.source = self.file(2 * MIB)
        self.manifest_file = self.create(self.source)
        self.content_id = Manifest(self.manifest_file.read_bytes()).content_id
        self.identity = Identity(self.folder)

    def seed(self, *prefix):
        return self.programs.start("seed", [
            *prefix, str(harness.BUILD / "client" / "firn"), "seed", self.manifest_file,
            self.source.parent, "--no-tracker", *LISTEN])

    def dial(self, seed, source, identity=None):
        connection = Connection(identity or self.identity, seed.endpoint(), source)
        self.addCleanup(connection.close)
        return connection

    def assert_serves(self, seed):
        """An honest peer downloads from it; tries of one that is refused come seconds apart."""
        get = self.get(self.manifest_file, "get", "--no-tracker", "--peer", seed.endpoint())
        self.assert_downloaded(self.source, get, timeout=60)

    def test_silent_connections_do_not_keep_others_out(self):
        seed = self.seed("prlimit", "--nofile=512:512")  # 256 connections, 128 of them unproven
        host, port = seed.endpoint().rpartition("@")[2].rsplit(":", 1)
        for i in range(180):
            stranger = socket.create_connection((host, int(port)), timeout=20,
                                                source_address=(f"127.0.0.{2 + i % 9}", 0))
            self.addCleanup(stranger.close)
        for i in range(25):
            self.dial(seed, "127.0.0.77").greet(self.content_id)
        self.assert_serves(seed)

    def idle_crowd(self, seed, then=b""):
        """Neighbours of as many prefixes, which say Hello and perhaps a little more."""
        for i in range(PLACES):
            connection = self.dial(seed, f"127.1.{i}.1", Identity(self.folder))
            connection.greet(self.content_id, has_manifest=True)
            connection.send_bytes(then)

    def test_idle_peers_of_forty_addresses_make_room(self):
        seed = self.seed()
        self.idle_crowd(seed)
        self.assert_serves(seed)

    def test_half_frames_of_forty_addresses_do_not_hold_places(self):
        seed = self.seed()
        self.idle_crowd(seed, struct.pack(">I", 1000) + b"x" * 500)
        self.assert_serves(seed)

    def flood(self, message):
        """Sends one message as fast as it goes, and while an honest peer downloads; the memory that
        the seed took at most, in MiB."""
        seed = self.seed()
        connection = self.dial(seed, "127.1.1.1")
        connection.greet(self.content_id, has_manifest=True)
        one = frame(message.SerializeToString())
        many = one * (MIB // len(one))
        much = threading.Event()

        def send():
            try:
                for count in itertools.count():
                    if count == 32:
                        much.set()
                    connection.send_bytes(many)
            except (Closed, OSError):
                pass  # the test is over

        threading.Thread(target=send, daemon=True).start()
        much.wait(5)  # a seed that does not read so fast does well
        self.assert_serves(seed)
        with open(f"/proc/{seed.process.pid}/status", encoding="ascii") as status:
            peak = re.search(r"VmHWM:\s+(\d+) kB", status.read())
        return int(peak[1]) / 1024

    def test_empty_states_without_end_take_no_memory_and_starve_nobody(self):
        state = peer_pb2.PeerMessage(state=peer_pb2.State(credit=1))
        self.assertLess(self.flood(state), 128 + 64)

    def test_large_states_without_end_take_no_memory_and_starve_nobody(self):
        state = peer_pb2.PeerMessage(state=peer_pb2.State(
            credit=1, generations=[peer_pb2.GenerationState() for _ in range(4096)]))
        self.assertLess(self.flood(state), 128 + 64)


if __name__ == "__main__":
    harness.main()
