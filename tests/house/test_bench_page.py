#!/usr/bin/python3
"""scripts/bench-page: when it says that the page costs a transfer too much, and when that it cannot tell."""

import importlib.machinery
import importlib.util
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import counted_unittest

sys.dont_write_bytecode = True
LOADER = importlib.machinery.SourceFileLoader("bench_page", str(ROOT / "scripts/bench-page"))
bench = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench_page", LOADER))
LOADER.exec_module(bench)


def ways(own=10.0, waited=0.1, waited_own=0.1):
    """Three rounds of 10 s each, and of `own` where the flood reads the downloader's page."""
    def runs(seconds, waited):
        return [{"seconds": seconds, "answers_per_second": 5, "ran": 1.0, "waited": waited}] * 3
    return {way: {"other": runs(10.0, waited), "own": runs(own if way == "flood" else 10.0, waited_own)}
            for way in bench.WAYS}


class Judging(unittest.TestCase):
    def status(self, **given):
        return bench.judge(ways(**given), 2)[0]

    def test_a_small_loss_passes_and_a_large_one_fails(self):
        self.assertEqual(0, self.status(own=10.1))
        self.assertEqual(1, self.status(own=10.3))
        self.assertEqual(0, self.status(own=10.0, waited_own=5))

    def test_what_cannot_be_told_is_no_success(self):
        self.assertEqual(bench.CANNOT_TELL, self.status(waited=1.5))
        self.assertEqual(bench.CANNOT_TELL, self.status(own=6.0))

    def test_the_table_has_a_row_for_each_kind_of_reader(self):
        text = bench.table({"ways": ways(own=10.2), "mib": 1, "line": "12M", "rounds": 3, "machine": "one"})
        self.assertIn("| flood | 10.00 (10.00-10.00) | 10.20 (10.20-10.20) | 5 | 0.1 / 1.0 | 2.0 (2.0 to 2.0) |", text)


if __name__ == "__main__":
    counted_unittest.main()
