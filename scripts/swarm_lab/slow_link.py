"""What a host's link does beside rate and queue (hosts.py): delay, loss, and whether frames of many
segments pass as one.

A veth cable has neither delay nor loss, and not every kernel has netem. So a link with either is a
program, firn-slow-link (tests/swarm): it makes the host's interface and the hub's end of the cable,
and carries frames between them. Its delay begins behind the host's own queue and ends before that of
the host's downlink.
"""

import array
import dataclasses
import fcntl
import json
import pathlib
import struct
import subprocess

from running import building

PROGRAM = "tests/swarm/firn-slow-link"
TUN = pathlib.Path("/dev/net/tun")
_SIOCETHTOOL = 0x8946
# Segmentation by the device (TSO) and before it (GSO), and reassembly on receiving (GRO).
_OFFLOADS = {"tso": 0x1F, "gso": 0x24, "gro": 0x2C}


@dataclasses.dataclass
class Path:
    """Between any two hosts; each host's link has half of the delay."""

    delay_ms: float = 0.0   # one way
    loss: float = 0.0       # part of the frames, one way
    offload: bool = True

    @property
    def slow(self):
        return self.delay_ms > 0 or self.loss > 0

    def words(self, seed):
        # A lost frame is one segment, as on a wire: so lossy links take segments alone.
        offload = int(self.offload and self.loss == 0)
        return [f"delay_us={500 * self.delay_ms:.0f}", f"loss={self.loss}", f"offload={offload}",
                f"seed={seed}"]


class BrokenLink(Exception):
    """A link could not be made, or its program has ended; the text says why."""


class SlowLink:
    """A running firn-slow-link between `device` of `namespace` and `cable` of `hub`."""

    def __init__(self, namespaces, namespace, device, hub, cable, words):
        command = [building.program(PROGRAM), namespaces / namespace, device, namespaces / hub,
                   cable, *words]
        # It ends when its stdin does: with this process, whatever becomes of it.
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         stderr=subprocess.PIPE, text=True)
        if self._process.stdout.readline() != "ready\n":
            said = self._process.communicate()[1].strip()
            raise BrokenLink(f"link of {namespace}: {said or 'it does not start'}")

    def counts(self):
        """{from_host, to_host}: frames {passed, lost, overflowed}."""
        try:
            self._process.stdin.write("counts\n")
            self._process.stdin.flush()
            return json.loads(self._process.stdout.readline())
        except (BrokenPipeError, json.JSONDecodeError):
            raise BrokenLink(f"a link has ended with status {self._process.poll()}") from None

    def close(self):
        if self._process.returncode is None:
            self._process.kill()
            self._process.communicate()


def stop_offload(control, device):
    """Frames of `device` are single segments from now on. `control` is a socket of its namespace."""
    for number in _OFFLOADS.values():
        value = array.array("B", struct.pack("II", number, 0))
        address, _ = value.buffer_info()
        fcntl.ioctl(control, _SIOCETHTOOL,
                    struct.pack("16sP16x", device.encode(), address))


def offloads(control, device):
    """{name: whether it is on}, as stop_offload() leaves them."""
    found = {}
    for name, number in _OFFLOADS.items():
        value = array.array("B", struct.pack("II", number - 1, 0))  # each getter precedes its setter
        address, _ = value.buffer_info()
        fcntl.ioctl(control, _SIOCETHTOOL, struct.pack("16sP16x", device.encode(), address))
        found[name] = bool(struct.unpack("II", value.tobytes())[1])
    return found
