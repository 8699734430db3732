#!/usr/bin/python3
"""Tables of the papers' algorithms, as Markdown, from what tests/bench/gpu/bench_papers wrote:

    scripts/figures/papers_tables.py docs/results/gpu-papers-h200.json
    scripts/figures/papers_tables.py RESULTS.json --summary FILE          what docs/results keeps of it

Rates are MB/s (10^6 bytes of coded or decoded payload a second).
"""

import argparse
import json
import pathlib

from markdown import table

# A summary has the rates of one experiment, algorithm, number of segments and n together.
OF_ALL = ("experiment", "algorithm", "segments", "n")
OF_EACH = ("k", "MB_per_s")
NOT_KEPT = ("m", "spread", "word_products_per_s")
TIMED = ("memory-free 0xff", "memory-free, filled", "7168 all 0xff", "7168 dense",
         "7168 x 1024 coefficients", "CPU, all threads", "decode 1024 x 2048")


def summary(results):
    def short(value):
        return float(f"{value:.6g}") if isinstance(value, float) else value
    groups = {}
    for row in results["rates"]:
        more = {key: short(value) for key, value in row.items()
                if key not in (*OF_ALL, *OF_EACH, *NOT_KEPT)
                and (key != "ms" or row["experiment"] in TIMED)}
        groups.setdefault(tuple(row.get(key) for key in OF_ALL), []).append(
            [short(row.get(key)) for key in OF_EACH] + [more] * bool(more))
    kept = {key: value for key, value in results.items() if key not in ("rates", "groups")}
    return kept | {"groups": [dict(zip(OF_ALL, key)) | {"rates": rows}
                              for key, rows in groups.items()]}


def read(path):
    """What bench_papers or `summary` wrote, with its rates one by one."""
    results = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    for group in results.pop("groups", []):
        shared = {key: group[key] for key in OF_ALL}
        results.setdefault("rates", []).extend(
            shared | dict(zip(OF_EACH, row)) | (row[2] if len(row) > 2 else {})
            for row in group["rates"])
    return results


def number(value):
    """Three significant digits, thousands separated; '-' for nothing."""
    if value is None:
        return "-"
    if value >= 1000:
        digits = max(0, len(str(int(value))) - 4)
        return f"{round(value, -digits):,.0f}"
    return f"{value:.4g}" if value >= 100 else f"{value:.3g}"


def size(k):
    return f"{k // 1024} KiB" if k >= 1024 else f"{k} B"


def in_order(values):
    return list(dict.fromkeys(values))


def printed_cells(row):
    if "printed_ms" in row:
        return [f"{row['printed_ms']:g}", number(row["ratio"]), row["printed_where"]]
    if "printed_MB_per_s" in row:
        return [f"{row['printed_MB_per_s']:g}", number(row["ratio"]), row["printed_where"]]
    return ["-", "-", ""]


def times(rates, experiments):
    rows = [row for row in rates if row["experiment"] in experiments]
    table(["experiment", "algorithm", "ms", "MB/s", "paper, ms", "times as fast", "where"],
          [[row["experiment"], row["algorithm"], number(row["ms"]), number(row["MB_per_s"])]
           + printed_cells(row) for row in rows])


def grid(rates, experiment, n, segments=None):
    """A row per algorithm, a column per block size, and the paper's figure with the best ratio."""
    rows = [row for row in rates if row["experiment"] == experiment and row["n"] == n
            and (segments is None or row["segments"] == segments)]
    sizes = in_order(row["k"] for row in rows)
    lines = []
    for algorithm in in_order(row["algorithm"] for row in rows):
        mine = {row["k"]: row for row in rows if row["algorithm"] == algorithm}
        with_paper = [row for row in mine.values() if "ratio" in row]
        last = max(with_paper, key=lambda row: row["k"]) if with_paper else {}
        cells = [number(mine[k]["MB_per_s"] if k in mine else None) for k in sizes]
        lines.append([algorithm] + cells + printed_cells(last))
    print(f"n = {n}:\n")
    table([""] + [size(k) for k in sizes] + ["paper, MB/s", "ratio", "where"], lines)


def mixed(rates):
    rows = [row for row in rates if row["experiment"] == "mixed CPU and GPU"]
    shares = in_order(row["gpu_share"] for row in rows)
    lines = []
    for n in in_order(row["n"] for row in rows):
        mine = {row["gpu_share"]: row["MB_per_s"] for row in rows if row["n"] == n}
        lines.append([f"n = {n}"] + [number(mine.get(share)) for share in shares])
    table(["the GPU's share"] + [f"{100 * share:.0f} %" for share in shares], lines)


