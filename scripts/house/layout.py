"""How each file looks: headers, lengths, comments, paths, formatting."""

import re
import shutil
import subprocess

from house.tree import CPP, PROGRAM, Finding

LINES_MAX = 500
COMMENT_MAX = 100
CLANG_FORMAT = "clang-format-14"  # one version: they differ in what they write

# Folders of one machine or one person mean nothing to others.
FOREIGN_PATH = re.compile(r"(?<![\w.$}{-])/(?:home|Users|root|work|farm)/[\w.-]+")

def check_headers(tree):
    """A header is read once, and first says what it is for."""
    for path in tree.of_kind((".h", ".cuh")):
        text = tree.text(path)
        if "\n#pragma once\n" not in "\n" + text:
            yield Finding(path, 1, "has no #pragma once")
        if not text.startswith("//"):
            yield Finding(path, 1, "does not start with a comment that says what it is")


def check_sizes(tree):
    """Past 500 lines a file holds a second noun."""
    for path in tree.of_kind(PROGRAM):
        lines = tree.text(path).count("\n")
        if lines > LINES_MAX:
            yield Finding(path, lines, f"has {lines} lines, over {LINES_MAX}: split it")


def check_comments(tree):
    """A comment is read beside code, often in half a window."""
    for path in tree.of_kind(CPP + (".proto",)):
        for number, line in enumerate(tree.text(path).splitlines(), 1):
            if line.lstrip().startswith("//") and len(line) > COMMENT_MAX:
                yield Finding(path, number, f"is a comment line of {len(line)} characters, over "
                                            f"{COMMENT_MAX}: it is read beside code, in a narrow window")


def check_paths(tree):
    """No file names a folder of one machine."""
    for path in tree.paths:
        for number, line in enumerate(tree.text(path).splitlines(), 1):
            match = FOREIGN_PATH.search(line)
            if match:
                yield Finding(path, number, f"`{match.group()}` is a folder of one machine")


def clang_format():
    """The formatter this project is formatted with, or None."""
    return shutil.which(CLANG_FORMAT)


def check_format(tree):
    """clang-format would change nothing."""
    files = tree.of_kind(CPP)
    if not files or not clang_format():
        return
    run = subprocess.run([clang_format(), "--dry-run", "--style=file", *files], cwd=tree.root,
                         capture_output=True, text=True)
    seen = set()
    for path, line in re.findall(r"^(\S+?):(\d+):\d+: (?:warning|error)", run.stderr, re.MULTILINE):
        if path not in seen:
            seen.add(path)
            yield Finding(path, int(line), f"is not as {CLANG_FORMAT} -i would leave it")
    if run.returncode != 0 and not seen:
        yield Finding(".clang-format", 1, run.stderr.strip() or "clang-format failed")
