#!/usr/bin/python3
"""scripts/swarm worth: its cells, its table, and runs of two programs that stand for swarm_lab."""

import contextlib
import io
import json
import pathlib
import sys
import tempfile
import types
import unittest

ROOT = pathlib.Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests")]

import counted_unittest
from running.building import Failed
from swarm_lab import cells, tables, worth


def race(seconds, banned=0):
    """What a run of swarm_lab comes to; None: it was not over at its limit."""
    return {"done": seconds is not None, "last_seconds": seconds or 0.0, "honest_banned": banned, "cpu": 0.5}


def row(name, limit, before, after):
    cell = cells.Cell(name, "8", "", "peers=12", limit)
    return worth._row(cell, [race(*one) for one in before], [race(*one) for one in after])


class Cells(unittest.TestCase):
    def setUp(self):
        self.cells = cells.honest() + cells.hostile()

    def test_every_cell_has_a_name_to_itself_and_a_limit(self):
        names = [cell.name for cell in self.cells]
        self.assertEqual(len(set(names)), len(names))
        self.assertLessEqual({cell.limit for cell in self.cells}, set(cells.LIMITS))
        self.assertEqual({cell.limit == "honest" for cell in self.cells if not cell.hostile}, {True})
        self.assertEqual({cell.limit == "honest" for cell in self.cells if cell.hostile}, {False})

    def test_a_cell_that_names_its_contents_size_keeps_it(self):
        found = {cell.name: cells.runs(cell, mib=16) for cell in self.cells}
        self.assertEqual(found["honest/flash-8"], "peers=12 mib=16 limit=8")
        self.assertEqual(found["honest/six-fast"], "peers=6 seed_mbit=100 up=100 mib=256 limit=8")
        self.assertEqual(found["third/16/4*silent"], "peers=12 seed_mbit=16 mib=16 limit=8 hostile=4*silent")


class Tables(unittest.TestCase):
    def lines(self, *rows):
        return [line for line in worth.table(list(rows)).splitlines() if not line.startswith("|---")]

    def test_a_cell_has_the_means_of_both_sides_and_says_if_the_change_is_over_its_limit(self):
        lines = self.lines(row("honest", "honest", [(10.0,), (20.0,)], [(10.1,), (20.2,)]),
                           row("third", "few", [(10.0,), (10.0,)], [(11.5,), (11.5,)]),
                           row("one", "few", [(10.0,), (10.0,)], [(9.0,), (9.0,)]))
        self.assertEqual(lines[1:4], [
            "| `honest/8` | 15.00 | 15.15 | +1.0 % | 2 % | 0, 0 |",
            "| `third/8` | 10.00 | 11.50 | +15.0 % (over) | 12 % | 0, 0 |",
            "| `one/8` | 10.00 | 9.00 | -10.0 % | 12 % | 0, 0 |"])
        self.assertEqual(lines[-2:], [
            "| honest (2 %) | 1 | +1.00 % | 0 | 0, 0 | `honest/8` +1.0 |",
            "| few (12 %) | 2 | +2.50 % | 1 | 0, 0 | `third/8` +15.0, `one/8` -10.0 |"])

    def test_races_that_only_one_side_finishes_have_no_change_and_count_against_that_side(self):
        lines = self.lines(row("half", "many", [(10.0,), (12.0,)], [(10.0,), (None,)]),
                           row("hundred", "many", [(None,), (None,)], [(30.0,), (30.0,)]))
        self.assertEqual(lines[1:3], [
            "| `half/8` | 11.00 | never, 1 of 2 | - (over) | 30 % | 0, 0 |",
            "| `hundred/8` | never, 2 of 2 | 30.00 | - | 30 % | 0, 0 |"])
        self.assertEqual(lines[-1], "| many (30 %) | 2 | - | 1 | 1, 1 | - |")

    def test_as_many_unfinished_races_on_both_sides_do_not_look_finished(self):
        lines = self.lines(row("half", "many", [(10.0,), (None,)], [(None,), (11.0,)]))
        self.assertEqual(lines[1], "| `half/8` | never, 1 of 2 | never, 1 of 2 | - | 30 % | 0, 0 |")
        self.assertEqual(lines[-1], "| many (30 %) | 1 | - | 0 | 1, 1 | - |")

    def test_honest_peers_that_were_banned_are_counted_for_each_side(self):
        lines = self.lines(row("half", "many", [(10.0, 0), (10.0, 1)], [(10.0, 2), (10.0, 3)]))
        self.assertEqual(lines[1], "| `half/8` | 10.00 | 10.00 | +0.0 % | 30 % | 1, 5 |")


