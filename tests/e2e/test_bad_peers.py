#!/usr/bin/python3
"""Peers that lie, send rubbish or break the protocol: named when guilty, never believed, and the
download completes from others."""

import hashlib
import random
import re
import socket
import ssl
import struct
import threading

import harness
from harness import LISTEN
from pypeer.connection import Closed, Connection, dial_patiently
from pypeer.identity import Identity, text_of
from pypeer.manifest import Manifest
from pypeer.source import Source
from pypeer.wire import FRAME_BYTES_MAX, frame, manifest_pb2, peer_pb2

N, K = 16, 512
SIZE = 6 * N * K


class Polluter(Source):
    """Well-formed blocks with payloads that do not belong to their vectors."""

    def payload_of(self, generation, vector):
        return self.chance.randbytes(self.manifest.k)


class ZeroSender(Source):
    """Blocks whose coding vectors are all zeros: true, and of no use."""

    def send_block(self, g, vector, **changes):
        super().send_block(g, bytes(len(vector)), payload=bytes(self.manifest.k), **changes)


class BadPeers(harness.SwarmTest):
    def setUp(self):
        super().setUp()
        self.source = self.file(SIZE)
        self.data = self.source.read_bytes()
        manifest_file = self.create(self.source, "--generation-size", N, "--block-size", K)
        self.manifest_file = manifest_file
        self.manifest = Manifest(manifest_file.read_bytes())

    def victim(self, *options):
        return self.get(self.manifest_file, "get", "--no-tracker", "--no-pex", *options)

    def honest(self):
        return self.firn("honest", "seed", self.manifest_file, self.source.parent, *LISTEN)

    def dial(self, program):
        identity = Identity(self.folder)
        connection = Connection(identity, program.endpoint())
        connection.identity = identity
        self.addCleanup(connection.close)
        return connection

    def connect_honest_source(self, victim):
        """An honest Python source that serves everything, in a thread that ends with the test."""
        source = Source(self.dial(victim), self.manifest, self.data, random.Random(9))

        def serve():
            try:
                source.serve_all()
            except (Closed, TimeoutError, OSError):
                pass  # the victim is done, or the test is

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        return source.connection.identity

    def assert_named(self, victim, identity):
        victim.wait_line(rf"(?i){identity.text[:8]}", stream="stderr")

    def assert_closed(self, connection):
        """The victim hangs up, be it with a goodbye."""
        try:
            while True:
                connection.receive()
        except Closed:
            pass

    def test_the_download_completes_from_others_beside_a_polluter(self):
        victim = self.victim()
        polluter = Polluter(self.dial(victim), self.manifest, self.data, random.Random(4))
        # Half of two generations is false before anyone else comes.
        polluter.serve_until(lambda: polluter.acknowledged >= N, {0: N // 2, 1: N // 2})
        honest = self.connect_honest_source(victim)
        self.assert_downloaded(self.source, victim)
        self.assertNotIn(honest.text[:8], victim.output("stderr"), "an honest peer was accused")

    def test_a_polluter_alone_gets_nothing_false_into_a_file(self):
        victim = self.victim()
        polluter = Polluter(self.dial(victim), self.manifest, self.data, random.Random(5))
        try:
            polluter.serve_until(lambda: polluter.goodbye, timeout=10)
        except (Closed, TimeoutError):
            pass
        self.assertEqual(0, victim.wait_event("progress")["bytes_verified"])
        self.assertIsNone(victim.last_event("complete"))
        self.connect_honest_source(victim)
        self.assert_downloaded(self.source, victim)

    def bad_block(self, **fields):
        """The victim hangs up on a source that sends a block with these fields."""
        victim = self.victim()
        source = Source(self.dial(victim), self.manifest, self.data, random.Random(6))
        source.serve_until(lambda: source.credit > 0, {})
        source.send_block(0, bytes([1] * N), **fields)
        self.assert_closed(source.connection)
        self.assert_named(victim, source.connection.identity)
        self.connect_honest_source(victim)
        self.assert_downloaded(self.source, victim)

    def test_a_payload_too_short(self):
        self.bad_block(payload=b"x" * (K - 1))

    def test_a_payload_too_long(self):
        self.bad_block(payload=b"x" * (K + 1))

    def test_no_payload(self):
        self.bad_block(payload=b"")

    def test_a_vector_of_wrong_length(self):
        self.bad_block(coefficients=bytes([1] * (N + 1)))

    def test_vectors_of_zeros_without_end(self):
        """They are taken for blocks that bring nothing new, and their sender is left for that."""
        victim = self.victim()
        sender = ZeroSender(self.dial(victim), self.manifest, self.data, random.Random(6))
        sender.serve_until(lambda: sender.goodbye)
        self.assertEqual(peer_pb2.Goodbye.NOT_USEFUL, sender.goodbye.reason)
        self.connect_honest_source(victim)
        self.assert_downloaded(self.source, victim)

    def test_a_generation_that_does_not_exist(self):
        self.bad_block(generation=6)

    def test_a_sequence_number_beyond_the_credit(self):
        self.bad_block(sequence=1_000_000)

    def bad_state(self, **fields):
        victim = self.victim()
        connection = self.dial(victim)
        connection.greet(self.manifest.content_id)
        connection.send(state=peer_pb2.State(**fields))
        self.assert_closed(connection)
        self.assert_named(victim, connection.identity)
        self.connect_honest_source(victim)
        self.assert_downloaded(self.source, victim)

    def test_a_rank_above_n(self):
        self.bad_state(generations=[peer_pb2.GenerationState(generation=0, rank=N + 1)])

    def test_the_state_of_a_generation_that_does_not_exist(self):
        self.bad_state(generations=[peer_pb2.GenerationState(generation=6, rank=1)])

    def test_a_span_of_generations_that_do_not_exist(self):
        self.bad_state(complete=[peer_pb2.Span(first=0, count=4_000_000_000)])

    def test_an_acknowledgement_of_what_was_never_sent(self):
        self.bad_state(acknowledged=1000)

    def test_a_null_vector_of_wrong_length(self):
        self.bad_state(generations=[
            peer_pb2.GenerationState(generation=0, rank=1, null_vector=b"x" * (N - 1))])

    def test_a_peer_that_lies_about_its_rank_costs_nothing(self):
        """It claims to hold everything, takes credit and never sends."""
        victim = self.victim()
        liar = self.dial(victim)
        liar.greet(self.manifest.content_id, has_manifest=True)
        liar.send(state=peer_pb2.State(
            complete=[peer_pb2.Span(first=0, count=self.manifest.generation_count)]))
        self.connect_honest_source(victim)
        self.assert_downloaded(self.source, victim)

    def broken_stream(self, data, greeted=True):
        victim = self.victim()
        connection = self.dial(victim)
        if greeted:
            connection.greet(self.manifest.content_id)
        try:
            connection.send_bytes(data)
        except Closed:
            pass
        self.assert_closed(connection)
        if greeted:  # before Hello it has no part in the content
            self.assert_named(victim, connection.identity)
        self.connect_honest_source(victim)
        self.assert_downloaded(self.source, victim)

    def test_an_oversized_frame(self):
        self.broken_stream(struct.pack(">I", FRAME_BYTES_MAX + 1) + b"x" * 100)

    def test_an_empty_frame(self):
        self.broken_stream(struct.pack(">I", 0))

    def test_a_frame_that_is_no_message(self):
        self.broken_stream(frame(b"\xff" * 50))

    def test_random_frames(self):
        chance = random.Random(7)
        self.broken_stream(b"".join(frame(chance.randbytes(chance.randrange(1, 2000)))
                                    for _ in range(50)))

    def test_random_bytes_instead_of_a_hello(self):
        self.broken_stream(random.Random(8).randbytes(5000), greeted=False)

    def test_a_truncated_message(self):
        whole = peer_pb2.PeerMessage(state=peer_pb2.State(credit=5, complete=[
            peer_pb2.Span(first=1, count=2)])).SerializeToString()
        self.broken_stream(frame(whole[:-1]))

    def test_a_second_hello(self):
        hello = peer_pb2.Hello(version_min=1, version_max=1, content_id=self.manifest.content_id)
        self.broken_stream(frame(peer_pb2.PeerMessage(hello=hello).SerializeToString()))

    def test_something_else_than_a_hello_first(self):
        state = peer_pb2.PeerMessage(state=peer_pb2.State(credit=1))
        self.broken_stream(frame(state.SerializeToString()), greeted=False)

    def test_a_stream_that_ends_within_a_frame(self):
        victim = self.victim()
        connection = self.dial(victim)
        connection.greet(self.manifest.content_id)
        connection.send_bytes(struct.pack(">I", 1000) + b"x" * 10)
        connection.close()
        self.connect_honest_source(victim)
        self.assert_downloaded(self.source, victim)

    def refused_manifest(self, file_bytes, *options):
        """A victim that has only a link is handed `file_bytes` as the manifest: it names the liar,
        asks the next peer and completes."""
        where = f"127.0.0.1:{harness.free_port()}"
        victim = self.firn("get", "get", f"firn:{text_of(self.manifest.content_id)}", "-o",
                           self.folder / "get", "--no-tracker", "--listen", where, "--json", *options)
        liar = Identity(self.folder)
        connection = dial_patiently(liar, where)
        self.addCleanup(connection.close)
        source = Source(connection, self.manifest, self.data, random.Random(12))
        source.manifest.file_bytes = file_bytes
        self.peak = 0

        def refused():
            """Notes the victim's memory, without pages of files, which the system may take back."""
            with open(f"/proc/{victim.process.pid}/status", encoding="ascii") as status:
                self.peak = max(self.peak, int(re.search(r"RssAnon:\s+(\d+) kB", status.read())[1]) << 10)
            return source.goodbye
        with self.assertRaises(Closed):
            source.serve_until(refused, timeout=100)
            raise Closed("goodbye")
        self.assert_named(victim, liar)

        honest = Identity(self.folder)
        connection = Connection(honest, where)
        self.addCleanup(connection.close)
        manifest = Manifest(self.manifest_file.read_bytes())
        source = Source(connection, manifest, self.data, random.Random(13))
        source.serve_all()
        self.assert_downloaded(self.source, victim)

    def resealed(self, **fields):
        """The true info part in an envelope with these fields besides, sealed again."""
        envelope = manifest_pb2.Envelope(info=self.manifest.info_bytes, **fields)
        file = b"FIRNMAN1" + envelope.SerializeToString()
        return file + hashlib.sha256(file).digest()

    def test_a_false_manifest(self):
        """The right content id in Hello, another content's manifest behind it."""
        other = self.create(self.file(2 * SIZE, "other.bin"))
        self.refused_manifest(other.read_bytes())

    def test_rubbish_in_place_of_a_manifest_takes_its_share_of_memory(self):
        self.refused_manifest(b"FIRNMAN1" + bytes(160 << 20), "--memory", "64M")
        self.assertLess(self.peak, 128 << 20)

    def test_the_true_manifest_with_a_tracker_that_is_none(self):
        self.refused_manifest(self.resealed(trackers=["x"]))

    def test_the_true_manifest_with_a_signature_that_is_none(self):
        self.refused_manifest(self.resealed(publisher_key=b"k" * 32,
                                            publisher_signature=b"s" * 64))

    def test_trackers_from_a_peer_are_not_kept_nor_passed_on(self):
        """Neither the manifest in the work folder nor the one that others get names them."""
        where = f"127.0.0.1:{harness.free_port()}"
        victim = self.firn("get", "get", f"firn:{text_of(self.manifest.content_id)}", "-o",
                           self.folder / "get", "--no-tracker", "--listen", where, "--json")
        stranger = dial_patiently(Identity(self.folder), where)
        self.addCleanup(stranger.close)
        source = Source(stranger, self.manifest, self.data, random.Random(14))
        source.manifest.file_bytes = self.resealed(trackers=["stranger.example:4711"])
        source.serve_until(lambda: source.credit > 0, {})
        kept = next((self.folder / "get" / ".firn").glob("*/manifest.firn")).read_bytes()
        self.assertEqual(self.resealed(), kept)
        asker = Connection(Identity(self.folder), where)
        self.addCleanup(asker.close)
        asker.greet(self.manifest.content_id)
        asker.send(manifest_request=peer_pb2.ManifestRequest())
        while (answer := asker.receive()).WhichOneof("body") != "manifest_part":
            pass
        self.assertEqual(self.resealed(), answer.manifest_part.data)

    def test_a_version_that_nobody_speaks_is_refused_politely(self):
        connection = self.dial(self.victim())
        connection.send(hello=peer_pb2.Hello(version_min=77, version_max=78,
                                             content_id=self.manifest.content_id))
        message = connection.receive()
        if message.WhichOneof("body") == "hello":
            message = connection.receive()
        self.assertEqual(peer_pb2.Goodbye.VERSION, message.goodbye.reason)

    def test_a_stranger_without_a_certificate_is_refused(self):
        victim = self.victim()
        host, _, port = victim.endpoint().split("@")[1].rpartition(":")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(["firn/1"])
        with socket.create_connection((host, int(port)), timeout=20) as plain:
            with self.assertRaises((ssl.SSLError, ConnectionError)):
                with context.wrap_socket(plain) as wrapped:
                    wrapped.sendall(b"\0\0\0\1x")
                    if not wrapped.recv(1):
                        raise ConnectionError("closed")


if __name__ == "__main__":
    harness.main()
