#!/usr/bin/python3
"""What a daemon does where its list cannot be written, its socket goes, two start at once, or a signal
comes early."""

import fcntl
import json
import os
import pathlib
import shutil
import signal
import socket
import sqlite3
import subprocess
import time

import harness
from daemons import DaemonTest
from harness import DISK, KIB, LISTEN


class Unsaved(DaemonTest):
    """The database cannot be written, as on a full disk: another program has it."""

    def setUp(self):
        super().setUp()
        self.manifests = [self.create(self.file(10 * KIB, f"{i}.bin")) for i in range(2)]
        self.running = self.daemon()
        for manifest in self.manifests:
            self.add(manifest)
        self.other = sqlite3.connect(self.data / "contents.sqlite", isolation_level=None)
        self.addCleanup(self.other.close)
        self.other.execute("BEGIN EXCLUSIVE")

    def test_contents_are_paused_and_removed_all_the_same_and_that_is_saved_later(self):
        self.assertIs(False, self.ask("pause", "0.bin")["saved"])
        self.ask("remove", "1.bin")
        self.wait_for(lambda contents: [c["state"] for c in contents] == ["paused"])
        self.running.wait_line("is not saved yet.*locked", stream="stderr")
        self.other.execute("ROLLBACK")
        for name in ("0", "1"):
            self.running.wait_line(rf"{name}\.bin: the change is saved now", stream="stderr")
        self.running.kill()
        self.daemon()
        self.assertEqual({"0.bin": "paused"}, self.states())

    def test_a_daemon_that_stops_saves_what_it_could_not(self):
        self.ask("pause", "0.bin")
        self.ask("remove", "1.bin", "--delete-data")
        self.other.execute("ROLLBACK")
        self.assertEqual(0, self.running.stop())
        self.daemon()
        self.wait_for(lambda contents: [c["name"] for c in contents] == ["0.bin"])
        self.assertEqual({"0.bin": "paused"}, self.states())


class Starts(DaemonTest):
    def test_a_dead_socket_is_replaced_by_one_of_two_daemons_that_start_at_once(self):
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(str(self.socket))
        lock = pathlib.Path(f"{self.socket}.lock")
        with lock.open("w") as first:
            fcntl.flock(first, fcntl.LOCK_EX)
            second = self.run_firn("daemon", "--data", self.data, "--socket", self.socket, *LISTEN)
            self.assert_refused(second, DISK, "another program listens")
            self.assertTrue(self.socket.exists())
        daemon = self.daemon()
        self.assertEqual([], self.contents())
        self.assertEqual(0, daemon.stop())
        self.assertFalse(lock.exists() or self.socket.exists())

    def test_a_socket_whose_folder_goes_and_comes_back_is_made_anew(self):
        self.socket = self.folder / "run" / "s"
        self.socket.parent.mkdir()
        daemon = self.daemon()
        shutil.rmtree(self.socket.parent)
        daemon.wait_event("notice", where=lambda e: "trying again" in e["message"])
        self.socket.parent.mkdir(mode=0o700)
        daemon.wait_event("notice", where=lambda e: "listening there again" in e["message"])
        self.assertEqual([], self.contents())
        self.assertEqual(0o600, self.socket.stat().st_mode & 0o777)
        self.assertEqual(0, daemon.stop())
        self.assertEqual([], list(self.socket.parent.iterdir()))

    def test_a_socket_of_another_program_that_has_taken_the_path_stays(self):
        daemon = self.daemon()
        other = self.folder / "other"
        lock, other_lock = pathlib.Path(f"{self.socket}.lock"), self.folder / "other.lock"
        with socket.socket(socket.AF_UNIX) as listener, other_lock.open("w") as locked:
            fcntl.flock(locked, fcntl.LOCK_EX)
            listener.bind(str(other))
            listener.listen()
            other_lock.rename(lock)
            other.rename(self.socket)
            daemon.wait_event("notice",
                              where=lambda e: "another program listens" in e["message"])
            self.assertEqual(0, daemon.stop())
            self.assertTrue(lock.exists())
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(str(self.socket))

    def test_a_signal_before_the_loop_runs_ends_it_as_one_after(self):
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        filled = 0
        try:
            while True:
                filled += os.write(writing, b"x" * 4096)
        except BlockingIOError:
            os.set_blocking(writing, True)
        # It says that it has started, in vain: nobody reads.
        daemon = subprocess.Popen(
            [harness.BUILD / "client" / "firn", "daemon", "--data", self.data, "--socket",
             self.socket, "--json", *LISTEN], stdout=writing, stderr=subprocess.DEVNULL)
        self.addCleanup(daemon.kill)
        os.close(writing)
        deadline = time.monotonic() + 60
        while not self.socket.exists():
            self.assertLess(time.monotonic(), deadline)
            self.assertIsNone(daemon.poll())
        daemon.send_signal(signal.SIGTERM)
        with open(reading, "rb") as told:
            said = told.read()[filled:]
        self.assertEqual(0, daemon.wait(60))
        self.assertEqual("daemon", json.loads(said.splitlines()[0])["event"])


if __name__ == "__main__":
    harness.main()