class Runs(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def program(self, name, seconds, banned=0, status=0):
        """It notes the options of each run beside itself."""
        record = {"done": status == 0, "result": {"last_seconds": seconds, "honest_banned": banned},
                  "cost": {"cpu_seconds": 0.1}}
        path = self.folder / name
        path.write_text(f"#!/bin/sh\necho \"$*\" >>'{path}.options'\necho '{json.dumps(record)}'\nexit {status}\n",
                        encoding="utf-8")
        path.chmod(0o755)
        return path

    def worth(self, before, after, *patterns):
        chosen = types.SimpleNamespace(before=before, after=after, cells=list(patterns), first_seed=7, seeds=2,
                                       jobs=2, out=str(self.folder / "made" / "worth.json"))
        with contextlib.redirect_stdout(io.StringIO()) as said:
            status = worth.worth(chosen)
        return status, said.getvalue()

    def test_both_programs_run_the_chosen_cells_with_the_same_seeds(self):
        before, after = self.program("before", 20.0), self.program("after", 21.0)
        status, said = self.worth(before, after, "honest/flash-*", "third/8/4*silent")
        self.assertEqual(status, 0)
        self.assertIn("| `honest/flash-16` | 20.00 | 21.00 | +5.0 % (over) | 2 % | 0, 0 |", said)
        self.assertIn("| `third/8/4*silent` | 20.00 | 21.00 | +5.0 % | 12 % | 0, 0 |", said)
        options = [sorted(pathlib.Path(f"{path}.options").read_text(encoding="utf-8").splitlines())
                   for path in (before, after)]
        self.assertEqual(options[0], options[1])
        self.assertEqual(len(options[0]), 6)
        self.assertIn("seed=8 peers=12 seed_mbit=8 mib=32 limit=8 hostile=4*silent", options[0])

        found = json.loads((self.folder / "made" / "worth.json").read_text(encoding="utf-8"))
        self.assertEqual((found["seeds"], found["after"]), ([7, 8], str(after)))
        self.assertEqual(tables.of_file(self.folder / "made" / "worth.json") + "\n", said)

    def test_it_fails_if_a_race_does_not_finish_or_an_honest_peer_is_banned_after_the_change(self):
        good, banning, endless = (self.program("good", 20.0), self.program("banning", 20.0, banned=1),
                                  self.program("endless", 0, status=1))
        self.assertEqual(self.worth(banning, good, "honest/24")[0], 0)
        self.assertEqual(self.worth(good, banning, "honest/24")[0], 1)
        status, said = self.worth(good, endless, "honest/24")
        self.assertEqual(status, 1)
        self.assertIn("| 20.00 | never, 2 of 2 | - (over) |", said)

    def test_cells_that_a_program_of_another_version_does_not_know_are_left_out(self):
        good, old = self.program("good", 20.0), self.folder / "old"
        old.write_text("#!/bin/sh\necho 'swarm_lab: unknown key: hostile_at' >&2\nexit 2\n", encoding="utf-8")
        old.chmod(0o755)
        with contextlib.redirect_stderr(io.StringIO()) as told:
            self.worth(old, good, "honest/24")
        self.assertIn("honest/24 is left out", told.getvalue())

    def test_what_cannot_be_run_is_named(self):
        good, broken = self.program("good", 20.0), self.program("broken", 0, status=3)
        for before, after, pattern, words in ((good, self.folder / "none", "honest/24", "none is not a program"),
                                              (good, self.folder, "honest/24", "is not a program"),
                                              (good, good, "honest/moon", "honest/moon"),
                                              (good, broken, "honest/24", "peers=24")):
            with self.subTest(words), self.assertRaises(Failed) as caught:
                self.worth(before, after, pattern)
            self.assertIn(words, str(caught.exception))


if __name__ == "__main__":
    counted_unittest.main()
