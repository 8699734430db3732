#!/usr/bin/python3
"""Contents larger than what holds them: than 32 bits can count, and than the memory allowed."""

import os
import re
import unittest

import harness
from harness import LISTEN, MIB

FOUR_GIB = 1 << 32
# Bytes at the beginning, across 4 GiB, and at the end of a file that is a hole elsewhere.
SIZE = FOUR_GIB + 3 * MIB + 1
PIECES = {0: b"begins", FOUR_GIB - 5: b"on both sides of 4 GiB", SIZE - 4: b"ends"}


def write_sparse(path, pieces):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        for offset, data in pieces.items():
            file.seek(offset)
            file.write(data)
        file.truncate(SIZE)
    return path


def read_at(path, offset, count):
    with path.open("rb") as file:
        file.seek(offset)
        return file.read(count)


class BeyondFourGiB(harness.SwarmTest):
    def test_generations_on_both_sides_of_4_gib_are_fetched_and_served(self):
        """The getter has a file of zeros: what is a hole in the source too is right already, and
        only the generations with bytes in them travel."""
        source = write_sparse(self.folder / "source" / "large.bin", PIECES)
        if os.stat(source).st_blocks * 512 > 64 * MIB:
            self.skipTest("the file system has no holes")
        manifest = self.create(source, "--generation-size", 64, "--block-size", 16384)
        seed = self.firn("seed", "seed", manifest, source.parent, *LISTEN)
        copy = write_sparse(self.folder / "get" / "large.bin", {})
        get = self.get(manifest, "get", "--overwrite", "--peer", seed.endpoint(), "--seed", "none")
        start = get.wait_event("start", 120)
        # Four generations of 1 MiB, and the last byte in one of its own.
        self.assertEqual(4 * MIB + 1, SIZE - start["bytes_verified"])
        self.assert_completes(get, 120)
        self.assertEqual(SIZE, copy.stat().st_size)
        for offset, data in PIECES.items():
            self.assertEqual(data, read_at(copy, offset, len(data)))
        self.assertLess(copy.stat().st_blocks * 512, 64 * MIB)


class Memory(harness.SwarmTest):
    def peak(self, program):
        """The most memory that the program has had resident, in bytes."""
        with open(f"/proc/{program.process.pid}/status") as status:
            return int(re.search(r"VmHWM:\s*(\d+) kB", status.read())[1]) << 10

    def test_a_content_is_not_held_in_memory(self):
        """The content is twice what either program takes in all: with 16 MiB, of which half are for
        data, and the program itself."""
        options = ["--memory", "16M", "--codec", "cpu", "--threads", 2]
        source = self.file(128 * MIB)
        seed = self.share(source, *options)
        get = self.get(seed.link(), "get", "--peer", seed.endpoint(), "--seed", "forever", *options)
        get.wait_event("complete", 120)
        self.assertLess(self.peak(get), 64 * MIB)
        self.assertLess(self.peak(seed), 64 * MIB)
        self.assert_same(source, self.folder / "get" / source.name)

    def test_peers_that_pass_a_content_on_stay_below_the_memory_they_have_by_default(self):
        """Three that exchange as fast as the machine can: their rows, caches and queues fill."""
        source = self.folder / "source" / "large.bin"
        source.parent.mkdir(parents=True)
        with source.open("wb") as file:
            for _ in range(8):
                file.write(os.urandom(64 * MIB))
        options = ["--codec", "cpu", "--threads", 2]
        seed = self.share(source, *options)
        gets = [self.get(seed.link(), f"get{i}", "--peer", seed.endpoint(), "--seed", "forever",
                         *options) for i in range(3)]
        for get in gets:
            get.wait_event("complete", 120)
        for program in (seed, *gets):
            self.assertLess(self.peak(program), 128 * MIB)


if __name__ == "__main__":
    harness.main()
