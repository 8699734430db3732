#!/usr/bin/python3
"""What a user does to finished files while the rest of their folder is still being downloaded."""

import harness
from harness import MIB, bare


class FinishedFiles(harness.SwarmTest):
    """A peer downloads a folder slowly. Once `a` has its final name the user does something to it;
    then a neighbour asks the peer for what was in `a`."""

    def start(self):
        self.source = self.tree({"a": 2 * MIB, "b": 10 * MIB})
        seed = self.share(self.source, "--up-limit", "1M", "--generation-size", 64,
                          "--block-size", 4096)
        self.link, self.seed = bare(seed.link()), seed.endpoint()
        self.one = self.get(self.link, "one", "--no-pex", "--memory", "16M", "--peer", self.seed)
        self.file = self.folder / "one" / "holiday" / "a"
        self.one.wait_event("progress", where=lambda e: self.file.exists())

    def ask(self):
        """A second peer, which knows the first alone, asks for everything; the first ends."""
        two = self.get(self.link, "two", "--no-pex", "--peer", self.one.endpoint())
        self.one.wait_event("notice", where=lambda e: "not served any more" in e["message"])
        status = self.one.wait_exit(60)
        two.kill()
        return status

    def again(self, *options):
        return self.get(self.link, "again", "--peer", self.seed, *options,
                        into=self.folder / "one")

    def test_an_edit_is_kept(self):
        self.start()
        edited = bytearray(self.file.read_bytes())
        edited[MIB] ^= 1
        self.file.chmod(0o644)
        self.file.write_bytes(edited)
        self.assertEqual(harness.VERIFY_FAILED, self.ask(), self.one.story())
        self.assertIn(str(self.file), self.one.output("stderr"))
        self.assertNotIn("Share it again", self.one.story())
        self.assertEqual(edited, self.file.read_bytes())
        self.assert_same(self.source / "b", self.file.with_name("b"))

        again = self.again()
        self.assertEqual(harness.DISK, again.wait_exit(60), again.story())
        self.assertEqual(edited, self.file.read_bytes())
        overwriting = self.again("--overwrite")
        self.assert_downloaded(self.source, overwriting, into=self.folder / "one")
        start = overwriting.wait_event("start")
        self.assertEqual(1, start["generations"] - start["bytes_verified"] // (256 << 10))

    def test_a_file_that_was_moved_away_stops_nothing(self):
        self.start()
        self.file.rename(self.folder / "mine")
        self.assertEqual(harness.VERIFY_FAILED, self.ask(), self.one.story())
        self.assertNotIn("paused", self.one.story())
        self.assert_same(self.source / "b", self.file.with_name("b"))
        self.assert_downloaded(self.source, self.again(), into=self.folder / "one")
        self.assert_same(self.source / "a", self.folder / "mine")


if __name__ == "__main__":
    harness.main()
