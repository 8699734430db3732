#!/usr/bin/python3
"""SIGHUP: a tracker reads configuration and lists again, and takes what can change while it runs."""

import pathlib
import signal

import harness
from harness import KIB

NOT_SERVED = 3  # of firn share


class Reloads(harness.SwarmTest):
    def setUp(self):
        super().setUp()
        self.config = self.folder / "tracker.toml"
        self.write("")
        self.running = self.tracker("tracker", "127.0.0.1:0", "--config", self.config,
                                    "--interval", "30")
        self.endpoint = self.running.endpoint()

    def write(self, text):
        self.config.write_text(text)
        self.config.chmod(0o644)

    def reload(self, text, expected):
        self.write(text)
        self.running.send(signal.SIGHUP)
        self.running.wait_line(expected, stream="stderr")

    def closed(self, *lines):
        listed = self.folder / "closed.txt"
        listed.write_text("".join(line + "\n" for line in lines))
        return f'closed = "{listed}"\n'

    def test_a_list_that_the_file_names_from_now_on_holds_at_once_and_so_does_its_end(self):
        self.reload(self.closed(), "SIGHUP: configuration read again; changed: closed$")
        refused = self.share(self.file(9 * KIB), "--tracker", self.endpoint, name="refused")
        self.assertEqual(NOT_SERVED, refused.wait_exit(), refused.story())
        self.reload("", "SIGHUP: configuration read again; changed: closed$")
        source = self.file(9 * KIB, "served")
        link = self.share(source, "--tracker", self.endpoint, name="served").link()
        self.assert_downloaded(source, self.get(link))

    def test_requests_are_logged_from_then_on(self):
        self.reload('log-level = "debug"\n', "changed: log-level$")
        self.share(self.file(9 * KIB), "--tracker", self.endpoint).link()
        self.running.wait_line("announce", stream="stderr")

    def test_a_fault_in_one_place_changes_nothing_anywhere(self):
        self.reload("rates = 0.5\n" + self.closed("no id"),
                    "SIGHUP: .*closed.txt: line 1 is no content id.*; nothing is changed")
        self.reload('rates = 0.5\nlog-level = "loud"\n', r"tracker\.toml:2.*log-level.*nothing is changed")
        self.reload("rates = [\n", r"tracker\.toml.*nothing is changed")
        self.config.unlink()
        self.running.send(signal.SIGHUP)
        self.running.wait_line(r"tracker\.toml.*nothing is changed", stream="stderr")
        # It is still to be changed.
        self.reload("rates = 0.5\n", "changed: rates$")
        self.share(self.file(9 * KIB), "--tracker", self.endpoint).link()

    def test_what_needs_a_start_is_named_each_time_until_then(self):
        for rates in ("2", "3"):
            self.reload(f"manifests = 64\nrates = {rates}\n",
                        "changed: rates; only with the next start: manifests$")
        self.reload("rates = 4\n", "changed: rates$")

    def test_the_password_of_redis_is_hidden_from_others_and_known_to_a_reload(self):
        url = "redis://user:s3cret@127.0.0.1:1/0"
        tracker = self.tracker("sharing", "127.0.0.1:0", "--config", self.config, "--redis", url)
        try:
            tracker.endpoint()
        except harness.Failed:
            if "without hiredis" in tracker.output("stderr"):
                self.skipTest("built without hiredis")
            raise
        words = pathlib.Path(f"/proc/{tracker.process.pid}/cmdline").read_bytes()
        self.assertIn(b"redis://...@127.0.0.1:1/0\0", words)
        self.assertNotIn(b"s3cret", words)
        self.write("rates = 2\n")
        tracker.send(signal.SIGHUP)
        tracker.wait_line("changed: rates$", stream="stderr")
        tracker.stop()
        self.assertNotIn("s3cret", tracker.output("stdout") + tracker.output("stderr"))

    def test_the_command_line_goes_before_the_file(self):
        self.reload("interval = 5\npeer-ttl = 40\n", "changed: peer-ttl$")


if __name__ == "__main__":
    harness.main()
