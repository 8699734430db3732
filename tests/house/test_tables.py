#!/usr/bin/python3
"""The tables of the documents are those of docs/results, and scripts/tables.py would notice if not."""

import pathlib
import re
import sys
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests")]
import counted_unittest
import tables

TEXT = "a\n<!-- table: scripts/a.py b.json -->\n\n| old |\n\n<!-- end of table -->\nz\n"


def short(status):
    """Of the line under a note's title, what the index says."""
    found = re.match(r"Status: (holds|holds in part|superseded by \[(\d{3})\]\(.*?\))[.:;]", status)
    if not found:
        return "no status"
    if found.group(2):
        return f"superseded by {found.group(2)}"
    return found.group(1).removeprefix("holds ")


class Documents(unittest.TestCase):
    def test_every_table_is_what_its_command_prints(self):
        for path in tables.documents():
            text = path.read_text(encoding="utf-8")
            with self.subTest(path.name):
                self.assertEqual(text, tables.renewed(text))
                for mark in ("<!-- table:", "<!-- end of table -->"):
                    marks = [line for line in text.splitlines() if line.startswith(mark)]
                    self.assertEqual(len(marks), len(tables.blocks(text)))

    def test_the_documents_have_such_tables(self):
        found = [command for path in tables.documents()
                 for command, _ in tables.blocks(path.read_text(encoding="utf-8"))]
        for word in ("plot_codec.py", "gpu_tables.py", "papers_tables.py", "swarm report",
                     "swarm table", "medium table"):
            self.assertTrue(any(word in command for command in found), word)

    def test_every_note_is_in_the_index_with_its_status(self):
        folder = ROOT / "docs" / "lab"
        index = (folder / "README.md").read_text(encoding="utf-8")
        rows = [line for line in index.splitlines() if re.match(r"\| \d{3} \| ", line)]
        notes = [path for path in folder.iterdir() if path.name != "README.md"]
        self.assertEqual(len(rows), len(notes))
        self.assertEqual(len({note.name[:3] for note in notes}), len(notes))
        for note in notes:
            with self.subTest(note.name):
                title, _, status = note.read_text(encoding="utf-8").splitlines()[:3]
                self.assertEqual(title[:6], f"# {note.name[:3]} ")
                named = f"[{title[6:]}]({note.name})"
                self.assertIn(f"| {note.name[:3]} | {named} | {short(status)} |", rows)


class Tables(unittest.TestCase):
    def test_a_table_is_renewed_and_the_text_around_it_stays(self):
        with mock.patch.object(tables, "printed", lambda command: f"| {command} |\n"):
            self.assertEqual(tables.blocks(TEXT), [("scripts/a.py b.json", "\n| old |\n\n")])
            new = tables.renewed(TEXT)
            self.assertEqual(new, TEXT.replace("old", "scripts/a.py b.json"))
            self.assertEqual(tables.renewed(new), new)

    def test_a_command_that_fails_is_named(self):
        with self.assertRaises(RuntimeError) as caught:
            tables.printed("scripts/figures/plot_codec.py no-such-file.json")
        self.assertIn("no-such-file", str(caught.exception))


if __name__ == "__main__":
    counted_unittest.main()
