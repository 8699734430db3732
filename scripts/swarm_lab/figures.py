"""What one race's record tells, as figures; None where the client does not tell."""

import statistics

from swarm_lab import wire

RANK_STEPS = 40  # points of a rank curve, beside its start: enough to plot


def summary(record):
    """The record in about a KB: all that tables and plots are made from. The scenario stays as it was
    run."""
    if "bound_s" in record:
        return record  # it is one
    settings = {key: value for key, value in record["settings"].items() if value}
    if "core" in record:
        settings["core"] = record["core"]
    return {
        "scenario": record["scenario"], "client": record["client"],
        "version": record["version"], "settings": settings, "date": record["date"],
        "machine": record["machine"],
        "bound_s": record["bound"]["seconds"], "complete": record["complete"],
        "finishers": record["finishers"], "expected_finishers": record["expected_finishers"],
        "last_s": _short(record["last_finish_s"]), "ratio": record["ratio"],
        "mean_s": _short(mean_finish(record)), "seed_copies": record["seed"]["wire_copies"],
        "seed_told_copies": record["seed"]["copies_when_told"],
        "seed_left_s": _short(record["seed"]["left_s"]), "wire": record["wire_per_content"],
        "wire_parts": {what: _short(part) for what, part in (wire.parts(record) or {}).items()},
        "cpu_s": _short(mean_cpu(record)), "peak_mib": _short(peak_memory(record)),
        "redundant": _short(redundant(record)), "first": _short(first_verified(record)),
        "rows": _short(unfinished(record)), "proof": _short(mean_proof(record)),
        "finished_s": sorted(round(peer["completed_s"], 2) for peer in record["peers"]
                             if peer["completed_s"] is not None),
        "rank": rank_curve(record),
        **{key: record[key] for key in ("trust", "placement", "viewers", "buffers", "origin") if key in record},
    }


def _short(value):
    return None if value is None else float(f"{value:.7g}")


def survivors(record):
    return [peer for peer in record["peers"] if not peer["crashed"]]


def mean_cpu(record):
    values = [peer["cpu_s"] for peer in survivors(record) if peer.get("cpu_s") is not None]
    return statistics.mean(values) if values else None


def mean_proof(record):
    """What a downloader spent on check sums of blocks, as a part of its processor time."""
    values = [peer["facts"]["proof_share"] for peer in survivors(record) if "proof_share" in peer["facts"]]
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


def rank_curve(record):
    """What the peers hold over time, in parts of the content: {end_s, mean, least, most}, at
    RANK_STEPS + 1 equal steps from 0 to `end_s`; None where the client does not tell."""
    curves = [peer["progress"] for peer in record["peers"] if peer["progress"]]
    if not curves:
        return None
    end = max(curve[-1][0] for curve in curves)
    held = [[_at(curve, end * step / RANK_STEPS) for curve in curves]
            for step in range(RANK_STEPS + 1)]
    return {"end_s": round(end, 2),
            **{name: [round(of(row), 4) for row in held]
               for name, of in (("mean", statistics.mean), ("least", min), ("most", max))}}


def _at(curve, time):
    held = 0.0
    for when, has in curve:
        if when > time:
            break
        held = has
    return held
