"""The cells of matrix.toml as scenarios, and the table of what they came to.

    target = 1.12          ratio that a cell is to stay below
    rivals = [...]         clients that race in the same minutes

    [base.NAME]            a race to begin with
    [[cells]]              one cell, or one for each combination of the values in lists
    base = "NAME"          and of these keys what differs from it:
    peers = 12             downloaders
    content_mib = 32
    seed_mbit = 8          uplink of the seed
    up_mbit = 8            and of each peer
    down_mbit = 0          downlink of each peer; 0: no limit
    queue_ms, bucket_bytes, delay_ms, loss, offload    as in a scenario
    cores = 1              of the machine; with fewer the cell is skipped

A cell's name is that of its base and what differs.
"""

import dataclasses
import fnmatch
import itertools
import math
import pathlib
import statistics
import tomllib

from swarm_lab import scenario

PATH = pathlib.Path(__file__).with_name("matrix.toml")
MSS = 1448         # bytes of a segment of TCP with time stamps
SMALL_MESH = 24    # up to here each peer knows every other, in larger ones about
NEIGHBOURS = 12
WORDS = {"peers": "peers", "content_mib": "mib", "seed_mbit": "seed", "up_mbit": "up",
         "down_mbit": "down",
         "queue_ms": "queue", "bucket_bytes": "bucket", "delay_ms": "delay", "loss": "loss", "offload": "offload",
         "cores": "cores"}
UNNAMED = ("content_mib", "cores")  # they follow from the others


class BadMatrix(Exception):
    pass


@dataclasses.dataclass(frozen=True)
class Cell:
    name: str
    peers: int
    content_mib: float
    seed_mbit: float
    up_mbit: float
    down_mbit: float = 0.0
    queue_ms: float = 100.0
    bucket_bytes: int = 0
    delay_ms: float = 0.0
    loss: float = 0.0
    offload: bool = True
    cores: int = 1

    def uplinks_mbit(self):
        return self.seed_mbit + self.peers * self.up_mbit

    def scenario_text(self):
        """As a scenario's file."""
        found = scenario.parse(self._text(1), self.name).bound_if_all_stay()
        return self._text(math.ceil(3 * found.seconds + 30))

    def _text(self, deadline_s):
        return (f'title = "{self.name}"\ncontent_mib = {self.content_mib}\n'
                f"deadline_s = {deadline_s}\nqueue_ms = {self.queue_ms}\n"
                f"bucket_bytes = {self.bucket_bytes}\n"
                f"delay_ms = {self.delay_ms}\nloss = {self.loss}\n"
                f"offload = {str(self.offload).lower()}\n"
                f"[seed]\nup_mbit = {self.seed_mbit}\n"
                f"[[peers]]\ncount = {self.peers}\nup_mbit = {self.up_mbit}\n"
                f"down_mbit = {self.down_mbit}\n")


@dataclasses.dataclass
class Matrix:
    target: float
    rivals: list
    cells: list

    def chosen(self, patterns):
        """Those whose names fit one of the patterns (fnmatch), all without any."""
        found = [cell for cell in self.cells if not patterns or
                 any(fnmatch.fnmatchcase(cell.name, one) for one in patterns)]
        if not found:
            raise BadMatrix(f"no cell is called {' or '.join(patterns)}; `--list` names them")
        return found


def parse(text):
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadMatrix(f"matrix: {error}") from None
    cells = []
    for entry in table.get("cells", []):
        base = table.get("base", {}).get(entry.get("base"))
        if base is None:
            raise BadMatrix(f"matrix: a cell has no known base: {entry}")
        changes = {key: value if isinstance(value, list) else [value]
                   for key, value in entry.items() if key != "base"}
        for values in itertools.product(*changes.values()):
            cells.append(_cell(entry["base"], base, dict(zip(changes, values))))
    names = [cell.name for cell in cells]
    twice = next((name for name in names if names.count(name) > 1), None)
    if not cells or twice:
        raise BadMatrix(f"matrix: two cells are called {twice}" if twice else "matrix: no cells")
    return Matrix(table.get("target", 1.12), table.get("rivals", []), cells)


