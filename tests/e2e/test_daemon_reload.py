#!/usr/bin/python3
"""SIGHUP: a daemon reads its configuration again, and takes what can change while it runs."""

import signal

import harness
from daemons import DaemonTest
from harness import KIB


class Reloads(DaemonTest):
    def setUp(self):
        super().setUp()
        self.config = self.folder / "config.toml"
        self.write("max-peers = 20\n")
        self.running = self.daemon("--config", self.config)

    def write(self, text):
        self.config.write_text(text)
        self.config.chmod(0o644)

    def reload(self, text, expected):
        self.write(text)
        self.running.send(signal.SIGHUP)
        self.running.wait_line(expected, stream="stderr")

    def marker(self, name):
        return f'on-added = "touch \'{self.folder}/{name}\'"\n'

    def add_file(self, name):
        return self.ask("add", self.create(self.file(5 * KIB, name)), "--serve", "-o", self.folder)

    def test_commands_and_watched_folders_change_at_once(self):
        watched = self.folder / "watched"
        watched.mkdir()
        manifest = self.create(self.file(3 * KIB, "dropped"))
        self.reload(self.marker("first") + f'watch = ["{watched}"]\ndownload-dir = "{self.folder}"\n',
                    "read again; changed: download-dir, on-added, watch")
        manifest.rename(watched / "x.firn")
        self.wait_for(lambda contents: len(contents) == 1)
        self.wait_for(lambda contents: (self.folder / "first").exists())
        (self.folder / "first").unlink()
        self.reload(self.marker("second"), "read again; changed: download-dir, on-added, watch")
        self.add_file("another")
        self.wait_for(lambda contents: (self.folder / "second").exists())
        self.assertFalse((self.folder / "first").exists())

    def test_a_faulty_file_changes_nothing_and_is_told_with_its_line(self):
        self.reload(self.marker("kept"), "read again; changed: on-added")
        self.reload(self.marker("lost") + 'up-limit = "fast"\n', r"config\.toml:2.*up-limit")
        self.running.wait_line("not taken: the daemon goes on as before", stream="stderr")
        self.add_file("added")
        self.wait_for(lambda contents: (self.folder / "kept").exists())
        self.assertFalse((self.folder / "lost").exists())

    def test_a_limit_holds_from_then_on(self):
        self.reload('down-limit = "20K"\n', "changed: down-limit")
        source = self.file(600 * KIB)
        self.add(self.share(source).link())
        # At this rate it takes half a minute; what is seen is that it has begun and is not done.
        waiting = self.wait_for(lambda contents: contents[0]["rank"] > 0)
        self.assertFalse(waiting[0]["complete"])
        self.reload("", "changed: down-limit")
        self.wait_complete()

    def test_what_needs_a_start_is_named(self):
        self.reload('max-peers = 30\ndown-limit = "1M"\n', "only for the next start: max-peers$")


if __name__ == "__main__":
    harness.main()
