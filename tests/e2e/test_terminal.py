#!/usr/bin/python3
"""What people see: a bar on a terminal, plain lines elsewhere, and nothing twice."""

import json
import os
import pty
import re
import select
import subprocess
import time
import unittest

import harness
from harness import LISTEN, MIB

# What a bar or a line of progress has, and a message has not.
PROGRESS = re.compile(r"ETA|\d+\.\d%")


def has_gpu():
    doctor = subprocess.run([harness.BUILD / "client" / "firn", "doctor", "--json"],
                            capture_output=True, check=True)
    return bool(json.loads(doctor.stdout)["gpus"])


class Terminal(harness.SwarmTest):
    def setUp(self):
        super().setUp()
        self.source = self.file(4 * MIB)

    def on_terminal(self, *arguments, timeout=60, **environment):
        """Runs firn on a terminal of its own to its end: all that it wrote, with the line ends
        that a terminal makes undone."""
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        process = subprocess.Popen(
            [str(word) for word in (harness.BUILD / "client" / "firn", *arguments)],
            stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs,
            env={**os.environ, "TERM": "xterm", **environment})
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        os.close(theirs)
        written, deadline = b"", time.monotonic() + timeout
        while True:
            left = deadline - time.monotonic()
            if not select.select([ours], [], [], max(left, 0))[0]:
                self.fail(f"still runs after {timeout} s: {written!r}")
            try:
                chunk = os.read(ours, 65536)
            except OSError:  # no process has the terminal open any more
                break
            if not chunk:
                break
            written += chunk
        self.assertEqual(0, process.wait(timeout), written)
        return written.decode().replace("\r\n", "\n")

    def download(self, **environment):
        seed = self.share(self.source, "--up-limit", "1.5M")
        return self.on_terminal("get", seed.link(), "-o", self.folder / "get", "--listen",
                                "127.0.0.1:0", **environment)

    def test_the_bar_is_painted_when_it_changes_and_gone_after_the_end(self):
        before, complete, after = self.download().partition("complete and verified")
        self.assertTrue(complete, before)
        for pattern in (r"\[#*\.+\]", r"\d+\.\d%", r"/s", r"ETA", r"1 peer\b"):
            self.assertRegex(before, pattern)
        paints = re.findall(r"\r\x1b\[K([^\r\n]+)", before)
        self.assertGreater(len(paints), 1)
        for one, next_one in zip(paints, paints[1:]):
            self.assertNotEqual(one, next_one)
        self.assertNotRegex(after, PROGRESS)
        # The line that says so stands where the bar was, not behind it.
        self.assertNotIn("[", before.rpartition("\x1b[K")[2])

    def test_rank_is_for_the_curious(self):
        self.assertNotIn("rank", self.download())
        seed = self.share(self.source, "--up-limit", "1.5M", name="again")
        self.assertRegex(
            self.on_terminal("get", seed.link(), "-o", self.folder / "v", "-v", "--listen",
                             "127.0.0.1:0"), r"rank \d+/\d+")

    def test_no_color_means_no_escape_sequences(self):
        written = self.download(NO_COLOR="1")
        self.assertNotIn("\x1b", written)
        self.assertRegex(written, r"\r\[#*\.+\]")
        self.assertNotRegex(written.partition("complete and verified")[2], PROGRESS)

    def test_a_dumb_terminal_gets_lines_alone(self):
        written = self.download(TERM="dumb")
        self.assertNotIn("\x1b", written)
        self.assertNotIn("\r", written)
        self.assertIn("complete and verified", written)

    @unittest.skipIf(has_gpu(), "there is a GPU to be told of")
    def test_without_a_gpu_nobody_hears_of_gpus(self):
        self.assertNotRegex(self.download(), "(?i)cuda|gpu|codec")


class Redirected(harness.SwarmTest):
    def test_a_plain_line_of_progress_comes_from_time_to_time(self):
        manifest = self.create(self.file(MIB))
        get = self.firn("get", "get", manifest, "-o", self.folder / "get", *LISTEN)
        get.wait_line(r"^content\.bin: 0\.0% of 1\.0 MiB, .*0 peers$", timeout=90, stream="stderr")
        self.assertNotRegex(get.output("stderr"), "[\r\x1b]")


class Notices(harness.SwarmTest):
    def test_what_concerns_all_contents_is_said_once(self):
        tracker = self.tracker().endpoint().split("@")[1]
        one, two = self.file(10, "one"), self.file(10, "two")
        seed = self.firn("seed", "share", one, two, "--tracker", tracker, *LISTEN)
        for source in (one, two):
            seed.wait_line(f"serving {source.name}", stream="stderr")
        notices = [seed.wait_event("notice", where=lambda event, id=start["content_id"]:
                                   "key was seen" in event["message"] and event["content_id"] == id)
                   for start in (seed.wait_event("start", where=lambda e: e["name"] == "one"),
                                 seed.wait_event("start", where=lambda e: e["name"] == "two"))]
        self.assertEqual(2, len(notices))  # programs hear it for each content
        self.assertEqual(0, seed.stop())
        self.assertEqual(1, seed.output("stderr").count("key was seen first"), seed.story())

    def test_a_download_goes_on_at_a_percentage(self):
        source = self.file(4 * MIB)
        seed = self.share(source, "--up-limit", "1.5M")
        get = self.get(seed.link())
        get.wait_event("progress", where=lambda event: event["bytes_verified"] > 0)
        self.assertEqual(harness.INTERRUPTED, get.stop())
        again = self.get(seed.link(), "again", "-v", into=self.folder / "get")
        line = again.wait_line("going on", stream="stderr").string
        self.assertRegex(line, r"going on at \d+\.\d% of 4\.0 MiB")
        self.assertNotIn("rank", line)
        again.wait_line(r": rank \d+ of \d+", stream="stderr")


if __name__ == "__main__":
    harness.main()
