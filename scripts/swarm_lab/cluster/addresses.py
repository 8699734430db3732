"""Which of its IPv4 addresses a task uses: for peers, tracker and the meeting alike."""

import fcntl
import ipaddress
import os
import socket
import struct

GIVEN = "FIRN_SWARM_ADDRESS"  # by the manifest of a pod
_SIOCGIFADDR = 0x8915


class NoAddress(Exception):
    pass


def of_interfaces():
    """The first address of each interface that has one."""
    found = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        for _, name in socket.if_nameindex():
            try:
                answer = fcntl.ioctl(any_socket, _SIOCGIFADDR,
                                     struct.pack("256s", name.encode()[:15]))
            except OSError:
                continue  # it has none
            found.append(socket.inet_ntoa(answer[20:24]))
    return found


def own(network=None):
    """The one in `network` ("10.1.0.0/16"); without it the one given by the environment, or that of
    the route to the world (a UDP socket sends nothing by being connected)."""
    if network:
        wanted = ipaddress.ip_network(network)
        for address in of_interfaces():
            if ipaddress.ip_address(address) in wanted:
                return address
        raise NoAddress(f"{socket.gethostname()} has no address in {network}; it has "
                        f"{', '.join(of_interfaces()) or 'none'}")
    if os.environ.get(GIVEN):
        return os.environ[GIVEN]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as outward:
        try:
            outward.connect(("192.0.2.1", 9))
            return outward.getsockname()[0]
        except OSError:
            pass
    try:
        return socket.gethostbyname(socket.gethostname())
    except OSError:
        raise NoAddress(f"{socket.gethostname()} does not know its address; say --network") from None
