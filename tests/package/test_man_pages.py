#!/usr/bin/python3
"""Man pages: one for every command, with all that the command's help says."""

import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from helps import ROOT, helps, options, read
from packages import commands, man_pages
import counted_unittest

PAGES = {}
HELP = """\
take apart a box
Usage: box open [OPTIONS] PATH

Positionals:
  PATH TEXT REQUIRED   the box

Options:
  -h,--help            Print this help message and exit
  --with TOOL=hammer REQUIRED
                       what to use: hammer, saw or drill
  --for TIME [2h]      how long
  --slow Needs: --with do not hurry,
                       unless asked to
  --fast Excludes: --slow
                       in a hurry

Exit codes:
  0   open
  10  still closed
"""


def setUpModule():
    for name in ("firn", "firn-tracker"):
        PAGES.update(man_pages.pages(read(name), "1.2.3", "2026-01-31"))


def plain(roff):
    """The words of a page."""
    text = re.sub(r"\\f[BIRP]", "", roff).replace("\\-", "-").replace("\\&", "").replace("\\e", "\\")
    return " ".join(text.split())


class Reader(unittest.TestCase):
    def setUp(self):
        self.command, self.below = commands.parse(HELP, ["box", "open"])

    def test_names_values_defaults_and_conditions_are_told_apart(self):
        told = {option.names[-1]: option for option in self.command.options}
        self.assertEqual(["--help", "--with", "--for", "--slow", "--fast"], list(told))
        self.assertEqual(["-h", "--help"], told["--help"].names)
        tool = told["--with"]
        self.assertEqual(("TOOL", "hammer", ["required"]), (tool.value, tool.default, tool.notes))
        self.assertEqual(["hammer", "saw", "drill"], tool.choices)
        self.assertEqual(("TIME", "2h"), (told["--for"].value, told["--for"].default))
        self.assertEqual(["only with --with"], told["--slow"].notes)
        self.assertEqual("do not hurry, unless asked to", told["--slow"].text)
        self.assertEqual(["not with --slow"], told["--fast"].notes)

    def test_exit_codes_are_read_whatever_their_width(self):
        self.assertEqual([("0", "open"), ("10", "still closed")], self.command.exit_codes)

    def test_help_without_options_is_refused(self):
        with self.assertRaises(ValueError):
            commands.parse("what it is\nUsage: box\n", ["box"])

    def test_a_line_that_begins_as_a_request_of_roff_does_is_text(self):
        self.command.summary = ".profile and 'quotes' \\ and more"
        roff = man_pages.page(self.command, None, "1", "2026-01-31")
        self.assertIn("\n\\&.profile and 'quotes' \\e and more.\n", roff)


class Pages(unittest.TestCase):
    def test_every_command_of_both_programs_has_one(self):
        self.assertEqual({"-".join(words) + ".1" for words in helps()}, set(PAGES))
        self.assertIn("firn-medium-read.1", PAGES)

    def test_each_names_every_option_and_no_other(self):
        for words, text in helps().items():
            named = set(re.findall(r"\\fB((?:\\-)+[A-Za-z][a-z\\-]*)\\fR", PAGES["-".join(words) + ".1"]))
            with self.subTest(words):
                self.assertEqual(options(text), {name.replace("\\-", "-") for name in named})

    def test_each_says_what_help_says_of_options_arguments_and_exit_codes(self):
        for words, text in helps().items():
            page = plain(PAGES["-".join(words) + ".1"]).lower()
            said = re.findall(r"^  \S.*?  +(\S.*)$", text, re.MULTILINE)
            self.assertGreater(len(said), 0, words)
            for description in said:
                with self.subTest(words, description=description):
                    self.assertIn(" ".join(description.lower().replace("`", "").split()), page)

    def test_references_lead_to_pages_that_exist(self):
        for name, roff in PAGES.items():
            for found in re.findall(r"\\fB([a-z\\-]+)\\fR\(1\)", roff):
                with self.subTest(name):
                    self.assertIn(found.replace("\\-", "-") + ".1", PAGES)

    def test_version_and_date_are_those_of_the_package(self):
        for roff in PAGES.values():
            self.assertRegex(roff, r'^\.TH "FIRN[^"]*" 1 "2026-01-31" "Firn 1\.2\.3"')

    def linted(self, *command):
        if not shutil.which(command[0]):
            self.skipTest(f"{command[0]} is not installed")
        for name, roff in PAGES.items():
            with tempfile.NamedTemporaryFile("w", suffix=".1") as file:
                file.write(roff)
                file.flush()
                said = subprocess.run([*command, file.name], capture_output=True, text=True)
            with self.subTest(name):
                self.assertEqual("", said.stdout + said.stderr)

    def test_groff_has_nothing_to_warn_of(self):
        self.linted("groff", "-ww", "-man", "-Kutf8", "-z")

    def test_mandoc_has_nothing_to_warn_of(self):
        self.linted("mandoc", "-Tlint", "-Wwarning")


if __name__ == "__main__":
    counted_unittest.main()
