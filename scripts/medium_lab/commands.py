"""The commands of scripts/medium."""

import argparse
import pathlib
import sys

from medium_lab import paper, planned, programs, rates, recovered, tables, whole


def main(arguments, about):
    parser = argparse.ArgumentParser(prog="scripts/medium", description=about,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (function, options, help_text) in COMMANDS.items():
        command = commands.add_parser(name, help=help_text)
        command.set_defaults(function=function)
        options(command)
    chosen = parser.parse_args(arguments)
    try:
        return chosen.function(chosen)
    except (programs.Failed, OSError) as problem:
        print(f"scripts/medium: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _plot_options(command):
    command.add_argument("file", help="what `paper` or `picture` wrote")
    command.add_argument("--device", metavar="FILE", help="what bench_sync_gpu wrote")
    command.add_argument("--folder", default="docs/results", help="for the plots (default: docs/results)")


def plot(chosen):
    kind = programs.read(chosen.file).get("kind")
    folder = pathlib.Path(chosen.folder)
    if kind == "paper":
        paper.draw(chosen.file, folder, chosen.device)
    elif kind == "recovered":
        recovered.draw(chosen.file, folder)
    else:
        print("scripts/medium: plots are of what `paper` and `picture` wrote", file=sys.stderr)
        return 2
    return 0


COMMANDS = {
    "paper": (paper.measure, paper.options, "the paper's figures, on one core and on a device"),
    "rates": (rates.measure, rates.options, "symbol error rates, beside the specification's"),
    "planned": (planned.measure, planned.options, "frame losses, planned and seen"),
    "whole": (whole.measure, whole.options, "a content through a channel, with times"),
    "picture": (recovered.measure, recovered.options, "what is left of a file, by rate"),
    "table": (tables.table, tables.options, "what these wrote, as Markdown"),
    "plot": (plot, _plot_options, "what `paper` or `picture` wrote, as SVG"),
}
