"""Results as Markdown."""

import sys

from medium_lab import paper, planned, programs, rates, recovered, whole

KINDS = {"paper": paper.tables, "rates": rates.tables, "planned": planned.tables,
         "whole": whole.tables, "recovered": recovered.tables}


def options(command):
    command.add_argument("file", nargs="+", help="what another command wrote; bench_sync_gpu's file "
                                                 "gives the paper's tables their device")


def table(chosen):
    results = [programs.read(path) for path in chosen.file]
    devices = [one for one in results if "kind" not in one and "device" in one]
    for one in results:
        if one in devices:
            continue
        if one.get("kind") not in KINDS:
            print("scripts/medium: a file that no command here wrote", file=sys.stderr)
            return 2
        KINDS[one["kind"]](one, devices)
    return 0
