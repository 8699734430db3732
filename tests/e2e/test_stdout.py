#!/usr/bin/python3
"""`firn get LINK -o -`: one file on standard output, in order, as it comes."""

import os
import pty
import signal
import subprocess
import threading

import harness
from harness import BUILD, DISK, INTERRUPTED, KIB, MIB, USAGE

PIPE_CLOSED = 141


class Getting:
    """A running `firn get ... -o -` whose standard output the test reads; stderr is collected."""

    def __init__(self, test, *arguments, **popen):
        self.work = test.folder / "work"
        self.temporary = test.folder / "temporary"
        for folder in (self.work, self.temporary):
            folder.mkdir(exist_ok=True)
        popen.setdefault("stdout", subprocess.PIPE)
        self.process = subprocess.Popen(
            [BUILD / "client" / "firn", "get", *arguments, "-o", "-", "--listen", "127.0.0.1:0"],
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=self.work,
            env={**os.environ, "TMPDIR": str(self.temporary)}, **popen)
        test.addCleanup(self.end)
        self.said = []
        self.heard = threading.Condition()
        self.listener = threading.Thread(target=self.listen, daemon=True)
        self.listener.start()

    def listen(self):
        with self.process.stderr as lines:
            for line in lines:
                with self.heard:
                    self.said.append(line.decode())
                    self.heard.notify_all()

    def story(self):
        return "".join(self.said)

    def wait_for(self, words, timeout=60):
        with self.heard:
            if not self.heard.wait_for(lambda: words in self.story(), timeout):
                raise AssertionError(f"no `{words}`:\n{self.story()}")

    def exit(self, timeout=60):
        status = self.process.wait(timeout)
        self.listener.join(timeout)
        return status

    def left_behind(self):
        return [*self.work.iterdir(), *self.temporary.iterdir()]

    def end(self):
        if self.process.stdout:
            self.process.stdout.close()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


class Stdout(harness.SwarmTest):
    def getting(self, link, *arguments, **popen):
        return Getting(self, link, "--seed", "none", *arguments, **popen)

    def assert_ends(self, getting, status):
        """With this status, and with nothing left in the folders."""
        self.assertEqual(status, getting.exit(), getting.story())
        self.assertEqual([], getting.left_behind())

    def test_the_bytes_of_a_single_file_and_nothing_else(self):
        source = self.file(5 * MIB + 77)
        getting = self.getting(self.share(source).link())
        self.assertEqual(source.read_bytes(), getting.process.stdout.read())
        self.assert_ends(getting, 0)
        self.assertIn("complete and verified", getting.story())

    def test_one_file_of_many(self):
        source = self.tree({"a": 300 * KIB, "extras/b": 700 * KIB, "empty": 0})
        link = self.share(source).link()
        for name in ("extras/b", "empty"):
            getting = self.getting(link, "--file", name)
            self.assertEqual((source / name).read_bytes(), getting.process.stdout.read())
            self.assert_ends(getting, 0)

    def test_several_files_are_refused_with_what_to_do(self):
        link = self.share(self.tree({"a": 30, "b": 50, "c": 0})).link()
        getting = self.getting(link, "--skip", "c")
        self.assert_ends(getting, USAGE)
        self.assertIn("2 files of it would be taken", getting.story())
        self.assertIn("--file", getting.story())
        self.assertIn("firn info --files", getting.story())

    def test_what_else_writes_there_or_takes_several_is_refused(self):
        link = self.share(self.file(100)).link()
        self.assert_refused(self.run_firn("get", link, "-o", "-", "--json"), USAGE, "--json")
        self.assert_refused(self.run_firn("get", link, link, "-o", "-"), USAGE, "named twice")

    def test_bytes_come_before_the_download_is_complete(self):
        source = self.file(16 * MIB)
        getting = self.getting(self.share(source, "--up-limit", "2MB").link())
        self.assertEqual(source.read_bytes()[:2 * MIB], getting.process.stdout.read(2 * MIB))
        self.assertNotIn("complete", getting.story())
        getting.process.send_signal(signal.SIGTERM)
        self.assert_ends(getting, INTERRUPTED)

    def test_the_download_goes_on_while_nobody_takes_the_bytes(self):
        source = self.file(6 * MIB)
        getting = self.getting(self.share(source).link())
        getting.wait_for("complete and verified")
        self.assertEqual(source.read_bytes(), getting.process.stdout.read())
        self.assert_ends(getting, 0)

    def test_an_interrupt_ends_it_also_while_nobody_takes_the_bytes(self):
        getting = self.getting(self.share(self.file(3 * MIB)).link())
        getting.wait_for("complete and verified")
        getting.process.send_signal(signal.SIGINT)
        self.assert_ends(getting, INTERRUPTED)

    def test_a_reader_that_goes_ends_it_without_a_word(self):
        source = self.file(16 * MIB)
        getting = self.getting(self.share(source, "--up-limit", "2MB").link())
        with getting.process.stdout as pipe:
            self.assertEqual(source.read_bytes()[:100], pipe.read(100))
        self.assert_ends(getting, PIPE_CLOSED)
        self.assertNotIn("firn: ", getting.story())
        self.assertNotIn("interrupted", getting.story())

    def test_it_stays_as_seed_says_and_standard_output_is_closed_before(self):
        source = self.file(300 * KIB)
        getting = Getting(self, self.share(source).link(), "--seed", "forever")
        self.assertEqual(source.read_bytes(), getting.process.stdout.read())
        self.assertIsNone(getting.process.poll())
        getting.process.send_signal(signal.SIGINT)
        self.assert_ends(getting, 0)

    def test_a_full_disk_behind_standard_output_is_an_error(self):
        with open("/dev/full", "wb") as full:
            getting = self.getting(self.share(self.file(300 * KIB)).link(), stdout=full)
        self.assert_ends(getting, DISK)
        self.assertIn("write to standard output: No space left on device", getting.story())

    def test_a_terminal_is_refused(self):
        ours, theirs = pty.openpty()
        getting = self.getting(self.share(self.file(100)).link(), stdout=theirs)
        os.close(theirs)
        self.assert_ends(getting, USAGE)
        os.close(ours)
        self.assertIn("terminal", getting.story())


if __name__ == "__main__":
    harness.main()