def many_segments(rates):
    rows = [row for row in rates if row["experiment"] == "decode, many segments"]
    lines = []
    for row in rows:
        if row["algorithm"] == "production":
            continue
        ours = next(one for one in rows if one["algorithm"] == "production" and all(
            one[key] == row[key] for key in ("segments", "n", "k")))
        lines.append([row["segments"], row["n"], size(row["k"]), number(row["MB_per_s"]),
                      f"{100 * row['first_stage_share']:.0f} %"] + printed_cells(row)[:2]
                     + [number(ours["MB_per_s"])])
    table(["segments", "n", "k", "MB/s", "first stage", "paper, MB/s", "ratio", "production"], lines)


def over_n(rates, experiment):
    rows = [row for row in rates if row["experiment"] == experiment]
    sizes = in_order(row["n"] for row in rows)
    lines = []
    for algorithm in in_order(row["algorithm"] for row in rows):
        mine = {row["n"]: row["MB_per_s"] for row in rows if row["algorithm"] == algorithm}
        lines.append([algorithm] + [number(mine.get(n)) for n in sizes])
    table([experiment] + [f"N = {n}" for n in sizes], lines)


def inputs(rates, experiment):
    rows = [row for row in rates if row["experiment"] == experiment]
    columns = in_order((row["segments"], row["n"] * row["k"] // 1024) for row in rows)
    columns.sort()
    lines = []
    for algorithm in in_order(row["algorithm"] for row in rows):
        mine = {(row["segments"], row["n"] * row["k"] // 1024): row["MB_per_s"] for row in rows
                if row["algorithm"] == algorithm}
        lines.append([algorithm] + [number(mine.get(column)) for column in columns])
    table([experiment] + [f"{kib} KiB" + (f" x {many}" if many > 1 else "")
                          for many, kib in columns], lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results")
    parser.add_argument("--summary", metavar="FILE")
    options = parser.parse_args()
    results = read(options.results)
    if options.summary:
        text = json.dumps(summary(results), separators=(",", ":")).replace('{"exp', '\n{"exp')
        pathlib.Path(options.summary).write_text(text + "\n", encoding="utf-8")
        return
    rates = results["rates"]
    print(f"{results['device']}, {results['multiprocessors']} multiprocessors; CPU: "
          f"{results['cpu_threads']} threads, {results['cpu_kernels']}; {results['date']}\n")
    print("### Nuclei: c = 7168, n = 1024, k = 2048\n")
    times(rates, TIMED)
    print("Table I redone:\n")
    table(["", "GHz", "cores", "bytes at once", "cycles a product", "estimated products/s",
           "measured"],
          [[row["machine"], f"{row['GHz']:.2f}", row["cores"], row["width_bytes"],
            f"{row['cycles_per_product']:g}", f"{row['estimated_byte_products_per_s']:.3g}",
            f"{row['measured_byte_products_per_s']:.3g}"] for row in results["table_I"]])
    print("Mixed encoding, MB/s:\n")
    mixed(rates)
    print("### Encoding many blocks of one segment\n")
    for n in in_order(row["n"] for row in rates if row["experiment"] == "encode"):
        grid(rates, "encode", n)
    print("### Encoding n blocks of each of many segments, k = 4 KiB\n")
    over_n(rates, "encode, n of each")
    print("### Decoding one segment\n")
    for n in in_order(row["n"] for row in rates if row["experiment"] == "decode"):
        grid(rates, "decode", n)
    print("### Decoding many segments\n")
    many_segments(rates)
    print("### Vingelmann and Fitzek: L = 1024, one generation\n")
    over_n(rates, "L=1024, encode")
    over_n(rates, "L=1024, decode")
    print("### Tang: inputs of 16 to 128 KB, n = 128\n")
    inputs(rates, "16-128 KB, encode")
    inputs(rates, "16-128 KB, decode")
    print("### Peers at 768 kbit/s, n = 128, k = 4 KiB\n")
    table(["", "GB/s", "peers", "paper", "where"],
          [[row["what"], number(row["MB_per_s"] / 1e3), f"{row['peers']:,.0f}",
            f"{row['printed_peers']:,.0f}" if "printed_peers" in row else "-",
            row.get("printed_where", "")] for row in results["streaming"]])


if __name__ == "__main__":
    main()
