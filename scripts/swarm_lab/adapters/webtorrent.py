"""WebTorrent by its command line, which serves a film by HTTP while it comes. It says by a file when it has all.

Version 4.1.0 is the last that runs with the Node.js of Debian 12:

    npm install --ignore-scripts webtorrent-cli@4.1.0      # then `cli=node_modules/.bin/webtorrent`
"""

import pathlib
import shutil
import subprocess
import time

from swarm_lab.adapters.base import BadClient, Node
from swarm_lab.adapters.torrent import TorrentAdapter

HTTP_PORT = 8000


class WebtorrentNode(Node):
    def __init__(self, host, done):
        super().__init__(host, None)
        self._done = done  # a file that is there when everything is

    def poll(self, now):
        if self.completed is None and self._done.exists():
            self.saw(now, 1.0)
            self.completed = now - max(0.0, time.time() - self._done.stat().st_mtime)


class Webtorrent(TorrentAdapter):
    settings = {"piece_kib": "128", "cli": "webtorrent"}
    programs = {"opentracker": "opentracker"}
    poll_interval_s = 0.5

    def check(self):
        self.cli = shutil.which(self.settings["cli"])
        if self.cli is None:
            raise BadClient(f"{self.name} needs `{self.settings['cli']}`: npm install --ignore-scripts "
                            "webtorrent-cli@4.1.0")
        self.cli = pathlib.Path(self.cli).absolute()

    def version(self):
        said = subprocess.run([self.cli, "--version"], capture_output=True, text=True, check=True)
        return f"webtorrent-cli {said.stdout.strip()}"

    def start_seed(self, host, folder, content, tracker_host, leave_when_safe=False):
        self.refuse(leave_when_safe)
        node = self._start(host, folder, content.parent)
        deadline = time.monotonic() + 30
        while node.completed is None:
            node.poll(time.monotonic())
            if time.monotonic() > deadline or node.process.wait(0.05):
                raise BadClient(f"the seed does not come up\n{node.process.story()}")
        return node

    def start_peer(self, host, folder, upload_limit_bytes):
        limit = ["--upload-limit", max(1, upload_limit_bytes // 1024)] if upload_limit_bytes else []
        return self._start(host, folder, folder / host.name, limit)

    def start_viewer(self, host, folder, upload_limit_bytes, film):
        node = self.start_peer(host, folder, upload_limit_bytes)
        node.url = f"http://127.0.0.1:{HTTP_PORT}/0/content.bin"
        return node

    def _start(self, host, folder, where, more=()):
        done = folder / f"{host.name}.done"
        node = WebtorrentNode(host, done)
        node.process = host.start(host.name, [
            self.cli, "download", self.torrent, "--out", where, "--torrent-port", self.port, "--port", HTTP_PORT,
            "--keep-seeding", "--quiet", "--on-done", f"touch {done}", *more], folder)
        return node
