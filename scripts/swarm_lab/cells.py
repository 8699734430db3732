"""The simulated races that show what a mechanism of the core is worth: honest swarms, and swarms with
hostile peers. `scripts/swarm hostile` and `worth` run them.

A mechanism stays if its loss costs some cell more than the cell's limit (LIMITS): absolute seconds of the last
honest peer, as the mean of seeds that were not used to choose the mechanism.
"""

import typing

SETTINGS = {"8": "seed_mbit=8", "16": "seed_mbit=16", "mixed": "seed_mbit=8 up=2,4,8,18"}
# Deeds of each hostile peer: tests/hostile/deeds.h.
DEEDS = ("noise", "byte", "sparse:10", "sparse:50", "turns:5", "noise+colluding", "low-rank:1", "low-rank:4",
         "replay", "rank-liar+silent", "silent", "half", "reports+silent", "false-sums",
         "noise+fresh:10", "silent+fresh:10")
# Where nobody speaks for the content.
UNGUIDED = ("4*sparse:50", "4*false-sums", "2*false-sums,2*byte", "4*noise+fresh:10", "4*silent", "6*noise+colluding")
LARGE = ("byte", "noise+colluding", "noise+fresh:10")
LARGE_TOO = ("silent", "low-rank:4", "sparse:10", "silent+fresh:10")
ALLIED = "30*noise+colluding,20*low-rank:4+colluding"

# How much longer the last honest peer may take without a mechanism that goes. Hostile are: nobody; one to four of
# twelve; up to a tenth of forty or a hundred, or four of 24 to 36; more than that; half of all, which collude.
LIMITS = {"honest": 0.02, "few": 0.12, "tenth": 0.16, "many": 0.30, "allied": 1.0}


class Cell(typing.NamedTuple):
    group: str
    setting: str
    hostile: str  # what the hostile peers are; empty: there are none
    options: str  # of swarm_lab
    limit: str    # of LIMITS

    @property
    def name(self):
        return "/".join(part for part in (self.group, self.setting, self.hostile) if part)


HONEST = {
    "flash-8": "peers=12", "flash-16": "peers=12 seed_mbit=16",
    "mixed": "peers=12 up=2,4,8,18", "mixed-16": "peers=12 up=2,4,8,18 seed_mbit=16",
    "downlinks": "peers=12 seed_mbit=32 up=16 down=8", "downlinks-9": "peers=12 seed_mbit=16 up=8 down=9",
    "24": "peers=24", "24-16": "peers=24 seed_mbit=16", "26": "peers=26", "26-16": "peers=26 seed_mbit=16",
    "36": "peers=36", "36-16": "peers=36 seed_mbit=16", "40": "peers=40", "40-16": "peers=40 seed_mbit=16",
    "home": "peers=12 seed_mbit=100 up=1 down=8 mib=8", "long": "peers=12 delay_ms=300-300",
    "crash-third": "peers=12 crash_s=15", "crash-third-16": "peers=12 crash_s=15 seed_mbit=16",
    "source-leaves": "peers=12 seed_mbit=16 source_copies=1.05",
    "leave-safe": "peers=12 seed_mbit=16 leave_when_safe=1", "staggered": "peers=12 join_ms=1000",
    "half-hidden": "peers=12 hidden=0.5", "taker": "peers=12 takers=1 seed_mbit=16",
    "six-fast": "peers=6 seed_mbit=100 up=100 mib=256",
    "no-authority-8": "peers=12 authority=0", "no-authority-16": "peers=12 authority=0 seed_mbit=16",
    "one-slow": "peers=12 up=0.5,8,8,8,8,8,8,8,8,8,8,8",
    "40-mixed": "peers=40 up=2,4,8,18", "40-late": "peers=40 join_ms=1000",
    "100": "peers=100", "100-16": "peers=100 seed_mbit=16", "100-hidden": "peers=100 hidden=0.5",
    "100-crash": "peers=100 crash_s=15", "300": "peers=300",
}


def honest():
    return [Cell("honest", name, "", options, "honest") for name, options in HONEST.items()]


