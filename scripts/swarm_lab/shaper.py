"""What a limited link leaves to one TCP stream: the part of its rate, frame headers counted.

A token bucket that is too small for the kernel's timers, or a machine that is too busy, loses rate
that no client can have. Races on such a link would tell of the machine."""

import functools
import socket
import threading
import time

from swarm_lab import hosts, slow_link

LEAST = 0.99
BEGIN_S = 1.0    # of the stream, until TCP has found the rate
TAKES_S = 4.0
SLOW_S = 12.0    # below a Mbit/s, where a frame takes 12 ms and more
_PORT = 5001
_SEGMENT = 1448  # bytes of payload in a full frame, TCP's time stamps counted


@functools.cache
def share(mbit, queue_ms, bucket_bytes, offload):
    """Of the rate `mbit`, in one run."""
    path = slow_link.Path(offload=offload)
    with hosts.Network(queue_ms, path=path, bucket_bytes=bucket_bytes) as network:
        sender, receiver = network.add("sender", mbit), network.add("receiver")
        network.introduce()
        door = hosts.socket_in(receiver.namespace, socket.SOCK_STREAM)
        with door, hosts.socket_in(sender.namespace, socket.SOCK_STREAM) as out:
            door.bind((receiver.address, _PORT))
            door.listen()
            out.connect((receiver.address, _PORT))
            threading.Thread(target=_send, args=(out,), daemon=True).start()
            with door.accept()[0] as arriving:
                rate = _rate(arriving, TAKES_S if mbit >= 1 else SLOW_S)
    return rate * hosts.FRAME / _SEGMENT / (mbit * 1e6 / 8)


def _send(out):
    try:
        while True:
            out.sendall(bytes(1 << 16))
    except OSError:
        pass  # the receiver has seen enough


def _rate(arriving, takes_s):
    """Bytes a second, between two arrivals."""
    began = time.monotonic()
    first = None
    total = 0
    while True:
        total += len(arriving.recv(1 << 20))
        now = time.monotonic()
        if first is None and now - began >= BEGIN_S:
            first, before = now, total
        elif first is not None and now - first >= takes_s:
            return (total - before) / (now - first)


def complaint(cell):
    """About the links of a cell of the matrix; empty: they carry what they should."""
    for mbit in sorted({cell.seed_mbit, cell.up_mbit, cell.down_mbit} - {0}):
        got = share(mbit, cell.queue_ms, cell.bucket_bytes, cell.offload)
        if got < LEAST:
            return (f"one TCP stream gets {got:.3f} of {mbit:g} Mbit/s here; the machine is busy, or its timers "
                    "need a larger bucket_bytes")
    return ""
