#!/usr/bin/python3
"""scripts/swarm hostile: which races it compares, and its table."""

import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests")]

import counted_unittest
from swarm_lab import hostile


class Hostile(unittest.TestCase):
    def test_hostile_peers_have_a_line_for_each_group_and_one_for_each_missed_target(self):
        def row(group, deeds, median, worst, banned=0):
            return {"group": group, "source": "8", "hostile": deeds, "times": median,
                    "worst": worst, "honest_banned": banned}
        text = hostile.table([row("one", "1*byte", 1.01, 1.04), row("one", "1*turns:5", 1.05, 1.06),
                              row("third", "4*byte", None, None, 2),
                              row("source leaves", "4*byte", 1.3, 1.4)])
        self.assertEqual([line for line in text.splitlines() if not line.startswith("|---")][1:4], [
            "| one | 2 | 1.03 | 1 of 2 | 1.010 to 1.050 | 1.060 | 0 |",
            "| third | 1 | 1.1 | 0 of 1 | inf to inf | inf | 2 |",
            "| source leaves | 1 | all finish | 1 of 1 | 1.300 to 1.300 | 1.400 | 0 |"])
        self.assertEqual(text.splitlines()[-2:], [
            "| one (1.03) | 8 | `1*turns:5` | 1.05 | 1.06 |",
            "| third (1.1) | 8 | `4*byte` | never | never |"])

    def test_a_race_of_hostile_peers_stands_beside_one_of_the_same_honest_ones(self):
        for _, _, deeds, given in hostile.cells():
            race, calm = hostile._words(given, deeds, 32)
            self.assertIn(f"hostile={deeds}", race)
            self.assertIn("without_hostile=1", calm)
            count = sum(int(part.split("*")[0]) for part in deeds.split(","))
            self.assertIn(f"hostile={count}*", calm)


if __name__ == "__main__":
    counted_unittest.main()
