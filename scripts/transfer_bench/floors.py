"""What a stage of a profile costs at least, from the output of measure_floors: seconds for each GiB
of bytes, and prices of single events times how often they came."""

BLOCK = 16 << 10
BLOCKS = (1 << 30) // BLOCK  # of the default shape in a GiB


def _by_bytes(floors, dense):
    """{stage: {end: seconds}} of what is done with every byte. Who passes on what it gets both
    receives and sends. Systematic blocks need no coding, a trusted seed no hashing."""
    get = floors.get
    by = {"tls": {"seed": get("tls"), "relay": 2 * get("tls"), "get": get("tls")},
          "network": {"seed": get("network_send"), "get": get("network_receive"),
                      "relay": get("network_send") + get("network_receive")},
          "hash": {"relay": get("hash"), "get": get("hash")},
          "disk_read": {"seed": get("disk_read"), "relay": get("disk_read")},
          "disk_write": {"relay": get("disk_write"), "get": get("disk_write")},
          "copies": {end: get("copies") for end in ("seed", "relay", "get")}}
    if dense:
        by["encode"] = {"seed": get("encode"), "relay": get("encode")}
        by["decode"] = {"relay": get("decode"), "get": get("decode")}
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
    """None where there is none: what a program of one thread would not do at all has no price."""
    if stage in (by := _by_bytes(floors, dense)):
        return by[stage].get(end)
    if "each_ns" not in floors or "entered" not in profile:
        return None  # an older result
    return _by_counts(floors["each_ns"], end, profile, dense).get(stage)


def within_stages(floors, profile):
    """{what: seconds} that the stages contain: page faults, and the profile itself."""
    if "each_ns" not in floors or "entered" not in profile:
        return {}
    price = {name: 1e-9 * ns for name, ns in floors["each_ns"].items()}
    return {"page faults": profile["page_faults"] * price["page_fault"],
            "stages entered and left": sum(profile["entered"].values()) * price["stage"]}
