"""Hosts made of network namespaces, joined by a bridge that has a namespace of its own, so that
nothing in the machine's own network changes.

Each host has one interface, eth0. A token bucket (tc tbf) on it limits what the host sends, one on
the bridge's end of the cable what it receives. Delay and loss are in slow_link.py. Namespaces are
named after this process; those of a process that is gone are removed by `remove_stale`.
"""

import ctypes
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from swarm_lab import content, slow_link
from swarm_lab.firewall import Firewall
from swarm_lab.processes import Process

PREFIX = "firn-swarm"
PEERS_MAX = 200
FRAME = 1514  # bytes of a full one
NETNS = pathlib.Path("/run/netns")
TOOLS = {"ip": "iproute2", "tc": "iproute2"}
_CLONE_NEWNET = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)


class NoNetwork(Exception):
    """This machine or user cannot make hosts; the text says what is missing."""


def check():
    """Raises NoNetwork with what to do if hosts cannot be made here."""
    if os.geteuid() != 0:
        raise NoNetwork("network namespaces need root; run it as root or with sudo")
    for tool, package in TOOLS.items():
        if shutil.which(tool) is None:
            raise NoNetwork(f"`{tool}` is missing; scripts/setup --all installs it "
                            f"(package {package})")
    name = f"{PREFIX}-{os.getpid()}-try"
    try:
        _run("ip", "netns", "add", name)
        _run("ip", "link", "add", "h0", "netns", name, "type", "veth",
             "peer", "name", "eth0", "netns", name)
        _run("tc", "-n", name, "qdisc", "add", "dev", "eth0", "root", "tbf", "rate", "8mbit",
             "burst", "15000", "limit", "100000")
    except NoNetwork as reason:
        raise NoNetwork(f"this machine does not allow it: {reason}") from None
    finally:
        subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)


def check_size(scenario):
    """Raises NoNetwork if a machine is too small for it."""
    if scenario.peer_count > PEERS_MAX:
        raise NoNetwork(f"{scenario.name}: more than {PEERS_MAX} peers on one machine; see --on "
                        "slurm, --on kubernetes and `scripts/swarm sim`")


def _run(*command, said=None):
    done = subprocess.run(command, capture_output=True, text=True, check=False, input=said)
    if done.returncode != 0:
        raise NoNetwork(f"`{' '.join(command)}`: {done.stderr.strip() or done.returncode}")
    return done.stdout


def remove_namespace(name):
    """Kills what still runs inside and deletes the namespace."""
    for _ in range(100):
        pids = subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True,
                              check=False).stdout.split()
        if not pids:
            break
        for pid in pids:
            try:
                os.kill(int(pid), signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.02)  # until the kernel has taken them down
    subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)


def remove_stale():
    """Removes namespaces and folders of runs that were killed; returns their names."""
    stale = []
    for path in pathlib.Path(tempfile.gettempdir()).glob(f"{PREFIX}-*"):
        match = re.fullmatch(rf"{PREFIX}-(\d+)-\w+", path.name)
        if match and path.is_dir() and not _is_swarm(int(match.group(1))):
            shutil.rmtree(path, ignore_errors=True)
            stale.append(str(path))
    for path in sorted(NETNS.glob(f"{PREFIX}-*")):
        match = re.fullmatch(rf"{PREFIX}-(\d+)-\w+", path.name)
        if match and not _is_swarm(int(match.group(1))):
            remove_namespace(path.name)
            stale.append(path.name)
    return stale


def folder_prefix():
    """Of folders in which this process keeps contents and downloads for the time of a run."""
    return f"{PREFIX}-{os.getpid()}-"


def _is_swarm(pid):
    try:
        return b"python" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def address(index):
    """Of the host of that number."""
    return f"10.99.{index // 250}.{index % 250 + 1}"


def mac(index):
    return f"02:99:00:00:{index >> 8:02x}:{index & 255:02x}"


