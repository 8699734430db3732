"""Symbol error rates of the synchronisation decoder, beside those of its specification."""

from figures.markdown import made_on, number, percent, table
from medium_lab import printed, programs

LENGTH = 510  # of n = 8, q = 16: frames of 255 bytes
STREAM_LENGTH = 500  # no multiple of the number of codebooks

# Cells of frames that a Reed-Solomon code follows are measured as much longer: losses are rare.
WEIGHT_OF_LOSSES = 6


def cell(books, n, q, length, p, flips=0, assumed=None, lookahead=-1):
    return f"{books},{n},{q},{length},{p:g},{flips:g},{p if assumed is None else assumed:g},{lookahead}"


def small(p, **more):
    return cell("indel4", 8, 16, LENGTH, p, **more)


def all_cells():
    """Every cell once, with the weight of its time."""
    lossy = {small(p) for p, *_ in printed.REED_SOLOMON}
    cells = [cell(*row[:6]) for row in printed.ERROR_RATES]
    cells += [small(1e-2, assumed=assumed) for assumed, _ in printed.MISMATCH]
    cells += [stream(p, lookahead) for p, lookahead, _ in printed.STREAMS]
    cells += sorted(lossy)
    return {one: WEIGHT_OF_LOSSES if one in lossy else 1 for one in dict.fromkeys(cells)}


def stream(p, lookahead):
    return cell("indel4", 8, 16, STREAM_LENGTH, p, lookahead=lookahead)


def options(command):
    command.add_argument("--seconds", type=float, default=600,
                         help="processor time of all cells together (default: 600)")
    command.add_argument("--out", required=True, metavar="FILE")


def measure(chosen):
    cells = all_cells()
    unit = chosen.seconds / sum(cells.values())
    rows = []
    for weight in sorted(set(cells.values())):
        names = [name for name, one in cells.items() if one == weight]
        rows += programs.measured("tests/bench/measure_rates", f"{unit * weight:.3f}", *names)
    programs.save(chosen.out, {"kind": "rates", "machine": programs.machine(),
                               "seconds": chosen.seconds, "rows": rows})
    return 0


# --- tables ---

def with_error(row):
    return f"{number(row['symbol_error_rate'])} ± {number(row['standard_error'], 1)}"


def agreement(row, wanted):
    """Ours over the specification's."""
    return number(row["symbol_error_rate"] / wanted, 2)


def rate_row(row, code, p, wanted):
    return [code, p, f"{row['frames']:,}", with_error(row), number(wanted), agreement(row, wanted)]


def code_name(books, n, q, length, flips=0):
    names = {"indel4": "indel distance 4", "indel6": "indel distance 6", "marker": "markers"}
    return f"{names.get(books, books)}, n = {n}, q = {q}, N = {length}" + (
        f", P_s = {flips:g}" if flips else "")


def losses(row, erased_below, parity):
    return row["lost_by_erased_below"][f"{erased_below:g}"][str(parity)]


def loss_cell(row, erased_below, parity):
    lost = losses(row, erased_below, parity)
    return f"{percent(lost / row['frames'])} ({lost})" if lost else "0"


def tables(result, _devices=()):
    rows = {row["cell"]: row for row in result["rows"]}
    print(f"{made_on(result)}; {number(result['seconds'])} s of one core in all.\n")
    head = ["code", "p", "frames", "symbol error rate", "specification", "ratio"]
    lines = []
    for books, n, q, length, p, flips, wanted, _ in printed.ERROR_RATES:
        row = rows[cell(books, n, q, length, p, flips)]
        lines.append(rate_row(row, code_name(books, n, q, length, flips), f"{p:g}", wanted))
    table(head, lines)
    table(["code", "p", "information, bits a symbol", "specification"],
          [[code_name(books, n, q, length), f"{p:g}", f"{rows[cell(books, n, q, length, p)]['information']:.3f}",
            f"{wanted:.3f}"] for books, n, q, length, p, _, _, wanted in printed.ERROR_RATES if wanted])
    lines = [rate_row(rows[small(1e-2, assumed=assumed)], f"p = 0.01 decoded as {assumed:g}", "0.01",
                      wanted) for assumed, wanted in printed.MISMATCH]
    for p, lookahead, wanted in printed.STREAMS:
        row = rows[stream(p, lookahead)]
        broken = row["broken"] + row["undecoded"]
        lines.append(rate_row(row, f"stream, lookahead {lookahead}, {broken} frames broken", f"{p:g}",
                              wanted))
    table(["n = 8, q = 16", *head[1:]], lines)
    lines = []
    for p, erased_below, parity, wanted, without in printed.REED_SOLOMON:
        row = rows[small(p)]
        lines.append([f"{p:g}", parity, f"{row['frames']:,}", loss_cell(row, erased_below, parity),
                      percent(wanted), loss_cell(row, 0, parity), percent(without)])
    table(["p", "parity of 255 bytes", "frames", "lost, doubtful bytes erased", "specification",
           "lost, none erased", "specification"], lines)
