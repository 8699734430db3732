#!/usr/bin/python3
"""Completions: they offer each command's own commands and options, in bash, fish and zsh."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest
import unittest.mock

from helps import helps, options, read
from packages import completions
import counted_unittest

BASH = """
source "$1"
while read -r -a COMP_WORDS; do
  [ "${COMP_WORDS[-1]}" != . ] || COMP_WORDS[-1]=''
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  _${COMP_WORDS[0]//-/_}
  echo "${COMPREPLY[@]}"
done
"""
# What the functions hand to zsh's own, one argument a line.
ZSH = """
_arguments() { print -rl -- "$@"; state=command; line=() }
_describe() { print -rl -- ${(P)2} }
_files() { }
source "$1"
"""


class Shells(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="firn-completions-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.files = {}
        for program in ("firn", "firn-tracker"):
            for path, text in completions.scripts(read(program)).items():
                file = self.folder / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
                self.files[program, path.split("-")[0].split("/")[0]] = file

    def fake_list(self):
        """A `firn` that lists two contents, one of which has a name that a shell must not read."""
        program = self.folder / "firn"
        program.write_text("#!/bin/sh\ncat <<'END'\nid        state  name\nabcdefgh  seeding  $(touch touched)\n"
                           "ijklmnop  paused   b\nlimits: up none, down none\nEND\n")
        program.chmod(0o755)
        self.addCleanup(lambda: self.assertFalse((self.folder / "touched").exists()))
        environment = unittest.mock.patch.dict(os.environ, PATH=f"{self.folder}:{os.environ['PATH']}")
        environment.start()
        self.addCleanup(environment.stop)

    def needs(self, shell):
        if not shutil.which(shell):
            self.skipTest(f"{shell} is not installed")

    def run_shell(self, *command, given=None):
        said = subprocess.run(command, input=given, capture_output=True, text=True, cwd=self.folder,
                              timeout=60)
        self.assertEqual((0, ""), (said.returncode, said.stderr))
        return said.stdout

    def bash(self, program, lines):
        """What is offered for each line; a last word that is a dot stands for an empty one."""
        said = self.run_shell("bash", "--norc", "-c", BASH, "bash", self.files[program, "bash"],
                              given="".join(f"{line}\n" for line in lines))
        return [set(line.split()) for line in said.split("\n")[:-1]]


class Bash(Shells):
    def test_a_dash_offers_all_options_of_that_command_and_no_other(self):
        for program in ("firn", "firn-tracker"):
            asked = [words for words in helps() if words[0] == program]
            offered = self.bash(program, [" ".join(words) + " -" for words in asked])
            self.assertEqual(len(asked), len(offered))
            for words, names in zip(asked, offered):
                with self.subTest(words):
                    self.assertEqual(options(helps()[words]), names)

    def test_commands_are_offered_where_they_are_understood(self):
        firn = {words[1] for words in helps() if words[0] == "firn" and len(words) == 2}
        medium = {words[2] for words in helps() if words[:2] == ("firn", "medium") and len(words) == 3}
        self.assertEqual([firn, medium, {"medium"}, {"get"}],
                         self.bash("firn", ["firn .", "firn medium .", "firn me", "firn help ge"]))

    def test_values_are_words_files_folders_or_nothing(self):
        (self.folder / "holiday").mkdir()
        (self.folder / "holiday.firn").write_text("")
        offered = self.bash("firn", ["firn get --codec .", "firn get --log-level w", "firn get -o holi",
                                     "firn get holi", "firn create -o holi", "firn get --threads .",
                                     "firn doctor holi"])
        self.assertEqual([{"auto", "cpu", "gpu"}, {"warning"}, {"holiday"}, {"holiday", "holiday.firn"},
                          {"holiday", "holiday.firn"}, set(), set()], offered)


    def test_contents_of_the_daemon_and_places_are_offered(self):
        (self.folder / "other").mkdir()
        self.fake_list()
        offered = self.bash("firn", ["firn show .", "firn pause ab", "firn queue abcdefgh fi", "firn priority x h",
                                     "firn move ijkl", "firn move ijklmnop oth", "firn get ij"])
        self.assertEqual([{"abcdefgh", "ijklmnop"}, {"abcdefgh"}, {"first"}, {"high"}, {"ijklmnop"}, {"other"}, set()],
                         offered)


class Fish(Shells):
    def offered(self, program, line):
        said = self.run_shell("fish", "--no-config", "-c", "source $argv[1]; complete -C $argv[2]",
                              self.files[program, "fish"], line)
        return {offer.split("\t")[0] for offer in said.splitlines()}

    def test_it_offers_the_commands_and_options_of_each_command(self):
        self.needs("fish")
        self.fake_list()
        for words, text in helps().items():
            with self.subTest(words):
                long_ones = {name for name in options(text) if name.startswith("--")}
                self.assertEqual(long_ones, self.offered(words[0], " ".join(words) + " --"))
        self.assertIn("scrub", self.offered("firn", "firn medium "))
        self.assertEqual({"auto", "cpu", "gpu"}, self.offered("firn", "firn get --codec "))
        self.assertEqual({"abcdefgh", "ijklmnop"}, self.offered("firn", "firn show "))
        self.assertIn("down", self.offered("firn", "firn queue abcdefgh "))


class Zsh(Shells):
    def test_its_specifications_name_every_option_and_keep_every_quote(self):
        self.needs("zsh")
        for program in ("firn", "firn-tracker"):
            file = self.files[program, "zsh"]
            for words, text in helps().items():
                if words[0] != program:
                    continue
                said = self.run_shell("zsh", "-f", "-c", f"{ZSH}\nprint -- ---\n_{'_'.join(words).replace('-', '_')}",
                                      "zsh", file).rpartition("---\n")[2]
                named = {spec.split("[")[0].rpartition(")")[2].lstrip("*")
                         for spec in said.splitlines() if "[" in spec and "-" in spec.split("[")[0]}
                with self.subTest(words):
                    self.assertEqual(options(text), named)
        self.assertIn("this peer'\\''s key", file.with_name("_firn").read_text())


if __name__ == "__main__":
    counted_unittest.main()
