"""libtorrent-rasterbar by a client of its own (libtorrent_peer.py). `super=yes`: the seed is a
super-seed. Its best setting found is pieces of 16 KiB. It asks an origin for `web_kib` KiB at a time.

A viewer's (libtorrent_stream.py): `window_s` and `prefer_s` seconds of film ahead of the reader have deadlines and are
preferred, `sequential=yes` fetches the others in order."""

import json
import pathlib
import subprocess
import threading

from swarm_lab.adapters.base import BadClient, Node
from swarm_lab.adapters.torrent import TorrentAdapter

PYTHON = "/usr/bin/python3"  # Debian's: the module is made for it
HTTP_PORT = 8000
PEER = pathlib.Path(__file__).with_name("libtorrent_peer.py")


class LibtorrentNode(Node):
    def __init__(self, host):
        super().__init__(host, None)
        self.spoken = threading.Event()

    def on_line(self, now, line):
        said = json.loads(line)
        self.saw_uploaded(now, said["uploaded"])
        self.facts["neighbours_max"] = max(self.facts.get("neighbours_max", 0), said["peers"])
        self.facts["redundant_bytes"] = said["redundant"]
        if said["done"] > 0:
            self.facts.setdefault("first_verified_s", now - self.process.started)
        if self.completed is None and said["wanted"]:
            self.saw(now, said["done"] / said["wanted"])
            if said["complete"]:
                self.completed = now
        self.spoken.set()


class Libtorrent(TorrentAdapter):
    settings = {"piece_kib": "16", "super": "no", "slots": "12", "sequential": "no", "window_s": "0", "prefer_s": "10", "web_kib": "16"}
    programs = {"opentracker": "opentracker"}

    def check(self):
        if subprocess.run([PYTHON, "-c", "import libtorrent"], check=False,
                          capture_output=True).returncode != 0:
            raise BadClient("libtorrent needs Python's module of that name; scripts/setup --all "
                            "installs it (package python3-libtorrent)")

    def version(self):
        said = subprocess.run([PYTHON, "-c", "import libtorrent; print(libtorrent.version)"],
                              capture_output=True, text=True, check=True)
        return f"libtorrent {said.stdout.strip()}"

    def start_seed(self, host, folder, content, tracker_host, leave_when_safe=False):
        self.refuse(leave_when_safe)
        node = self._start(host, folder, content.parent, [
            "--seed", *(["--super"] if self.settings["super"] == "yes" else [])])
        if not node.spoken.wait(30):
            raise BadClient(f"the seed does not come up\n{node.process.story()}")
        return node

    def start_peer(self, host, folder, upload_limit_bytes):
        limit = ["--up-limit", upload_limit_bytes] if upload_limit_bytes else []
        if 0 < upload_limit_bytes < self.piece_bytes:
            # Its limit counts requests as well: at 1 KiB/s it received nothing for 150 s, being
            # unable to ask. So it serves no peer instead.
            limit = ["--slots", 0]
        return self._start(host, folder, folder / host.name, limit)

    def start_viewer(self, host, folder, upload_limit_bytes, film):
        node = self._start(host, folder, folder / host.name, [
            *(["--up-limit", upload_limit_bytes] if upload_limit_bytes else []),
            *(["--sequential"] if self.settings["sequential"] == "yes" else []),
            "--film", ":".join(map(str, (int(film.mbit * 1e6 / 8), self.settings["window_s"], self.settings["prefer_s"],
                                         HTTP_PORT)))])
        node.url = f"http://127.0.0.1:{HTTP_PORT}/"
        return node

    def _start(self, host, folder, where, more):
        node = LibtorrentNode(host)
        node.process = host.start(host.name, [
            PYTHON, PEER, self.torrent, where, f"{host.address}:{self.port}", "--slots",
            self.settings["slots"], "--web-request", int(self.settings["web_kib"]) * 1024, *more], folder, on_line=node.on_line)
        return node
