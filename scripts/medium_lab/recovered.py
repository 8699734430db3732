"""What a channel that loses and gains bits leaves of a file: copied as it is, behind Reed-Solomon
alone, and on a medium of Firn. Every figure is a run of the real programs."""

import pathlib
import random
import statistics
import tempfile

from figures import charts
from figures.markdown import made_on, number, percent, table
from medium_lab import drawing, programs

CURVE_BYTES = 64 << 10
PLANNED = (0.01, 0.03)
RATES = (0, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 3e-3, 0.01, 0.011, 0.012, 0.015, 0.02, 0.03, 0.033, 0.04)
# Below this Firn reads everything, and one channel is enough to show it.
EASY = 1e-3
PICTURE_RATES = (0, 2e-5, 1e-4, 1e-3, 0.01, 0.02)
PICTURE_SEED = 1
WORD_BYTES = 255


def options(command):
    command.add_argument("--seeds", type=int, default=3,
                         help="channels for each rate from 0.001 on; four times as many for copies and "
                              "Reed-Solomon (default: 3)")
    command.add_argument("--folder", default="docs/results",
                         help="medium-recovered.json, .svg and medium-picture.png (default: docs/results)")


class Keeper:
    """A way to keep a content's bytes as a file of bits, and to get them back. Abstract."""

    name = ""

    def __init__(self, folder, content):
        self.folder, self.content = folder, content
        self.plain = folder / "content"
        self.plain.write_bytes(content)
        self.kept = self.keep()

    def keep(self):
        """The file of bits."""
        raise NotImplementedError

    def get(self, received):
        """(share recovered, the bytes that there are)."""
        raise NotImplementedError

    def pass_channel(self, rate, seed):
        if rate == 0:
            return self.get(self.kept)
        received = self.folder / "received"
        received.unlink(missing_ok=True)
        programs.timed(firn_program(), "medium", "sim", self.kept, "-o", received, "--rate", f"{rate:g}",
                       "--seed", str(seed))
        return self.get(received)

    def bits_per_bit(self):
        return self.kept.stat().st_size / len(self.content)


def firn_program():
    return programs.program("client/firn")


def share_right(wanted, got):
    """Bytes that are right at the right place."""
    return sum(a == b for a, b in zip(wanted, got)) / len(wanted)


class Copy(Keeper):
    name = "plain copy"

    def keep(self):
        return self.plain

    def get(self, received):
        data = received.read_bytes()
        return share_right(self.content, data), data


class ReedSolomon(Keeper):
    """As many bits as Firn's medium, all of the difference parity."""

    name = "Reed-Solomon alone"

    def __init__(self, folder, content, bits_per_bit):
        self.parity = WORD_BYTES - max(1, int(WORD_BYTES / bits_per_bit))
        super().__init__(folder, content)

    def run(self, what, source, target):
        programs.timed(programs.program("tests/bench/reed_solomon_file"), what, self.parity, source,
                       target)
        return target

    def keep(self):
        return self.run("encode", self.plain, self.folder / "words")

    def get(self, received):
        data = self.run("decode", received, self.folder / "decoded").read_bytes()[:len(self.content)]
        return share_right(self.content, data), data


class Firn(Keeper):
    """Generations decoded; a content that is not complete gets no name."""

    def __init__(self, folder, content, planned):
        self.planned, self.reads = planned, 0
        self.name = f"Firn, planned for {planned:g}"
        super().__init__(folder, content)

    def keep(self):
        medium = self.folder / "medium"
        programs.timed(firn_program(), "medium", "write", self.plain, "-o", medium, "--rate",
                       f"{self.planned:g}")
        return medium

    def get(self, received):
        self.reads += 1
        out = self.folder / f"out-{self.reads}"
        run = programs.timed(firn_program(), "medium", "read", received, out, "--json", allowed=(0, 5))
        file = out / self.plain.name
        if run["code"] == 0:
            data = file.read_bytes()
            return share_right(self.content, data), data
        read = next((one for one in run["events"] if one["event"] == "medium_read"), None)
        return (read["generations_decoded"] / read["generations"] if read else 0.0), b""


