"""A whole content on a medium: written, passed through a channel, read, byte for byte."""

import pathlib
import random
import tempfile

from figures.markdown import made_on, mib, number, table
from medium_lab import programs

SEED = 2026
PIECE = 1 << 20


def options(command):
    command.add_argument("--size", type=float, default=64, metavar="MIB", help="default: 64")
    command.add_argument("--rate", default="0.01", help="of the plan and of the channel (default: 0.01)")
    command.add_argument("--loss", default="1e-9", help="planned chance of losing the content")
    command.add_argument("--out", required=True, metavar="FILE")


def measure(chosen):
    firn = programs.program("client/firn")
    with tempfile.TemporaryDirectory(prefix="firn-medium-") as name:
        folder = pathlib.Path(name)
        content, medium, received = (folder / one for one in ("content", "medium", "received"))
        size = write_random(content, int(chosen.size * (1 << 20)))
        stages = {}
        stages["write"] = programs.timed(firn, "medium", "write", content, "-o", medium, "--rate",
                                         chosen.rate, "--loss", chosen.loss, "--json")
        stages["sim"] = programs.timed(firn, "medium", "sim", medium, "-o", received, "--rate",
                                       chosen.rate, "--seed", str(SEED), "--json")
        stages["inspect"] = programs.timed(firn, "medium", "inspect", received, "--json")
        stages["read"] = programs.timed(firn, "medium", "read", received, folder / "out", "--json",
                                        allowed=(0, 5))
        again = folder / "out" / content.name
        exact = again.exists() and same(content, again)
        result = {"kind": "whole", "machine": programs.machine(), "rate": float(chosen.rate),
                  "loss": float(chosen.loss), "content_bytes": size,
                  "medium_bytes": medium.stat().st_size, "received_bytes": received.stat().st_size,
                  "byte_exact": exact,
                  "stages": {stage: {key: one[key] for key in ("wall_s", "cpu_s", "mib")}
                             for stage, one in stages.items()},
                  "written": event(stages["write"], "medium_written"),
                  "read": event(stages["read"], "medium_read")}
    programs.save(chosen.out, result)
    return 0 if exact else 1


def write_random(path, size):
    """Bytes that no code can press; the same for the same size."""
    source = random.Random(SEED)
    with path.open("wb") as file:
        for at in range(0, size, PIECE):
            file.write(source.randbytes(min(PIECE, size - at)))
    return size


def same(one, other):
    with one.open("rb") as a, other.open("rb") as b:
        while True:
            left, right = a.read(PIECE), b.read(PIECE)
            if left != right:
                return False
            if not left:
                return True


def event(stage, kind):
    found = [one for one in stage["events"] if one["event"] == kind]
    return {key: value for key, value in (found[0] if found else {}).items()
            if key not in ("event", "content_id", "time")}


def tables(result, _devices=()):
    read = result["read"]
    exact = "every byte is right" if result["byte_exact"] else "NOT byte-exact"
    print(f"{made_on(result)}. {mib(result['content_bytes'])}, planned and sent at p = "
          f"{result['rate']:g}, chance of loss {result['loss']:g}: "
          f"{result['medium_bytes'] / result['content_bytes']:.3f} medium bits for each bit of the file, "
          f"{read.get('frames', 0):,} frames of which {read.get('frames_lost', 0):,} were lost (planned "
          f"{number(result['written'].get('frame_loss'))}, seen "
          f"{number(read.get('frames_lost', 0) / max(read.get('frames', 1), 1))}); {exact}.\n")
    bits = 8 * result["content_bytes"]
    table(["stage", "s", "s of processors", "kbit/s of content", "MiB of memory at most"],
          [[f"`{stage}`", number(one["wall_s"]), number(one["cpu_s"]),
            number(bits / one["wall_s"] / 1e3), number(one["mib"])]
           for stage, one in result["stages"].items()])
