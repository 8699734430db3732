#!/usr/bin/python3
"""Contents with an authority: a second implementation speaks for it, judges and is judged."""

import itertools
import math
import random
import threading

import harness
from harness import LISTEN
from pypeer.connection import Connection
from pypeer.gf256 import combine
from pypeer.identity import Identity
from pypeer.leech import Leech
from pypeer.manifest import Manifest, write_manifest
from pypeer.source import Source
from pypeer.trust import Authority, CheckHash, accepts
from pypeer.wire import peer_pb2

N, K = 8, 2048  # check sums are small beside a block
GENERATIONS = 3
SIZE = GENERATIONS * N * K


class Polluter(Source):
    def payload_of(self, generation, vector):
        return self.chance.randbytes(self.manifest.k)


class Holder(Source):
    MAKES_SUMS = True


class Liar(Holder):
    LIES = True


class Spoiler(Polluter):
    """Three false blocks of generation 0, and nothing else."""

    LIMITS = {0: 3}

    def __init__(self, *arguments):
        self.spoiled = threading.Event()
        super().__init__(*arguments)

    def send_block(self, g, vector, **changes):
        super().send_block(g, vector, **changes)
        if len(self.sent[g]) == self.LIMITS[g]:
            self.spoiled.set()


class Trust(harness.SwarmTest):
    def setUp(self):
        super().setUp()
        self.source = self.file(SIZE)
        self.data = self.source.read_bytes()
        plain = Manifest(
            self.create(self.source, "--generation-size", N, "--block-size", K).read_bytes())
        self.authority = Authority()
        plain.info.authority_key = self.authority.public_key
        self.manifest_file = self.folder / "vouched.firn"
        self.manifest_file.write_bytes(write_manifest(plain.info))
        self.manifest = Manifest(self.manifest_file.read_bytes())
        self.seeds = itertools.count(7)  # each peer has its own: equal vectors would bring nothing

    def getter(self, *arguments):
        return self.get(self.manifest_file, "get", "--no-tracker", "--no-pex", *arguments)

    def dial(self, program):
        identity = Identity(self.folder)
        connection = Connection(identity, program.endpoint())
        self.addCleanup(connection.close)
        return identity, connection

    def dial_source(self, program, kind=Source, certified=False):
        identity, connection = self.dial(program)
        certificate = (self.authority.certificate(self.manifest.content_id, identity.id)
                       if certified else b"")
        source = kind(connection, self.manifest, self.data, random.Random(next(self.seeds)),
                      certificate)
        source.identity = identity
        return source

    def serve(self, program, kind=Source, certified=False, limits=None):
        """A source in a thread that ends with the test, sending `limits` blocks of generations."""
        source = self.dial_source(program, kind, certified)
        source.serve_in_background(limits)
        return source

    def test_rows_of_others_are_judged_by_the_authoritys_sums(self):
        get = self.getter()
        authority = self.serve(get, certified=True, limits={})  # it sends no block
        honest = self.serve(get)
        self.assert_downloaded(self.source, get)
        self.assertTrue(authority.checks.asked)
        self.assertNotIn(honest.identity.text[:8], get.output("stderr"))

    def test_a_false_block_bans_its_sender_alone(self):
        get = self.getter()
        authority = self.serve(get, certified=True, limits={})
        polluter = self.serve(get, kind=Polluter)
        self.assertTrue(polluter.ended.wait(20), "the polluter was not left")
        self.assertEqual(peer_pb2.Goodbye.Reason.Value("BANNED"), polluter.goodbye.reason)
        honest = self.serve(get)
        self.assert_downloaded(self.source, get)
        self.assertIn(polluter.identity.text[:8], get.output("stderr"))
        for innocent in (authority, honest):
            self.assertNotIn(innocent.identity.text[:8], get.output("stderr"))

    def test_a_peer_started_again_sends_on_what_the_authority_gave_it(self):
        rows = N // 2
        get = self.getter()
        authority = self.dial_source(get, certified=True)
        authority.serve_until(lambda: authority.rank_of(0) == rows, {0: rows})
        authority.connection.close()
        get.stop()
        again = self.get(self.manifest_file, "again", "--no-tracker", "--no-pex",
                         into=self.folder / "get")
        _, connection = self.dial(again)
        leech = Leech(connection, self.manifest.content_id)
        leech.use_manifest(self.manifest)
        leech.proven_only = True
        take = leech._take

        def check(block):
            self.assertFalse(block.unproven)
            self.assertEqual(combine(block.coefficients, authority.blocks[0]), block.payload)
            take(block)

        leech._take = check
        leech.download(until=lambda: leech.rank(0) == rows)

    def without_authority(self):
        self.manifest_file = self.folder / "plain.firn"
        self.manifest.info.authority_key = b""
        self.manifest_file.write_bytes(write_manifest(self.manifest.info))
        self.manifest = Manifest(self.manifest_file.read_bytes())

    def test_without_an_authority_a_holders_sums_find_the_false_rows(self):
        self.without_authority()
        get = self.getter()
        spoiler = self.serve(get, kind=Spoiler, limits=Spoiler.LIMITS)
        self.assertTrue(spoiler.spoiled.wait(20), "it was not asked for blocks")
        honest = self.serve(get, kind=Holder)
        self.assert_downloaded(self.source, get)
        self.assertTrue(honest.checks.asked)
        self.assertFalse(honest.leaves_asked or spoiler.leaves_asked)
        self.assertNotIn("fetched again", get.output("stderr"))
        self.assertNotIn(honest.identity.text[:8], get.output("stderr"))

    def test_a_holder_that_tells_false_sums_is_banned(self):
        self.without_authority()
        get = self.getter("--seed", "forever")
        spoiler = self.serve(get, kind=Spoiler, limits=Spoiler.LIMITS)
        self.assertTrue(spoiler.spoiled.wait(20), "it was not asked for blocks")
        liar = self.serve(get, kind=Liar, limits={})
        honest = self.serve(get, kind=Holder)
        get.wait_event("complete")
        self.assertTrue(liar.ended.wait(20), "the liar was not left")
        self.assertRegex(get.output("stderr"), f"peer {liar.identity.text} .* told false check sums")
        self.assertNotIn(honest.identity.text[:8], get.output("stderr"))

    def test_without_an_authority_blocks_prove_themselves(self):
        self.without_authority()
        get = self.getter()
        spoiler = self.serve(get, kind=Spoiler, limits=Spoiler.LIMITS)
        self.assertTrue(spoiler.spoiled.wait(20), "it was not asked for blocks")
        # Once the generation has decoded to false data it gets blocks that prove themselves alone.
        coded = {0: N - Spoiler.LIMITS[0], 1: math.inf, 2: math.inf}
        honest = self.serve(get, limits=coded)
        self.assert_downloaded(self.source, get)
        self.assertTrue(honest.leaves_asked or spoiler.leaves_asked)
        self.assertIn("decoded to false data", get.output("stderr"))
        self.assertNotIn(honest.identity.text[:8], get.output("stderr"))


