"""A scenario: hosts with their links, and when each comes, leaves or crashes. Small TOML files in
scripts/swarm_lab/scenarios; every key is listed here, and an unknown one is an error.

    title = "..."              one line
    about = "..."              what it shows, and why (optional)
    content_mib = 32
    deadline_s = 150           a race that takes longer has failed
    queue_ms = 100             what the buffer before a limited link holds
    bucket_bytes = 0           what its token bucket holds; 0: half a millisecond of its rate, two
                               full frames at least, as modems and routers have
    delay_ms = 0               one way between two hosts, besides what queues take (slow_link.py)
    loss = 0                   part of the frames that get lost on their way
    offload = true             false: segments go one by one through all interfaces
    congestion = "cubic"       TCP congestion control of all hosts

    [tracker]
    starts_s = 0               after the downloaders; the seed may have to wait for it too
    dies_s = 10                killed so long after the first downloader's start (optional)

    [seed]
    up_mbit = 8                line rate; 0: no limit
    leaves_after_copies = 1.05 interrupted when it has sent so many copies of the content (optional)
    leaves_when_safe = true    firn only: it decides by itself (optional)
    origin = true              an ordinary web server has the content in place of it (origin.py; optional)
    dies_at = 0.6              the origin is killed at this part of the bound's time (optional)
    back_after_s = 5           and is there again so much later (optional)

    [film]                     the content is one, and each downloader watches it (viewing.py; optional)
    mbit = 6.8                 its rate
    ahead_s = 0                a player takes so many seconds of film ahead; 0: all that comes
    watched_s = 60             each is watched so long at least before the race is over

    [[peers]]                  a group of downloaders; as many groups as one likes
    count = 12
    up_mbit = 8
    down_mbit = 0              0: no limit
    arrives_s = 0              of the first
    arrives_every_s = 0        each next one so much later
    reachable = true           false: it accepts no connections
    upload_limit_kib = 0       the client itself is told to send at most so much a second
    leaves_on_finish = false   ends as soon as it has everything
    crashes_at = 0.5           kill -9 when this group has on average this part (optional)
    watches_from = 0.5         the part of the film at which they begin to watch (default: 0)
    seeks = [[20, 0.5]]        so many seconds after they came they go on at that part (optional)
    hostile = "byte"           firn only: they spoil the swarm, in words of tests/hostile/deeds.h
                               unless the client's setting `deeds` says others; `none`: they stay
                               away. The race is that of the other groups (optional)
"""

import dataclasses
import math
import pathlib
import tomllib

from swarm_lab import bound, slow_link

PEERS_MAX = 10_000
FOLDER = pathlib.Path(__file__).parent / "scenarios"


class BadScenario(Exception):
    pass


@dataclasses.dataclass
class Tracker:
    starts_s: float = 0.0
    dies_s: float | None = None


@dataclasses.dataclass
class Seed:
    up_mbit: float
    leaves_after_copies: float | None = None
    leaves_when_safe: bool = False
    origin: bool = False
    dies_at: float | None = None
    back_after_s: float | None = None


@dataclasses.dataclass
class Film:
    mbit: float
    ahead_s: float = 0.0
    watched_s: float = 60.0


@dataclasses.dataclass
class Group:
    count: int
    up_mbit: float
    down_mbit: float = 0.0
    arrives_s: float = 0.0
    arrives_every_s: float = 0.0
    reachable: bool = True
    upload_limit_kib: int = 0
    leaves_on_finish: bool = False
    crashes_at: float | None = None
    watches_from: float = 0.0
    seeks: list = dataclasses.field(default_factory=list)
    hostile: str = ""

    def link(self, index, content_bytes):
        """Peer number `index` of this group as the bound sees it, if it stays."""
        up = bytes_per_second(self.up_mbit)
        if self.upload_limit_kib:
            up = min(up, self.upload_limit_kib * 1024)
        return bound.Link(up=up, down=bytes_per_second(self.down_mbit),
                          arrives=self.arrives_s + index * self.arrives_every_s,
                          needs=content_bytes)


