#!/usr/bin/python3
"""Small files that are read by name: manifests and keys. Nothing but a file is waited for."""

import os
import socket
import stat

import harness
from harness import LISTEN


class Inputs(harness.SwarmTest):
    def setUp(self):
        super().setUp()
        self.source = self.file(1000)

    def no_files(self):
        """What stands where a file should be: (what the programs call it, its path)."""
        folder = self.folder / "no-files"
        folder.mkdir()
        os.mkfifo(folder / "a-fifo")
        (folder / "to-fifo").symlink_to("a-fifo")
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(str(folder / "a-socket"))
        found = [("fifo", folder / "a-fifo"), ("fifo", folder / "to-fifo"),
                 ("socket", folder / "a-socket"), ("folder", folder)]
        if harness.is_root():
            os.mknod(folder / "a-device", stat.S_IFCHR | 0o666, os.makedev(1, 5))  # as /dev/zero
            found.append(("device", folder / "a-device"))
        return found

    def test_a_manifest_is_a_file(self):
        for kind, path in self.no_files():
            for command in (["info", path], ["verify", path, self.folder],
                            ["seed", path, self.folder, *LISTEN],
                            ["get", path, "-o", self.folder / "get", *LISTEN]):
                with self.subTest(command=command[0], path=path.name):
                    self.assert_refused(self.run_firn(*command, timeout=20), harness.USAGE,
                                        path.name, kind)

    def test_an_identity_is_a_file(self):
        manifest = self.create(self.source)
        for kind, path in self.no_files():
            for command in (["share", self.source], ["seed", manifest, self.source.parent],
                            ["get", manifest, "-o", self.folder / "get"]):
                with self.subTest(command=command[0], path=path.name):
                    result = self.run_firn(*command, *LISTEN, "--identity", path, timeout=20)
                    self.assert_refused(result, harness.DISK, path.name, kind)
            with self.subTest(command="tracker", path=path.name):
                self.assert_refused(self.run_tracker("--identity", path), harness.DISK, path.name,
                                    kind)

    def run_tracker(self, *options):
        """A tracker that is expected to end: (exit status, stdout, stderr)."""
        tracker = self.programs.start(
            "tracker", [harness.BUILD / "tracker" / "firn-tracker", "--listen", "127.0.0.1:0",
                        "--data", self.folder / "data", *options])
        status = tracker.wait_exit(20)
        return status, tracker.output("stdout"), tracker.output("stderr")

    def test_a_file_without_a_key_is_not_to_be_removed(self):
        mine = self.file(10, "mine")
        status, _, errors = self.run_firn("share", self.source, *LISTEN, "--identity", mine)
        self.assertEqual(harness.USAGE, status, errors)
        self.assertRegex(errors, "no unencrypted Ed25519 private key")
        self.assertNotIn("remove", errors)
        self.assert_refused(self.run_tracker("--identity", mine), harness.DISK, "key")

    def test_a_manifest_may_be_a_stream_of_the_process(self):
        manifest = self.create(self.source)
        reader, writer = os.pipe()
        os.write(writer, manifest.read_bytes())
        os.close(writer)
        status, output, errors = self.run_firn("info", f"/dev/fd/{reader}", pass_fds=[reader])
        os.close(reader)
        self.assertEqual(0, status, errors)
        self.assertIn(self.source.name, output)
        # The harness gives programs nothing on stdin: an empty manifest.
        self.assert_refused(self.run_firn("info", "/dev/stdin", timeout=20), harness.USAGE,
                            "/dev/stdin", "manifest")


if __name__ == "__main__":
    harness.main()
