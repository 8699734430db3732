"""Frame losses that plans reckon with, beside those of media that are written and read."""

import math
import os

from figures.markdown import made_on, number, percent, table
from medium_lab import programs

# n, q, indel distance, rate. Those that plans for 1 % and 2 % choose, others of the plan's table, and
# rates between those of the table.
CHOSEN = ["10,64,4,0.01", "8,16,4,0.01", "8,16,4,0.02"]
OTHERS = ["10,64,4,0.003", "8,16,4,0.03", "12,16,6,0.03"]
BETWEEN = ["10,64,4,0.006", "8,16,4,0.014", "12,16,6,0.04"]


def options(command):
    command.add_argument("--frames", type=int, default=100_000,
                         help="of the codes that plans for 1 and 2 %% choose (default: 100,000)")
    command.add_argument("--others", type=int, default=20_000,
                         help="of other codes and rates (default: 20,000)")
    command.add_argument("--between", type=int,
                         help="at rates between those of the plan's table (default: as --others)")
    command.add_argument("--target", type=float, default=1e-3, help="planned loss (default: 1e-3)")
    command.add_argument("--threads", type=int, default=os.cpu_count())
    command.add_argument("--out", required=True, metavar="FILE")


def measure(chosen):
    rows = []
    for frames, cells in ((chosen.frames, CHOSEN), (chosen.others, OTHERS),
                          (chosen.others if chosen.between is None else chosen.between, BETWEEN)):
        if frames > 0:
            rows += programs.measured("tests/bench/measure_planned", frames, chosen.threads,
                                      chosen.target, *cells)
    programs.save(chosen.out, {"kind": "planned", "machine": programs.machine(),
                               "target": chosen.target, "rows": rows})
    return 0


def standard_error(row):
    """Of the share lost. Frames of a group are lost together, so the error counts groups: those hit
    lose lost / hit frames each, on average."""
    hit = max(row["groups_hit"], 1)
    return row["lost"] / row["frames"] * math.sqrt(1 / hit) if row["lost"] else 1 / row["frames"]


def tables(result, _devices=()):
    print(f"{made_on(result)}; parities whose planned loss is nearest to {result['target']:g}.\n")
    lines = []
    for row in result["rows"]:
        seen = row["lost"] / row["frames"]
        name = f"{row['n']},{row['q']},{row['distance']},{row['rate']:g}"
        lines.append([f"{row['n']}, {row['q']}, {row['distance']}", f"{row['rate']:g}",
                      "interpolated" if name in BETWEEN else "measured", row["parity"],
                      f"{row['frames']:,}", percent(row["planned"], 3),
                      f"{percent(seen, 3)} ± {percent(standard_error(row), 1)}",
                      number(seen / row["planned"], 2), row["untried"], row["unmarked"]])
    table(["n, q, distance", "rate", "planned loss is", "parity", "frames", "planned", "seen", "ratio",
           "lost behind two lost ones", "lost for want of a mark"], lines)