def _cell(base_name, base, change):
    unknown = [key for key in {**base, **change} if key not in WORDS]
    if unknown:
        raise BadMatrix(f"matrix: unknown key `{unknown[0]}`; known are {', '.join(WORDS)}")
    differs = [f"{WORDS[key]}-{_value(value)}" for key, value in change.items()
               if key not in UNNAMED and base.get(key) != value]
    try:
        return Cell("-".join([base_name, *differs]), **{**base, **change})
    except TypeError as error:
        raise BadMatrix(f"matrix: base {base_name}: {error}") from None


def _value(value):
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else f"{value:g}"


def load(path=PATH):
    return parse(pathlib.Path(path).read_text(encoding="utf-8"))


# --- the table, from summaries of races (report.load) ---

def tcp_can_fill_twice(one):
    """Whether TCP's loss leaves a peer's connections together room for twice its uplink: of one
    connection about 1.22 MSS / (RTT sqrt p) bytes a second (Mathis and others, 1997). `one`: the
    scenario of a race. A cell without that tells of TCP alone and does not count."""
    loss = one.get("loss", 0)
    if loss == 0:
        return True
    peers = sum(group["count"] for group in one["peers"])
    neighbours = peers if peers <= SMALL_MESH else NEIGHBOURS
    round_trip_s = max(2e-3 * one.get("delay_ms", 0), 1e-3)
    rate = 1.22 * MSS / (round_trip_s * math.sqrt(loss))
    uplink = max(scenario.bytes_per_second(group["up_mbit"]) for group in one["peers"])
    return neighbours * rate >= 2 * uplink


def verdict(one, ratios, target):
    """Of Firn's runs in one cell; `ratios` has None for a run that did not complete."""
    if not tcp_can_fill_twice(one):
        return "does not count"
    if not ratios or None in ratios:
        return "failed"
    return "met" if statistics.median(ratios) <= target else "missed"


def _ratios(runs):
    done = [run["ratio"] for run in runs if run["ratio"] is not None]
    if not runs:
        return "-"
    text = f"{statistics.median(done):.3f}" if done else "-"
    if len(done) > 1:
        text += f" ({min(done):.3f}..{max(done):.3f})"
    return text if len(done) == len(runs) else f"{text}, {len(runs) - len(done)} failed"


def table(grouped, cells, target, clients):
    """Markdown: a row for each cell, those without any run too. `grouped`: report.grouped()."""
    lines = ["| cell | peers | seed, peers Mbit/s (down) | queue ms | delay ms | loss % | offload | bound s | "
             + " | ".join(clients) + f" | wire | <= {target:g} | raced |", "|" + "---|" * (11 + len(clients))]
    told = []
    for cell in cells:
        runs = grouped.get(cell.name, {})
        ours = runs.get(clients[0], [])
        known = next(iter(runs.values()), None)
        bound = f"{known[0]['bound_s']:.2f}" if known and known[0]["bound_s"] else "-"
        wires = [run["wire"] for run in ours if run["wire"] is not None]
        one = known[0]["scenario"] if known else None
        told.append(verdict(one, [run["ratio"] for run in ours], target) if one else "not raced")
        down = f" ({cell.down_mbit:g})" if cell.down_mbit else ""
        words = [cell.name, cell.peers, f"{cell.seed_mbit:g}, {cell.up_mbit:g}{down}",
                 f"{cell.queue_ms:g}", f"{cell.delay_ms:g}", f"{100 * cell.loss:g}",
                 _value(cell.offload), bound, *(_ratios(runs.get(name, [])) for name in clients),
                 f"{statistics.median(wires):.3f}" if wires else "-", told[-1],
                 max((run["date"][:10] for run in ours), default="-")]
        lines.append("| " + " | ".join(map(str, words)) + " |")
    counts = ", ".join(f"{told.count(word)} {word}" for word in dict.fromkeys(told))
    return "\n".join([*lines, "", f"{len(cells)} cells: {counts}. Last finisher over the bound, "
                      "median (least..most)."])
