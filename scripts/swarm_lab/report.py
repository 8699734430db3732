"""Tables of many records: medians with their spread, each row beside its bound."""

import json
import pathlib
import statistics

from swarm_lab import wire


def load(paths):
    """The records in files and folders, in order of their date."""
    records = []
    for path in map(pathlib.Path, paths):
        files = sorted(path.rglob("*.json")) if path.is_dir() else [path]
        for file in files:
            found = json.loads(file.read_text(encoding="utf-8"))
            records += found["runs"] if "runs" in found else [found]
    return sorted((r for r in records if "scenario" in r and "bound" in r),
                  key=lambda r: r["date"])


def one_line(record):
    """A run in one line."""
    finish = f"{record['finishers']}/{record['expected_finishers']}"
    last = "-" if record["last_finish_s"] is None else f"{record['last_finish_s']:.2f} s"
    limit = record["bound"]["seconds"]
    ratio = "-" if record["ratio"] is None else f"{record['ratio']:.3f}"
    line = (f"{record['scenario']['name']:16} {record['client']:24} {finish:>5} finished, last "
            f"{last}, bound {'never' if limit is None else f'{limit:.2f} s'}, ratio {ratio}, wire "
            f"{number(record['wire_per_content'], 3)}, seed {record['seed']['wire_copies']:.2f} "
            f"copies, CPU {number(mean_cpu(record), 2)} s, redundant "
            f"{percent(redundant(record))}")
    if record["seed"]["left_s"] is not None:
        line += (f", seed left at {record['seed']['left_s']:.2f} s after "
                 f"{number(record['seed']['copies_when_told'], 3)} copies")
    return line


# --- figures of one record; None where the client does not tell ---

def survivors(record):
    return [peer for peer in record["peers"] if not peer["crashed"]]


def mean_cpu(record):
    values = [peer["cpu_s"] for peer in survivors(record) if peer.get("cpu_s") is not None]
    return statistics.mean(values) if values else None


def peak_memory(record):
    return max((peer["peak_mib"] for peer in survivors(record) if peer.get("peak_mib")),
               default=None)


def redundant(record):
    """Blocks that did not help, as a part of all received."""
    bad = [peer["facts"].get("blocks_redundant") for peer in survivors(record)]
    good = [peer["facts"].get("blocks_innovative") for peer in survivors(record)]
    if None in bad or None in good or not sum(good):
        return None
    return sum(bad) / (sum(bad) + sum(good))


def first_verified(record):
    """When the slowest peer had its first generation or piece, as a part of its download."""
    parts = [peer["facts"]["first_verified_s"] / (peer["completed_s"] - peer["started_s"])
             for peer in survivors(record)
             if peer["completed_s"] and "first_verified_s" in peer["facts"]]
    return max(parts, default=None)


def unfinished(record):
    return max((peer["facts"]["unfinished_rows_max"] for peer in survivors(record)
                if "unfinished_rows_max" in peer["facts"]), default=None)


def mean_finish(record):
    times = [peer["completed_s"] - peer["started_s"] for peer in survivors(record)
             if peer["completed_s"] is not None]
    return statistics.mean(times) if times else None


# --- words ---

def number(value, digits):
    return "-" if value is None else f"{value:.{digits}f}"


def percent(value):
    return "-" if value is None else f"{100 * value:.2f} %"


def _median(values, digits, spread=False):
    values = [value for value in values if value is not None]
    if not values:
        return "-"
    text = f"{statistics.median(values):.{digits}f}"
    if spread and len(values) > 1:
        text += f" ({min(values):.{digits}f}..{max(values):.{digits}f})"
    return text


# --- tables ---

