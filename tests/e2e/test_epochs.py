#!/usr/bin/python3
"""Epochs: a second implementation hears them from `firn share`, judges rows by them, and hands them
on to `firn get`. With --max-peers 1 a peer is in a large mesh as soon as it has a neighbour."""

import hashlib
import random
import re
import threading

import harness
from harness import ROOT
from pypeer import claims
from pypeer.claims import claimant_of
from pypeer.connection import Connection
from pypeer.epochs import EpochLink, EpochReader, hash_of, is_certified, is_signed, now
from pypeer.gf256 import combine
from pypeer.identity import Identity, raw_of
from pypeer.leech import Leech
from pypeer.manifest import Manifest
from pypeer.source import Source
from pypeer.trust import Authority, CheckHash
from pypeer.wire import frame, peer_pb2

N, K = 8, 2048
GENERATIONS = 3
SIZE = GENERATIONS * N * K
BANNED = peer_pb2.Goodbye.Reason.Value("BANNED")
PROTOCOL_ERROR = peer_pb2.Goodbye.Reason.Value("PROTOCOL_ERROR")


class Rows(Leech):
    """Keeps rows as they came: (generation, arrival, vector, payload)."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.rows = []

    def _take(self, block):
        super()._take(block)
        generation, vector, _ = self.blocks[-1]
        self.rows.append((generation, now(), vector, block.payload))


class Spoiler(Source):
    """Sends false blocks; `arrived` is set once the receiver has COUNT of them."""

    COUNT = 3

    def __init__(self, *arguments):
        self.arrived = threading.Event()
        super().__init__(*arguments)

    def _take_state(self, state):
        super()._take_state(state)
        if self.rank_of(0) >= self.COUNT:
            self.arrived.set()

    def payload_of(self, generation, vector):
        true = super().payload_of(generation, vector)
        return bytes([true[0] ^ 1]) + true[1:]


class SigningSpoiler(Spoiler):
    """Waits until it is asked to claim something of what it sends."""

    def _send_one(self, limits):
        return self.wants_claims and super()._send_one(limits)


class EpochTest(harness.SwarmTest):
    def setUp(self):
        super().setUp()
        self.source = self.file(SIZE)
        self.data = self.source.read_bytes()
        self.seed = self.share(self.source, "--no-tracker", "--max-peers", "1",
                               "--generation-size", N, "--block-size", K)
        self.identity = Identity(self.folder, "relay")
        self.up = Rows(self.dial(self.seed, self.identity), self.content_id())
        self.manifest = self.up.fetch_manifest()
        self.reader = EpochReader(self.manifest)
        self.link = EpochLink(self.up.connection)

    def content_id(self):
        start = self.seed.wait_event("start")
        return raw_of(start["content_id"])

    def dial(self, program, identity):
        connection = Connection(identity, program.endpoint())
        self.addCleanup(connection.close)
        return connection

    def ask_until(self, nonce, wanted):
        """Asks under alarm; the first Epoch that names the nonce, checked."""
        self.link.ask(nonce, wanted)
        while True:
            epoch = self.link.await_message("epoch")
            self.assertTrue(self.reader.came(epoch), "false, or not news")
            if any(one.nonce == nonce for one in epoch.heard):
                return epoch


class Judging(EpochTest):
    def test_the_source_speaks_for_the_authority_and_its_epochs_are_signed(self):
        key = self.manifest.info.authority_key
        self.assertTrue(is_certified(key, self.manifest.content_id, self.up.connection.peer_id,
                                     self.up.hello.certificate))
        self.link.tell(self.reader, wants=True)
        nonce = self.reader.nonce()
        epoch = self.ask_until(nonce, [1])
        self.assertEqual(self.up.connection.peer_id, hashlib.sha256(epoch.speaker).digest())
        self.assertTrue(epoch.alarm)
        blocks = self.manifest.cut(self.data)[1]
        sums = next(one.sums for one in epoch.sums if one.generation == 1)
        check_hash = CheckHash(epoch.key, 1, K, len(sums) // N)
        self.assertEqual(b"".join(check_hash(block) for block in blocks), sums)
        # Numbers rise and the next Epoch has another key.
        later = self.link.await_message("epoch")
        self.assertGreater(later.number, epoch.number)
        self.assertGreater(later.time, epoch.time)
        self.assertNotEqual(later.key, epoch.key)
        for change in ({"time": epoch.time + 1}, {"alarm": False}, {"key": bytes(32)},
                       {"number": epoch.number + 1}, {"speaker": bytes(32)}):
            false = peer_pb2.Epoch()
            false.CopyFrom(epoch)
            false.MergeFrom(peer_pb2.Epoch(**change))
            if "alarm" in change:
                false.alarm = False
            self.assertFalse(is_signed(false, self.manifest.content_id, key), change)

    def test_an_epoch_judges_the_rows_that_came_before_it_and_no_others(self):
        self.up.download(until=lambda: len(self.up.rows) >= 3, generations=[0])
        before = [row for row in self.up.rows if row[0] == 0]
        self.assertTrue(before)
        epoch = self.ask_until(self.reader.nonce(), [0])
        for row in before:
            self.assertTrue(self.reader.judge(*row))
            generation, arrived, vector, payload = row
            false = payload[:-1] + bytes([payload[-1] ^ 1])
            self.assertIs(False, self.reader.judge(generation, arrived, vector, false))
        self.assertIsNone(self.reader.judge(2, *before[0][1:]))  # no sums of that
        # A row that came when the key was known may have been made to pass.
        vector, payload = before[0][2:]
        self.assertIsNone(self.reader.judge(0, now(), vector, payload))
        late = now()
        self.ask_until(self.reader.nonce(), [0])
        self.assertGreater(self.reader.latest.number, epoch.number)
        self.assertTrue(self.reader.judge(0, late, vector, payload))


class RelayTest(EpochTest):
    """A download whose Epochs come through this peer."""

    OPTIONS = []  # of the download

    def setUp(self):
        super().setUp()
        self.manifest_file = self.folder / "content.firn"
        self.manifest_file.write_bytes(self.manifest.file_bytes)
        self.getter = self.get(self.manifest_file, "get", "--no-tracker", "--no-pex",
                               *self.OPTIONS)
        self.down = EpochLink(self.dial(self.getter, self.identity))
        hello = self.down.connection.greet(self.manifest.content_id, has_manifest=True)
        self.assertTrue(hello.has_manifest)
        self.link.tell(self.reader, wants=True)

    def serve(self, kind, limits=None):
        """A source in a thread that ends with the test."""
        identity = Identity(self.folder)
        source = kind(self.dial(self.getter, identity), self.manifest, self.data, random.Random(5))
        source.identity = identity
        source.serve_in_background(limits)
        return source

    def first_epoch(self):
        epoch = self.link.await_message("epoch", self.reader.came)
        self.down.tell(self.reader)
        self.down.hand_on(epoch)
        return epoch

    def hand_on_with_proof(self, wanted):
        """As a relay: the other side's nonce to the speaker, its Epoch and the proof back."""
        asked = self.down.await_message("epoch_request", lambda request: request.nonce)
        nonces = self.reader.list_with([asked.nonce])
        epoch = self.ask_until(hash_of(nonces), wanted)
        self.down.hand_on(epoch)
        self.down.prove(epoch, [nonces])
        return epoch