class Host:
    """One namespace with one interface."""

    def __init__(self, network, name, index, up_mbit, down_mbit, mtu):
        self.name = name
        self.namespace = f"{network.prefix}-{name}"
        self.cable = f"h{index}"  # the bridge's end
        self.address = address(index)
        self.mac = mac(index)
        self.up_mbit = up_mbit
        self.down_mbit = down_mbit
        _run("ip", "netns", "add", self.namespace)
        network.namespaces.append(self.namespace)
        self.slow_link = None
        if network.path.slow:
            self.slow_link = slow_link.SlowLink(NETNS, self.namespace, "eth0", network.hub,
                                                self.cable, network.path.words(index + 1))
        else:
            _run("ip", "link", "add", self.cable, "netns", network.hub, "type", "veth",
                 "peer", "name", "eth0", "netns", self.namespace)
        _run("ip", "-n", self.namespace, "link", "set", "eth0", "address", self.mac, "mtu",
             str(mtu))
        if not network.path.offload:
            for namespace, device in ((self.namespace, "eth0"), (network.hub, self.cable)):
                with socket_in(namespace, socket.SOCK_DGRAM) as control:
                    slow_link.stop_offload(control, device)
        inside = ("ip", "-n", self.namespace)
        _run(*inside, "address", "add", f"{self.address}/16", "brd", "+", "dev", "eth0")
        _run(*inside, "link", "set", "lo", "up")
        _run(*inside, "link", "set", "eth0", "up")
        _run("ip", "-n", network.hub, "link", "set", self.cable, "master", "bridge", "up")
        network.limit(self.namespace, "eth0", up_mbit)
        network.limit(network.hub, self.cable, down_mbit)

    def command(self, *command):
        """`command`, to be run on this host."""
        return ["ip", "netns", "exec", self.namespace, *map(str, command)]

    def start(self, name, command, folder, on_line=None):
        """Runs `command` here, in `folder`; the process (processes.py)."""
        return Process(name, self.command(*command), folder, on_line)

    def port(self, usual):
        """The port for a program that others must find: this host has all of them."""
        return usual

    def listen_at(self, usual_port):
        """Where a client of this host listens: HOST:PORT."""
        return f"{self.address}:{usual_port}"

    def left_to_client(self, upload_limit_bytes):
        """Bytes per second that the client itself is to send and to receive at most; 0: no limit,
        as the links here are limited already."""
        return upload_limit_bytes, 0

    def make_content(self, folder, size, seed):
        """The content, as programs here are told of it."""
        return content.make(folder, size, seed)

    def digest(self, folder, name):
        """Of a file; None: there is none."""
        return content.digest(pathlib.Path(folder) / name)

    def refuse_connections(self, process, port):
        """From now on no connection to the listening `process` succeeds; its firewall."""
        firewall = Firewall(process.pid, port)
        firewall.close()
        return firewall

    def connect(self, port, timeout=5.0):
        """A TCP connection to 127.0.0.1:port of this host."""
        link = socket_in(self.namespace, socket.SOCK_STREAM)
        link.settimeout(timeout)
        try:
            link.connect(("127.0.0.1", port))
        except OSError:
            link.close()
            raise
        return link

    def counters(self):
        """Bytes on the wire, frame headers included, since the host was made; frames that the
        buffer before its link had no room for, and those that its link has lost."""
        link = json.loads(_run("ip", "-n", self.namespace, "-s", "-j", "link", "show", "eth0"))[0]
        sent = {"sent": link["stats64"]["tx"]["bytes"], "dropped": 0, "lost": 0,
                "received": link["stats64"]["rx"]["bytes"]}
        if self.slow_link:
            sent["lost"] = sum(way["lost"] + way["overflowed"]
                               for way in self.slow_link.counts().values())
        # The interface counts a batch of segments with one header; the token bucket counts all.
        for qdisc in json.loads(_run("tc", "-n", self.namespace, "-s", "-j", "qdisc", "show",
                                     "dev", "eth0")):
            if qdisc["kind"] == "tbf":
                sent["sent"] = qdisc["bytes"]
                sent["dropped"] = qdisc["drops"]
        return sent | self._segments()

    def _segments(self):
        """What TCP of this host sent: data segments, those sent again, and segments without data,
        which are acknowledgements but for a few at a connection's begin and end. (TCPPureAcks, of
        those received, leaves out all that take TCP's fast path.) Segments batched for the kernel's
        convenience count as what they are on the wire."""
        text = _run("ip", "netns", "exec", self.namespace, "cat", "/proc/net/snmp",
                    "/proc/net/netstat")
        found = {}
        lines = text.splitlines()
        for names, values in zip(lines[::2], lines[1::2]):
            kind = names.split(":")[0]
            found |= {f"{kind}.{name}": value for name, value in
                      zip(names.split()[1:], values.split()[1:])}
        return {"data_segments": int(found["TcpExt.TCPOrigDataSent"]),
                "again_segments": int(found["Tcp.RetransSegs"]),
                "pure_acks": int(found["Tcp.OutSegs"]) - int(found["TcpExt.TCPOrigDataSent"])}