def keepers(folder, content, planned):
    folder = pathlib.Path(folder)
    made = []
    for rate in planned:
        (folder / f"firn-{rate:g}").mkdir()
        made.append(Firn(folder / f"firn-{rate:g}", content, rate))
    for name in ("copy", "words"):
        (folder / name).mkdir()
    return [Copy(folder / "copy", content),
            ReedSolomon(folder / "words", content, made[0].bits_per_bit()), *made]


def channels(keeper, rate, seeds):
    """Over how many channels a share is the mean."""
    if rate == 0:
        return 1
    if isinstance(keeper, Firn):
        return 1 if rate < EASY else seeds
    return 4 * seeds


def curves(seeds, size=CURVE_BYTES, rates=RATES, planned=PLANNED):
    content = random.Random(2026).randbytes(size)
    with tempfile.TemporaryDirectory(prefix="firn-recovered-") as name:
        methods = []
        for one in keepers(name, content, planned):
            points = []
            for rate in rates:
                many = channels(one, rate, seeds)
                shares = [one.pass_channel(rate, seed)[0] for seed in range(1, many + 1)]
                points.append({"rate": rate, "seeds": many, "share": statistics.mean(shares),
                               "least": min(shares), "most": max(shares)})
                print(f"{one.name} at {rate:g}: {percent(points[-1]['share'], 3)}", flush=True)
            methods.append({"name": one.name, "bits_per_bit": one.bits_per_bit(), "points": points})
    return {"kind": "recovered", "machine": programs.machine(), "content_bytes": size,
            "methods": methods}


def damaged_pictures(rates=PICTURE_RATES, planned=PLANNED[0]):
    """Rows of the contact sheet, and bits for each bit of the picture."""
    content = drawing.picture()
    with tempfile.TemporaryDirectory(prefix="firn-picture-") as name:
        copy, words, firn = keepers(name, content, (planned,))
        return ([(label, [one.pass_channel(rate, PICTURE_SEED)[1] for rate in rates])
                 for label, one in (("copy", copy), ("RS", words), ("Firn", firn))],
                firn.bits_per_bit())


def figure(result):
    lines = {f"{one['name']}, {one['bits_per_bit']:.2f} bits a bit":
             [(point["rate"], 100 * point["share"]) for point in one["points"]]
             for one in result["methods"]}
    size = f"{result['content_bytes'] >> 10} KiB"
    return charts.chart(f"What is left of {size}", [
        {"title": "", "x": "bits lost, and as many gained (share of all)", "y": "% recovered",
         "lines": lines, "log_y": False}], columns=1, width=560)


def measure(chosen):
    folder = pathlib.Path(chosen.folder)
    rows, bits = damaged_pictures()
    labels = ["p=0" if rate == 0 else f"{100 * rate:g}%" for rate in PICTURE_RATES]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "medium-picture.png").write_bytes(drawing.png(drawing.contact_sheet(labels, rows)))
    result = curves(chosen.seeds) | {"picture_bits_per_bit": bits, "picture_rates": PICTURE_RATES}
    programs.save(folder / "medium-recovered.json", result)
    draw(folder / "medium-recovered.json", folder)
    return 0


def draw(path, folder):
    result = programs.read(path)
    (pathlib.Path(folder) / "medium-recovered.svg").write_text(figure(result), encoding="utf-8")


def tables(result, _devices=()):
    print(f"{made_on(result)}; {result['content_bytes'] >> 10} KiB. Firn: generations decoded, means over "
          f"{max(point['seeds'] for point in result['methods'][-1]['points'])} channels from p = {EASY:g} "
          "on; else: bytes that are right at the right place, over "
          f"{max(point['seeds'] for point in result['methods'][0]['points'])}.\n")
    rates = [point["rate"] for point in result["methods"][0]["points"]]
    table(["p", *(f"{one['name']} ({one['bits_per_bit']:.2f} bits a bit)" for one in result["methods"])],
          [[number(rate), *(percent(one["points"][i]["share"], 3) for one in result["methods"])]
           for i, rate in enumerate(rates)])
