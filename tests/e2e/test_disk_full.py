#!/usr/bin/python3
"""A download whose disk fills up waits for room, and goes on."""

import pathlib
import unittest

import harness
from harness import LISTEN, MIB


@unittest.skipUnless(harness.can_mount(), "needs root and mount namespaces")
class DiskFull(harness.SwarmTest):
    def start(self, seed, before, *options):
        """A running download onto a disk of 40 MiB, on which the shell command `before` ran first."""
        self.small = self.folder / "small"
        self.small.mkdir()
        prefix = harness.in_mount_namespace(
            f"mount -t tmpfs -o size=40m none '{self.small}'\n{before}\nmkdir '{self.small}/get'")
        get = self.programs.start(
            "get", [*prefix, harness.BUILD / "client" / "firn", "get", seed.link(),
                    "-o", self.small / "get", "--peer", seed.endpoint(), "--seed", "forever",
                    "--json", *LISTEN, *options])
        return get

    def inside(self, get, small=None):
        return pathlib.Path(f"/proc/{get.process.pid}/root{small or self.small}")

    def start_tight(self, name, seed, size):
        """A running download onto a disk of `size` bytes of its own, which goes on serving."""
        small = self.folder / name
        small.mkdir()
        prefix = harness.in_mount_namespace(f"mount -t tmpfs -o size={size} none '{small}'")
        return small, self.programs.start(
            name, [*prefix, harness.BUILD / "client" / "firn", "get", seed.link(), "-o", small / "get",
                   "--peer", seed.endpoint(), "--seed", "forever", "--json", *LISTEN])

    def test_room_for_the_content_and_little_more_is_enough_for_later_receivers(self):
        source = self.file(24 * MIB)
        seed = self.share(source, "--up-limit", "6M")
        first = self.get(seed.link(), "first", "--peer", seed.endpoint())
        self.assert_downloaded(source, first)
        # One alone, then several at a time, of which each has much in part.
        for names in (["alone"], ["one", "two", "three"]):
            gets = [self.start_tight(name, seed, 27 * MIB) for name in names]
            for small, get in gets:
                get.wait_event("complete", 120)
                inside = self.inside(get, small)
                self.assertEqual(source.read_bytes(), (inside / "get" / source.name).read_bytes())
            for _, get in gets:
                self.assertEqual(0, get.stop())

    def test_it_pauses_with_a_message_and_resumes_when_there_is_room(self):
        source = self.file(16 * MIB)
        seed = self.share(source)
        get = self.start(seed, f"head -c {32 * MIB} /dev/zero >'{self.folder}/small/ballast'")
        get.wait_line("MiB are needed", stream="stderr")
        get.wait_line(r"(?i)(no space|disk.*full|full.*disk)", stream="stderr")
        self.assertIsNone(get.process.poll(), get.story())
        self.assertIsNone(get.last_event("complete"))

        inside = self.inside(get)
        (inside / "ballast").unlink()
        get.wait_event("complete", 120)
        self.assertEqual(source.read_bytes(), (inside / "get" / source.name).read_bytes())
        self.assertEqual(0, get.stop())

    def test_with_a_timeout_it_ends_as_one_that_the_disk_keeps_from_going_on(self):
        seed = self.share(self.file(16 * MIB), "--up-limit", "2M")
        get = self.start(seed, "true", "--timeout", "4s")
        get.wait_event("start")
        with open(self.inside(get) / "ballast", "wb") as ballast:
            try:
                while True:
                    ballast.write(bytes(MIB))
            except OSError:
                pass
        self.assertEqual(harness.DISK, get.wait_exit(60), get.story())
        get.wait_line("no progress", stream="stderr")


if __name__ == "__main__":
    harness.main()
