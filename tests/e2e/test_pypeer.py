#!/usr/bin/python3
"""A second implementation, written from the documents, exchanges blocks with Firn."""

import hashlib
import random

import harness
from harness import LISTEN
from pypeer.connection import Connection, dial_patiently
from pypeer.gf256 import Span
from pypeer.identity import Identity, raw_of, text_of
from pypeer.leech import Leech
from pypeer.manifest import Manifest
from pypeer.source import Source

N, K = 16, 512
GENERATIONS = 3
SIZE = (GENERATIONS - 1) * N * K + 3 * K + 77  # the last generation is short


class PythonPeer(harness.SwarmTest):
    def setUp(self):
        super().setUp()
        self.source = self.file(SIZE)
        self.data = self.source.read_bytes()
        self.manifest_file = self.create(self.source, "--generation-size", N, "--block-size", K)
        self.manifest = Manifest(self.manifest_file.read_bytes())

    def identity(self):
        return Identity(self.folder)

    def dial(self, program):
        connection = Connection(self.identity(), program.endpoint())
        self.addCleanup(connection.close)
        return connection

    def relay(self, name="relay"):
        """A `firn get` that knows the manifest and no peer; Python peers dial it."""
        return self.get(self.manifest_file, name, "--no-tracker", "--no-pex", "--seed", "forever")

    def seed(self, *options):
        return self.firn("seed", "seed", self.manifest_file, self.source.parent, *LISTEN, *options)

    def test_it_downloads_from_a_seed(self):
        connection = self.dial(self.seed())
        self.assertEqual("firn/1", connection.alpn)
        leech = Leech(connection, self.manifest.content_id)
        self.assertTrue(leech.hello.has_manifest)
        self.assertEqual(self.manifest.file_bytes, leech.fetch_manifest().file_bytes)
        leech.download()
        self.assertEqual(hashlib.sha256(self.data).digest(),
                         hashlib.sha256(leech.content()).digest())
        self.assertFalse(any(recoded for _, _, recoded in leech.blocks))

    def test_the_seeds_id_is_the_hash_of_its_key(self):
        seed = self.seed()
        self.assertEqual(raw_of(seed.id()), self.dial(seed).peer_id)

    def test_a_download_gets_everything_from_it(self):
        get = self.relay()
        source = Source(self.dial(get), self.manifest, self.data, random.Random(1))
        source.serve_all()
        complete = get.wait_event("complete")
        self.assert_same(self.source, self.folder / get.name / self.source.name)
        self.assertEqual(sum(self.manifest.blocks_in(g) for g in range(GENERATIONS)),
                         complete["blocks_innovative"])

    def test_a_relay_recodes_what_it_has_and_nothing_else(self):
        """Line: Python source -> relay (firn get) -> Python leech that knows the relay alone."""
        relay = self.relay()
        source = Source(self.dial(relay), self.manifest, self.data, random.Random(2))
        leech = None
        for rank in (1, 2, N // 2, N - 1):
            source.serve_until(lambda: source.rank_of(0) == rank, {0: rank})
            self.assertEqual(rank, len(source.sent[0]))
            if leech is None:
                leech = Leech(self.dial(relay), self.manifest.content_id)
                leech.use_manifest(self.manifest)
            before = len(leech.blocks)
            leech.download(until=lambda: leech.rank(0) == rank)
            given = Span(N)
            for vector in source.sent[0]:
                given.insert(vector)
            for generation, vector, recoded in leech.blocks[before:]:
                self.assertEqual(0, generation)
                self.assertTrue(recoded)
                self.assertNotIn(vector, source.sent[0], "forwarded, not recoded")
                self.assertTrue(given.holds(vector), "not made from what the relay was given")

        # The rest, and the relay's files and the leech's bytes are right.
        source.serve_all()
        leech.download()
        self.assertEqual(self.data, leech.content())
        relay.wait_event("complete")
        self.assert_same(self.source, self.folder / relay.name / self.source.name)

    def test_it_downloads_from_a_relay_that_firn_seeds(self):
        seed = self.seed("--up-limit", "8K")
        relay = self.get(self.manifest_file, "relay", "--no-tracker", "--no-pex",
                         "--peer", seed.endpoint(), "--seed", "forever")
        leech = Leech(self.dial(relay), self.manifest.content_id)
        leech.use_manifest(self.manifest)
        leech.download(timeout=60)
        self.assertEqual(self.data, leech.content())
        self.assertTrue(any(recoded for _, _, recoded in leech.blocks))

    def test_a_link_is_enough_when_it_brings_the_manifest(self):
        where = f"127.0.0.1:{harness.free_port()}"
        get = self.firn("get", "get", f"firn:{text_of(self.manifest.content_id)}", "-o",
                        self.folder / "get", "--no-tracker", "--listen", where, "--json")
        connection = dial_patiently(self.identity(), where)
        self.addCleanup(connection.close)
        source = Source(connection, self.manifest, self.data, random.Random(3))
        source.serve_all()
        self.assert_downloaded(self.source, get)


if __name__ == "__main__":
    harness.main()
