"""A host that accepts no connections: requests to its listening sockets are dropped unanswered, as
behind a home router. Done with a socket filter that drops all, put on the client's own listening
sockets from outside (pidfd_getfd, Linux 5.6; root): needs neither nftables nor the client's help.
"""

import ctypes
import os
import socket
import struct
import time

_SYS_PIDFD_GETFD = 438
_SO_ATTACH_FILTER = 26
_LISTEN = "0A"
_ESTABLISHED = "01"
_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def _sockets(pid, state):
    """{inode: local port} of the TCP sockets in that state in the namespace of process `pid`."""
    found = {}
    for table in ("tcp", "tcp6"):
        with open(f"/proc/{pid}/net/{table}", encoding="ascii") as lines:
            next(lines)
            for line in lines:
                fields = line.split()
                if fields[3] == state:
                    found[fields[9]] = int(fields[1].rpartition(":")[2], 16)
    return found


def _descriptors(pid):
    """{inode: descriptor} of the sockets that process has open."""
    found = {}
    for entry in os.scandir(f"/proc/{pid}/fd"):
        try:
            target = os.readlink(entry.path)
        except OSError:
            continue
        if target.startswith("socket:["):
            found[target[8:-1]] = int(entry.name)
    return found


def _drop_all(pid, descriptor):
    pidfd = os.pidfd_open(pid)
    try:
        copy = _libc.syscall(_SYS_PIDFD_GETFD, pidfd, descriptor, 0)
        if copy < 0:
            error = ctypes.get_errno()
            raise OSError(error, f"pidfd_getfd: {os.strerror(error)}")
    finally:
        os.close(pidfd)
    program = struct.pack("HBBI", 0x06, 0, 0, 0)  # BPF_RET | BPF_K: keep 0 bytes
    buffer = ctypes.create_string_buffer(program)
    with socket.socket(fileno=copy) as listening:
        listening.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER,
                             struct.pack("HL", 1, ctypes.addressof(buffer)))


class Firewall:
    """Of one process that listens on `port`: closes it as soon as it is there."""

    def __init__(self, pid, port):
        self.pid = pid
        self.port = port
        self.closed = 0  # listening sockets closed

    def close(self, seconds=5.0):
        """Waits until the process listens, then drops all that comes; raises TimeoutError."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            listening = [inode for inode, port in _sockets(self.pid, _LISTEN).items()
                         if port == self.port]
            descriptors = _descriptors(self.pid)
            for inode in listening:
                if inode in descriptors:
                    _drop_all(self.pid, descriptors[inode])
                    self.closed += 1
            if self.closed:
                return
            time.sleep(0.002)
        raise TimeoutError(f"process {self.pid} does not listen on port {self.port}")

    def accepted(self):
        """Connections of others that stand all the same (they came before it was closed)."""
        try:
            return sum(1 for port in _sockets(self.pid, _ESTABLISHED).values()
                       if port == self.port)
        except OSError:
            return 0
