"""Tables of many races: medians with their spread, each row beside its bound."""

import json
import pathlib
import statistics

from swarm_lab import figures, origin, trust, wire


def records(paths):
    """What `run` or `summarise` wrote into files and folders, in order of its date. Runs of one
    file may share its scenario."""
    found = []
    for path in map(pathlib.Path, paths):
        for file in sorted(path.rglob("*.json")) if path.is_dir() else [path]:
            content = json.loads(file.read_text(encoding="utf-8"))
            shared = {"scenario": content["scenario"]} if "scenario" in content else {}
            found += [{**shared, **run} for run in content["runs"]] if "runs" in content else [content]
    return sorted((r for r in found if "scenario" in r and ("bound" in r or "bound_s" in r)),
                  key=lambda r: r["date"])


def load(paths):
    """The summaries (figures.py) of the records in files and folders, in order of their date."""
    return [figures.summary(record) for record in records(paths)]


def one_line(record):
    """A run in one line."""
    run = figures.summary(record)
    finish = f"{run['finishers']}/{run['expected_finishers']}"
    last = "-" if run["last_s"] is None else f"{run['last_s']:.2f} s"
    limit = run["bound_s"]
    ratio = "-" if run["ratio"] is None else f"{run['ratio']:.3f}"
    line = (f"{run['scenario']['name']:16} {entrant(run):24} {finish:>5} finished, last "
            f"{last}, bound {'never' if limit is None else f'{limit:.2f} s'}, ratio {ratio}, wire "
            f"{number(run['wire'], 3)}, seed {number(run['seed_copies'], 2)} "
            f"copies, CPU {number(run['cpu_s'], 2)} s, redundant {percent(run['redundant'])}")
    if run["seed_left_s"] is not None:
        line += (f", seed left at {run['seed_left_s']:.2f} s after "
                 f"{number(run['seed_told_copies'], 3)} copies")
    if run.get("trust"):
        line += ", " + trust.words(run["trust"])
    return line


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
    ("client", lambda rs: entrant(rs[0])),
    ("runs", lambda rs: str(len(rs))),
    ("finished", lambda rs: " ".join(_finished(rs))),
    ("bound s", lambda rs: _median([r["bound_s"] for r in rs], 2)),
    ("last s", lambda rs: _median([r["last_s"] if r["complete"] else None for r in rs], 2)),
    ("ratio", lambda rs: _median([r["ratio"] for r in rs], 3, spread=True)),
    ("mean s", lambda rs: _median([r["mean_s"] for r in rs], 2)),
    ("seed copies", lambda rs: _median([r["seed_copies"] for r in rs], 2)),
    ("wire", lambda rs: _median([r["wire"] for r in rs], 3)),
    ("CPU s", lambda rs: _median([r["cpu_s"] for r in rs], 2)),
    ("peak MiB", lambda rs: _median([r["peak_mib"] for r in rs], 0)),
    ("redundant %", lambda rs: _median([_times100(r["redundant"]) for r in rs], 2)),
    ("first %", lambda rs: _median([_times100(r["first"]) for r in rs], 0)),
    ("rows %", lambda rs: _median([_times100(r["rows"]) for r in rs], 0)),
    ("proof %", lambda rs: _median([_times100(r.get("proof")) for r in rs], 2)),
    ("seed left s", lambda rs: _median([r["seed_left_s"] for r in rs], 2)),
]

LEGEND = """\
bound: fluid lower bound of the capacity there was; last: last finisher; ratio: last over bound,
median (least..most); mean: mean download; seed copies: bytes the seed put on the wire over content;
wire: bytes of all over content and finishers; CPU and peak memory: per downloader, mean and most;
redundant: blocks that did not help; first: first generation verified, at the slowest peer, in % of
its download; rows: most content held as unfinished rows by any peer; proof: check sums of blocks, in % of a
downloader's processor time"""


def _finished(records):
    counts = {}
    for record in records:
        text = f"{record['finishers']}/{record['expected_finishers']}"
        counts[text] = counts.get(text, 0) + 1
    for text, count in counts.items():
        yield text if count == 1 or len(counts) == 1 else f"{count}x{text}"


def _times100(value):
    return None if value is None else 100 * value


def entrant(record):
    """The client, and where its hosts were if not here: such runs are not of one kind."""
    place = record.get("placement")
    return f"{record['client']} on {place['on']}" if place else record["client"]


def grouped(records):
    """{scenario name: {entrant: records}}, in the order in which they first appear."""
    groups = {}
    for record in records:
        by_client = groups.setdefault(record["scenario"]["name"], {})
        by_client.setdefault(entrant(record), []).append(record)
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
    groups = grouped(records)
    return "\n\n".join([*parts, *trust.tables(groups), *origin.tables(groups), *wire_tables(records), LEGEND])


FIGURES = {"ratio": ("ratio", 1, 3), "redundant": ("redundant", 100, 2), "wire": ("wire", 1, 3),
           "cpu": ("cpu_s", 1, 2), "last": ("last_s", 1, 2)}


def variants(records, setting, names):
    """Markdown: a line for each value of a setting (or of `version`), a column for each scenario
    and figure, and in it every run."""
    groups = {}
    for run in records:
        value = run["version"] if setting == "version" else run["settings"].get(setting, "-")
        groups.setdefault(value, {}).setdefault(run["scenario"]["name"], []).append(run)
    scenarios = list(dict.fromkeys(run["scenario"]["name"] for run in records))
    columns = [(scenario, name) for scenario in scenarios for name in names]
    lines = [f"| {setting} | " + " | ".join(f"`{scenario}`, {name}" for scenario, name in columns)
             + " |", "|" + "---|" * (1 + len(columns))]
    for value, found in groups.items():
        cells = []
        for scenario, name in columns:
            key, times, digits = FIGURES[name]
            cells.append(", ".join("-" if run[key] is None else f"{times * run[key]:.{digits}f}"
                                   for run in found.get(scenario, [])) or "-")
        lines.append(f"| {value} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def wire_tables(records):
    """Where the bytes on the wire go, a row for each scenario and client that counted them."""
    rows = []
    for name, by_client in grouped(records).items():
        for client, group in by_client.items():
            parts = [run["wire_parts"] for run in group if run["wire_parts"]]
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
        whole = _median([_times100(run["wire"]) for run in group], 2)
        lines.append(f"| {name} | {client} | {whole} | " + " | ".join(shares) + " |")
    lines += ["", f"Headers of full segments alone are {100 * wire.FLOOR:.2f} % of what they carry; "
              "stream: all of TCP's stream but the content, where the client does not say more."]
    return ["\n".join(lines)]