@dataclasses.dataclass
class Scenario:
    name: str
    title: str
    content_mib: float
    seed: Seed
    peers: list
    tracker: Tracker = dataclasses.field(default_factory=Tracker)
    film: Film | None = None
    about: str = ""
    deadline_s: float = 150.0
    queue_ms: float = 100.0
    bucket_bytes: int = 0
    delay_ms: float = 0.0
    loss: float = 0.0
    offload: bool = True
    congestion: str = "cubic"

    @property
    def content_bytes(self):
        return int(self.content_mib * (1 << 20))

    def path(self):
        return slow_link.Path(self.delay_ms, self.loss, self.offload)

    @property
    def peer_count(self):
        return sum(group.count for group in self.peers)

    def members(self):
        """(name, group, index in the group) of each downloader that is honest."""
        return self._named("p", [group for group in self.peers if not group.hostile])

    def hostile_members(self):
        """The same of the others."""
        return self._named("x", [group for group in self.peers if group.hostile])

    @staticmethod
    def _named(letter, groups):
        number = 0
        for group in groups:
            for index in range(group.count):
                number += 1
                yield f"{letter}{number:02}", group, index

    def bound_if_all_stay(self):
        """The bound before any run: leaving after X copies at the earliest moment, no
        crashes. A run has its own, with the moments at which hosts really went."""
        return self._bound(self.seed_periods())

    def seed_periods(self):
        """(from, to), seconds in which there is a seed or an origin, before any run."""
        seed, always = self.seed, [(0.0, math.inf)]
        if seed.leaves_after_copies:
            return [(0.0, seed.leaves_after_copies * self.content_bytes / bytes_per_second(seed.up_mbit))]
        if seed.dies_at is None:
            return always
        dies = seed.dies_at * self._bound(always).seconds
        return [(0.0, dies), *([(dies + seed.back_after_s, math.inf)] if seed.back_after_s is not None else [])]

    def _bound(self, periods):
        links = [group.link(index, self.content_bytes) for _, group, index in self.members()]
        return bound.lower_bound([*sources(self.seed, periods), *links], self.content_bytes, self.tracker.starts_s)


def sources(seed, periods):
    """The seed as the bound sees it, one link for each period in which it is there."""
    return [bound.Link(up=bytes_per_second(seed.up_mbit), source=True, arrives=begin, leaves=end)
            for begin, end in periods]


def bytes_per_second(mbit):
    return mbit * 1e6 / 8 if mbit else float("inf")


def _make(kind, table, where):
    known = {field.name: field for field in dataclasses.fields(kind)}
    for key, value in table.items():
        if key not in known:
            raise BadScenario(f"{where}: unknown key `{key}`; known are {', '.join(known)}")
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value < 0:
            raise BadScenario(f"{where}: `{key}` is negative")
    missing = [name for name, field in known.items() if name not in table
               and field.default is dataclasses.MISSING
               and field.default_factory is dataclasses.MISSING]
    if missing:
        raise BadScenario(f"{where}: `{missing[0]}` is missing")
    return kind(**table)


def _check_origin(seed, where):
    if seed.origin and (seed.leaves_after_copies is not None or seed.leaves_when_safe):
        raise BadScenario(f"{where}: an origin does not leave; see `dies_at`")
    if seed.dies_at is not None and not seed.origin:
        raise BadScenario(f"{where}: `dies_at` needs `origin = true`")
    if seed.back_after_s is not None and seed.dies_at is None:
        raise BadScenario(f"{where}: `back_after_s` needs `dies_at`")


def parse(text, name):
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadScenario(f"{name}: {error}") from None
    if "name" in table:
        raise BadScenario(f"{name}: the name of a scenario is that of its file")
    return from_table(table, name)


def from_table(table, name):
    """A scenario of the tables that its file holds, or of `dataclasses.asdict` of one."""
    if not isinstance(table.get("seed"), dict) or not table.get("peers"):
        raise BadScenario(f"{name}: needs a table [seed] and at least one [[peers]]")
    table["seed"] = _make(Seed, table["seed"], f"{name}, [seed]")
    _check_origin(table["seed"], f"{name}, [seed]")
    table["peers"] = [_make(Group, group, f"{name}, [[peers]]") for group in table["peers"]]
    if "tracker" in table:
        table["tracker"] = _make(Tracker, table["tracker"], f"{name}, [tracker]")
    if table.get("film"):
        table["film"] = _make(Film, table["film"], f"{name}, [film]")
    scenario = _make(Scenario, {**table, "name": name}, name)
    if scenario.loss >= 1:
        raise BadScenario(f"{name}: `loss` is a part, below 1")
    if scenario.peer_count > PEERS_MAX:
        raise BadScenario(f"{name}: more than {PEERS_MAX} peers; that is work for a simulation")
    return scenario


def as_table(scenario):
    """What `from_table` makes it of."""
    return dataclasses.asdict(scenario)


def load(name):
    """A scenario by the name or the path of its file."""
    path = pathlib.Path(name)
    if path.suffix != ".toml":
        path = FOLDER / f"{name}.toml"
    try:
        return parse(path.read_text(), path.stem)
    except FileNotFoundError:
        raise BadScenario(f"no scenario `{name}` ({path}); `scripts/swarm list` names them") \
            from None


def names():
    return sorted(path.stem for path in FOLDER.glob("*.toml"))
