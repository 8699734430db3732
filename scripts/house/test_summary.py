#!/usr/bin/python3
"""Runs `meson test` in a build folder and prints one closing line that counts test cases:
`N passed, N failed[, N skipped]`.

    test_summary.py BUILD_FOLDER [meson test's arguments]

A test program counts as many cases as its own closing line says (doctest's, or the one of
tests/counted_unittest.py); a program without such a line counts as one. A program that dies, or
fails outside of its cases, counts as one failure more. Cases that a program was told to leave out
(doctest's --test-case) are not skipped: another run has them. The exit status is 0 only if something
passed and nothing failed.
"""

import json
import pathlib
import re
import subprocess
import sys

DOCTEST = re.compile(r"test cases:\s*\d+\s*\|\s*(\d+) passed\s*\|\s*(\d+) failed\s*\|\s*(\d+) skipped")
UNITTEST = re.compile(r"^cases: (\d+) passed, (\d+) failed, (\d+) skipped$", re.MULTILINE)
FILTER = re.compile(r"-(dt-|-)?(tc|ts|sf|tce|tse|sfe|test-case|test-suite|source-file)")
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def count_program(record):
    """(passed, failed, skipped) of one test program, from its record in meson's testlog.json."""
    result = record["result"]
    if result == "SKIP":
        return 0, 0, 1
    good = result in ("OK", "EXPECTEDFAIL")
    output = COLOURS.sub("", record.get("stdout") or "")
    lines = DOCTEST.findall(output) or UNITTEST.findall(output)
    if not lines:
        return (1, 0, 0) if good else (0, 1, 0)
    passed, failed, skipped = (sum(int(line[i]) for line in lines) for i in range(3))
    if any(FILTER.match(word) for word in record.get("command", [])):
        skipped = 0
    if not good and failed == 0:
        failed = 1  # it died before, after or between its cases
    return passed, failed, skipped


def count_log(text):
    """Sums over all programs of a testlog.json (one JSON object per line)."""
    totals = [0, 0, 0]
    for line in text.splitlines():
        for i, n in enumerate(count_program(json.loads(line))):
            totals[i] += n
    return tuple(totals)


def closing_line(passed, failed, skipped):
    line = f"{passed} passed, {failed} failed"
    return line + f", {skipped} skipped" if skipped else line


def main(arguments):
    build, *options = arguments
    log = pathlib.Path(build, "meson-logs", "testlog.json")
    log.unlink(missing_ok=True)
    status = subprocess.run(
        ["meson", "test", "-C", build, "--no-rebuild", "--print-errorlogs", *options]
    ).returncode
    passed, failed, skipped = count_log(log.read_text() if log.exists() else "")
    if status != 0 and failed == 0:
        failed = 1  # meson itself failed
    print(closing_line(passed, failed, skipped), flush=True)
    return 0 if passed > 0 and failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
