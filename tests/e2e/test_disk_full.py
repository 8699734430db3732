#!/usr/bin/python3
"""A download whose disk fills up waits for room, and goes on."""

import pathlib
import unittest

import harness
from harness import LISTEN, MIB


@unittest.skipUnless(harness.can_mount(), "needs root and mount namespaces")
class DiskFull(harness.SwarmTest):
    def test_it_pauses_with_a_message_and_resumes_when_there_is_room(self):
        source = self.file(16 * MIB)
        seed = self.share(source)
        small = self.folder / "small"
        small.mkdir()
        prefix = harness.in_mount_namespace(
            f"mount -t tmpfs -o size=40m none '{small}'\n"
            f"head -c {32 * MIB} /dev/zero >'{small}/ballast'\nmkdir '{small}/get'")
        get = self.programs.start(
            "get", [*prefix, harness.BUILD / "client" / "firn", "get", seed.link(),
                    "-o", small / "get", "--peer", seed.endpoint(), "--seed", "forever", *LISTEN])
        get.wait_line(r"(?i)(no space|disk.*full|full.*disk)", stream="stderr")
        self.assertIsNone(get.process.poll(), get.story())
        self.assertIsNone(get.last_event("complete"))

        inside = pathlib.Path(f"/proc/{get.process.pid}/root{small}")
        (inside / "ballast").unlink()
        get.wait_event("complete", 120)
        self.assertEqual(source.read_bytes(), (inside / "get" / source.name).read_bytes())
        self.assertEqual(0, get.stop())


if __name__ == "__main__":
    harness.main()
