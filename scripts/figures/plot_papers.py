#!/usr/bin/env python3
"""Figures of what tests/bench/gpu/bench_papers measured: the papers' grids of n and k, on one device.

    scripts/figures/plot_papers.py docs/results/gpu-papers-h200.json docs/results

Writes gpu-papers-encode.svg and gpu-papers-decode.svg into the folder: a panel for each n, MB/s over
k in logarithmic scales, a line for each algorithm, the production codec and the CPU in black. Crosses
are what the papers print for their chips, where they print it. scripts/figures/papers_tables.py has the
same figures in numbers. Needs nothing but Python.
"""
import argparse
import math
import pathlib

import papers_tables
from charts import Axis, text

PANEL_WIDTH, PANEL_HEIGHT, MARGIN, GAP, LINE = 330, 360, 70, 60, 15
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999933", "#882255")
DASHES = ("", "6 3", "2 3", "8 3 2 3")
PAPERS = ("nuclei", "envelope", "vingelmann", "tang")


def style(name, names):
    """Colour and dashes of a line: the reference lines are black, the others differ in either."""
    if name == "production":
        return "#000000", ""
    if name.startswith(("production", "scalar")):
        return "#000000", DASHES[1 + name.startswith("scalar")]
    index = names.index(name)
    return COLOURS[index % len(COLOURS)], DASHES[index // len(COLOURS) % len(DASHES)]


def bytes_name(count):
    return f"{count} B" if count < 1024 else f"{count // 1024} KiB"


def panel(rows, n, names, left, across, up):
    """The lines of one n: k across, MB/s up."""
    parts = [text(left + PANEL_WIDTH / 2, MARGIN - 28, f"n = {n}", 13)]
    top, bottom = up.end, up.begin
    for power in range(math.ceil(math.log10(up.low)), math.floor(math.log10(up.high)) + 1):
        y = up(10 ** power)
        parts.append(f'<line x1="{left}" x2="{left + PANEL_WIDTH}" y1="{y:.1f}" y2="{y:.1f}" '
                     'stroke="#dddddd"/>')
        parts.append(text(left - 6, y + 4, f"{10 ** power:,}", 10, "end"))
    for k in sorted({row["k"] for row in rows}):
        parts.append(text(across(k), bottom + 16, bytes_name(k), 9, more=(
            f'transform="rotate(-30 {across(k):.1f} {bottom + 16:.1f})"')))
    parts.append(f'<rect x="{left}" y="{top}" width="{PANEL_WIDTH}" height="{bottom - top}" '
                 'fill="none" stroke="#888888"/>')
    for name in names:
        points = sorted((row["k"], row) for row in rows if row["algorithm"] == name)
        if not points:
            continue
        colour, dashes = style(name, names)
        path = " ".join(f"{across(k):.1f},{up(row['MB_per_s']):.1f}" for k, row in points)
        width = 2.2 if colour == "#000000" else 1.3
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" '
                     f'stroke-width="{width}" stroke-dasharray="{dashes}"/>')
        for k, row in points:
            if row.get("printed_MB_per_s"):
                x, y = across(k), up(row["printed_MB_per_s"])
                parts.append(f'<path d="M{x - 4:.1f},{y - 4:.1f}l8,8m-8,0l8,-8" stroke="{colour}" '
                             'stroke-width="1.5" fill="none"/>')
    return parts


def figure(rows, title):
    rows = [row for row in rows if row["MB_per_s"] > 0]
    sizes = sorted({row["n"] for row in rows})
    reference = [name for name in dict.fromkeys(row["algorithm"] for row in rows)
                 if name.split(".")[0] not in PAPERS]
    names = [name for name in dict.fromkeys(row["algorithm"] for row in rows)
             if name not in reference] + reference
    rates = [row["MB_per_s"] for row in rows]
    rates += [row["printed_MB_per_s"] for row in rows if row.get("printed_MB_per_s")]
    bounds = 10 ** math.floor(math.log10(min(rates))), 10 ** math.ceil(math.log10(max(rates)))
    legend_columns = 3
    legend_lines = -(-len(names) // legend_columns)
    width = MARGIN + len(sizes) * (PANEL_WIDTH + GAP)
    height = MARGIN + PANEL_HEIGHT + 60 + legend_lines * LINE + 10
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
             f'viewBox="0 0 {width} {height}" font-family="sans-serif">',
             '<rect width="100%" height="100%" fill="#ffffff"/>', text(width / 2, 20, title, 14)]
    for i, n in enumerate(sizes):
        left = MARGIN + i * (PANEL_WIDTH + GAP)
        chosen = [row for row in rows if row["n"] == n]
        ks = [row["k"] for row in chosen]
        across = Axis(min(ks), max(ks), left + 12, left + PANEL_WIDTH - 12)
        up = Axis(*bounds, MARGIN + PANEL_HEIGHT, MARGIN)
        parts += panel(chosen, n, names, left, across, up)
    parts.append(text(16, MARGIN + PANEL_HEIGHT / 2, "MB/s", 12, more=(
        f'transform="rotate(-90 16 {MARGIN + PANEL_HEIGHT / 2:.1f})"')))
    for i, name in enumerate(names):
        x = MARGIN + i // legend_lines * (width - MARGIN) / legend_columns
        y = MARGIN + PANEL_HEIGHT + 60 + i % legend_lines * LINE
        colour, dashes = style(name, names)
        parts.append(f'<line x1="{x:.1f}" x2="{x + 30:.1f}" y1="{y - 4}" y2="{y - 4}" '
                     f'stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}"/>')
        parts.append(text(x + 36, y, name, 11, "start"))
    return "\n".join(parts + ["</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    arguments = parser.parse_args()
    results = papers_tables.read(arguments.results)
    for kind in ("encode", "decode"):
        rows = [row for row in results["rates"] if row["experiment"] == kind]
        title = (f"{kind.capitalize()} one segment, {results['device']}, {results['date']}")
        (arguments.folder / f"gpu-papers-{kind}.svg").write_text(figure(rows, title))


if __name__ == "__main__":
    main()
