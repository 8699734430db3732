#!/usr/bin/python3
"""The closing line of scripts/test counts what really ran."""

import json
import pathlib
import subprocess
import sys
import textwrap
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests")]
import counted_unittest
from house import test_summary


def log(*programs):
    return "".join(json.dumps({"result": result, "stdout": stdout}) + "\n"
                   for result, stdout in programs)


def doctest(passed, failed, skipped):
    return (f"[doctest] test cases: {passed + failed:2} | {passed} passed | \x1b[0;31m{failed} failed"
            f"\x1b[0m | {skipped} skipped\n[doctest] assertions: 9 | 9 passed | 0 failed |\n")


class Counting(unittest.TestCase):
    def test_cases_are_counted_not_programs(self):
        self.assertEqual((7, 1, 3), test_summary.count_log(log(
            ("OK", doctest(4, 0, 1)), ("FAIL", doctest(3, 1, 2)))))

    def test_python_programs_count_their_cases(self):
        self.assertEqual((5, 2, 1), test_summary.count_log(log(
            ("FAIL", "noise\ncases: 5 passed, 2 failed, 1 skipped\n"))))

    def test_a_program_without_cases_counts_as_one(self):
        self.assertEqual((1, 1, 1), test_summary.count_log(log(
            ("OK", "fine"), ("FAIL", None), ("SKIP", ""))))

    def test_cases_left_out_on_purpose_are_not_skipped(self):
        record = {"result": "OK", "stdout": doctest(1, 0, 40),
                  "command": ["codec", "--test-case=The set*"]}
        self.assertEqual((1, 0, 0), test_summary.count_program(record))
        self.assertEqual((1, 0, 40), test_summary.count_program({**record, "command": ["codec"]}))

    def test_a_program_that_dies_after_its_cases_has_failed(self):
        self.assertEqual((4, 1, 0), test_summary.count_log(log(("FAIL", doctest(4, 0, 0)))))
        self.assertEqual((0, 1, 0), test_summary.count_log(log(("TIMEOUT", "started"))))

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


if __name__ == "__main__":
    counted_unittest.main()