class HandingOn(RelayTest):
    def test_a_download_judges_rows_by_an_epoch_that_was_handed_on(self):
        spoiler = self.serve(Spoiler, {0: Spoiler.COUNT})
        self.assertTrue(spoiler.arrived.wait(20), "its blocks were not taken")
        self.assertIsNone(spoiler.goodbye)
        self.first_epoch()
        epoch = self.hand_on_with_proof([0])
        self.assertIn(0, [one.generation for one in epoch.sums])
        self.assertTrue(spoiler.ended.wait(20), "the rows were not judged")
        self.assertEqual(BANNED, spoiler.goodbye.reason)
        while not self.down.wants:
            self.down.await_message("state")
        self.down.connection.close()  # else the download stays for what the relay lacks
        honest = self.serve(Source)
        self.assert_downloaded(self.source, self.getter)
        said = self.getter.output("stderr")
        self.assertIn(spoiler.identity.text, said)
        for innocent in (self.identity, honest.identity):
            self.assertNotIn(innocent.text, said)

    def test_a_relay_claims_something_of_each_block_for_who_wants_it(self):
        self.serve(Source)
        leech = Leech(self.dial(self.getter, Identity(self.folder)), self.manifest.content_id)
        leech.use_manifest(self.manifest)
        leech.wants_claims = True
        seen = []
        take = leech._take

        def check(block):
            seen.append(claims.fits(self.manifest.content_id, block)
                        and self.getter_id() == claimant_of(block.claim))
            take(block)

        leech._take = check
        leech.download()
        self.assertEqual(self.data, leech.content())
        self.assertTrue(seen and all(seen), seen)

    def getter_id(self):
        return self.down.connection.peer_id

    def refused_after(self, send):
        self.first_epoch()
        send()
        goodbye = self.down.await_message("goodbye")
        self.assertEqual(PROTOCOL_ERROR, goodbye.reason, goodbye)

    def test_a_changed_epoch_is_a_fault_of_the_neighbour_that_sends_it(self):
        def send():
            self.link.ask(self.reader.nonce())  # the next one comes soon
            epoch = self.link.await_message("epoch")
            epoch.time += 1
            self.down.hand_on(epoch)
        self.refused_after(send)

    def test_an_epoch_that_comes_twice_is_a_fault(self):
        self.refused_after(lambda: self.down.hand_on(self.reader.latest))

    def test_a_proof_that_leads_nowhere_is_a_fault(self):
        def send():
            self.down.await_message("epoch_request", lambda request: request.nonce)
            self.down.prove(self.reader.latest, [[bytes(16)]])
        self.refused_after(send)