COLUMNS = [
    ("client", lambda rs: rs[0]["client"]),
    ("runs", lambda rs: str(len(rs))),
    ("finished", lambda rs: " ".join(_finished(rs))),
    ("bound s", lambda rs: _median([r["bound"]["seconds"] for r in rs], 2)),
    ("last s", lambda rs: _median([r["last_finish_s"] if r["complete"] else None for r in rs], 2)),
    ("ratio", lambda rs: _median([r["ratio"] for r in rs], 3, spread=True)),
    ("mean s", lambda rs: _median([mean_finish(r) for r in rs], 2)),
    ("seed copies", lambda rs: _median([r["seed"]["wire_copies"] for r in rs], 2)),
    ("wire", lambda rs: _median([r["wire_per_content"] for r in rs], 3)),
    ("CPU s", lambda rs: _median([mean_cpu(r) for r in rs], 2)),
    ("peak MiB", lambda rs: _median([peak_memory(r) for r in rs], 0)),
    ("redundant %", lambda rs: _median([_times100(redundant(r)) for r in rs], 2)),
    ("first %", lambda rs: _median([_times100(first_verified(r)) for r in rs], 0)),
    ("rows %", lambda rs: _median([_times100(unfinished(r)) for r in rs], 0)),
    ("seed left s", lambda rs: _median([r["seed"]["left_s"] for r in rs], 2)),
]

LEGEND = """\
bound: fluid lower bound of the capacity there was; last: last finisher; ratio: last over bound,
median (least..most); mean: mean download; seed copies: bytes the seed put on the wire over content;
wire: bytes of all over content and finishers; CPU and peak memory: per downloader, mean and most;
redundant: blocks that did not help; first: first generation verified, at the slowest peer, in % of
its download; rows: most content held as unfinished rows by any peer"""


def _finished(records):
    counts = {}
    for record in records:
        text = f"{record['finishers']}/{record['expected_finishers']}"
        counts[text] = counts.get(text, 0) + 1
    for text, count in counts.items():
        yield text if count == 1 or len(counts) == 1 else f"{count}x{text}"


def _times100(value):
    return None if value is None else 100 * value


def grouped(records):
    """{scenario name: {client: records}}, in the order in which they first appear."""
    groups = {}
    for record in records:
        by_client = groups.setdefault(record["scenario"]["name"], {})
        by_client.setdefault(record["client"], []).append(record)
    return groups


def tables(records):
    """Markdown, a table for each scenario."""
    parts = []
    for by_client in grouped(records).values():
        first = next(iter(by_client.values()))[0]
        rows = [[function(group) for _, function in COLUMNS] for group in by_client.values()]
        used = [index for index in range(len(COLUMNS)) if any(row[index] != "-" for row in rows)]
        lines = [f"### {first['scenario']['title']} (`{first['scenario']['name']}`)", "",
                 "| " + " | ".join(COLUMNS[i][0] for i in used) + " |",
                 "|" + "---|" * len(used)]
        lines += ["| " + " | ".join(row[i] for i in used) + " |" for row in rows]
        parts.append("\n".join(lines))
    return "\n\n".join([*parts, *wire_tables(records), LEGEND])


def wire_tables(records):
    """Where the bytes on the wire go, a row for each scenario and client that counted them."""
    rows = []
    for name, by_client in grouped(records).items():
        for client, group in by_client.items():
            parts = [found for found in map(wire.parts, group) if found and found["content"]]
            if parts:
                rows.append((name, client, group, parts))
    if not rows:
        return []
    columns = list(dict.fromkeys(what for *_, parts in rows for found in parts for what in found))
    lines = ["### Where the bytes go, in % of content x finishers", "",
             "| scenario | client | wire | " + " | ".join(columns) + " |",
             "|" + "---|" * (3 + len(columns))]
    for name, client, group, parts in rows:
        shares = [_median([_times100(found.get(what)) for found in parts], 2) for what in columns]
        whole = _median([_times100(record["wire_per_content"]) for record in group], 2)
        lines.append(f"| {name} | {client} | {whole} | " + " | ".join(shares) + " |")
    lines += ["", f"Headers of full segments alone are {100 * wire.FLOOR:.2f} % of what they carry; "
              "stream: all of TCP's stream but the content, where the client does not say more."]
    return ["\n".join(lines)]
