"""A scenario in the words of the simulator (tests/sim/lab/setting.h), with what lab_words.toml assumes of
real links."""

import pathlib
import tomllib

ASSUMED = tomllib.loads(pathlib.Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


class NotSimulated(Exception):
    """The simulator has no word for something in the scenario."""


def words(scenario):
    """As `scenario.as_table` and a race's record have it, in one line."""
    groups = sorted(scenario["peers"], key=lambda group: not group.get("hostile"))  # those first
    hostile = ",".join(f"{g['count']}*{g['hostile']}" for g in groups if g.get("hostile"))
    if scenario.get("loss"):
        raise NotSimulated("frames that get lost")
    if scenario["seed"].get("origin"):
        raise NotSimulated("an origin")
    if any(group["arrives_s"] for group in groups):
        raise NotSimulated("groups that come late")
    shape = {(g["arrives_every_s"], g["leaves_on_finish"]) for g in groups}
    limits = {g["upload_limit_kib"] for g in groups} - {0}
    hidden = sum(g["count"] for g in groups if not g["reachable"])
    if len(shape) > 1 or len(limits) > 1:
        raise NotSimulated("groups that differ in more than links, calls and one upload limit")
    if (hidden or limits) and len({(g["up_mbit"], g["down_mbit"]) for g in groups}) > 1:
        raise NotSimulated("limits or hidden hosts among different links")
    (every, leaves), peers = shape.pop(), sum(g["count"] for g in groups)
    # Links in turn: of groups of one size one each, else every member's.
    same_size = len({g["count"] for g in groups}) == 1 and not hostile
    links = [g for g in groups for _ in range(1 if same_size else g["count"])]
    share, acks = ASSUMED["share_of_senders"], ASSUMED["share_of_acknowledgements"]
    seed = scenario["seed"]
    said = {
        "peers": peers, "mib": scenario["content_mib"], "seed_mbit": seed["up_mbit"],
        "up": ",".join(f"{g['up_mbit']:g}" for g in links), "join_ms": 1000 * every,
        "down": ",".join(f"{g['down_mbit']:g}" for g in links), "queue_ms": scenario["queue_ms"],
        "delay_ms": _delays(ASSUMED["delay_ms"], scenario.get("delay_ms", 0)),
        "share": share, "acks": acks, "alone": ASSUMED["alone_bytes"],
        "source_copies": seed["leaves_after_copies"] or 0,
        "leave_when_safe": int(seed["leaves_when_safe"]), "leave_s": 0 if leaves else -1,
    }
    if hostile:
        said["hostile"] = hostile
    if hidden:
        said |= {"hidden": hidden / peers + 1e-9, "firewalled": 1}
    if limits:
        takers = sum(g["count"] for g in groups if g["upload_limit_kib"])
        said |= {"takers": takers, "taker_kib": limits.pop()}
    tracker = scenario["tracker"]
    if tracker["starts_s"]:
        said["tracker_starts_s"] = tracker["starts_s"]
    if tracker["dies_s"] is not None:
        said["tracker_dies_s"] = tracker["dies_s"]
    crashing = [g for g in groups if g["crashes_at"] is not None]
    if crashing:
        # They crash when they have that part, which comes evenly over the whole download.
        up = seed["up_mbit"] + sum(g["count"] * g["up_mbit"] for g in groups)
        bits = scenario["content_mib"] * 2**20 * 8e-6
        bound = max(bits / seed["up_mbit"], peers * bits / up)
        said["crash_s"] = crashing[0]["crashes_at"] * bound * (share + acks)
        said["crash_share"] = sum(g["count"] for g in crashing) / peers + 1e-9
    return " ".join(f"{key}={value}" for key, value in said.items())


def _delays(without, more):
    return "-".join(f"{float(end) + more:g}" for end in without.split("-"))
