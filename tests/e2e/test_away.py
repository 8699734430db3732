#!/usr/bin/python3
"""What an unfinished download of the daemon has had is away, as on a disk that is not mounted."""

import os

import harness
from daemons import DaemonTest
from harness import LISTEN, MIB


class Away(DaemonTest):
    def setUp(self):
        super().setUp()
        self.source = self.tree({"a": 2 * MIB, "b": 2 * MIB})
        self.seed = self.share(self.source, "--generation-size", 16, "--block-size", 4096)
        self.away = self.folder / "away"

    def begin(self):
        """A daemon that has a few generations of the content."""
        daemon = self.daemon()
        self.ask("limit", "--down", "400K")
        self.add(self.seed.link())
        self.wait_for(lambda contents: contents[0]["rank"] >= 64)
        return daemon

    def take_away(self, mount_point):
        self.downloads.rename(self.away)
        if mount_point:
            self.downloads.mkdir()

    def bring_back(self):
        if self.downloads.exists():
            self.assertEqual([], os.listdir(self.downloads))
            self.downloads.rmdir()
        self.away.rename(self.downloads)

    def assert_waits(self, daemon):
        self.wait_state("waiting")
        self.assertIn("may not be mounted", self.ask("show", "holiday")["waits_for"])
        daemon.wait_line("holiday waits: .*--afresh", stream="stderr")

    def assert_completes(self):
        self.ask("limit", "--down", "none")
        self.wait_complete()
        self.assert_same(self.source, self.downloads / "holiday")

    def test_a_daemon_that_starts_without_it_waits_and_goes_on(self):
        for mount_point in (True, False):
            with self.subTest(mount_point=mount_point):
                self.begin().stop()
                self.take_away(mount_point)
                daemon = self.daemon()
                self.assert_waits(daemon)
                self.bring_back()
                self.assert_completes()
                daemon.wait_line("holiday goes on", stream="stderr")
                self.ask("remove", "holiday", "--delete-data")
                self.wait_for(lambda contents: contents == [])
                daemon.stop()

    def test_one_that_loses_it_waits_and_goes_on(self):
        daemon = self.begin()
        self.take_away(True)
        self.assert_waits(daemon)
        self.bring_back()
        self.assert_completes()

    def test_it_begins_again_if_that_is_asked_for(self):
        daemon = self.begin()
        self.assert_refused(self.run_firn("resume", "holiday", "--afresh", "--socket", self.socket),
                            harness.USAGE, "firn resume")
        self.take_away(True)
        self.assert_waits(daemon)
        self.ask("resume", "holiday", "--afresh")
        self.assert_completes()

    def test_a_file_on_its_way_that_is_deleted_is_fetched_again(self):
        daemon = self.begin()
        for path in self.downloads.glob(".firn/*/data/a"):
            path.unlink()
        daemon.wait_line("data/a was deleted while it was on its way", stream="stderr")
        self.assert_completes()


class LostList(DaemonTest):
    def test_a_list_without_a_byte_is_not_taken_for_an_empty_one(self):
        self.daemon().stop()
        (self.data / "contents.sqlite").write_bytes(b"")
        refused = self.run_firn("daemon", "--data", self.data, "--socket", self.socket, *LISTEN)
        self.assert_refused(refused, refused[0] or 1, "its list of contents is lost", "firn add")
        (self.data / "contents.sqlite").unlink()
        self.daemon()
        self.assertEqual([], self.contents())


if __name__ == "__main__":
    harness.main()
