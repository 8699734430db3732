#!/usr/bin/python3
"""Runs `meson test` in a build folder and prints one closing line that counts test cases:
`N passed, N failed[, N skipped]`.

    test_summary.py BUILD_FOLDER [meson test's arguments]

A test program counts as many cases as its own closing line says (doctest's, or the one of
tests/counted_unittest.py); a program without such a line counts as one. A program that dies, or
fails outside of its cases, counts as one failure more. Cases that a program was told to leave out
(doctest's --test-case) are not skipped: another run has them. The exit status is 0 only if something
passed and nothing failed.

Tests of real processes (suite e2e) depend on when the machine gives these their turn. If one or two
of them fail beside others they run once more, alone; those that pass then count as passed, and are
counted and named before the closing line, as they must be mended all the same. Where three fail the run
has failed.
"""

import json
import pathlib
import re
import subprocess
import sys

DOCTEST = re.compile(r"test cases:\s*\d+\s*\|\s*(\d+) passed\s*\|\s*(\d+) failed\s*\|\s*(\d+) skipped")
UNITTEST = re.compile(r"^cases: (\d+) passed, (\d+) failed, (\d+) skipped$", re.MULTILINE)
FILTER = re.compile(r"-(dt-|-)?(tc|ts|sf|tce|tse|sfe|test-case|test-suite|source-file)")
GOOD = ("OK", "EXPECTEDFAIL")
REPEATED_MAX = 2  # one more, and the run has failed
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def count_program(record):
    """(passed, failed, skipped) of one test program, from its record in meson's testlog.json."""
    result = record["result"]
    if result == "SKIP":
        return 0, 0, 1
    good = result in GOOD
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


def count_records(records):
    """Sums over records of a testlog.json."""
    totals = [0, 0, 0]
    for record in records:
        for i, n in enumerate(count_program(record)):
            totals[i] += n
    return tuple(totals)


def to_repeat(status, records, options):
    """Names of the tests that are to run once more alone: none if anything else was wrong."""
    failed = [record for record in records if record["result"] not in GOOD + ("SKIP",)]
    real = [record["name"].partition(" / ")[2] for record in failed
            if record["name"].startswith("firn:e2e / ") and record["result"] in ("FAIL", "TIMEOUT")]
    whole = status == len(failed)  # as meson ends that has run all
    some = any(option.startswith(("--repeat", "--maxfail")) for option in options)
    return real if whole and not some and len(real) == len(failed) <= REPEATED_MAX else []


def repeated(records, again):
    """Records with those of the second run in place of the first; names of what passed only then."""
    second = {record["name"]: record for record in again}
    final, unsteady = [], []
    for first in records:
        record = second.get(first["name"])
        if record is None or record["result"] not in GOOD or not _says_as_much(record, first):
            final.append(first)
            continue
        final.append(record)
        unsteady.append(first["name"].partition(" / ")[2])
    return final, unsteady


def _says_as_much(record, first):
    passed, _, skipped = count_program(record)
    passed_first, _, skipped_first = count_program(first)
    return passed >= passed_first and skipped <= skipped_first


def closing_line(passed, failed, skipped):
    line = f"{passed} passed, {failed} failed"
    return line + f", {skipped} skipped" if skipped else line


def run(build, log_name, options):
    """(exit status, records) of `meson test`."""
    log = pathlib.Path(build, "meson-logs", f"{log_name}.json")
    log.unlink(missing_ok=True)
    command = ["meson", "test", "-C", build, "--no-rebuild", "--print-errorlogs", "--logbase", log_name]
    status = subprocess.run([*command, *options]).returncode
    lines = log.read_text().splitlines() if log.exists() else []
    return status, [json.loads(line) for line in lines]


def main(arguments):
    build, *options = arguments
    status, records = run(build, "testlog", options)
    names = to_repeat(status, records, options)
    if names:
        print(f"once more, alone: {', '.join(names)}", flush=True)
        alone = ["--num-processes", "1", "--timeout-multiplier", "4"]
        _, again = run(build, "testlog-alone", [*alone, *names])
        records, unsteady = repeated(records, again)
        status -= len(unsteady)
        if unsteady:
            print(f"unsteady: {len(unsteady)} passed only at the second try, alone: {', '.join(unsteady)}", flush=True)
    passed, failed, skipped = count_records(records)
    if status != 0 and failed == 0:
        failed = 1  # meson itself failed
    print(closing_line(passed, failed, skipped), flush=True)
    return 0 if passed > 0 and failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
