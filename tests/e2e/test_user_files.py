#!/usr/bin/python3
"""What a user does to finished files while the rest of their folder is still being downloaded."""

import shutil
import unittest

import harness
from harness import KIB, LISTEN, MIB, bare


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


class TakenNames(harness.SwarmTest):
    """What stood in a folder before is not the content's."""

    EVIL = {"firn/config.toml": b"on-complete = 'touch ran'\n", "autostart/x.desktop": 100}

    def evil(self, name):
        source = self.tree(self.EVIL, name)
        manifest = self.create(source)
        seed = self.firn(f"seed-{name}", "seed", manifest, source.parent, *LISTEN)
        return source, [manifest, "--no-tracker", "--peer", seed.endpoint(), "--seed", "none"]

    def test_a_content_does_not_come_into_a_folder_that_is_there(self):
        home = self.folder / "home"
        for name, before in (("settings", {"mine.toml": b"mine"}), ("empty", {"x/": 0})):
            source, what = self.evil(name)
            mine = harness.write_tree(home / name, before)
            there = harness.tree_of(home)
            for _ in range(2):  # the first leaves nothing that the second takes for its own
                result = self.run_firn("get", *what, *LISTEN, cwd=home)
                self.assert_refused(result, harness.DISK, str(name), "choose another folder (-o)")
                self.assertEqual(there, harness.tree_of(home))
            status, output, errors = self.run_firn("get", *what, *LISTEN, "--repair", cwd=home)
            self.assertEqual(0, status, errors)
            self.assertIn(f"what differs in ./{name} is repaired", output)
            self.assert_same(source / "firn", mine / "firn")

    def test_an_empty_folder_is_used_and_a_whole_copy_is_left_as_it_is(self):
        source, what = self.evil("settings")
        copies = self.folder / "copies"
        (copies / "settings").mkdir(parents=True)
        self.assert_downloaded(source, self.firn("get", "get", *what, *LISTEN, "-o", copies),
                               into=copies)
        usb = self.folder / "usb"
        shutil.copytree(source, usb / "settings")
        before = [path.stat() for path in (usb, *usb.rglob("*"))]
        self.assert_completes(self.firn("again", "get", *what, *LISTEN, "-o", usb))
        after = [path.stat() for path in (usb, *usb.rglob("*"))]
        self.assertEqual([s.st_ctime_ns for s in before], [s.st_ctime_ns for s in after])

    def test_of_two_contents_of_one_name_one_comes_into_a_folder_at_a_time(self):
        versions = []
        for version, files in (("v1", {"app": 2 * MIB}), ("v2", {"app": MIB, "new": KIB})):
            source = harness.write_tree(self.folder / version / "rel", files)
            seed = self.share(source, "--up-limit", "1M", name=version)
            versions.append((source, seed))
        for folder, first_runs in (("later", True), ("at-once", False)):
            gets = []
            for source, seed in versions:
                gets.append((source, self.get(seed.link(), f"{folder}-{len(gets)}", "--peer", seed.endpoint(),
                                              "--seed", "none", into=self.folder / folder)))
                if first_runs and len(gets) == 1:
                    gets[0][1].wait_event("start")
            ends = [get.wait_exit(60) for _, get in gets]
            self.assertEqual([0, harness.DISK], sorted(ends), [get.story() for _, get in gets])
            winner, loser = ends.index(0), ends.index(harness.DISK)
            if first_runs:
                self.assertEqual(0, winner)
            self.assertIn("choose another folder (-o)", gets[loser][1].output("stderr"))
            self.assert_same(gets[winner][0], self.folder / folder / "rel")
            self.assertEqual(["rel"], [p.name for p in (self.folder / folder).iterdir()])

    @unittest.skipUnless(harness.can_mount(), "needs root and mount namespaces")
    def test_root_s_own_folders_are_left_as_they_are(self):
        """With DIR / and /etc of a root folder that is made for it."""
        root = "/mnt"  # of the namespace alone
        kept = ["/usr", "/bin", "/lib", "/lib64", "/dev", "/proc", harness.BUILD, self.folder]
        prepare = f"mount -t tmpfs none {root}\n" + "".join(
            f"if [ -L '{path}' ]; then cp -P '{path}' {root}; elif [ -d '{path}' ]; then "
            f"mkdir -p '{root}{path}'; mount --rbind '{path}' '{root}{path}'; fi\n"
            for path in kept)
        prepare += f"mkdir -p {root}/etc/cron.d; echo mine > {root}/etc/cron.d/mine\n"
        for name, output in (("etc", "/"), ("cron.d", "/etc")):
            _, what = self.evil(name)
            listed = 'chroot /mnt "$@"; echo status $?; cd /mnt; find etc .firn -type f'
            program = self.programs.start(
                f"get-{name}", [*harness.in_mount_namespace(prepare), "sh", "-c", listed, "sh",
                                harness.BUILD / "client" / "firn", "get", *what, "-o", output])
            program.wait_exit(60)
            said = program.output("stdout").splitlines()
            self.assertIn(f"status {harness.DISK}", said, program.story())
            self.assertEqual(["etc/cron.d/mine"], said[said.index(f"status {harness.DISK}") + 1:])


if __name__ == "__main__":
    harness.main()
