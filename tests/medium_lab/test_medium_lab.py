#!/usr/bin/python3
"""scripts/medium: its programs on few frames, what it draws, and the tables of stored results."""

import contextlib
import io
import pathlib
import random
import re
import struct
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests")]
import counted_unittest
from figures import charts, markdown
from medium_lab import (commands, drawing, paper, planned, printed, programs, rates,
                        recovered, tables)


def run(*arguments):
    """Exit code and output of scripts/medium."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = commands.main(list(map(str, arguments)), "about")
    return code, out.getvalue()


class Folder(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)


class Programs(Folder):
    def reed_solomon(self, what, parity, data):
        source, target = self.folder / "source", self.folder / "target"
        source.write_bytes(data)
        programs.timed(programs.program("tests/bench/reed_solomon_file"), what, parity, source, target)
        return target.read_bytes()

    def test_words_of_a_file_are_corrected_up_to_half_their_parity(self):
        data = random.Random(1).randbytes(1000)
        words = bytearray(self.reed_solomon("encode", 32, data))
        self.assertEqual(len(words), 5 * 255)
        for place in range(16):
            words[255 + 7 * place] ^= 1 + place
        self.assertEqual(self.reed_solomon("decode", 32, bytes(words))[:1000], data)
        words[255 + 3] ^= 1  # the seventeenth: this word stays as it came, the others are right
        got = self.reed_solomon("decode", 32, bytes(words))[:1000]
        wrong = [place for place in range(1000) if got[place] != data[place]]
        self.assertTrue(wrong)
        self.assertTrue(all(223 <= place < 446 for place in wrong), wrong)

    def test_frames_are_lost_where_the_plan_expects_many_and_not_where_it_expects_few(self):
        name = "tests/bench/measure_planned"
        many, = programs.measured(name, 160, 2, 0.04, "8,16,4,0.01")
        few, = programs.measured(name, 160, 2, 1e-6, "8,16,4,0.01")
        self.assertLess(many["parity"], few["parity"])
        self.assertEqual((many["frames"], few["frames"], few["lost"]), (160, 160, 0))
        self.assertTrue(0 < many["lost"] < 32, many)

    def test_error_rates_are_near_the_specification(self):
        cell = rates.small(1e-2)
        row, = programs.measured("tests/bench/measure_rates", 0.2, cell)
        self.assertEqual(row["cell"], cell)
        # Within its own error, four times over, and 40 %.
        self.assertLess(abs(row["symbol_error_rate"] - 5.5e-3),
                        4 * row["standard_error"] + 0.4 * 5.5e-3)
        losses = row["lost_by_erased_below"]["0.7"]
        self.assertGreaterEqual(losses["8"], losses["16"])
        self.assertEqual(losses["89"], 0)

    def test_a_stream_keeps_its_place(self):
        row, = programs.measured("tests/bench/measure_rates", 0.01, rates.stream(1e-2, 8))
        self.assertEqual((row["frames"], row["broken"], row["undecoded"]), (50, 0, 0))

    def test_times_are_of_all_forms_and_storage_grows_with_the_frame(self):
        name = "tests/bench/measure_sync"
        row, = programs.measured(name, "times", 0, "6,8,10,0.001")["rows"]
        self.assertEqual(set(row["ms"]),
                         {"individual", "batch_local", "batch", "superposed", "bridge"})
        short, long = programs.measured(name, "storage", "6,8,10,0.01", "6,8,100,0.01")["rows"]
        self.assertLess(short["local_bytes"], short["global_bytes"])
        self.assertLess(short["global_bytes"], long["global_bytes"])
        worse, better = (row["bits"] for row in
                         programs.measured(name, "reach", 300, 0.3, 0.1)["rows"])
        self.assertTrue(0 < worse < better)

    def test_a_program_that_fails_is_said(self):
        with self.assertRaises(programs.Failed):
            programs.measured("tests/bench/measure_rates", 1, "nonsense")


class Experiments(Folder):
    def test_firn_keeps_what_copies_and_reed_solomon_lose(self):
        with contextlib.redirect_stdout(io.StringIO()):
            result = recovered.curves(1, size=4 << 10, rates=(0, 1e-3), planned=(0.01,))
        shares = {one["name"]: [point["share"] for point in one["points"]]
                  for one in result["methods"]}
        self.assertEqual([one[0] for one in shares.values()], [1.0, 1.0, 1.0])
        self.assertLess(shares["plain copy"][1], 0.6)
        self.assertLess(shares["Reed-Solomon alone"][1], 0.6)
        self.assertEqual(shares["Firn, planned for 0.01"][1], 1.0)
        copy, words, firn = result["methods"]
        self.assertGreaterEqual(words["bits_per_bit"], firn["bits_per_bit"])
        self.assertEqual(copy["bits_per_bit"], 1)
        ElementTree.fromstring(recovered.figure(result))

    def test_a_whole_content_is_read_byte_for_byte(self):
        file = self.folder / "whole.json"
        code, _ = run("whole", "--size", 0.02, "--out", file)
        self.assertEqual(code, 0)
        result = programs.read(file)
        self.assertTrue(result["byte_exact"])
        self.assertEqual(set(result["stages"]), {"write", "sim", "inspect", "read"})
        code, table = run("table", file)
        self.assertIn("every byte is right", table)

    def test_a_file_of_something_else_is_refused(self):
        file = self.folder / "other.json"
        file.write_text("{}", encoding="utf-8")
        with contextlib.redirect_stderr(io.StringIO()):
            self.assertEqual(run("table", file)[0], 2)
            self.assertEqual(run("plot", file)[0], 2)
            self.assertEqual(run("table", self.folder / "none.json")[0], 1)


class Printed(unittest.TestCase):
    def test_losses_behind_reed_solomon_are_measured_longer(self):
        cells = rates.all_cells()
        for p, _, parity, _, _ in printed.REED_SOLOMON:
            self.assertEqual(cells[rates.small(p)], rates.WEIGHT_OF_LOSSES)

    def test_every_statement_of_the_paper_has_a_figure(self):
        result = programs.read(ROOT / "docs/results/medium-paper-xeon.json")
        device = programs.read(ROOT / "docs/results/gpu-sync-h100.json")
        said = paper.ours(result, [device])
        self.assertEqual(sorted(said), sorted(key for key, _, _ in printed.PAPER))
        self.assertFalse([text for text in said.values() if text in ("", "-")])

    def test_an_error_counts_groups_not_frames(self):
        alone = {"lost": 100, "frames": 10_000, "groups_hit": 100}
        bunched = alone | {"groups_hit": 25}
        self.assertAlmostEqual(planned.standard_error(alone), 0.001)
        self.assertAlmostEqual(planned.standard_error(bunched), 0.002)
        self.assertGreater(planned.standard_error(alone | {"lost": 0, "groups_hit": 0}), 0)


class Drawings(unittest.TestCase):
    def test_points_stand_inside_of_their_panel(self):
        panel = {"title": "a < b", "x": "p", "y": "s", "marks": [(10, "limit")],
                 "lines": {"one": [(0, 3), (1e-3, 20), (0.5, 700)], "two": [(0.5, 1)]}}
        for linear in (False, True):
            svg = charts.chart("title", [panel | {"log_y": not linear}] * 2)
            root = ElementTree.fromstring(svg)
            boxes = [box for box in root.iter("{http://www.w3.org/2000/svg}rect") if "x" in box.attrib]
            circles = list(root.iter("{http://www.w3.org/2000/svg}circle"))
            self.assertEqual((len(boxes), len(circles)), (2, 8))
            for i, circle in enumerate(circles):
                box = {key: float(boxes[i // 4].attrib[key]) for key in ("x", "y", "width", "height")}
                self.assertTrue(box["x"] <= float(circle.attrib["cx"]) <= box["x"] + box["width"])
                self.assertTrue(box["y"] <= float(circle.attrib["cy"]) <= box["y"] + box["height"])

    def test_larger_values_stand_further(self):
        for axis in (charts.axis([0, 1e-4, 1], 0, 100), charts.axis([0, 1, 5], 0, 100, False)):
            places = [axis(value) for value in (0, 1e-4, 0.3, 1)]
            self.assertEqual(places, sorted(places))
            self.assertEqual(len(set(places)), 4)

    def test_a_png_holds_the_greys_that_were_drawn(self):
        sheet = drawing.contact_sheet(["0.1%"], [("Firn", [drawing.picture()]), ("copy", [b"\x12" * 9])])
        data = drawing.png(sheet)
        self.assertEqual(struct.unpack(">II", data[16:24]), (len(sheet[0]), len(sheet)))
        start = data.index(b"IDAT")
        length, = struct.unpack(">I", data[start - 4:start])
        raw = zlib.decompress(data[start + 4:start + 4 + length])
        stride = 1 + len(sheet[0]) // 2
        lines = [[grey for byte in raw[i + 1:i + stride] for grey in (byte >> 4, byte & 15)]
                 for i in range(0, len(raw), stride)]
        self.assertEqual(lines, sheet)

    def test_the_picture_fills_its_greys(self):
        data = drawing.picture()
        self.assertEqual(len(data), drawing.SIDE ** 2 // 2)
        greys = {grey for line in drawing.unpacked(data) for grey in line}
        self.assertGreater(len(greys), 10)
        self.assertIsNone(drawing.unpacked(b"\x12")[0][2])

    def test_numbers_keep_three_digits(self):
        for value, text in ((0, "0"), (None, "-"), (123456, "123,000"), (12.345, "12.3"),
                            (0.0123, "0.0123"), (4.56e-5, "4.56e-5"), (999.9, "1,000")):
            with self.subTest(value=value):
                self.assertEqual(markdown.number(value), text)


class Documents(unittest.TestCase):
    def test_commands_that_documents_name_exist(self):
        for name in ("docs/medium.md", "docs/results/README.md"):
            named = re.findall(r"scripts/medium (\w+)", (ROOT / name).read_text(encoding="utf-8"))
            self.assertTrue(named, name)
            for command in named:
                self.assertIn(command, commands.COMMANDS, name)


if __name__ == "__main__":
    counted_unittest.main()
