#!/usr/bin/python3
"""Files that are not, or not any more, what the manifest says: found exactly, and brought back."""

import os
import re
import shutil

import harness
from harness import KIB, LISTEN, MIB, bare


class Repair(harness.SwarmTest):
    """A copy of a folder beside its seed."""

    def start(self, files, *options):
        self.source = self.tree(files)
        self.manifest = self.create(self.source, *options)
        self.seed = self.firn("seed", "seed", self.manifest, self.source.parent, *LISTEN)
        self.copies = self.folder / "above" / "copies"
        self.assert_downloaded(self.source, self.fetch("first"), into=self.copies)

    def fetch(self, name, *options):
        return self.get(self.manifest, name, "--peer", self.seed.endpoint(), "--no-tracker", *options,
                        into=self.copies)

    def copy(self, name):
        return self.copies / "holiday" / name

    def change(self, name, at, by=1):
        data = bytearray(self.copy(name).read_bytes())
        data[at] ^= by
        self.copy(name).write_bytes(data)

    def verify(self, *words):
        """Exit status, and what is said of which file: {name: fault}."""
        status, output, _ = self.run_firn("verify", self.manifest, *(words or [self.copies]))
        faults = {}
        for line in output.splitlines():
            fault, _, path = line.partition(": ")
            faults[path.split(" (")[0].split("/holiday/")[-1]] = fault
        return status, faults

    def blocks_of(self, program):
        return program.wait_event("complete")["blocks_innovative"]

    def test_one_changed_byte_among_500_small_files(self):
        self.start({f"photo{i}": 700 for i in range(500)})
        self.assertEqual((0, {}), self.verify())
        before = {path: path.stat() for path in self.copy("").iterdir()}
        self.change("photo321", 99)
        self.assertEqual((harness.VERIFY_FAILED, {"photo321": "changed"}), self.verify())

        refused = self.fetch("refused")
        self.assertEqual(harness.DISK, refused.wait_exit(60))
        said = refused.output("stderr")
        for words in ("1 of 500", "photo321 (changed)", "--repair"):
            self.assertIn(words, said)
        self.assertNotIn("photo320", said)

        # A good one that goes away does not put the others in doubt.
        self.copy("photo7").unlink()
        self.assertEqual(harness.DISK, self.fetch("again").wait_exit(60))
        repair = self.fetch("repair", "--repair")
        self.assert_downloaded(self.source, repair, into=self.copies)
        self.assertLessEqual(self.blocks_of(repair), 4)  # two files, in two blocks each at most
        self.assertEqual((0, {}), self.verify())
        for path, status in before.items():
            if path.name not in ("photo321", "photo7"):
                self.assertEqual(status.st_ctime_ns, path.stat().st_ctime_ns, path)

    def test_a_missing_small_file_costs_its_blocks_alone(self):
        self.start({f"photo{i}": 700 for i in range(500)})
        self.copy("photo99").unlink()
        self.assertEqual((harness.VERIFY_FAILED, {"photo99": "missing"}), self.verify())
        refused = self.fetch("refused")  # many right files do not make the folder the download's
        self.assertEqual(harness.DISK, refused.wait_exit(60))
        self.assertRegex(refused.output("stderr"), r"1 of 500.*photo99 \(missing\).*--repair")
        again = self.fetch("again", "--repair")
        self.assertIn(f"what differs in {self.copy('')}", again.wait_event("notice")["message"] + "/")
        self.assert_downloaded(self.source, again, into=self.copies)
        self.assertLessEqual(self.blocks_of(again), 2)

    def test_short_long_and_changed_files_cost_their_generations(self):
        self.start({"a": 3 * MIB, "b": 2 * MIB, "c": MIB, "d": 100, "e/f": 0},
                   "--generation-size", 16, "--block-size", 4 * KIB)
        self.change("a", 2 * MIB)
        with self.copy("b").open("r+b") as file:
            file.truncate(2 * MIB - 5)
        with self.copy("c").open("ab") as file:
            file.write(b"more")
        self.copy("e/f").write_bytes(b"x")
        self.assertEqual((harness.VERIFY_FAILED,
                          {"a": "changed", "b": "short", "c": "long", "e/f": "long"}), self.verify())
        repair = self.fetch("repair", "--repair")
        self.assert_downloaded(self.source, repair, into=self.copies)
        self.assertEqual(2 * 16, self.blocks_of(repair))  # one generation of a, the last of b

    def test_what_is_no_file_is_left_alone(self):
        self.start({"a": 100, "b": 100})
        self.copy("a").unlink()
        self.copy("a").mkdir()
        self.assertEqual((harness.VERIFY_FAILED, {"a": "in the way"}), self.verify())
        repair = self.fetch("repair", "--repair")
        self.assertEqual(harness.DISK, repair.wait_exit(60))
        self.assertIn("a (in the way)", repair.output("stderr"))

    def test_a_folder_one_level_too_deep_or_too_high_is_found_and_said(self):
        self.start({"a": 100, "b/c": 5000})
        for given in (self.copies / "holiday", self.copies.parent):
            status, output, errors = self.run_firn("verify", self.manifest, given)
            self.assertEqual(0, status, output + errors)
            self.assertIn(str(self.copies), errors)
            seed = self.firn("found", "seed", self.manifest, given, *LISTEN)
            self.assertIn(str(self.copies), seed.wait_event(
                "notice", where=lambda e: "holiday" in e["message"])["message"])
            seed.wait_event("start")
            seed.kill()


