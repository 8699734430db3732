#!/usr/bin/python3
"""The closing line of scripts/test counts what really ran."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests")]
import counted_unittest
from house import test_summary


def log(*programs):
    return [{"name": f"firn:unit / {i}", "result": result, "stdout": stdout}
            for i, (result, stdout) in enumerate(programs)]


def doctest(passed, failed, skipped):
    return (f"[doctest] test cases: {passed + failed:2} | {passed} passed | \x1b[0;31m{failed} failed"
            f"\x1b[0m | {skipped} skipped\n[doctest] assertions: 9 | 9 passed | 0 failed |\n")


class Counting(unittest.TestCase):
    def test_cases_are_counted_not_programs(self):
        self.assertEqual((7, 1, 3), test_summary.count_records(log(
            ("OK", doctest(4, 0, 1)), ("FAIL", doctest(3, 1, 2)))))

    def test_python_programs_count_their_cases(self):
        self.assertEqual((5, 2, 1), test_summary.count_records(log(
            ("FAIL", "noise\ncases: 5 passed, 2 failed, 1 skipped\n"))))

    def test_a_program_without_cases_counts_as_one(self):
        self.assertEqual((1, 1, 1), test_summary.count_records(log(
            ("OK", "fine"), ("FAIL", None), ("SKIP", ""))))

    def test_cases_left_out_on_purpose_are_not_skipped(self):
        record = {"result": "OK", "stdout": doctest(1, 0, 40),
                  "command": ["codec", "--test-case=The set*"]}
        self.assertEqual((1, 0, 0), test_summary.count_program(record))
        self.assertEqual((1, 0, 40), test_summary.count_program({**record, "command": ["codec"]}))

    def test_a_program_that_dies_after_its_cases_has_failed(self):
        self.assertEqual((4, 1, 0), test_summary.count_records(log(("FAIL", doctest(4, 0, 0)))))
        self.assertEqual((0, 1, 0), test_summary.count_records(log(("TIMEOUT", "started"))))

    def test_a_python_program_counts_cases_not_subtests(self):
        program = textwrap.dedent(f"""
            import sys, unittest
            sys.path.insert(0, {str(ROOT / "tests")!r})
            import counted_unittest

            class Cases(unittest.TestCase):
                def test_good(self):
                    for i in range(3):
                        with self.subTest(i=i):
                            pass
                def test_bad_twice(self):
                    for i in range(2):
                        with self.subTest(i=i):
                            self.fail()
                def test_broken(self):
                    raise ValueError
                @unittest.skip("not here")
                def test_skipped(self):
                    pass
                @unittest.expectedFailure
                def test_better_than_expected(self):
                    pass

            class NeverRun(unittest.TestCase):
                @classmethod
                def setUpClass(cls):
                    raise ValueError
                def test_anything(self):
                    pass

            counted_unittest.main()
            """)
        run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        self.assertEqual(1, run.returncode)
        self.assertEqual("cases: 1 passed, 4 failed, 1 skipped\n", run.stdout, run.stderr)

    def test_skips_are_named_only_when_there_are_some(self):
        self.assertEqual("2 passed, 0 failed", test_summary.closing_line(2, 0, 0))
        self.assertEqual("2 passed, 1 failed, 3 skipped", test_summary.closing_line(2, 1, 3))


# A meson of which each run has the next of the given records as its log.
MESON = """#!/bin/sh
while [ $# -gt 0 ]; do
  [ "$1" != -C ] || build=$2
  [ "$1" != --logbase ] || log=$2
  shift
done
run=$(($(cat "$build/runs" 2>/dev/null || echo 0) + 1))
echo $run >"$build/runs"
cp "$build/$run.json" "$build/meson-logs/$log.json"
status=$(cat "$build/$run.status" 2>/dev/null || grep -cE 'FAIL|TIMEOUT' "$build/$run.json")
exit "$status"
"""


class Repeating(unittest.TestCase):
    def summary(self, *runs, options=(), status=None):
        with tempfile.TemporaryDirectory() as folder:
            build = pathlib.Path(folder)
            (build / "meson-logs").mkdir()
            (build / "meson").write_text(MESON)
            (build / "meson").chmod(0o755)
            for i, records in enumerate(runs, 1):
                (build / f"{i}.json").write_text("".join(
                    json.dumps({"name": name, "result": result, "stdout": said}) + "\n"
                    for name, (result, _, said) in
                    ((name, text.partition(": ")) for name, text in records.items())))
            if status is not None:
                (build / "1.status").write_text(str(status))
            done = subprocess.run(
                [sys.executable, ROOT / "scripts/house/test_summary.py", build, *options], capture_output=True, text=True,
                env={**os.environ, "PATH": f"{build}:{os.environ['PATH']}"})
            self.assertEqual(str(len(runs)), (build / "runs").read_text().strip(), done.stderr)
            return done.returncode, done.stdout.splitlines()

    def test_a_test_of_processes_that_passes_alone_is_counted_and_named(self):
        status, lines = self.summary({"firn:unit / a": "OK", "firn:e2e / b": "FAIL", "firn:e2e / c": "TIMEOUT"},
                                     {"firn:e2e / b": "OK", "firn:e2e / c": "OK"})
        self.assertEqual((0, "3 passed, 0 failed"), (status, lines[-1]))
        self.assertEqual("once more, alone: b, c", lines[0])
        self.assertEqual(["unsteady: 2 passed only at the second try, alone: b, c"], lines[1:-1])

    def test_one_that_fails_again_has_failed(self):
        status, lines = self.summary({"firn:unit / a": "OK", "firn:e2e / b": "FAIL"}, {"firn:e2e / b": "FAIL"})
        self.assertEqual((1, "1 passed, 1 failed"), (status, lines[-1]))

    def test_what_is_skipped_alone_has_not_passed(self):
        first = {"firn:unit / a": "OK", "firn:e2e / b": "FAIL"}
        self.assertEqual((1, "1 passed, 1 failed"), self.closing(first, {"firn:e2e / b": "SKIP"}))
        first["firn:e2e / b"] = "FAIL: cases: 4 passed, 1 failed, 0 skipped"
        second = {"firn:e2e / b": "OK: cases: 0 passed, 0 failed, 5 skipped"}
        self.assertEqual((1, "5 passed, 1 failed"), self.closing(first, second))
        second = {"firn:e2e / b": "OK: cases: 5 passed, 0 failed, 0 skipped"}
        self.assertEqual((0, "6 passed, 0 failed"), self.closing(first, second))

    def closing(self, *runs):
        status, lines = self.summary(*runs)
        return status, lines[-1]

    def test_no_other_tests_and_not_three_run_again(self):
        self.assertEqual(1, self.summary({"firn:unit / a": "OK", "firn:sim / b": "FAIL"})[0])
        self.assertEqual(1, self.summary({"firn:unit / a": "FAIL", "firn:e2e / b": "FAIL"})[0])
        broken = {"firn:e2e / a": "OK", "firn:e2e / b": "FAIL"}
        self.assertEqual(1, self.summary(broken, status=137)[0])  # meson was killed before others ran
        self.assertEqual(1, self.summary(broken, options=["--maxfail=1"])[0])
        self.assertEqual(1, self.summary(broken, options=["--repeat", "9"])[0])
        self.assertEqual(1, self.summary({**broken, "firn:e2e / c": "INTERRUPT"}, status=1)[0])
        many = {f"firn:e2e / {i}": "FAIL" for i in range(3)}
        self.assertEqual(1, self.summary({**many, "firn:unit / a": "OK"})[0])


if __name__ == "__main__":
    counted_unittest.main()
