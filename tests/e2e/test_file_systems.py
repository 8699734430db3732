#!/usr/bin/python3
"""What file systems cannot do: hold a link, a lock or so large a file, rename onto another disk."""

import os
import pathlib
import signal
import unittest

import harness
from harness import BUILD, DISK, KIB, LISTEN, MIB
from test_scarcity import SCARCITY


class FileSystems(harness.SwarmTest):
    def setUp(self):
        super().setUp()
        self.source = self.tree({"a": 300 * KIB, "b/c": MIB})
        (self.source / "b" / "link").symlink_to("c")
        self.seed = self.share(self.source, "--symlinks", "keep")
        self.out = self.folder / "out"

    def lacking(self, *what):
        return {**os.environ, "LD_PRELOAD": str(SCARCITY), "FIRN_TEST_LACKING": ",".join(what)}

    def command(self, *options):
        return ["get", self.seed.link(), "-o", self.out, "--seed", "none", *LISTEN, *options]

    def run_below(self, *prefix, options=()):
        get = self.programs.start("get below", [*prefix, BUILD / "client" / "firn",
                                                *self.command(*options)])
        return get.wait_exit(60), get.output("stdout"), get.output("stderr")

    def test_links_are_refused_before_anything_is_fetched(self):
        refused = self.run_firn(*self.command(), env=self.lacking("links"))
        self.assert_refused(refused, DISK, "symbolic links", "another file system")
        self.assertEqual([], os.listdir(self.out))

    def test_a_file_that_is_too_large_is_refused_before_anything_is_fetched(self):
        refused = self.run_below("bash", "-c", 'ulimit -f 1000; exec "$@"', "bash")
        self.assert_refused(refused, DISK, "too large", "another file system")
        self.assertEqual([], os.listdir(self.out))

    def test_without_locks_one_download_excludes_another_and_a_killed_one_no_more(self):
        environment = self.lacking("locks")
        first = self.firn("first", *self.command("--down-limit", "100K"), env=environment)
        first.wait_event("start")
        self.assert_refused(self.run_firn(*self.command(), env=environment), DISK,
                            f"process {first.process.pid}", "remove")
        first.process.send_signal(signal.SIGKILL)
        first.process.wait()
        self.assert_completes(self.firn("second", *self.command(), env=environment))
        self.assert_same(self.source, self.out / "holiday")
        self.assertEqual(["holiday"], os.listdir(self.out))

    @unittest.skipUnless(harness.can_mount(), "needs root and mount namespaces")
    def test_a_content_folder_that_is_a_mount_point_gets_its_files(self):
        place = self.out / "holiday"
        place.mkdir(parents=True)
        prefix = harness.in_mount_namespace(f"mount -t tmpfs none '{place}'")
        get = self.programs.start("get", [*prefix, BUILD / "client" / "firn", "get",
                                          self.seed.link(), "-o", self.out, "--seed", "forever",
                                          "--json", *LISTEN])
        get.wait_event("complete")
        inside = pathlib.Path(f"/proc/{get.process.pid}/root{place}")
        self.assert_same(self.source, inside)
        self.assertEqual(0, get.stop())

    @unittest.skipUnless(harness.can_mount(), "needs root and mount namespaces")
    def test_a_disk_without_room_is_told_at_the_start(self):
        self.out.mkdir()
        prefix = harness.in_mount_namespace(f"mount -t tmpfs -o size=1m none '{self.out}'")
        refused = self.run_below(*prefix, options=["--timeout", "60s"])
        self.assert_refused(refused, DISK, "MiB are needed", "free space")
        self.assertNotIn("no progress", refused[2])


if __name__ == "__main__":
    harness.main()
