#!/usr/bin/python3
"""Peers of the last version beside this one (pypeer/last_version.py): what they say of Epochs and
claims is passed over, and all finish. With all its places taken a peer is in a large mesh."""

import itertools
import random
import re
import threading

import harness
from harness import KIB, LISTEN, MIB
from pypeer.connection import Closed, Connection
from pypeer.identity import Identity, raw_of
from pypeer.last_version import RETIRED, OldLeech, OldSource, OldSpeaker, dial
from pypeer.manifest import Manifest, write_manifest
from pypeer.source import Source
from pypeer.trust import Authority
from pypeer.wire import peer_pb2

N, K = 8, 2048
GENERATIONS = 3
SIZE = GENERATIONS * N * K
BANNED = re.compile(r"^peer ([a-z2-7]{52})\b.*; banned for ")
FAULTS = {peer_pb2.Goodbye.Reason.Value(name) for name in ("BANNED", "PROTOCOL_ERROR")}


class Polluter(Source):
    def payload_of(self, generation, vector):
        return self.chance.randbytes(self.manifest.k)


class LastVersionTest(harness.SwarmTest):
    def setUp(self):
        super().setUp()
        self.seeds = itertools.count(7)  # each peer has its own: equal vectors would bring nothing

    def content(self, size, n, k):
        self.source = self.file(size)
        self.data = self.source.read_bytes()
        self.shape = ["--generation-size", n, "--block-size", k]

    def vouched_content(self):
        """One whose authority is in this process."""
        self.content(SIZE, N, K)
        plain = Manifest(self.create(self.source, *self.shape).read_bytes())
        self.authority = Authority()
        plain.info.authority_key = self.authority.public_key
        self.use_manifest(write_manifest(plain.info))

    def use_manifest(self, file_bytes):
        self.manifest_file = self.folder / "content.firn"
        self.manifest_file.write_bytes(file_bytes)
        self.manifest = Manifest(file_bytes)

    def getter(self, name, *options):
        return self.get(self.manifest_file, name, "--no-tracker", "--no-pex", *options)

    def connect(self, program, how, identity=None):
        connection = how(identity or Identity(self.folder), program.endpoint())
        self.addCleanup(connection.close)
        return connection

    def dial_source(self, program, kind, identity=None):
        connection = self.connect(program, Connection if kind is Polluter else dial, identity)
        own_id = connection.identity.id
        certificates = ([self.authority.certificate(self.manifest.content_id, own_id)]
                        if kind is OldSpeaker else [])
        return kind(connection, self.manifest, self.data, random.Random(next(self.seeds)),
                    *certificates)

    def serve(self, program, kind, limits=None, identity=None):
        """A source in a thread that ends with the test, sending `limits` blocks of generations."""
        source = self.dial_source(program, kind, identity)
        source.serve_in_background(limits)
        return source

    def leech(self, program):
        """An old downloader with the manifest."""
        leech = OldLeech(self.connect(program, dial), self.manifest.content_id)
        leech.use_manifest(self.manifest)
        return leech

    def leech_of_share(self, seed):
        """An old downloader that gets the manifest from `firn share`."""
        content_id = raw_of(seed.wait_event("start")["content_id"])
        leech = OldLeech(self.connect(seed, dial), content_id)
        self.use_manifest(leech.fetch_manifest().file_bytes)
        return leech

    def banned_by(self, program):
        """The ids of peers that it said it had banned."""
        told = (BANNED.match(event["message"]) for event in program.events
                if event.get("event") == "notice")
        return {match.group(1) for match in told if match}

    def assert_no_fault(self, source):
        """The old peer said all that it has to say, and was not parted with for it."""
        self.assertEqual(set(source.SAYS), set(source.said))
        if source.goodbye:
            self.assertNotIn(source.goodbye.reason, FAULTS, source.goodbye)


class WhatTheySay(LastVersionTest):
    def test_a_download_in_a_small_mesh_passes_over_it(self):
        self.vouched_content()
        get = self.getter("get")
        old = [self.serve(get, OldSpeaker), self.serve(get, OldSource)]
        self.assert_downloaded(self.source, get)
        self.assertEqual(set(), self.banned_by(get), get.story())
        for source in old:
            self.assert_no_fault(source)

    def test_a_download_in_a_large_mesh_passes_over_it(self):
        self.vouched_content()
        get = self.getter("get", "--max-peers", "1")
        speaker = self.serve(get, OldSpeaker)
        self.assert_downloaded(self.source, get)
        self.assertEqual(set(), self.banned_by(get), get.story())
        self.assert_no_fault(speaker)

    def relayed(self, *options):
        """New source, old peer, new download: in a line."""
        self.content(SIZE, N, K)
        seed = self.share(self.source, "--no-tracker", *self.shape, *options)
        leech = self.leech_of_share(seed)
        leech.ask_for_epoch()
        leech.download()
        self.assertEqual(self.data, leech.content())
        self.assertFalse(set(RETIRED) & set(leech.heard), leech.heard)
        self.assertEqual(0, leech.claims)
        get = self.getter("get", *options)
        relay = self.serve(get, OldSource, identity=leech.connection.identity)
        self.assert_downloaded(self.source, get)
        self.assert_no_fault(relay)
        for program in (seed, get):
            self.assertEqual(set(), self.banned_by(program), program.story())

    def test_an_old_relay_stands_between_a_new_source_and_a_new_download(self):
        self.relayed()

    def test_an_old_relay_stands_between_them_in_a_large_mesh(self):
        self.relayed("--max-peers", "1")


