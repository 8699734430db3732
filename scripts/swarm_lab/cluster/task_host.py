"""A host of the race as the task that is it sees it: it starts programs in a folder of its own. Its
clients limit themselves, as the link is shared with other tasks.

The first task is the tracker's host this way, the others are told what to do (task.py).
"""

import pathlib
import socket

from swarm_lab import content
from swarm_lab.processes import Process


class TaskHost:
    def __init__(self, name, address, folder, up_mbit=0.0, down_mbit=0.0):
        self.name = name
        self.address = address
        self.folder = pathlib.Path(folder)
        self.up_mbit = up_mbit
        self.down_mbit = down_mbit
        self._ports = {}

    def be(self, name, up_mbit, down_mbit, **_link):
        """Which host of the scenario this is. Queues and congestion control stay as they are."""
        self.name, self.up_mbit, self.down_mbit = name, up_mbit, down_mbit

    def close(self):
        """All of its processes have ended."""

    def start(self, name, command, _folder=None, on_line=None):
        return Process(name, command, self.folder, on_line)

    def port(self, usual):
        """One that was free: other tasks of this host may have their own `usual` one."""
        if usual not in self._ports:
            with socket.create_server((self.address, 0)) as probe:
                self._ports[usual] = probe.getsockname()[1]
        return self._ports[usual]

    def listen_at(self, _usual_port):
        return f"{self.address}:0"

    def left_to_client(self, upload_limit_bytes):
        return left_to_client(self.up_mbit, self.down_mbit, upload_limit_bytes)

    def counters(self):
        """None: the interface carries what other tasks send too."""
        return None

    def make_content(self, _folder, size, seed):
        return content.make(self.folder, size, seed).name

    def digest(self, _folder, name):
        return content.digest(self.folder / name)

    def refuse_connections(self, _process, _port):
        raise NotImplementedError("refused before the job was submitted (refusals.py)")


def left_to_client(up_mbit, down_mbit, upload_limit_bytes):
    """(up, down) bytes per second at most, 0: no limit, where the client keeps the link's limits."""
    limits = [limit for limit in (int(up_mbit * 1e6 / 8), upload_limit_bytes) if limit]
    return min(limits, default=0), int(down_mbit * 1e6 / 8)
