#!/usr/bin/python3
"""A BitTorrent client by libtorrent-rasterbar on loopback: seeds one torrent until SIGINT, or
downloads it from the peer at port --from and ends. Run by rivals.py.

    libtorrent_peer.py TORRENT FOLDER --port PORT [--seed | --from PORT] [--encrypted]
"""

import argparse
import signal
import sys
import time

import libtorrent

LOOK_S = 0.02  # at whether the download is complete
LONGEST_S = 3600  # only ends a hang
# On top of libtorrent's own preset for machines that do nothing else.
SETTINGS = {
    "enable_dht": False, "enable_lsd": False, "enable_natpmp": False, "enable_upnp": False,
    "enable_outgoing_utp": False, "enable_incoming_utp": False,
    "allow_multiple_connections_per_ip": True, "alert_mask": 0,
}


def encryption(encrypted):
    """All of the stream by RC4, or none of it."""
    policy = libtorrent.enc_policy.forced if encrypted else libtorrent.enc_policy.disabled
    level = libtorrent.enc_level.rc4 if encrypted else libtorrent.enc_level.plaintext
    return {"in_enc_policy": int(policy), "out_enc_policy": int(policy),
            "allowed_enc_level": int(level), "prefer_rc4": encrypted}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("torrent")
    parser.add_argument("folder")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--seed", action="store_true")
    parser.add_argument("--from", dest="peer", type=int)
    parser.add_argument("--encrypted", action="store_true")
    chosen = parser.parse_args()

    signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
    session = libtorrent.session(
        libtorrent.high_performance_seed() | SETTINGS | encryption(chosen.encrypted) |
        {"listen_interfaces": f"127.0.0.1:{chosen.port}"})
    wanted = libtorrent.add_torrent_params()
    wanted.ti = libtorrent.torrent_info(chosen.torrent)
    wanted.save_path = chosen.folder
    wanted.flags &= ~(libtorrent.torrent_flags.auto_managed | libtorrent.torrent_flags.paused)
    if chosen.seed:
        wanted.flags |= libtorrent.torrent_flags.seed_mode  # not hashed anew
    handle = session.add_torrent(wanted)
    if chosen.seed:
        while True:
            signal.pause()
    handle.connect_peer(("127.0.0.1", chosen.peer))
    deadline = time.monotonic() + LONGEST_S
    while not handle.status().is_seeding:
        if time.monotonic() > deadline:
            sys.exit(f"the download is not complete after {LONGEST_S} s")
        time.sleep(LOOK_S)


if __name__ == "__main__":
    main()
