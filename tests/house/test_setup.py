#!/usr/bin/python3
"""scripts/setup, with a dpkg and an apt that only pretend."""

import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import counted_unittest

FORMATTER = "clang-format-14"

# What dpkg knows lies in the file `installed`, what apt offers in `offered`, one package a line. The
# file `asked` gets every line that apt-get was called with.
PROGRAMS = {
    "dpkg-query": 'grep -qx "${!#}" "$STATE/installed" && printf installed',
    "apt-cache": 'grep -qx "${!#}" "$STATE/offered"',
    "id": "echo 0",
    "apt-get": """
echo "$@" >>"$STATE/asked"
case " $* " in *" install "*) ;; *) exit 0 ;; esac
for word; do
  case "$word" in -* | install) continue ;; esac
  grep -qx "$word" "$STATE/offered" || { echo "E: Unable to locate package $word"; exit 100; }
done
for word; do
  case "$word" in -* | install) continue ;; esac
  echo "$word" >>"$STATE/installed"
done""",
}


class Machine:
    """A machine with some packages installed and some on offer."""

    def __init__(self, folder, installed, offered):
        self.folder = folder
        for name, text in (("installed", installed), ("offered", offered), ("asked", ())):
            (folder / name).write_text("".join(f"{line}\n" for line in text))
        for name, text in PROGRAMS.items():
            program = folder / name
            program.write_text(f"#!/bin/bash\n{text}\n")
            program.chmod(program.stat().st_mode | stat.S_IXUSR)

    def setup(self, *arguments):
        return subprocess.run(
            [ROOT / "scripts/setup", *arguments], capture_output=True, text=True,
            env={**os.environ, "STATE": str(self.folder), "PATH": f"{self.folder}:{os.environ['PATH']}"})

    def lines(self, name):
        return (self.folder / name).read_text().splitlines()


def wanted(*arguments):
    """What scripts/setup installs on a machine that has nothing and is offered everything."""
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(pathlib.Path(folder), [], [])
        (machine.folder / "apt-cache").write_text("#!/bin/bash\n")
        apt_get = machine.folder / "apt-get"
        apt_get.write_text("#!/bin/bash\n" + PROGRAMS["apt-get"].replace("grep -qx", "true"))
        assert machine.setup(*arguments).returncode == 0
        return machine.lines("installed")


class Setup(unittest.TestCase):
    def machine(self, installed, offered):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return Machine(pathlib.Path(folder.name), installed, offered)

    def setUp(self):
        self.all = wanted()
        self.needed = [package for package in self.all if package != FORMATTER]

    def test_everything_is_installed_where_all_is_on_offer(self):
        self.assertIn(FORMATTER, self.all)
        machine = self.machine([], self.all)
        self.assertEqual(0, machine.setup().returncode)
        self.assertEqual(sorted(self.all), sorted(machine.lines("installed")))

    def test_a_release_without_the_formatter_is_no_error(self):
        machine = self.machine([], self.needed)
        run = machine.setup()
        self.assertEqual(0, run.returncode, run.stderr)
        self.assertEqual(sorted(self.needed), sorted(machine.lines("installed")))
        machine = self.machine(self.needed, self.needed)
        run = machine.setup()
        self.assertEqual((0, ""), (run.returncode, run.stderr))
        self.assertEqual([], machine.lines("asked"))

    def test_nothing_is_asked_of_apt_where_all_is_there(self):
        machine = self.machine(self.all, [])
        run = machine.setup()
        self.assertEqual((0, ""), (run.returncode, run.stderr))
        self.assertEqual([], machine.lines("asked"))

    def test_a_release_without_what_the_build_needs_is_an_error_that_shows_apts_words(self):
        machine = self.machine([], [package for package in self.all if package != "libuv1-dev"])
        run = machine.setup()
        self.assertEqual(1, run.returncode)
        self.assertIn("Unable to locate package libuv1-dev", run.stderr)

    def test_the_demo_wants_no_tools_of_developers_and_tests(self):
        demo = wanted("--demo")
        self.assertLess(set(demo), set(self.all))
        for package in (FORMATTER, "python3-cryptography"):
            self.assertNotIn(package, demo)
        for package in ("g++", "libuv1-dev", "python3"):
            self.assertIn(package, demo)


if __name__ == "__main__":
    counted_unittest.main()