class Layouts(harness.SwarmTest):
    """What contents may hold besides plain files."""

    def test_links_are_kept_as_links(self):
        source = self.tree({"a/file": 3000, "b": 10})
        (source / "link").symlink_to("a/file")
        (source / "a" / "up").symlink_to("../b")
        (source / "dangling").symlink_to("nowhere")
        seed = self.share(source, "--symlinks", "keep")
        get = self.get(seed.link(), "get")
        self.assert_downloaded(source, get)
        self.assertEqual("a/file", os.readlink(self.folder / "get" / "holiday" / "link"))

    def test_links_that_lead_out_are_all_named(self):
        source = self.tree({"a/file": 3000})
        (source / "one").symlink_to("/etc/passwd")
        (source / "a" / "two").symlink_to("../../x")
        (source / "CON").write_bytes(b"")
        result = self.run_firn("create", source, "-o", self.folder / "x.firn", "--symlinks", "keep")
        self.assert_refused(result, harness.USAGE, "holiday/one", "a/two", "holiday/CON", "3 things")
        skipping = self.run_firn("create", source, "-o", self.folder / "x.firn", "--symlinks", "skip",
                                 "--skip-bad-names")
        self.assertEqual(0, skipping[0], skipping)
        self.assertIn("left out", skipping[2])

    def test_what_is_excluded_is_not_shared(self):
        source = self.tree({"a.tmp": 10, "b": 10, "build/x": 10, "sub/c.tmp": 5})
        seed = self.share(source, "--exclude", "*.tmp", "--exclude", "/build/")
        get = self.get(seed.link(), "get")
        self.assert_completes(get)
        self.assertEqual(["b", "sub"], sorted(p.name for p in (self.folder / "get/holiday").iterdir()))

    def test_a_pattern_that_excludes_nothing_is_told(self):
        source = self.tree({"secret.key": 10, "b": 10, "docs/sub/x": 10})
        other = self.tree({"c.tmp": 10, "d": 10}, "other")
        status, _, errors = self.run_firn("create", source, "-o", self.folder / "x.firn", "--exclude",
                                          "*.kye", "--exclude", "docs/sub", "--exclude", "[a")
        self.assertEqual(0, status, errors)
        self.assertEqual(["*.kye", "[a"], re.findall("warning: --exclude '(.*)' left", errors))
        seed = self.share(source, other, "--exclude", "*.tmp", "--exclude", "*.kye")
        seed.link()
        self.assertEqual(0, seed.stop())
        self.assertEqual(["*.kye"],  # the other pattern matches in one of the folders
                         re.findall("warning: --exclude '(.*)' left", seed.output("stderr")))
        for nothing in ("", "/", "./"):
            self.assert_refused(
                self.run_firn("create", source, "-o", self.folder / "y.firn", "--exclude", nothing),
                harness.USAGE, "--exclude")

    def as_another_user(self):
        """How a program is run by a user whom modes bind: root writes in spite of them."""
        if not harness.is_root():
            return {}
        nobody = 65534
        for path in [self.folder, *self.folder.rglob("*")]:
            os.chown(path, nobody, nobody, follow_symlinks=False)
        return {"user": nobody, "group": nobody, "extra_groups": []}

    def test_files_that_may_not_be_written_are_repaired(self):
        source = self.tree({"a": 3 * MIB, "sub/b": 100, "sub/c": 200})
        for path in (source / "a", source / "sub" / "b"):
            path.chmod(0o444)
        manifest = self.create(source)
        seed = self.firn("seed", "seed", manifest, source.parent, *LISTEN)
        copies = self.folder / "copies"
        program = shutil.copy(harness.BUILD / "client" / "firn", self.folder)  # the build may be where no other may look
        user = self.as_another_user()

        def get(name, *options):
            return self.programs.start(name, [program, "get", manifest, "-o", copies, "--peer", seed.endpoint(),
                                              "--no-tracker", *LISTEN, *options], **user)

        self.assert_completes(get("first"))
        for name in ("a", "sub/b"):
            path = copies / "holiday" / name
            path.chmod(0o644)
            data = bytearray(path.read_bytes())
            data[50] ^= 1
            path.write_bytes(data)
            path.chmod(0o444)
        refused = get("refused")
        self.assertEqual(harness.DISK, refused.wait_exit(60), refused.story())
        self.assert_completes(get("repaired", "--repair"))
        self.assert_same(source, copies / "holiday")

    def test_a_sparse_file_stays_sparse(self):
        source = self.file(0, "image")
        with source.open("r+b") as file:
            file.truncate(64 * MIB)
            file.seek(40 * MIB)
            file.write(os.urandom(5000))
        seed = self.share(source)
        self.assert_downloaded(source, self.get(seed.link(), "get"))
        self.assertLess((self.folder / "get" / "image").stat().st_blocks * 512, MIB)

    def test_files_of_every_size_around_a_generation(self):
        sizes = [0, 1, 255, 256, 1023, 1024, 1025, 2048, 2049, 5000, 300, 3, 1024, 1500]
        source = self.tree({f"{i:02}": size for i, size in enumerate(sizes)})
        seed = self.share(source, "--generation-size", 4, "--block-size", 256)
        one = self.get(bare(seed.link()), "one", "--peer", seed.endpoint(), "--seed", "forever")
        two = self.get(bare(seed.link()), "two", "--peer", one.endpoint(), "--no-pex")
        self.assert_downloaded(source, two)
        self.assert_same(source, self.folder / "one" / "holiday")


if __name__ == "__main__":
    harness.main()
