"""What a program says of itself with --help, taken apart: commands, options, values, exit codes.

Man pages and completions are made from this, so that the program's own help is the one source. Help
has columns: the names of options and commands stand left of the column in which the description of
--help begins, descriptions stand right of it, also on lines that follow.
"""

import re
import subprocess
from dataclasses import dataclass, field

# A group of options ends where a line begins in the first column and is no title.
TITLE = re.compile(r"^(\S[^:]*):$")
EXIT_CODES = "Exit codes"
SECTIONS = {"positionals": "positionals", "options": "options", "subcommands": "subcommands"}


@dataclass
class Option:
    names: list  # ["-o", "--output"]
    value: str  # "DIR", "auto|cpu|gpu"; empty: a flag
    default: str  # as the program names it; empty if it does not
    notes: list  # "required", "not with --sign", "only with --private"
    text: str
    group: str  # title under which the help lists it

    @property
    def choices(self):
        """The words that it takes, where the help names all of them."""
        if "|" in self.value and re.fullmatch(r"[a-z0-9-]+(\|[a-z0-9-]+)+", self.value):
            return self.value.split("|")
        listed = re.search(r": ((?:[a-z]+, )+[a-z]+ or [a-z]+)$", self.text)
        return re.split(r", | or ", listed.group(1)) if listed and self.value else []

    @property
    def repeatable(self):
        return "(repeatable)" in self.text or self.value.endswith("...")


@dataclass
class Command:
    words: list  # ["firn", "medium", "read"]
    summary: str
    usage: str  # without "Usage: "
    positionals: list = field(default_factory=list)  # (name and value, text)
    options: list = field(default_factory=list)
    commands: list = field(default_factory=list)  # Command
    exit_codes: list = field(default_factory=list)  # (code, text)
    notes: list = field(default_factory=list)  # paragraphs of the footer

    @property
    def page(self):
        """The name of its man page: firn-medium-read."""
        return "-".join(self.words)

    def all(self):
        """This command and all below it."""
        return [self, *(below for command in self.commands for below in command.all())]


def help_of(program, words):
    """What `program WORDS --help` prints."""
    return subprocess.run([program, *words, "--help"], check=True, capture_output=True, text=True,
                          timeout=60).stdout


def read_program(program, name):
    """The command NAME and all below it, as the file `program` tells them."""
    return _read(program, [name])


def _read(program, words):
    command, below = parse(help_of(program, words[1:]), words)
    command.commands = [_read(program, [*words, word]) for word in below]
    return command


def parse(text, words):
    """A Command without those below it, and the words of those."""
    lines = text.rstrip("\n").split("\n")
    column = _column(lines)
    usage = next(n for n, line in enumerate(lines) if line.startswith("Usage: "))
    command = Command(list(words), " ".join(lines[:usage]), lines[usage].removeprefix("Usage: "))
    below, title, footer = [], None, []
    for name, said in _entries(lines[usage + 1:], column):
        if name is None:  # a title, or words of the footer
            heading = TITLE.match(said)
            title = heading.group(1) if heading else None
            if title is None or title == EXIT_CODES:
                footer.append(said)
        elif title == EXIT_CODES:
            command.exit_codes.append((name, said))
        elif title and title.lower() == "positionals":
            command.positionals.append((name, said))
        elif title and title.lower() == "subcommands":
            below.append(name.split()[0])
        elif title:
            command.options.append(_option(name, said, title))
    command.notes = _paragraphs(footer)
    if not command.options:
        raise ValueError(f"the help of {' '.join(words)} names no options")
    return command, below


def _column(lines):
    """Where descriptions begin."""
    for line in lines:
        found = re.match(r"  -h, *--help +", line)
        if found:
            return found.end()
    raise ValueError("the help does not describe --help")


def _entries(lines, column):
    """(left, right) for each entry of a list; (None, line) for each other line."""
    entries, exit_codes = [], False
    for line in lines:
        if not line.startswith("  "):
            exit_codes = line == EXIT_CODES + ":"
            entries.append((None, line))
        elif exit_codes:
            entries.append(tuple(line.split(maxsplit=1)))
        elif not line[:column].strip() and entries and entries[-1][0] is not None:
            name, said = entries.pop()
            entries.append((name, f"{said} {line.strip()}".strip()))
        elif len(line) > column and line[column - 1] == " ":
            entries.append((line[:column].strip(), line[column:].strip()))
        else:  # a long name, whose description begins on the next line
            entries.append((line.strip(), ""))
    return entries


def _option(left, text, group):
    notes = []
    for word, meaning in (("Needs", "only with"), ("Excludes", "not with")):
        found = re.search(rf" {word}: ((?:--?[\w-]+ ?)+)", left + " ")
        if found:
            notes.append(f"{meaning} {', '.join(found.group(1).split())}")
            left = left.replace(found.group().rstrip(), "")
    if left.endswith(" REQUIRED"):
        left = left.removesuffix(" REQUIRED")
        notes.append("required")
    names, _, value = re.sub(r", +(?=--)", ",", left).partition(" ")
    value, default = _default(value.strip())
    return Option(names.split(","), value, default, notes, text, group)


def _default(value):
    """ADDR=*:4711, or ADDR [*:4711] as later versions of CLI11 write it."""
    found = re.fullmatch(r"(.*?)(?:=(.*)| \[(.*)\])", value)
    return (found[1], found[2] or found[3] or "") if found else (value, "")


def _paragraphs(lines):
    """The footer without the title of the exit codes, lines joined."""
    text = "\n".join(line for line in lines if line != EXIT_CODES + ":")
    return [" ".join(paragraph.split()) for paragraph in re.split(r"\n\n+", text) if paragraph.strip()]
