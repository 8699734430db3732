#!/usr/bin/python3
"""Draws and tabulates what bench_codec measured.

    scripts/figures/plot_codec.py RESULTS.json                    Markdown tables for docs/benchmarks.md
    scripts/figures/plot_codec.py RESULTS.json --plot FILE.svg    a figure (needs python3-matplotlib)
    scripts/figures/plot_codec.py RESULTS.json --summary FILE     without the samples: docs/results has these
"""

import argparse
import json
import pathlib
import sys

from markdown import table

# Coded MB/s that the papers print for n = 128 (docs/benchmarks.md names them).
PAPERS = [
    ("Nuclei 2009, 8 cores of 2.8 GHz", 67, 57),
    ("Nuclei 2009, 8800 GT", 84, None),
    ("Pushing the Envelope 2009, GTX 280", 293.7, 254),
]


# A summary has the cells of one operation, series, kernel set and number of threads together.
OF_ALL = ("operation", "series", "kernels", "threads", "unit")
OF_EACH = ("n", "k", "median", "low", "high", "discarded")


def summary(report):
    groups = {}
    for cell in report["cells"]:
        row = [cell["n"], cell["k"], float(f"{cell['median']:.6g}"),
               *(float(f"{cell[key]:.4g}") for key in ("low", "high"))]
        groups.setdefault(tuple(cell[key] for key in OF_ALL), []).append(
            row + [cell["discarded"]] * bool(cell.get("discarded")))
    return {key: value for key, value in report.items() if key != "cells"} | {
        "groups": [dict(zip(OF_ALL, key)) | {"cells": rows} for key, rows in groups.items()]}


def read(path):
    """What bench_codec or `summary` wrote, with its cells one by one."""
    report = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    for group in report.pop("groups", []):
        shared = {key: group[key] for key in OF_ALL}
        report.setdefault("cells", []).extend(
            shared | dict(zip(OF_EACH, row)) for row in group["cells"])
    return report


class Results:
    def __init__(self, report):
        self.report = report
        self.cells = {}
        limit = {}
        for cell in report["cells"]:
            key = (cell["operation"], cell["series"], cell["kernels"], cell["n"], cell["k"],
                   cell["threads"])
            self.cells.setdefault(key, cell)
            if cell["series"] == "register" and cell["n"] == 0:
                limit.setdefault((cell["operation"], cell["kernels"]), cell)
        self.limits = limit
        self.best = report["kernels"]

    def value(self, operation, series, n, k, kernels=None, threads=1):
        if kernels is None:
            kernels = {"firn": self.best, "isa-l": ""}.get(series, series)
        cell = self.cells.get((operation, series, kernels, n, k, threads))
        return cell["median"] if cell else None

    def limit(self, n, k, kernels=None):
        return self.value("multiply and add", "register", n, k, kernels or self.best)

    def discarded(self, n, k):
        return sum(c.get("discarded", 0) for c in self.report["cells"] if (c["n"], c["k"]) == (n, k))

    def shapes(self):
        found = {(c["n"], c["k"]) for c in self.report["cells"]
                 if c["operation"] == "decode" and c["series"] == "firn" and c["threads"] == 1
                 and c["kernels"] == self.best}
        return sorted(found)


def number(value, digits=0):
    return "-" if value is None else f"{value:.{digits}f}"


def ratio(a, b, digits=2):
    return "-" if a is None or not b else f"{a / b:.{digits}f}"


def print_limits(r):
    print("Registers alone, GMAC/s (products and sums, products alone):\n")
    rows = []
    for (operation, kernels), cell in r.limits.items():
        if operation == "multiply and add":
            alone = r.limits[("multiply", kernels)]
            rows.append([kernels, number(cell["median"]), number(alone["median"])])
    table(["kernel set", "multiply and add", "multiply"], rows)
    reads = [c for c in r.report["cells"] if c["series"] == "read"]
    print("Reading: " + ", ".join(f"{c['operation'][5:]} {c['median']:.0f} GB/s" for c in reads) + ".\n")


def print_encode(r):
    print("Encode, GMAC/s (share of the register limit in the same rounds):\n")
    rows = []
    for n, k in r.shapes():
        limit = r.limit(n, k)
        row = [str(n), str(k)]
        for operation in ("encode", "encode 8", "encode one", "recode"):
            value = r.value(operation, "firn", n, k)
            row.append(f"{number(value)} ({ratio(value, limit)})")
        row.append(ratio(r.value("encode, same source", "firn", n, k), limit))
        row.append(ratio(r.value("move", "memory", n, k, r.best), limit))
        for operation in ("encode", "encode one"):
            row.append(number(r.value(operation, "isa-l", n, k)))
        row += [number(r.value("encode one", s, n, k), 1) for s in ("log-exp", "loop")]
        rows.append(row)
    table(["n", "k", "n rows", "8 rows", "1 row", "recode 8", "same source", "moving alone", "ISA-L n rows", "ISA-L 1 row",
           "log/exp", "loop"], rows)


