"""Network namespaces whose hosts are on several machines: every task has one host in namespaces of its
own (hosts.py), with its token buckets, and a VXLAN tunnel from that host's bridge to the bridges of
all other tasks. Needs root in the tasks, and UDP between the machines.

Nothing is flooded and nothing learnt: all know from the beginning which host is behind which task.
Addresses are 10.99.0.0/16 as on one machine, hidden within the tunnels.
"""

import os
import socket
import subprocess

from swarm_lab import hosts
from swarm_lab.cluster.task_host import TaskHost

MTU = 1450  # what remains of 1,500 bytes: VXLAN's headers take 50
VNI = 4711


class NamespaceHost(TaskHost):
    """A TaskHost whose link is limited by the kernel, and is its own: so it counts what is sent."""

    def __init__(self, rank, address, folder):
        super().__init__(f"task-{rank}", hosts.address(rank), folder)
        hosts.check()
        self._rank = rank
        self._machine_address = address
        self._others = []
        self._network = self._host = None
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.bind((address, 0))
            self._tunnel_port = probe.getsockname()[1]

    def tunnel(self):
        """(rank, address, UDP port) of this end, for all others."""
        return [self._rank, self._machine_address, self._tunnel_port]

    def join(self, tunnels):
        """All ends of tunnels."""
        self._others = [(rank, address, port) for rank, address, port in tunnels
                        if rank != self._rank]

    def be(self, name, up_mbit, down_mbit, queue_ms, congestion, bucket_bytes):
        """Makes the namespaces, with that host in them."""
        super().be(name, up_mbit, down_mbit)
        self._network = hosts.Network(queue_ms, congestion, bucket_bytes=bucket_bytes)
        try:
            self._network.__enter__()
            self._host = self._network.add(name, up_mbit, down_mbit, self._rank, MTU)
            self._make_tunnel()
        except BaseException:
            self.close()
            raise

    def _make_tunnel(self):
        hub, device = self._network.hub, f"vx{os.getpid()}"
        # Made here, so that it sends into the machine's network, and then moved.
        _run(["ip", "link", "add", device, "mtu", str(MTU), "type", "vxlan", "id", str(VNI),
              "local", self._machine_address, "dstport", str(self._tunnel_port), "nolearning"])
        _run(["ip", "link", "set", device, "netns", hub])
        _run(["ip", "-n", hub, "link", "set", device, "master", "bridge", "up"])
        _run(["bridge", "-n", hub, "-batch", "-"], "".join(
            f"fdb add {hosts.mac(rank)} dev {device} dst {address} port {port}\n"
            for rank, address, port in self._others))
        _run(["ip", "-n", self._host.namespace, "-batch", "-"], "".join(
            f"neighbour replace {hosts.address(rank)} lladdr {hosts.mac(rank)} dev eth0 "
            "nud permanent\n" for rank, _, _ in self._others))

    def start(self, name, command, _folder=None, on_line=None):
        return self._host.start(name, command, self.folder, on_line)

    def port(self, usual):
        return self._host.port(usual)

    def listen_at(self, usual_port):
        return self._host.listen_at(usual_port)

    def left_to_client(self, upload_limit_bytes):
        return self._host.left_to_client(upload_limit_bytes)

    def counters(self):
        return self._host.counters() if self._host else None

    def refuse_connections(self, process, port):
        return self._host.refuse_connections(process, port)

    def close(self):
        if self._network:
            self._network.close()
            self._network = None


def _run(command, text=""):
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise hosts.NoNetwork(f"`{' '.join(command)}`: {done.stderr.strip() or done.returncode}")
