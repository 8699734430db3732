#!/usr/bin/python3
"""Strangers that try to fill a seed's tables: with connections that say nothing, with neighbours
that do nothing, with messages without end. Loopback addresses of their own stand for their hosts.

How long a newcomer waits is printed, not asserted: tests run beside each other."""

import itertools
import re
import select
import socket
import struct
import threading
import time

import harness
from harness import LISTEN, MIB
from pypeer.connection import Closed, Connection
from pypeer.identity import Identity
from pypeer.leech import Leech
from pypeer.manifest import Manifest
from pypeer.wire import frame, peer_pb2

PLACES = 40  # of a content
MEMORY = 16  # MiB, of a seed that is flooded
NEWCOMERS = 5
PATIENCE = 60  # seconds after which a newcomer counts as shut out


class Stranger:
    """Does `deed(stop)` in a thread of its own, until it is stopped or the other side hangs up."""

    def __init__(self, deed):
        self.left = threading.Event()  # by the other side
        self.error = None
        self._deed = deed
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def is_at_it(self):
        return self._thread.is_alive()

    def stop(self):
        self._stop.set()
        self._thread.join()

    def _run(self):
        try:
            self._deed(self._stop)
        except (Closed, ConnectionError) as error:
            self.error = error
            self.left.set()
        except Exception as error:  # the test tells of it
            self.error = error


