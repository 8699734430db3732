"""What a stage of a profile costs at least, from the output of measure_floors: seconds for each GiB
of bytes, and prices of single events times how often they came."""

BY_BYTES = ("tls", "network", "hash", "disk_read", "disk_write", "copies", "encode", "decode")
BLOCK = 16 << 10
BLOCKS = (1 << 30) // BLOCK  # of the default shape in a GiB


def _by_bytes(floors, dense):
    """{stage: {end: seconds}} of what is done with every byte. A relay both receives and sends.
    Systematic blocks need no coding, a seed that hashed its files before needs no hashing."""
    by = {stage: {} for stage in BY_BYTES}
    by["tls"] = {"seed": floors["tls"], "relay": 2 * floors["tls"], "get": floors["tls"]}
    by["network"] = {"seed": floors["network_send"], "get": floors["network_receive"],
                     "relay": floors["network_send"] + floors["network_receive"]}
    by["hash"] = {"relay": floors["hash"], "get": floors["hash"]}
    by["disk_read"] = {"seed": floors["disk_read"], "relay": floors["disk_read"]}
    by["disk_write"] = {"relay": floors["disk_write"], "get": floors["disk_write"]}
    by["copies"] = {end: floors["copies"] for end in ("seed", "relay", "get")}
    if dense:
        by["encode"] = {"seed": floors["encode"], "relay": floors["encode"]}
        by["decode"] = {"relay": floors["decode"], "get": floors["decode"]}
    return by


def _by_counts(each_ns, end, profile, dense):
    """{stage: seconds} of what is counted, not measured by bytes."""
    arrives, leaves = end != "seed", end != "get"
    price = {name: 1e-9 * ns for name, ns in each_ns.items()}
    block = arrives * price["block_parse"] + leaves * price["block_serialize"]
    return {"wake_ups": profile["entered"]["wake_ups"] * price["wake_up_signal"],
            "waits": profile["switches_waiting"] * price["wake_up_wait"],
            "messages": BLOCKS * block,
            "memory": BLOCKS * price["payload"],
            **({"core": BLOCKS * price["vector"]} if arrives and dense else {})}


def floor_of(floors, end, stage, profile, dense):
    """0 for what need not be done: passing work between threads, coding of what may go as it is.
    None where it is not known: older results have no counts."""
    if stage in BY_BYTES:
        return _by_bytes(floors, dense)[stage].get(end, 0)
    if "each_ns" not in floors or "entered" not in profile:
        return None
    return _by_counts(floors["each_ns"], end, profile, dense).get(stage, 0)


def within_stages(floors, profile):
    """{what: seconds} that the stages contain: page faults, and the profile itself."""
    if "each_ns" not in floors or "entered" not in profile:
        return {}
    price = {name: 1e-9 * ns for name, ns in floors["each_ns"].items()}
    return {"page faults": profile["page_faults"] * price["page_fault"],
            "stages entered and left": sum(profile["entered"].values()) * price["stage"]}
