#!/usr/bin/python3
"""What the logs hold, and what others may read of a running tracker."""

import re
import sqlite3

import harness
from harness import MIB

LINE = re.compile(r"^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}\] \[firn(-tracker)?\] \[(\w+)\] ")


class Logs(harness.SwarmTest):
    def download(self, *options):
        """The log of a download that takes some seconds: at least two events of progress."""
        source = self.file(3 * MIB)
        seed = self.share(source, "--up-limit", "1M")
        log = self.folder / f"log{len(self.programs.started)}"
        get = self.get(seed.link(), f"get{len(self.programs.started)}", "--peer", seed.endpoint(),
                       "--log", log, *options)
        self.assert_completes(get)
        seed.stop()
        self.assertGreaterEqual(len([e for e in get.events if e["event"] == "progress"]), 2)
        lines = log.read_text().splitlines()
        for line in lines:
            self.assertRegex(line, LINE)
        return lines, {LINE.match(line).group(2) for line in lines}

    def test_a_log_is_for_people(self):
        lines, levels = self.download()
        self.assertEqual({"info"}, levels)
        self.assertIn("complete and verified", lines[-1])
        for line in lines:
            self.assertNotIn("{", line)
        self.assertLess(len(lines), 10)

    def test_a_level_says_how_much(self):
        lines, levels = self.download("--log-level", "debug")
        self.assertEqual({"info", "debug"}, levels)
        self.assertIn('"event":"progress"', "\n".join(lines))
        for level in ("warning", "error"):
            self.assertEqual([], self.download("--log-level", level)[0])
        refused = self.run_firn("doctor", "--log-level", "loud")
        self.assert_refused(refused, harness.USAGE, "--log-level")

    def test_errors_are_logged(self):
        log = self.folder / "log"
        missing = self.run_firn("info", self.folder / "missing", "--log", log, "--log-level", "error")
        self.assert_refused(missing, harness.DISK, "missing")
        self.assertRegex(log.read_text(), r"\[error\] .*missing")

    def test_a_log_that_cannot_be_written_stops_nothing(self):
        source = self.file(10)
        manifest = self.create(source)
        full = self.programs.start(
            "verify", ["sh", "-c", 'exec "$@" 3>/dev/full', "sh", harness.BUILD / "client" / "firn",
                       "verify", manifest, source.parent, "--log", "/dev/fd/3", "--log-level",
                       "debug"])
        self.assertEqual(0, full.wait_exit(), full.story())
        self.assertEqual(1, full.output("stderr").count("No space left"), full.story())

    def test_a_link_is_in_the_log_of_share(self):
        log = self.folder / "log"
        seed = self.share(self.file(10), "--log", log)
        link = seed.link()
        seed.stop()
        self.assertIn(link, log.read_text())


class TrackerLogs(harness.SwarmTest):
    def start(self, *options):
        return self.programs.start(
            "tracker", [harness.BUILD / "tracker" / "firn-tracker", "--listen", "127.0.0.1:0",
                        "--data", self.folder / "data", *options])

    def swarm(self, tracker, name="content"):
        """A source and a downloader that met by the tracker and have gone: their ids, and the
        content's."""
        source = self.file(10, name)
        seed = self.share(source, "--tracker", tracker.endpoint())
        get = self.get(seed.link(), f"get-{name}")
        self.assert_downloaded(source, get)
        seed.stop()
        return seed.id(), get.id(), get.last_event("start")["content_id"]

    def check_announces(self, text, seed, get, content):
        announces = [line for line in text.splitlines() if "announce" in line and content in line]
        for peer, event, returned in ((seed, "started", 0), (get, "started", 1),
                                      (get, "stopped", 0), (seed, "stopped", 0)):
            found = [line for line in announces if peer in line and event in line]
            self.assertTrue(found, f"{peer} {event} in\n{text}")
            self.assertRegex(found[0], r"127\.0\.0\.1")
            match = re.search(r"(\d+) peers? returned", found[0])
            self.assertTrue(match, found[0])
            self.assertEqual(returned, int(match.group(1)), found[0])

    def test_verbose_it_logs_announces(self):
        for options in (["-v"], ["--log-level", "debug"]):
            with self.subTest(options=options):
                tracker = self.start(*options)
                who = self.swarm(tracker, options[-1].strip("-"))
                tracker.stop()
                self.check_announces(tracker.output("stderr"), *who)

    def test_otherwise_it_does_not(self):
        tracker = self.start()
        self.swarm(tracker)
        tracker.stop()
        self.assertNotIn("announce", tracker.output("stderr"))
        self.assertIn("data in", tracker.output("stderr"))
        quiet = self.start("--log-level", "error")
        quiet.endpoint()
        quiet.stop()
        self.assertEqual("", quiet.output("stderr"))

    def test_its_database_can_be_read_while_it_runs(self):
        tracker = self.start()
        self.swarm(tracker)
        path = self.folder / "data" / "tracker.sqlite"
        reader = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=0)
        self.addCleanup(reader.close)
        self.assertLessEqual(reader.execute("SELECT count(*) FROM manifest").fetchone()[0], 1)
        # In the middle of reading: the tracker still writes.
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM peer").fetchone()
        second = self.share(self.file(20, "second"), "--tracker", tracker.endpoint(), name="second")
        self.assert_downloaded(self.folder / "source" / "second", self.get(second.link(), "get2"))
        self.assertEqual(0, tracker.stop())
        self.assertNotIn("warning", tracker.output("stderr"))
        reader.execute("COMMIT")

    def test_a_second_tracker_is_told_that_the_folder_is_taken(self):
        self.start().endpoint()
        second = self.start()
        self.assertEqual(4, second.wait_exit(20), second.story())
        self.assertIn("another tracker", second.output("stderr"))


if __name__ == "__main__":
    harness.main()
