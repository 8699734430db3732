#!/usr/bin/python3
"""SIGHUP: the end of a terminal says goodbye, and a process without one opens its log anew."""

import os
import pty
import signal
import sys
import tty

import harness
from harness import LISTEN

# Runs a command in the session of a terminal; what it says still goes to our pipes.
ON_TERMINAL = """
import os, signal, sys
terminal = os.open(sys.argv[1], os.O_RDWR)  # this process leads a session: it is its terminal now
for stream in sys.argv[2]:
    os.dup2(terminal, int(stream))
if sys.argv[3] == "ignored":
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
os.execv(sys.argv[4], sys.argv[4:])
"""


class HangupTest(harness.SwarmTest):
    def on_terminal(self, name, *command, streams="0", hangup="default"):
        """A program on a terminal of its own; `hang_up` closes the terminal."""
        master, slave = pty.openpty()
        tty.setraw(slave)
        program = self.programs.start(
            name, [sys.executable, "-c", ON_TERMINAL, os.ttyname(slave), streams, hangup, *command])
        self.terminal = open(master, "rb", buffering=0)
        self.addCleanup(self.terminal.close)
        self.addCleanup(os.close, slave)  # reading a terminal that no process has open yet fails
        return program

    def hang_up(self):
        self.terminal.close()

    def firn_on_terminal(self, name, *arguments, **options):
        return self.on_terminal(name, harness.BUILD / "client" / "firn", *arguments, **options)

    def known_to(self, tracker, content):
        """How many complete peers the tracker tells a newcomer of."""
        probe = self.get(content, "probe", "--no-pex", "-v")
        match = probe.wait_line(r"tracker .*: (\d+) complete", stream="stderr")
        probe.kill()
        return int(match.group(1))


class Terminals(HangupTest):
    def test_a_closed_terminal_ends_a_peer_that_says_goodbye(self):
        tracker = self.tracker()
        source = self.file(10)
        manifest = self.create(source, "--tracker", tracker.endpoint())
        seed = self.firn_on_terminal("seed", "seed", manifest, source.parent, *LISTEN, "-v")
        seed.wait_line(r"tracker .*: 1 complete", stream="stderr")
        self.hang_up()
        self.assertEqual(0, seed.wait_exit(15), seed.story())
        self.assertEqual(0, self.known_to(tracker, manifest))

    def test_a_download_ends_as_after_sigterm(self):
        get = self.firn_on_terminal("get", "get", self.create(self.file(10)), "--no-tracker", "-o",
                                    self.folder / "get", *LISTEN)
        get.wait_event("start")
        self.hang_up()
        self.assertEqual(harness.INTERRUPTED, get.wait_exit(15), get.story())

    def test_hanging_up_twice_is_not_a_second_signal(self):
        """The kernel and the shell both send it."""
        source = self.file(10)
        seed = self.firn_on_terminal("seed", "share", source, *LISTEN)
        seed.endpoint()
        for _ in range(3):
            seed.send(signal.SIGHUP)
        self.assertEqual(0, seed.wait_exit(15), seed.story())

    def test_output_that_goes_to_the_terminal_ends_with_it(self):
        seed = self.firn_on_terminal("seed", "share", self.file(10), *LISTEN, streams="012")
        said = b""
        while b'"listen"' not in said:
            said += self.terminal.read(4096)
        self.hang_up()
        self.assertEqual(0, seed.wait_exit(15), seed.story())

    def test_the_tracker_ends_with_its_terminal(self):
        tracker = self.on_terminal(
            "tracker", harness.BUILD / "tracker" / "firn-tracker", "--listen", "127.0.0.1:0",
            "--data", self.folder / "data")
        tracker.endpoint()
        self.hang_up()
        self.assertEqual(0, tracker.wait_exit(15), tracker.story())
        self.assertIn("stopping", tracker.output("stderr"))

    def test_nohup_is_respected(self):
        source = self.file(10)
        seed = self.firn_on_terminal("seed", "share", source, *LISTEN, hangup="ignored")
        link, endpoint = seed.link(), seed.endpoint()
        tracker = self.on_terminal(
            "tracker", harness.BUILD / "tracker" / "firn-tracker", "--listen", "127.0.0.1:0",
            "--data", self.folder / "data", hangup="ignored")
        tracker.endpoint()
        for program in (seed, tracker):
            program.send(signal.SIGHUP)
        self.assert_downloaded(source, self.get(link, "get", "--peer", endpoint, "--tracker",
                                                tracker.endpoint()))
        for program in (seed, tracker):
            program.send(signal.SIGTERM)
            self.assertEqual(0, program.wait_exit(15), program.story())


class Daemons(HangupTest):
    """Programs that the harness starts have a session, and no terminal."""

    def rotated(self, log):
        """The log, moved away as logrotate does."""
        old = log.with_suffix(".1")
        log.rename(old)
        return old

    def test_a_peer_opens_its_log_anew(self):
        log = self.folder / "firn.log"
        source = self.file(10)
        seed = self.share(source, "--log", log)
        endpoint = seed.endpoint()
        old = self.rotated(log)
        seed.send(signal.SIGHUP)
        seed.wait_line("log is opened anew", stream="stderr")
        size = old.stat().st_size
        self.assertIn("opened anew", log.read_text())
        self.assert_downloaded(source, self.get(seed.link(), "get", "--peer", endpoint))
        seed.send(signal.SIGTERM)
        self.assertEqual(0, seed.wait_exit(15), seed.story())
        self.assertIn("stopping", log.read_text())
        self.assertEqual(size, old.stat().st_size)

    def test_a_peer_without_a_log_goes_on(self):
        get = self.get(self.create(self.file(10)), "get", "--no-tracker")
        get.wait_event("start")
        get.send(signal.SIGHUP)
        get.wait_line("SIGHUP", stream="stderr")
        get.send(signal.SIGTERM)
        self.assertEqual(harness.INTERRUPTED, get.wait_exit(15), get.story())

    def test_what_took_the_log_s_name_is_left_alone(self):
        log = self.folder / "firn.log"
        seed = self.share(self.file(10), "--log", log)
        seed.endpoint()
        old = self.rotated(log)
        log.write_text("mine")
        seed.send(signal.SIGHUP)
        seed.wait_line("warning: .*firn.log.*no log", stream="stderr")
        self.assertEqual(0, seed.stop())
        self.assertEqual("mine", log.read_text())
        self.assertIn("stopping", old.read_text())

    def test_the_tracker_opens_its_log_anew(self):
        log = self.folder / "tracker.log"
        tracker = self.programs.start(
            "tracker", [harness.BUILD / "tracker" / "firn-tracker", "--listen", "127.0.0.1:0",
                        "--data", self.folder / "data", "--log", log])
        tracker.endpoint()
        old = self.rotated(log)
        # Of two signals that wait the lower number comes first.
        tracker.send(signal.SIGHUP)
        tracker.send(signal.SIGTERM)
        self.assertEqual(0, tracker.wait_exit(15), tracker.story())
        self.assertNotIn("stopping", old.read_text())
        self.assertIn("opened anew", log.read_text())
        self.assertIn("stopping", log.read_text())


if __name__ == "__main__":
    harness.main()
