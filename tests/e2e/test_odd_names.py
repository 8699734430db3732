#!/usr/bin/python3
"""Names that hold control characters, or invisible ones, reach no terminal and no log as they are."""

import re

import harness
from harness import LISTEN

# It clears a screen, goes back in the line, begins a new one, turns the writing around, and has what shows as nothing.
ODD = "a\x1b[2Jb\rc\nwarning: d\x7f\u009be\u202ef\u061c\u200b\ufeff\U000e0041"
RAW = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\u061c\u200b\ufeff\U000e0041]")


class OddNames(harness.SwarmTest):
    def test_what_is_said_is_escaped(self):
        folder = self.tree({"good": 10})
        odd = folder / ODD
        odd.write_bytes(b"x")
        log = self.folder / "firn.log"
        for arguments in (["create", folder, "-o", self.folder / "x.firn"],
                          ["create", folder, "-o", self.folder / "y.firn", "--skip-bad-names"],
                          ["share", odd, *LISTEN], ["info", odd], ["verify", odd, odd],
                          ["get", odd, "-o", odd, *LISTEN], [ODD], ["get", "--" + ODD],
                          ["create", folder, "-o", self.folder / "z.firn", "--skip-bad-names",
                           "--exclude", ODD + "x"],
                          ["get", "firn:" + ODD, "--tracker", ODD],
                          ["share", folder / "good", "--identity", odd, *LISTEN]):
            with self.subTest(arguments=arguments):
                logged = ["--log", log, "--log-level", "debug"] if len(arguments) > 2 else []
                _, output, errors = self.run_firn(*arguments, *logged)
                for line in (output + "\n" + errors).splitlines():
                    self.assertNotRegex(line, RAW)  # also not in JSON, which has escapes of its own
                    self.assertFalse(line.startswith("warning: d"), line)
                self.assertRegex(errors, r"\\x1b\[2Jb|a\?\[2Jb")
        self.assertNotRegex(log.read_text(), RAW)

    def test_the_tracker_escapes_too(self):
        tracker = self.programs.start("tracker", [
            harness.BUILD / "tracker" / "firn-tracker", "--data",
            self.folder / "no" / ODD, "--log", self.folder / "missing" / ODD])
        self.assertEqual(harness.DISK, tracker.wait_exit(20))
        self.assertIn(r"\x1b[2J", tracker.output("stderr"))
        self.assertNotRegex(tracker.output("stderr"), RAW)


if __name__ == "__main__":
    harness.main()
