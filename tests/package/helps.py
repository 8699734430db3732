"""The help of both programs, read without scripts/packages: a second, simpler reader to compare with."""

import functools
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests")]
sys.dont_write_bytecode = True
from packages import commands
from running.programs import BUILD

PROGRAMS = {"firn": BUILD / "client/firn", "firn-tracker": BUILD / "tracker/firn-tracker"}


@functools.cache
def read(name):
    """The program as scripts/packages reads it."""
    return commands.read_program(PROGRAMS[name], name)


@functools.cache
def helps():
    """{words: help text} of every command of both programs."""
    found = {}

    def look(name, words):
        text = subprocess.run([PROGRAMS[name], *words[1:], "--help"], check=True, capture_output=True,
                              text=True).stdout
        found[words] = text
        below = re.search(r"^(?:Subcommands|SUBCOMMANDS):\n((?:  .*\n)+)", text, re.MULTILINE)
        for word in re.findall(r"^  (\w[\w-]*) ", below.group(1), re.MULTILINE) if below else []:
            look(name, (*words, word))

    for name in PROGRAMS:
        look(name, (name,))
    return found


def options(text):
    """The names of all options that a help text lists."""
    return {name for line in re.findall(r"^  (-[^ ]+(?:, +--[^ ]+)?)", text, re.MULTILINE)
            for name in re.split(r", *", line)}
