#!/usr/bin/python3
"""A signal while a command reads files: it says what became of its work, and leaves nothing half
done."""

import os
import pty
import re
import signal
import subprocess

import harness
from harness import LISTEN

GIB = 1 << 30


class Stopping(harness.SwarmTest):
    def setUp(self):
        super().setUp()
        self.outputs = self.folder / "outputs"
        self.outputs.mkdir()

    def holes(self, size):
        """A file that takes long to be hashed, and no room."""
        path = self.file(0, "huge.bin")
        os.truncate(path, size)
        return path

    def stopped(self, number, *arguments):
        """Status and words of a command that got a signal while it hashed; its bar tells when."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [str(word) for word in (harness.BUILD / "client" / "firn", *arguments)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=theirs,
            env={**os.environ, "TERM": "xterm"})
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        os.close(theirs)
        said = b""
        with open(ours, "rb", buffering=0) as terminal:
            try:
                while not re.search(rb"(hashing|checking).*\d%", said):
                    said += terminal.read(4096)
                process.send_signal(number)
                while chunk := terminal.read(4096):
                    said += chunk
            except OSError:  # the program has left its terminal
                pass
        return process.wait(30), said.decode()

    def test_create_and_share_write_nothing(self):
        source = self.holes(200 * GIB)
        for command, options in (("create", []), ("share", LISTEN)):
            for number in (signal.SIGINT, signal.SIGTERM):
                with self.subTest(command=command, signal=number):
                    log = self.folder / f"{command}.log"
                    status, said = self.stopped(number, command, source, *options, "-o",
                                                self.outputs / "x.firn", "--log", log)
                    self.assertEqual(harness.INTERRUPTED, status, said)
                    self.assertRegex(said, "stopped; nothing was .*written")
                    self.assertEqual([], os.listdir(self.outputs))
                    self.assertIn("stopped; nothing", log.read_text())

    def test_verify_gives_no_verdict(self):
        source = self.holes(2 * GIB)
        manifest = self.create(source)
        for number in (signal.SIGINT, signal.SIGTERM):
            status, said = self.stopped(number, "verify", manifest, source.parent)
            self.assertEqual(harness.INTERRUPTED, status, said)
            self.assertIn("stopped; not everything was read", said)


if __name__ == "__main__":
    harness.main()
