#!/usr/bin/python3
"""A BitTorrent client that only libtorrent makes: downloads or seeds one torrent until SIGINT, and
prints what it has, as JSON lines. Run by adapters/libtorrent.py.

    libtorrent_peer.py TORRENT FOLDER ADDRESS:PORT [--seed] [--super] [--up-limit BYTES] [--sequential]
                       [--web-request BYTES] [--film BYTES:WINDOW:PREFERRED:PORT]

With --film it serves the content by HTTP, as a film of so many bytes per second (libtorrent_stream.py).
"""

import argparse
import json
import os
import signal
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.remove(HERE)  # where our own libtorrent.py lies

import libtorrent

REPORT_S = 0.25
# The settings that rivals profit from here: a local network, no NAT, no DHT, TCP as the others use,
# and no limit that was made for home computers with hundreds of torrents.
SETTINGS = {
    "enable_dht": False, "enable_lsd": False, "enable_natpmp": False, "enable_upnp": False,
    "enable_outgoing_utp": False, "enable_incoming_utp": False,
    "allow_multiple_connections_per_ip": True, "connections_limit": 200,
    "unchoke_slots_limit": 12, "connection_speed": 100, "torrent_connect_boost": 50,
    "send_buffer_watermark": 64 * 1024, "send_buffer_low_watermark": 16 * 1024,
    "request_queue_time": 1, "auto_sequential": False, "alert_mask": 0,
    "min_reconnect_time": 1, "urlseed_wait_retry": 1,
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("torrent")
    parser.add_argument("folder")
    parser.add_argument("listen")
    parser.add_argument("--seed", action="store_true")
    parser.add_argument("--super", action="store_true")
    parser.add_argument("--slots", type=int, default=12)
    parser.add_argument("--up-limit", type=int, default=0)
    parser.add_argument("--web-request", type=int, default=16 << 20)
    parser.add_argument("--film")
    parser.add_argument("--sequential", action="store_true")
    chosen = parser.parse_args()

    session = libtorrent.session(SETTINGS | {"listen_interfaces": chosen.listen,
                                             "unchoke_slots_limit": chosen.slots,
                                             "urlseed_max_request_bytes": chosen.web_request})
    wanted = libtorrent.add_torrent_params()
    wanted.ti = libtorrent.torrent_info(chosen.torrent)
    wanted.save_path = chosen.folder
    wanted.flags &= ~(libtorrent.torrent_flags.auto_managed | libtorrent.torrent_flags.paused)
    if chosen.seed:
        wanted.flags |= libtorrent.torrent_flags.seed_mode
    if chosen.super:
        wanted.flags |= libtorrent.torrent_flags.super_seeding
    if chosen.up_limit:
        wanted.upload_limit = chosen.up_limit
    if chosen.sequential:
        wanted.flags |= libtorrent.torrent_flags.sequential_download
    handle = session.add_torrent(wanted)
    if chosen.film:
        stream_film(session, handle, wanted.ti, *map(float, chosen.film.split(":")))

    going_on = True

    def stop(*_):
        nonlocal going_on
        going_on = False

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    while going_on:
        status = handle.status()
        print(json.dumps({"done": status.total_wanted_done, "wanted": status.total_wanted,
                          "uploaded": status.total_payload_upload, "peers": status.num_peers,
                          "complete": status.is_seeding,
                          "redundant": status.total_redundant_bytes,
                          "failed": status.total_failed_bytes}), flush=True)
        time.sleep(REPORT_S if status.is_seeding or status.progress < 0.9 else REPORT_S / 5)
    session.pause()
    return 0


def stream_film(session, handle, info, *film):
    sys.path.append(HERE)
    from libtorrent_stream import Streaming
    session.apply_settings({"alert_mask": libtorrent.alert.category_t.storage_notification |
                            libtorrent.alert.category_t.piece_progress_notification})
    streaming = Streaming(handle, info, *film)

    def follow():
        while True:
            session.wait_for_alert(250)
            streaming.on_alerts(session.pop_alerts())

    threading.Thread(target=follow, daemon=True).start()


if __name__ == "__main__":
    sys.exit(main())
