#!/usr/bin/python3
"""Manifests of several parts, as contents of many generations have."""

import os
import unittest

import harness
from harness import KIB, LISTEN, MIB

GIB = 1 << 30


class SeveralParts(harness.SwarmTest):
    """Small blocks and generations: 32 bytes of digest for each generation."""

    def share_shaped(self, source, blocks, block_bytes, *options):
        shape = ["--generation-size", blocks, "--block-size", block_bytes]
        return self.share(source, *shape, "-o", self.folder / "x.firn", *options)

    def manifest_bytes(self):
        return (self.folder / "x.firn").stat().st_size

    def get_from(self, seed, name):
        return self.get(seed.link(), name, "--peer", seed.endpoint(), "--seed", "none")

    def assert_nobody_is_banned(self, *programs):
        for program in programs:
            self.assertNotIn("banned", program.output("stdout") + program.output("stderr"))

    def test_a_limited_seed_hands_its_manifest_to_several_and_bans_none(self):
        seed = self.share_shaped(self.file(4 * MIB), 2, 64, "--up-limit", "2M")
        seed.link()
        self.assertGreater(self.manifest_bytes(), 1000 * KIB)
        gets = [self.get_from(seed, f"get{i}") for i in range(3)]
        for get in gets:
            get.wait_event("start", 120)
            get.wait_event("progress", 60, lambda event: event["rank"] > 0)
        self.assert_nobody_is_banned(seed, *gets)

    def test_a_manifest_comes_in_parts_through_an_unlimited_seed_too(self):
        seed = self.share_shaped(self.file(4 * MIB), 2, 64)
        status, said, errors = self.run_firn(
            "info", seed.link(), "--peer", seed.endpoint(), "--json", "--listen", LISTEN[1])
        self.assertEqual(0, status, errors)
        self.assertIn("32768", said)


@unittest.skipUnless(os.environ.get("FIRN_TEST_HUGE"), "takes minutes; set FIRN_TEST_HUGE=1")
class Huge(harness.SwarmTest):
    def test_20_gib_arrive(self):
        """A file that is a hole but for some bytes, and so is the copy."""
        source = self.folder / "source" / "huge.bin"
        source.parent.mkdir()
        with source.open("wb") as file:
            for gib in range(20):
                file.seek(gib * GIB + gib * MIB)
                file.write(harness.content_bytes(100 * KIB, gib))
            file.truncate(20 * GIB)
        seed = self.share(source)
        get = self.get(seed.link(timeout=600), "get", "--peer", seed.endpoint(), "--seed", "none")
        complete = self.assert_completes(get, 3600)
        print(f"20 GiB in {complete['seconds']:.0f} s", flush=True)
        copy = self.folder / "get" / source.name
        self.assertEqual(source.stat().st_size, copy.stat().st_size)
        with source.open("rb") as wanted, copy.open("rb") as found:
            while piece := wanted.read(64 * MIB):
                self.assertEqual(piece, found.read(64 * MIB))


if __name__ == "__main__":
    harness.main()