class Crowds(harness.SwarmTest):
    def setUp(self):
        super().setUp()
        self.source = self.file(2 * MIB)
        self.manifest_file = self.create(self.source)
        self.manifest = Manifest(self.manifest_file.read_bytes())
        self.content_id = self.manifest.content_id
        self.identity = Identity(self.folder)

    def seed(self, *prefix, options=()):
        return self.programs.start("seed", [
            *prefix, str(harness.BUILD / "client" / "firn"), "seed", self.manifest_file,
            self.source.parent, "--no-tracker", *LISTEN, *options])

    def dial(self, seed, source, identity=None):
        connection = Connection(identity or self.identity, seed.endpoint(), source)
        self.addCleanup(connection.close)
        return connection

    def await_first_block(self, seed, host, identity):
        """A peer that calls until it is taken has got a block, and stays."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                leech = Leech(self.dial(seed, host, identity), self.content_id)
                leech.use_manifest(self.manifest)
                return leech.download(until=lambda: leech.blocks)
            except (Closed, OSError) as error:
                self.assertLess(time.monotonic(), deadline, f"a newcomer gets no block: {error}")
                select.select([], [], [], 0.2)

    def assert_serves_newcomers(self, seed, count):
        """Peers that come one after the other, from hosts of their own, each get a block."""
        waits = []
        for i in range(count):
            begin = time.monotonic()
            self.await_first_block(seed, f"127.2.{i}.1", Identity(self.folder))
            waits.append(time.monotonic() - begin)
        print(f"{self.id()}: newcomers had a block after",
              ", ".join(f"{wait:.1f}" for wait in waits), "s", flush=True)

    def assert_serves(self, seed, newcomers=NEWCOMERS):
        """Newcomers get a block each, then one downloads; tries of one that is refused come seconds
        apart."""
        self.assert_serves_newcomers(seed, newcomers)
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

    def keep_calling(self, seed, hosts):
        """Idle peers that call again, under fresh names, as soon as the seed leaves them; until the
        test ends. Returns two lists: hosts that had a place and lost it, and of those the ones that
        have called again; hosts are in them as often as that happened."""
        lost, again, stop = [], [], threading.Event()

        def call(host):
            connection = Connection(Identity(self.folder), seed.endpoint(), host)
            connection.send(hello=peer_pb2.Hello(
                version_min=1, version_max=1, content_id=self.content_id, has_manifest=True))
            return connection

        def stay():
            crowd, placed, left = {}, set(), set()
            while not stop.is_set():
                for host in hosts:
                    try:
                        if host not in crowd:
                            crowd[host] = call(host)
                            if host in left:
                                left.remove(host)
                                again.append(host)
                        while True:
                            message = crowd[host].receive(time.monotonic() + 0.001)
                            if message.WhichOneof("body") == "hello":
                                placed.add(host)  # a refused peer gets a Goodbye alone
                    except TimeoutError:
                        pass  # it has nothing more to say
                    except (Closed, OSError):
                        if host in crowd:
                            crowd.pop(host).close()
                        if host in placed:
                            placed.remove(host)
                            left.add(host)
                            lost.append(host)
            for connection in crowd.values():
                connection.close()

        thread = threading.Thread(target=stay, daemon=True)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(stop.set)  # before the join
        return lost, again

    def test_idle_peers_that_call_again_as_soon_as_they_are_left_make_room_too(self):
        seed = self.seed()
        lost, again = self.keep_calling(seed, [f"127.1.{i}.1" for i in range(PLACES * 3 // 2)])
        seed.wait_event("progress", where=lambda event: event["peers"] == PLACES)
        self.assert_serves(seed)
        # The places were full, so that each newcomer has got one of theirs.
        self.assertGreaterEqual(len(lost), NEWCOMERS)
        deadline = time.monotonic() + 20  # their thread has dozens to look after
        while len(again) < NEWCOMERS:
            self.assertLess(time.monotonic(), deadline, "they did not call again")
            time.sleep(0.01)

    def flood(self, message, *options, newcomers=NEWCOMERS):
        """Sends one message as fast as it goes, and while honest peers are served: the seed's memory
        stays bounded. Whether the seed has hung up on the flooder."""
        seed = self.seed(options=("--memory", f"{MEMORY}M", *options))
        connection = self.dial(seed, "127.1.1.1")
        connection.greet(self.content_id, has_manifest=True)
        one = frame(message.SerializeToString())
        many = one * (MIB // len(one))
        much = threading.Event()

        def send(stop):
            for count in itertools.count():
                if count == 32:
                    much.set()
                if not connection.send_until(stop, many):
                    return

        flooder = Stranger(send)
        self.addCleanup(flooder.stop)
        much.wait(5)  # a seed that does not read so fast does well
        self.assert_serves(seed, newcomers)
        with open(f"/proc/{seed.process.pid}/status", encoding="ascii") as status:
            peak = re.search(r"VmHWM:\s+(\d+) kB", status.read())
        self.assertLess(int(peak[1]) / 1024, MEMORY + 64)
        self.assertNotIn("banned for", seed.output("stderr"))
        # The seed may read from it for a second after the goodbye.
        left = flooder.left.wait(5)
        self.assertTrue(left or flooder.is_at_it(), f"the flood broke off: {flooder.error}")
        return left

    def test_empty_states_without_end_take_no_memory_and_starve_nobody(self):
        self.flood(peer_pb2.PeerMessage(state=peer_pb2.State(credit=1)))

    def test_large_states_without_end_take_no_memory_and_starve_nobody(self):
        self.flood(peer_pb2.PeerMessage(state=peer_pb2.State(
            credit=1, generations=[peer_pb2.GenerationState() for _ in range(4096)])))

    def null_vectors(self, vector_of):
        """A State of 16 KiB."""
        return peer_pb2.PeerMessage(state=peer_pb2.State(credit=1, generations=[
            peer_pb2.GenerationState(generation=g, rank=1, null_vector=vector_of(
                self.manifest.blocks_in(g)))
            for g in itertools.islice(itertools.cycle(range(self.manifest.generation_count)), 220)]))

    def test_null_vectors_without_end_take_no_memory_and_starve_nobody(self):
        self.flood(self.null_vectors(lambda n: bytes(range(1, n + 1))))

    def test_requests_again_and_again_take_no_memory_and_starve_nobody(self):
        """They are no fault; most are not answered."""
        for message in (peer_pb2.PeerMessage(leaf_request=peer_pb2.LeafRequest(generations=[0] * 16)),
                        peer_pb2.PeerMessage(check_request=peer_pb2.CheckRequest(
                            generations=range(self.manifest.generation_count)))):
            with self.subTest(message.WhichOneof("body")):
                self.flood(message)

    def test_leaf_requests_of_large_generations_starve_nobody(self):
        self.source = self.file(64 * MIB, "large.bin")
        self.manifest_file = self.create(self.source, "--generation-size", 2048,
                                         "--block-size", 16 << 10)
        seed = self.seed(options=("--memory", "64M"))
        content_id = Manifest(self.manifest_file.read_bytes()).content_id
        request = frame(peer_pb2.PeerMessage(leaf_request=peer_pb2.LeafRequest(
            generations=[0, 1] * 8)).SerializeToString())

        def asking(connection):
            def ask(stop):
                while connection.send_until(stop, request):
                    try:
                        while True:
                            connection.receive(time.monotonic() + 0.05)
                    except TimeoutError:
                        pass
            return ask

        strangers = []
        for i in range(8):
            connection = self.dial(seed, f"127.1.{i}.1", Identity(self.folder))
            connection.greet(content_id, has_manifest=True)
            strangers.append(Stranger(asking(connection)))
            self.addCleanup(strangers[-1].stop)
        get = self.get(self.manifest_file, "get", "--no-tracker", "--peer", seed.endpoint())
        self.assert_downloaded(self.source, get, timeout=120)  # only ends a hang
        for stranger in strangers:
            self.assertTrue(stranger.left.is_set() or stranger.is_at_it(),
                            f"its requests broke off: {stranger.error}")
        self.assertTrue(any(stranger.is_at_it() for stranger in strangers), "the seed left them all")

    def test_who_floods_a_seed_with_a_single_place_loses_it_to_a_newcomer(self):
        """No message of it is a fault: it is left because it does nothing useful."""
        for message in (peer_pb2.PeerMessage(state=peer_pb2.State()), self.null_vectors(bytes)):
            message.state.credit = 0
            with self.subTest(message.ByteSize()):
                self.assertTrue(self.flood(message, "--max-peers", "1", newcomers=1),
                                "the flooder has its place")


if __name__ == "__main__":
    harness.main()