def small():
    """Twelve downloaders, of which some are hostile."""
    found = []
    for group, count, limit in (("one", 1, "few"), ("third", 4, "few"), ("half", 6, "many")):
        for setting, options in SETTINGS.items():
            found += [Cell(group, setting, f"{count}*{deeds}", f"peers=12 {options}", limit) for deeds in DEEDS]
    for setting, options in SETTINGS.items():
        found.append(Cell("allied", setting, "4*noise+colluding,2*low-rank:4+colluding", f"peers=12 {options}", "many"))
        # The content has no authority; its authority is away; the source (which is the authority) leaves once
        # honest peers hold a copy.
        found += [Cell("no authority", setting, f"{count}*byte", f"peers=12 {options} authority=0", "few")
                  for count in (1, 4)]
        found.append(Cell("authority away", setting, "4*byte", f"peers=12 {options} authority=-1", "few"))
        found.append(Cell("source leaves", setting, "4*byte",
                          f"peers=12 {options} honest_copies=1.05 tracker_dies_s=5", "few"))
    for setting in ("8", "16"):
        found += [Cell("no authority", setting, deeds, f"peers=12 {SETTINGS[setting]} authority=0",
                       "many" if deeds.startswith("6*") else "few") for deeds in UNGUIDED]
    return found


def one_address():
    """One machine with many identities, and honest peers in networks of their own; the same in one local network,
    where each has an address of its own."""
    return [Cell(group, setting, f"{count}*reports+silent", f"peers=13 {SETTINGS[setting]} hostile_at={where}",
                 "few" if count < 4 else "many")
            for group, where in (("one address", "together"), ("one network", "lan"))
            for setting in ("8", "16") for count in (3, 8)]


def middling():
    """As many as can just know each other, and more."""
    return [Cell(f"{peers}", setting, f"4*{deeds}", f"peers={peers} {SETTINGS[setting]}", "tenth")
            for peers in (24, 26, 36) for setting in ("8", "16") for deeds in ("byte", "silent")]


def large():
    """Swarms in which no peer knows every other."""
    found = [Cell("hundred", setting, f"30*{deeds}", f"peers=100 {SETTINGS[setting]}", "many")
             for setting, all_deeds in (("8", LARGE + LARGE_TOO), ("16", ("byte", "silent"))) for deeds in all_deeds]
    found += [Cell("hundred", "8", deeds, "peers=100 seed_mbit=8", "tenth")
              for deeds in ("1*byte", "10*sparse:10", "10*silent+fresh:10")]
    found.append(Cell("hundred-allied", "8", ALLIED, "peers=100 seed_mbit=8", "allied"))
    found += [Cell("forty", "8", "4*byte", "peers=40 seed_mbit=8", "tenth"),
              Cell("forty", "16", "12*byte", "peers=40 seed_mbit=16", "many"),
              Cell("forty", "mixed", "8*low-rank:4", "peers=40 seed_mbit=8 up=2,4,8,18", "many")]
    for authority, group in ((0, "no authority"), (-1, "authority away")):
        found += [Cell(f"{group}, forty", setting, "4*byte", f"peers=40 {SETTINGS[setting]} authority={authority}",
                       "tenth") for setting in ("8", "16")]
    found += [Cell("no authority, hundred", "8", f"{count}*byte", "peers=100 seed_mbit=8 authority=0", limit)
              for count, limit in ((10, "tenth"), (30, "many"))]
    return found


def thousands():
    found = [Cell("thousand", "8", f"300*{deeds}", "peers=1000 seed_mbit=8", "many") for deeds in LARGE]
    found.append(Cell("thousand-allied", "8", "300*noise+colluding,200*low-rank:4+colluding",
                      "peers=1000 seed_mbit=8", "allied"))
    return found


def hostile():
    return small() + one_address() + middling() + large() + thousands()


def runs(cell, mib=32, limit=8):
    """Options of swarm_lab for the cell's race. A cell that names its content's size keeps it."""
    deeds = f" hostile={cell.hostile}" if cell.hostile else ""
    return _race(cell, mib, limit) + deeds


def without_hostile(cell, mib=32, limit=8):
    """The same race, in which the hostile peers stay away. It does not depend on what they would have done, only
    on how many they are."""
    count = sum(int(part.split("*")[0]) for part in cell.hostile.split(","))
    return f"{_race(cell, mib, limit)} hostile={count}*silent without_hostile=1"


def _race(cell, mib, limit):
    size = "" if "mib=" in cell.options else f" mib={mib}"
    return f"{cell.options}{size} limit={limit}"
