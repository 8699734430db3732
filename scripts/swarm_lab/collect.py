"""The record of one run: what was measured, and what is computed from it. A record holds the
scenario as it was run, so that it can be read without this repository. Times are seconds since the
first downloader was started, bytes are on the wire with frame headers unless said."""

import dataclasses
import datetime
import os
import platform

from running.building import processor
from swarm_lab import bound, origin
from swarm_lab.scenario import sources

SAMPLES_MAX = 200  # of one peer's progress: enough to plot
NOT_COUNTED = {"sent": None, "received": None, "dropped": None}


def record(race, counters):
    scenario = race.scenario
    seed_node = race.seed_node
    counted = all(counters.values())  # else hosts share their interface with others
    counters = {name: found or NOT_COUNTED for name, found in counters.items()}
    downloaders = [_downloader(race, peer, counters) for peer in race.downloaders]
    finishers = [peer for peer in race.downloaders if peer.completed is not None]
    staying = [peer for peer in race.downloaders if not peer.crashed]
    limit = fluid_bound(race)
    last = max((peer.completed for peer in finishers), default=None)
    complete = len(finishers) == len(staying)
    if scenario.seed.leaves_after_copies is not None:
        if race.seed_left is None or (last is not None and race.seed_left >= last):
            race.trouble.append("the seed had not left before the last downloader had finished")
    wire = sum(counters[name]["sent"] for name in counters if name != "tracker") if counted else None
    return {
        "scenario": dataclasses.asdict(scenario),
        "client": race.adapter.name,
        "settings": {key: value for key, value in race.adapter.settings.items() if key != "build"},
        "version": race.adapter.version(),
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "machine": machine(),
        "content_seed": race.seed,
        "bound": limit.as_record() | {"limited_by": limit.limited_by()},
        "complete": complete,
        "finishers": len(finishers),
        "expected_finishers": len(staying),
        "last_finish_s": last,
        "ratio": round(last / limit.seconds, 4) if complete and last else None,
        "seed": {
            "up_mbit": scenario.seed.up_mbit,
            "wire_bytes": counters["seed"]["sent"],
            "dropped": counters["seed"]["dropped"],
            "payload_copies": _part(seed_node.uploaded, scenario.content_bytes),
            "wire_copies": _part(counters["seed"]["sent"], scenario.content_bytes),
            "told_to_leave_s": race.seed_asked,
            "copies_when_told": race.seed_copies,
            "left_s": race.seed_left,
            **_cost(seed_node.process),
            "facts": seed_node.facts,
        },
        "wire_bytes": wire,
        "wire_per_content": _part(wire, scenario.content_bytes * len(finishers)),
        "segments": {key: sum(found[key] for found in counters.values())
                     for key in ("data_segments", "again_segments", "pure_acks")} if counted else None,
        "tracker_died_s": race.tracker_died,
        "peers": downloaders,
        "wire_samples": [[round(when, 3), sent] for when, sent in race.wire],
        "trouble": race.trouble,
    }


def _part(count, whole):
    return round(count / whole, 4) if count is not None and whole else None


def failed(result):
    """What went wrong in a run, as lines; empty if nothing did."""
    lines = list(result["trouble"])
    for peer in result["peers"]:
        lines += [f"{peer['name']}: {trouble}" for trouble in peer["trouble"]]
    return lines


def fluid_bound(race):
    """The bound of the capacity that there was: hosts count from their arrival until they left."""
    size = race.scenario.content_bytes
    links = sources(race.scenario.seed, origin.source_times(race))
    for peer in race.downloaders:
        group_link = peer.group.link(0, size)
        links.append(dataclasses.replace(
            group_link, arrives=peer.arrives,
            leaves=peer.left if peer.left is not None else float("inf"),
            needs=peer.had * size if peer.crashed else size))
    # A source that leaves sends what it can before; that it had sent one copy is the client's doing.
    return bound.lower_bound(links, size, race.scenario.tracker.starts_s)


def _downloader(race, peer, counters):
    node = peer.node
    wire = counters[peer.name]
    samples = node.samples if node else []
    step = max(1, len(samples) // SAMPLES_MAX)
    return {
        "name": peer.name,
        "up_mbit": peer.group.up_mbit,
        "down_mbit": peer.group.down_mbit,
        "reachable": peer.group.reachable,
        "started_s": _rounded(peer.started),
        "completed_s": _rounded(peer.completed),
        "left_s": _rounded(peer.left),
        "crashed": peer.crashed,
        "had_at_crash": peer.had,
        "wire_sent": wire["sent"],
        "wire_received": wire["received"],
        "dropped": wire["dropped"],
        **(_cost(node.process) if node else {}),
        "facts": node.facts if node else {},
        "progress": [[round(when - race.zero, 3), round(has, 4)] for when, has in
                     samples[::step] + samples[-1:]],
        "trouble": peer.trouble,
    }


def _cost(process):
    return {"cpu_s": _rounded(process.cpu_seconds()), "peak_mib": _rounded(process.peak_mib()),
            "exit_status": process.status}


def _rounded(value):
    return None if value is None else round(value, 3)


def machine():
    return {"cpu": processor(), "cpus": len(os.sched_getaffinity(0)), "kernel": platform.release(),
            "load_before": os.getloadavg()[0]}
