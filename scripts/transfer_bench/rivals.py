"""One seed to one downloader by BitTorrent, with aria2c and with libtorrent, and a copy through a
pipe. Pieces of 1 MiB; a torrent is made before its seed starts, and not timed."""

import hashlib
import os
import pathlib
import shutil
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

from transfer_bench.children import (LONGEST_S, Child, await_port, die_with_parent, free_port,
                                     transfer)

PIECE = 1 << 20
PYTHON = "/usr/bin/python3"  # Debian's: the module of libtorrent is made for it
LIBTORRENT_PEER = pathlib.Path(__file__).with_name("libtorrent_peer.py")


def bencode(value):
    if isinstance(value, int):
        return b"i%de" % value
    if isinstance(value, bytes):
        return b"%d:%s" % (len(value), value)
    return b"d" + b"".join(bencode(k) + bencode(v) for k, v in sorted(value.items())) + b"e"


class TinyTracker:
    """Answers every BitTorrent announce with the seed's address."""

    def __init__(self, seed_port):
        answer = bencode({b"interval": 60, b"peers": bytes([127, 0, 0, 1]) +
                          seed_port.to_bytes(2, "big")})

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def url(self):
        return b"http://127.0.0.1:%d/announce" % self.server.server_port


def make_torrent(file, path, announce=None):
    pieces = b""
    with open(file, "rb") as data:
        while piece := data.read(PIECE):
            pieces += hashlib.sha1(piece).digest()
    info = {b"length": os.path.getsize(file), b"name": file.name.encode(),
            b"piece length": PIECE, b"pieces": pieces}
    path.write_bytes(bencode({b"info": info} | ({b"announce": announce} if announce else {})))


def has_aria2():
    return shutil.which("aria2c") is not None


def run_aria2(file, work):
    seed_port = free_port()
    tracker = TinyTracker(seed_port)
    torrent = work / "content.torrent"
    make_torrent(file, torrent, tracker.url())
    common = ["aria2c", "-q", "--enable-dht=false", "--bt-enable-lpd=false",
              "--enable-peer-exchange=false", "--disable-ipv6", "--file-allocation=none",
              "--allow-overwrite=true", str(torrent)]
    out = work / "out"
    out.mkdir(exist_ok=True)
    try:
        with Child(common + ["--dir", str(file.parent), "--bt-seed-unverified=true",
                             "--seed-ratio=0", "--listen-port", str(seed_port)]) as seed:
            await_port(seed_port)
            return transfer(seed, common + ["--dir", str(out), "--seed-time=0", "--listen-port",
                                            str(free_port())], file, out / file.name)
    finally:
        tracker.close()


def libtorrent_version():
    """None where Python has no such module (package python3-libtorrent)."""
    try:
        said = subprocess.run([PYTHON, "-c", "import libtorrent; print(libtorrent.version)"],
                              check=False, capture_output=True, text=True)
    except FileNotFoundError:
        return None
    return said.stdout.strip() if said.returncode == 0 else None


def run_libtorrent(file, work, encrypted):
    torrent = work / "content.torrent"
    make_torrent(file, torrent)
    seed_port = free_port()
    common = [PYTHON, str(LIBTORRENT_PEER), str(torrent)]
    how = ["--encrypted"] if encrypted else []
    out = work / "out"
    out.mkdir(exist_ok=True)
    with Child(common + [str(file.parent), "--port", str(seed_port), "--seed"] + how) as seed:
        await_port(seed_port)
        return transfer(seed, common + [str(out), "--port", str(free_port()), "--from",
                                        str(seed_port)] + how, file, out / file.name)


def run_copy(file, work):
    target = work / "copy"
    start = time.monotonic()
    with open(target, "wb") as out, Child(["cat", file], stdout=subprocess.PIPE) as cat:
        subprocess.run(["cat"], stdin=cat.process.stdout, stdout=out, check=True, timeout=LONGEST_S,
                       preexec_fn=die_with_parent)
        cat.process.stdout.close()
        cat.wait()
    seconds = time.monotonic() - start
    return {"seconds": seconds, "mb_per_s": os.path.getsize(file) / 1e6 / seconds}