class WantedClaims(LastVersionTest):
    """Nobody makes claims any more: one that wants them would throw away all that it is sent."""

    SILENCE = 1.5  # seconds: by then a block would have come many times over

    def assert_silent_while_claims_are_wanted(self, program, until=None):
        leech = self.leech(program)
        leech.proven_only = leech.wants_claims = True
        leech.send_state()
        leech.await_state()
        self.assertEqual([0], list(leech.check_sums([0])))  # it hears and answers
        leech.listen(self.SILENCE)
        self.assertEqual([], leech.blocks)
        leech.wants_claims = False
        leech.download(until and (lambda: until(leech)))
        self.assertTrue(leech.blocks)
        self.assertEqual(set(), self.banned_by(program), program.story())
        return leech

    def test_a_seed_that_does_not_speak_for_the_authority_sends_it_nothing(self):
        self.vouched_content()
        seed = self.firn("seed", "seed", self.manifest_file, self.source.parent, *LISTEN)
        leech = self.assert_silent_while_claims_are_wanted(seed)
        self.assertEqual(self.data, leech.content())

    def test_a_relay_sends_it_nothing(self):
        rows = N // 2
        self.vouched_content()
        relay = self.getter("relay")
        speaker = self.dial_source(relay, OldSpeaker)
        speaker.serve_until(lambda: speaker.rank_of(0) == rows, {0: rows})
        speaker.serve_in_background({0: rows})
        self.assert_silent_while_claims_are_wanted(relay, lambda leech: leech.rank(0) == rows)
        self.assert_no_fault(speaker)

    def test_a_source_that_speaks_for_the_authority_sends_it_all(self):
        self.content(SIZE, N, K)
        seed = self.share(self.source, "--no-tracker", *self.shape)
        leech = self.leech_of_share(seed)
        leech.wants_claims = True
        leech.download()
        self.assertEqual(self.data, leech.content())
        self.assertEqual(0, leech.claims)


class OnePolluter(LastVersionTest):
    """Among a new source, two new downloads, an old one, and an old relay."""

    def race(self, places):
        """`places`: --max-peers of the source and of each download; None: as usual. Returns the
        polluter of the first download."""
        options = [["--max-peers", count] if places else [] for count in places or [0] * 3]
        self.content(MIB, 16, 4 * KIB)
        seed = self.share(self.source, "--no-tracker", "--no-pex", *self.shape, "--up-limit", "512K",
                          *options[0])
        leech = self.leech_of_share(seed)
        first = self.getter("get-0", "--seed", "forever", "--peer", seed.endpoint(), *options[1])
        polluter = Identity(self.folder, "polluter")
        false = self.serve(first, Polluter, identity=polluter)
        relay = self.serve(first, OldSource,
                           {g: 2 for g in range(self.manifest.generation_count)})
        second = self.getter("get-1", "--seed", "forever", "--peer", seed.endpoint(),
                             "--peer", first.endpoint(), *options[2])
        self.serve(second, Polluter, identity=polluter)
        leech.ask_for_epoch()
        leech.wants_claims = True  # as under alarm
        download = self.in_background(lambda: leech.download(timeout=60))

        for get in (first, second):
            get.wait_event("complete")
            self.assert_same(self.source, self.folder / get.name / self.source.name)
        download()
        self.assertEqual(self.data, leech.content())
        self.assertTrue(false.generations_sent, "no false block was sent")
        for program in (seed, first, second):
            self.assertLessEqual(self.banned_by(program), {polluter.text}, program.story())
        self.assert_no_fault(relay)
        return false

    def in_background(self, work):
        """Runs it in a thread; what is returned waits for its end, and raises what it raised."""
        failed = []

        def run():
            try:
                work()
            except (AssertionError, Closed, OSError) as error:
                failed.append(error)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()

        def wait():
            thread.join(70)
            self.assertFalse(thread.is_alive(), "it does not end")
            if failed:
                raise failed[0]

        return wait

    def test_in_a_small_mesh_all_finish_and_nobody_else_is_banned(self):
        polluter = self.race(None)
        self.assertTrue(polluter.ended.wait(20), "it was not left")
        self.assertIn(polluter.goodbye.reason, FAULTS)

    def test_in_a_large_mesh_all_finish_and_nobody_else_is_banned(self):
        # The source: the downloads. The first: source, polluter, relay, the second. The second:
        # source, the first, polluter.
        self.race([3, 4, 3])


if __name__ == "__main__":
    harness.main()
