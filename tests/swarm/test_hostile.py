#!/usr/bin/python3
"""scripts/swarm hostile: which races it compares, and its table."""

import pathlib
import sys
import types
import unittest

ROOT = pathlib.Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests")]

import counted_unittest
from swarm_lab import cells, hostile


class Hostile(unittest.TestCase):
    def test_hostile_peers_have_a_line_for_each_group_and_one_for_each_missed_target(self):
        def row(group, deeds, median, worst, banned=0, **seconds):
            return {"group": group, "source": "8", "hostile": deeds, "times": median,
                    "worst": worst, "honest_banned": banned, **seconds}
        text = hostile.table([row("one", "1*byte", 1.01, 1.04), row("one", "1*turns:5", 1.05, 1.06),
                              row("third", "4*byte", None, None, 2, seconds=None, calm_seconds=33.3),
                              row("half", "6*byte", 1.5, 1.6, seconds=52.25, calm_seconds=34.83),
                              row("source leaves", "4*byte", 1.3, 1.4)])
        self.assertEqual([line for line in text.splitlines() if not line.startswith("|---")][1:5], [
            "| one | 2 | 1.03 | 1 of 2 | 1.010 to 1.050 | 1.060 | 0 |",
            "| third | 1 | 1.1 | 0 of 1 | inf to inf | inf | 2 |",
            "| half | 1 | 1.25 | 0 of 1 | 1.500 to 1.500 | 1.600 | 0 |",
            "| source leaves | 1 | all finish | 1 of 1 | 1.300 to 1.300 | 1.400 | 0 |"])
        # A record from before there were seconds in it has none to show.
        self.assertEqual(text.splitlines()[-3:], [
            "| one (1.03) | 8 | `1*turns:5` | 1.05 | 1.06 | - | - |",
            "| third (1.1) | 8 | `4*byte` | never | never | never | 33.3 |",
            "| half (1.25) | 8 | `6*byte` | 1.5 | 1.6 | 52.25 | 34.83 |"])

    def test_a_race_of_hostile_peers_stands_beside_one_of_the_same_honest_ones(self):
        for cell in cells.hostile():
            race, calm = cells.runs(cell), cells.without_hostile(cell)
            self.assertIn(f"hostile={cell.hostile}", race)
            self.assertIn("without_hostile=1", calm)
            count = sum(int(part.split("*")[0]) for part in cell.hostile.split(","))
            self.assertIn(f"hostile={count}*", calm)
            self.assertEqual(race.partition(" hostile=")[0], calm.partition(" hostile=")[0])

    def test_a_row_has_the_median_seconds_and_a_race_that_is_not_over_counts_as_one_without_end(self):
        cell = cells.small()[0]

        def record(seconds, done=True):
            return {"done": done, "cost": {"cpu_seconds": 1},
                    "result": {"last_seconds": seconds, "ratio": 1.1, "honest_banned": 0, "false_passed_on": 2}}

        def row(*races):
            jobs = {}
            for seed, race in enumerate(races, 1):
                jobs[cells.runs(cell), seed] = race
                jobs[cells.without_hostile(cell), seed] = record(10.0)
            return hostile._row(cell, jobs, types.SimpleNamespace(mib=32, seeds=len(races)))

        found = row(record(12.0), record(5.0, False), record(11.0))
        self.assertEqual((found["done"], found["seconds"], found["calm_seconds"], found["times"], found["worst"]),
                         (2, 12.0, 10.0, 1.2, None))
        found = row(record(12.0), record(5.0, False))
        self.assertEqual((found["seconds"], found["calm_seconds"], found["times"]), (None, 10.0, None))


if __name__ == "__main__":
    counted_unittest.main()
