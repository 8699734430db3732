"""scripts/swarm compare: stored races of real processes beside the same scenarios in simulation,
with the parameters of compare.toml."""

import pathlib
import statistics
import sys
import tomllib

from swarm_lab import report, sim

PARAMETERS = pathlib.Path(__file__).with_name("compare.toml")


def options(command):
    command.add_argument("path", nargs="+", help="records of races, or folders of them")
    command.add_argument("--client", default="firn", help="whose races (default: firn)")


class NotSimulated(Exception):
    """The simulator has no word for something in the scenario."""


def lab_options(scenario, parameters):
    """What swarm_lab is told of a scenario, as a race's record has it."""
    groups = scenario["peers"]
    if any(group.get("hostile") for group in groups):
        raise NotSimulated("hostile peers (scripts/swarm sim hostile=COUNT*DEEDS has them)")
    if scenario.get("loss"):
        raise NotSimulated("frames that get lost")
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
    same_size = len({g["count"] for g in groups}) == 1
    links = [g for g in groups for _ in range(1 if same_size else g["count"])]
    senders = parameters["share_of_senders"]
    share = senders + parameters["share_of_acknowledgements"]
    seed = scenario["seed"]
    words = {
        "peers": peers, "mib": scenario["content_mib"],
        # It sends no acknowledgements, so more of its uplink is for frames.
        "seed_mbit": seed["up_mbit"] * share / senders,
        "up": ",".join(f"{g['up_mbit']:g}" for g in links), "join_ms": 1000 * every,
        "down": ",".join(f"{g['down_mbit']:g}" for g in links), "queue_ms": scenario["queue_ms"],
        "delay_ms": _delays(parameters["delay_ms"], scenario.get("delay_ms", 0)),
        "share": share, "alone": parameters["alone_bytes"],
        "source_copies": seed["leaves_after_copies"] or 0,
        "leave_when_safe": int(seed["leaves_when_safe"]), "leave_s": 0 if leaves else -1,
    }
    if hidden:
        words |= {"hidden": hidden / peers + 1e-9, "firewalled": 1}
    if limits:
        takers = sum(g["count"] for g in groups if g["upload_limit_kib"])
        words |= {"takers": takers, "taker_kib": limits.pop()}
    tracker = scenario["tracker"]
    if tracker["starts_s"]:
        words["tracker_starts_s"] = tracker["starts_s"]
    if tracker["dies_s"] is not None:
        words["tracker_dies_s"] = tracker["dies_s"]
    crashing = [g for g in groups if g["crashes_at"] is not None]
    if crashing:
        # They crash when they have that part, which comes evenly over the whole download.
        up = seed["up_mbit"] + sum(g["count"] * g["up_mbit"] for g in groups)
        bits = scenario["content_mib"] * 2**20 * 8e-6
        bound = max(bits / seed["up_mbit"], peers * bits / up)
        words["crash_s"] = crashing[0]["crashes_at"] * bound * share
        words["crash_share"] = sum(g["count"] for g in crashing) / peers + 1e-9
    return " ".join(f"{key}={value}" for key, value in words.items())


def _delays(without, more):
    return "-".join(f"{float(end) + more:g}" for end in without.split("-"))


def compare(chosen):
    records = [r for r in report.load(chosen.path)
               if r["client"] == chosen.client and not r.get("placement")]
    if not records:
        print(f"scripts/swarm: no races of {chosen.client} there", file=sys.stderr)
        return 2
    parameters = tomllib.loads(PARAMETERS.read_text(encoding="utf-8"))
    sim.program(sim.LAB)
    print("| scenario | races | real s | simulated s | difference |\n|---|---|---|---|---|")
    for name, by_client in report.grouped(records).items():
        runs = [r for r in by_client[chosen.client] if r["complete"]]
        if not runs:
            continue
        try:
            words = lab_options(runs[0]["scenario"], parameters)
        except NotSimulated as reason:
            print(f"| `{name}` | {len(runs)} | - | not simulated: {reason} | - |")
            continue
        real = statistics.median(r["last_s"] for r in runs)
        lab = sim.run_all([(words, seed) for seed in range(1, parameters["seeds"] + 1)], 1)
        if not all(run["done"] for run in lab):
            print(f"| `{name}` | {len(runs)} | {real:.2f} | did not complete | - |")
            continue
        simulated = parameters["start_seconds"] + statistics.mean(
            run["result"]["last_seconds"] for run in lab)
        print(f"| `{name}` | {len(runs)} | {real:.2f} | {simulated:.2f} | "
              f"{100 * (simulated / real - 1):+.1f} % |", flush=True)
    return 0
