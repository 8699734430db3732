#!/usr/bin/python3
"""Files that are not the content: what they are is told as it is, and the advice fits."""

import harness
from harness import KIB, LISTEN, MIB


class Advice(harness.SwarmTest):
    def each(self, manifest, folder, get=True):
        """What get, verify and seed say of a folder that is not as it should be."""
        said = {}
        for command in (["verify", manifest, folder], ["seed", manifest, folder, *LISTEN],
                        ["get", manifest, "-o", folder, "--no-tracker", *LISTEN]):
            if command[0] == "get" and not get:
                continue
            status, output, errors = self.run_firn(*command, timeout=30)
            self.assertIn(status, (harness.DISK, harness.VERIFY_FAILED), errors)
            said[command[0]] = output + "\n" + errors
        return said

    def test_what_looks_like_another_content_may_be_repaired_or_left(self):
        for what, mine, theirs in (
                ("file", 3 * MIB, 2 * MIB), ("small file", 10 * KIB, 10 * KIB),
                ("folder", {"a": 100, "b": 200}, {"a": 300, "b": b"other" * 40})):
            with self.subTest(what=what):
                make = self.tree if what == "folder" else self.file
                source = make(mine, what)
                manifest = self.create(source)
                other = self.folder / "other" / what
                other.parent.mkdir(exist_ok=True)
                if what == "folder":
                    harness.write_tree(other, theirs)
                else:
                    other.write_bytes(harness.content_bytes(theirs, "other"))
                for command, said in self.each(manifest, other.parent).items():
                    self.assertIn("--repair", said, command)
                    self.assertIn("looks like another content", said, command)
                    if command != "seed":
                        self.assertIn("-o", said)

    def test_one_file_that_fits_is_worth_a_repair(self):
        source = self.tree({"a": 100, "b": 200})
        manifest = self.create(source)
        (source / "a").write_bytes(b"other" * 20)
        for command, said in self.each(manifest, source.parent).items():
            self.assertIn("--repair", said, command)

    def test_a_download_that_is_not_complete_is_not_missing_files(self):
        source = self.tree({"a": 2 * MIB, "b": 2 * MIB})
        manifest = self.create(source)
        seed = self.share(source, "--up-limit", "1M")
        get = self.get(seed.link())
        get.wait_event("progress", where=lambda event: event["rank"] > 0)
        self.assertEqual(harness.INTERRUPTED, get.stop())
        for command, said in self.each(manifest, self.folder / "get", get=False).items():
            self.assertRegex(said, r"unfinished", command)
            self.assertRegex(said, r"firn get goes on", command)
            self.assertNotRegex(said, r"--repair|missing:|\(missing\)", command)

    def test_entries_are_counted_by_their_kinds(self):
        source = self.tree({"a": 10, "empty/": 0})
        (source / "link").symlink_to("a")
        manifest = self.folder / "x.firn"
        said = self.run_firn("create", source, "-o", manifest, "--symlinks", "keep")[2]
        self.assertIn("1 file, 1 folder and 1 link", said)
        self.assertIn("1 generation of", said)
        self.assertIn("1 file, 1 folder and 1 link", self.run_firn("info", manifest)[1])
        self.assertIn("1 file, 1 folder and 1 link",
                      self.run_firn("verify", manifest, source.parent)[2])
        (source / "link").unlink()
        self.assertIn("1 of 3 files, folders and links",
                      self.run_firn("verify", manifest, source.parent)[2])

    def test_a_wrong_parent_is_named_in_place_of_its_children(self):
        source = self.tree({"sub/a": 10, "sub/b": 10, "c": 10})
        manifest = self.create(source)
        for number, (below, as_link) in enumerate(
                (("holiday/sub", False), ("holiday", True), ("holiday", False))):
            with self.subTest(below=below, link=as_link):
                place = self.folder / f"place{number}"
                path = place / below
                path.parent.mkdir(parents=True)
                if as_link:
                    path.symlink_to(source)
                else:
                    path.write_bytes(b"mine")
                for command, said in self.each(manifest, place).items():
                    named = f"in the way: {path}" if command == "verify" else f"{below} (in the way)"
                    self.assertIn(named, said, command)
                    self.assertNotRegex(said, r"sub/a|sub/b", command)


if __name__ == "__main__":
    harness.main()