class Claiming(RelayTest):
    """A download with two neighbours is in a large mesh."""

    OPTIONS = ["--max-peers", "2"]

    def alarmed_epoch(self):
        """The first that raises the alarm, handed on."""
        self.link.ask(self.reader.nonce())
        epoch = self.link.await_message(
            "epoch", lambda epoch: self.reader.came(epoch) and epoch.alarm)
        self.down.tell(self.reader)
        self.down.hand_on(epoch)
        return epoch

    def test_a_false_claim_convicts_its_maker_before_the_authority(self):
        self.alarmed_epoch()
        spoiler = self.serve(SigningSpoiler, {0: Spoiler.COUNT})
        self.assertTrue(spoiler.arrived.wait(20), "its blocks were not taken")
        self.hand_on_with_proof([0])
        claim = self.down.await_message("false_claim")
        self.assertEqual(spoiler.identity.id, claimant_of(claim.claim))
        self.assertTrue(claims.is_signed(self.manifest.content_id, claim))
        # A claim that is true, of an honest peer, convicts nobody.
        honest = Identity(self.folder)
        true = peer_pb2.Block(generation=0, coefficients=bytes([1] * N),
                              payload=combine(bytes([1] * N), self.manifest.cut(self.data)[0]))
        self.link.connection.send(false_claim=peer_pb2.FalseClaim(
            generation=0, coefficients=true.coefficients,
            claim=claims.make_claim(honest, self.manifest.content_id, true)))
        self.link.connection.send(false_claim=claim)
        self.link.ask(self.reader.nonce())
        verdict = self.link.await_message(
            "epoch", lambda epoch: self.reader.came(epoch) and epoch.convicted)
        self.assertEqual(spoiler.identity.id, verdict.convicted)
        self.turned_away_by(self.seed, spoiler)

    def turned_away_by(self, program, spoiler):
        again = Connection(spoiler.identity, program.endpoint())
        self.addCleanup(again.close)
        again.send(hello=peer_pb2.Hello(version_min=1, version_max=1,
                                        content_id=self.manifest.content_id))
        self.assertEqual(BANNED, EpochLink(again).await_message("goodbye").reason)


class Documents(harness.unittest.TestCase):
    """The examples of docs/protocol.md."""

    def example(self, name):
        text = (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8")
        block = re.search(rf"```hex {name}\n(.*?)```", text, re.DOTALL).group(1)
        return bytes.fromhex("".join(line.partition("|")[0] for line in block.splitlines()))

    def message(self, name):
        data = self.example(name)
        message = peer_pb2.PeerMessage.FromString(data[4:])
        self.assertEqual(data, frame(message.SerializeToString()))
        return message

    def test_the_printed_epoch_is_signed_and_judges(self):
        epoch = self.message("epoch").epoch
        authority = Authority(bytes(range(0x40, 0x60)))
        self.assertTrue(is_signed(epoch, bytes(range(32)), authority.public_key))
        self.assertFalse(is_signed(epoch, bytes(32), authority.public_key))
        check_hash = CheckHash(epoch.key, 3, 4)
        payload = combine(bytes.fromhex("021d"), [b"snow", b"firn"])
        sums = epoch.sums[0].sums
        self.assertEqual(check_hash(payload), combine(bytes.fromhex("021d"), [sums[:4], sums[4:]]))

    def test_the_printed_proof_leads_from_the_request_to_the_printed_hash(self):
        nonce = self.message("epoch_request").epoch_request.nonce
        lists = self.message("epoch_proof").epoch_proof.lists
        self.assertEqual(nonce, lists[0])
        self.assertEqual(hash_of([nonce]), lists[1][:16])
        self.assertEqual("1679a9b0d63e7118434a4261276a5494",
                         hash_of([lists[1][:16], lists[1][16:]]).hex())


if __name__ == "__main__":
    harness.main()
