"""Where the bytes on the wire go, from what a record counted.

A frame on these hosts has at most 1,514 bytes: 14 Ethernet, 20 IP, 32 TCP (with timestamps) and 1,448
of TCP's stream. So headers alone are 66/1448, 4.56 % of all that is sent in full segments: no
protocol above TCP with timestamps gets below that.
"""

HEADER_BYTES = 66
SEGMENT_BYTES = 1448
FLOOR = HEADER_BYTES / SEGMENT_BYTES


def parts(record):
    """{what: bytes as a part of content x finishers}, which add up to `wire`; None where the record
    counted no segments. What one client does not tell is in `stream` for it."""
    counted = record.get("segments")
    if not counted or not record["finishers"]:
        return None
    content = record["scenario"]["content_mib"] * 2**20 * record["finishers"]
    # Records of before 2026-11-21, 12:00 have only those of the receivers' slow path, about half.
    acks = counted.get("pure_acks", counted.get("pure_acks_received"))
    found = {
        "TCP/IP headers": HEADER_BYTES * counted["data_segments"],
        "acknowledgements": HEADER_BYTES * acks,
        "sent again": (HEADER_BYTES + SEGMENT_BYTES) * counted["again_segments"],
    }
    stream = record["wire_bytes"] - sum(found.values()) - content
    return {"content": 1.0} | _of_stream(record, stream, content) | {
        what: count / content for what, count in found.items()}


def _of_stream(record, stream, content):
    """What clients put into TCP's stream besides the content, once for each finisher."""
    peers = [record["seed"], *record["peers"]]
    facts = [peer["facts"] for peer in peers]
    block = next((f["block_bytes"] for f in facts if f.get("block_bytes")), None)
    if block is None or any(peer.get("crashed") for peer in record["peers"]):
        return {"stream": stream / content}
    if any("bytes_sent" not in f for f in facts):
        return {"stream": stream / content}
    size = max(f.get("generation_size", 0) for f in facts)
    blocks = sum(f["blocks_sent"] for f in facts)
    frames = sum(f["bytes_sent"] for f in facts)
    # The source sends each source block once as it is; all others have a vector.
    vectors = size * max(0, blocks - record["scenario"]["content_mib"] * 2**20 // block)
    return {
        "redundant": (blocks * block - content) / content,
        "coding vectors": vectors / content,
        "heads, States": (frames - blocks * block - vectors) / content,
        "TLS": (stream + content - frames) / content,
    }