def socket_in(namespace, kind):
    """A socket of that namespace. Sockets stay in the one in which they were made, whatever the
    thread does afterwards."""
    with open("/proc/self/ns/net", "rb") as own, open(NETNS / namespace, "rb") as other:
        _setns(other.fileno())
        try:
            return socket.socket(socket.AF_INET, kind)
        finally:
            _setns(own.fileno())


def _setns(descriptor):
    if _libc.setns(descriptor, _CLONE_NEWNET) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"setns: {os.strerror(error)}")


class Network:
    """The bridge and its hosts; a context manager that removes everything."""

    def __init__(self, queue_ms=100.0, congestion=None, path=slow_link.Path(), bucket_bytes=0):
        """As the keys of a scenario."""
        self.prefix = f"{PREFIX}-{os.getpid()}"
        self.hub = f"{self.prefix}-hub"
        self.namespaces = []
        self.hosts = []
        self.queue_ms = queue_ms
        self.bucket_bytes = bucket_bytes
        self.congestion = congestion
        self.path = path

    def __enter__(self):
        try:
            _run("ip", "netns", "add", self.hub)
            self.namespaces.append(self.hub)
            _run("ip", "-n", self.hub, "link", "add", "bridge", "type", "bridge")
            _run("ip", "-n", self.hub, "link", "set", "bridge", "up")
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def add(self, name, up_mbit=0.0, down_mbit=0.0, index=None, mtu=1500):
        """`index`: its number, which its address comes from, if that is not the next one."""
        host = Host(self, name, len(self.hosts) if index is None else index, up_mbit, down_mbit, mtu)
        if self.congestion:
            # By route, as the sysctl of a namespace takes only what the machine's own allows.
            _run("ip", "-n", host.namespace, "route", "replace", "10.99.0.0/16", "dev", "eth0",
                 "src", host.address, "congctl", self.congestion)
        self.hosts.append(host)
        return host

    def limit(self, namespace, device, mbit):
        """Limits what `device` sends; 0: not at all. shaper.py tries what a bucket leaves of the rate."""
        if not mbit:
            return
        rate = mbit * 1e6 / 8
        burst = self.bucket_bytes or int(max(2 * FRAME, rate * 0.0005))
        _run("tc", "-n", namespace, "qdisc", "add", "dev", device, "root", "tbf",
             "rate", f"{int(mbit * 1000)}kbit", "burst", str(burst),
             "limit", str(burst + int(rate * self.queue_ms / 1000)))

    def introduce(self):
        """Tells all hosts the link addresses of the others. Else they would ask for them (ARP) across
        the delay of their links, a round trip that hosts far from each other never wait for. These
        entries are permanent, and do not count towards the bounds of the kernel's table (Linux 5.0)."""
        lines = {host: f"neighbour replace {host.address} lladdr {host.mac} dev eth0 nud permanent\n"
                 for host in self.hosts}
        for host in self.hosts:
            _run("ip", "-n", host.namespace, "-batch", "-",
                 said="".join(line for other, line in lines.items() if other is not host))

    def close(self):
        for host in self.hosts:
            if host.slow_link:
                host.slow_link.close()
        for name in reversed(self.namespaces):
            remove_namespace(name)
        self.namespaces.clear()