class Leaves(harness.SwarmTest):
    """What Firn answers to one that fetches block by block."""

    def setUp(self):
        super().setUp()
        self.source = self.file(SIZE - 2 * K - 77)  # the last generation is short
        self.data = self.source.read_bytes()
        self.manifest_file = self.create(self.source, "--generation-size", N, "--block-size", K)
        self.manifest = Manifest(self.manifest_file.read_bytes())

    def leech(self, program):
        connection = Connection(Identity(self.folder), program.endpoint())
        self.addCleanup(connection.close)
        leech = Leech(connection, self.manifest.content_id)
        leech.use_manifest(self.manifest)
        leech.prefer_coded = True  # so that source blocks come because they are asked for
        leech.send_state(granted=0)
        leech.await_state()
        return leech

    def test_a_seeds_leaves_fit_the_digests_and_the_blocks_that_are_asked_for(self):
        seed = self.firn("seed", "seed", self.manifest_file, self.source.parent, *LISTEN)
        leech = self.leech(seed)
        leech.send_state(granted=2, generations=[1])
        leech.await_blocks(2)  # two rows, which are dropped when the leaves come
        coded = len(leech.blocks)
        leaves = leech.ask_leaves([2, 1])
        self.assertEqual([N, N - 2], [len(leaves[1]), len(leaves[2])])
        # Two of one generation, then the others; the leech compares each with its leaf.
        leech.download(lambda: leech.rank(1) == 2, generations=[1], among={2, 5})
        leech.download()
        self.assertEqual(self.data, leech.content())
        kinds = {g: [sum(1 for c in vector if c) == 1 for generation, vector, _ in leech.blocks[coded:]
                     if generation == g] for g in range(GENERATIONS)}
        self.assertEqual([True] * N, kinds[1])
        self.assertEqual([True] * (N - 2), kinds[2])
        self.assertNotIn(True, kinds[0])

    def test_a_peer_without_the_generation_has_no_leaves(self):
        get = self.get(self.manifest_file, "get", "--no-tracker", "--no-pex")
        leech = self.leech(get)
        self.assertEqual({0: None, 1: None}, leech.ask_leaves([0, 1]))


class Arithmetic(harness.unittest.TestCase):
    def test_sums_tell_true_rows_from_false_ones(self):
        chance = random.Random(3)
        blocks = [chance.randbytes(300) for _ in range(4)]
        check_hash = CheckHash(bytes(range(32)), 7, 300)
        sums = [check_hash(block) for block in blocks]
        vector = bytes([1, 0, 77, 200])
        payload = combine(vector, blocks)
        self.assertTrue(accepts(check_hash, sums, vector, payload))
        for at in (0, 127, 128, 299):
            false = payload[:at] + bytes([payload[at] ^ 1]) + payload[at + 1 :]
            self.assertFalse(accepts(check_hash, sums, vector, false))

    def test_the_sums_printed_in_the_protocol(self):
        check_hash = CheckHash(bytes(range(32)), 3, 4)
        self.assertEqual("16610e9f", check_hash(b"snow").hex())
        self.assertEqual("c16f972a", check_hash(b"firn").hex())


if __name__ == "__main__":
    harness.main()