def print_decode(r):
    print("Decode, MB/s; `left` is the share of the work left after the last block:\n")
    rows = []
    for n, k in r.shapes():
        at_once = r.value("decode", "firn", n, k)
        bulk = r.value("progressive bulk", "firn", n, k)
        panel = r.value("progressive panel", "firn", n, k)
        textbook = r.value("textbook", "firn", n, k)
        rows.append([
            str(n), str(k), number(at_once), number(r.value("invert", "firn", n, k), 1),
            number(bulk), number(panel), ratio(panel, bulk),
            number(r.value("panel after last", "firn", n, k)) + " %",
            number(textbook), ratio(at_once, textbook, 1), number(r.value("decode", "isa-l", n, k), 1),
            number(r.value("textbook", "loop", n, k), 1)])
    table(["n", "k", "at once", "of it inversion, us", "bulk", "panel", "panel/bulk", "left",
           "textbook", "at once/textbook", "ISA-L", "loop"], rows)


def print_kernels(r):
    print("Every kernel set, GMAC/s (share of its own limit) and MB/s:\n")
    rows = []
    for cell in sorted(r.report["cells"], key=lambda c: (c["n"], c["k"])):
        if cell["series"] != "firn" or cell["operation"] != "encode" or cell["threads"] != 1:
            continue
        n, k, kernels = cell["n"], cell["k"], cell["kernels"]
        if r.value("encode", "firn", n, k, "ssse3") is None and r.value("encode", "firn", n, k, "scalar") is None:
            continue
        value, one = (r.value(o, "firn", n, k, kernels) for o in ("encode", "encode one"))
        limit = r.limit(n, k, kernels)
        row = [str(n), str(k), kernels, f"{number(value, 1)} ({ratio(value, limit)})", number(one, 1),
               number(r.value("decode", "firn", n, k, kernels))]
        if row not in rows:
            rows.append(row)
    table(["n", "k", "set", "encode n rows", "1 row", "decode MB/s"], rows)


def print_threads(r):
    print("Two threads over one (by the CPU time of the longest task, and by the wall's clock), and how\n"
          "many samples were discarded because both threads had one core:\n")
    rows = []
    for n, k in r.shapes():
        row = [str(n), str(k)]
        for operation in ("encode", "decode"):
            one = r.value(operation, "firn", n, k)
            for kind in (" by CPU time", ""):
                row.append(ratio(r.value(operation + kind, "firn", n, k, threads=2), one))
        if row[2] != "-":
            rows.append(row + [str(r.discarded(n, k))])
    table(["n", "k", "encode, CPU", "encode, wall", "decode, CPU", "decode, wall", "discarded"], rows)


def print_papers(r):
    print("Beside the papers, n = 128, MB/s of coded and decoded payload, one core against theirs:\n")
    best_encode = max((r.value("encode", "firn", n, k) or 0) * 1000 / n
                      for n, k in r.shapes() if n == 128)
    best_decode = max(r.value("decode", "firn", n, k) or 0 for n, k in r.shapes() if n == 128)
    rows = [[name, number(encode), number(decode), ratio(best_encode, encode, 0),
             ratio(best_decode, decode, 0)] for name, encode, decode in PAPERS]
    rows.append(["Firn, one core", number(best_encode), number(best_decode), "", ""])
    table(["", "encode", "decode", "Firn / it, encode", "Firn / it, decode"], rows)


def plot(r, path):
    import matplotlib
    matplotlib.use("Agg")
    # The same results, the same small file: text stays text.
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "firn"})
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(12, 5))
    for k, style in ((4096, "-"), (32768, "--")):
        sizes = sorted({n for n, shape_k in r.shapes() if shape_k == k})
        for operation, series, name, colour in (
                ("encode", "firn", "Firn, n rows", "C0"), ("encode 8", "firn", "Firn, 8 rows", "C1"),
                ("encode one", "firn", "Firn, 1 row", "C2"), ("encode", "isa-l", "ISA-L, n rows", "C3"),
                ("encode one", "loop", "loop, 1 row", "C4")):
            values = [r.value(operation, series, n, k) for n in sizes]
            left.plot(sizes, values, style, color=colour, label=f"{name}, k = {k}")
        left.plot(sizes, [r.limit(n, k) for n in sizes], style, color="black",
                  label=f"register limit, k = {k}")
        for operation, series, name, colour in (
                ("decode", "firn", "at once", "C0"), ("progressive panel", "firn", "panel", "C1"),
                ("textbook", "firn", "textbook", "C2"), ("decode", "isa-l", "ISA-L", "C3")):
            values = [r.value(operation, series, n, k) for n in sizes]
            right.plot(sizes, values, style, color=colour, label=f"{name}, k = {k}")
    for axes, title, unit in ((left, "Encode", "GMAC/s"), (right, "Decode", "MB/s")):
        axes.set(title=title, xlabel="n", ylabel=unit, xscale="log", yscale="log")
        axes.set_xticks(sizes, [str(n) for n in sizes])
        axes.minorticks_off()
        axes.grid(alpha=0.3)
        axes.legend(fontsize=7)
    figure.suptitle(r.report["machine"], fontsize=9)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None} if path.endswith(".svg") else None)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results")
    parser.add_argument("--plot", metavar="FILE")
    parser.add_argument("--summary", metavar="FILE")
    options = parser.parse_args()
    report = read(options.results)
    if options.summary:
        pathlib.Path(options.summary).write_text(
            json.dumps(summary(report), separators=(",", ":")).replace('{"operation', '\n{"operation')
            + "\n", encoding="utf-8")
        return 0
    results = Results(report)
    if options.plot:
        plot(results, options.plot)
        return 0
    for section in (print_limits, print_encode, print_decode, print_kernels, print_threads,
                    print_papers):
        section(results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
