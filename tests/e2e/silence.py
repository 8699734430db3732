"""Sockets whose other side seems gone: the kernel drops all that comes for them, and answers nothing.
No privileges are needed; a firewall that drops packets looks the same from the other side."""

import ctypes
import socket
import struct

SO_ATTACH_FILTER = 26
DROP_EVERYTHING = struct.pack("HBBI", 0x06, 0, 0, 0)  # BPF_RET | BPF_K, 0 bytes accepted


def vanish(plain_socket):
    """From now on nothing that is sent to this socket arrives or is acknowledged."""
    program = ctypes.create_string_buffer(DROP_EVERYTHING)
    filters = struct.pack("HP", 1, ctypes.addressof(program))
    plain_socket.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, filters)


def silent_listener():
    """A listening socket that answers no attempt to connect."""
    listener = socket.create_server(("127.0.0.1", 0))
    vanish(listener)
    return listener
