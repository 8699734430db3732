"""transmission-daemon, asked by its RPC."""

import base64
import json
import subprocess
import time

from swarm_lab.adapters.base import BadClient, Node
from swarm_lab.adapters.torrent import Rpc, TorrentAdapter

RPC_PORT = 9091
FIELDS = ["percentDone", "uploadedEver", "leftUntilDone", "haveValid", "corruptEver",
          "peersConnected", "status"]
SETTINGS = {
    "dht-enabled": False, "lpd-enabled": False, "pex-enabled": True, "utp-enabled": False,
    "port-forwarding-enabled": False, "peer-limit-global": 200, "peer-limit-per-torrent": 100,
    "preallocation": 0, "ratio-limit-enabled": False, "idle-seeding-limit-enabled": False,
    "rpc-authentication-required": False, "rpc-bind-address": "127.0.0.1", "rpc-port": RPC_PORT,
    "rpc-host-whitelist-enabled": False, "encryption": 0, "cache-size-mb": 4,
}


class TransmissionNode(Node):
    def __init__(self, host):
        super().__init__(host, None)
        self._rpc = Rpc(host, RPC_PORT, "/transmission/rpc")

    def ask(self, method, arguments):
        """The answer's arguments; None while the daemon does not answer."""
        try:
            status, headers, body = self._rpc.post({"method": method, "arguments": arguments})
            if status == 409:  # wants its session id
                self._rpc.headers["X-Transmission-Session-Id"] = \
                    headers["X-Transmission-Session-Id"]
                status, headers, body = self._rpc.post({"method": method, "arguments": arguments})
        except OSError:
            return None
        said = json.loads(body) if status == 200 else {}
        return said["arguments"] if said.get("result") == "success" else None

    def poll(self, now):
        said = self.ask("torrent-get", {"fields": FIELDS})
        if not said or not said["torrents"]:
            return
        one = said["torrents"][0]
        self.saw_uploaded(now, one["uploadedEver"])
        self.facts["neighbours_max"] = max(self.facts.get("neighbours_max", 0),
                                           one["peersConnected"])
        if one["haveValid"] > 0:
            self.facts.setdefault("first_verified_s", now - self.process.started)
        if self.completed is None:
            self.saw(now, one["percentDone"])
            if one["percentDone"] == 1 and one["leftUntilDone"] == 0 and one["status"] == 6:
                self.completed = time.monotonic()


class Transmission(TorrentAdapter):
    settings = {"piece_kib": "16"}
    programs = {"transmission-daemon": "transmission-daemon", "opentracker": "opentracker"}
    poll_interval_s = 0.5

    def version(self):
        said = subprocess.run(["transmission-daemon", "--version"], capture_output=True, text=True,
                              check=True)
        return (said.stdout or said.stderr).strip()

    def start_seed(self, host, folder, content, tracker_host, leave_when_safe=False):
        self.refuse(leave_when_safe)
        node = self._start(host, folder, content.parent, 0)
        self._add(node)
        deadline = time.monotonic() + 30
        while node.completed is None:  # it checks the file first
            node.poll(time.monotonic())
            if time.monotonic() > deadline or node.process.wait(0.05):
                raise BadClient(f"the seed does not come up\n{node.process.story()}")
        return node

    def start_peer(self, host, folder, upload_limit_bytes):
        where = folder / host.name
        where.mkdir()
        node = self._start(host, folder, where, upload_limit_bytes)
        return node

    def _start(self, host, folder, where, upload_limit_bytes):
        config = folder / f"{host.name}.config"
        config.mkdir()
        limit = {"speed-limit-up-enabled": True, "speed-limit-up": upload_limit_bytes // 1000} \
            if upload_limit_bytes else {}
        settings = SETTINGS | limit | {"download-dir": str(where), "peer-port": self.port,
                                       "bind-address-ipv4": host.address}
        if where != folder:  # a downloader takes the torrent as it starts; the seed is told
            (config / "torrents").mkdir()
            (config / "torrents" / "content.torrent").write_bytes(self.torrent.read_bytes())
        (config / "settings.json").write_text(json.dumps(settings))
        node = TransmissionNode(host)
        node.process = host.start(host.name, ["transmission-daemon", "--foreground",
                                              "--config-dir", config], folder)
        return node

    def _add(self, node):
        torrent = base64.b64encode(self.torrent.read_bytes()).decode()
        deadline = time.monotonic() + 20
        while not node.ask("torrent-add", {"metainfo": torrent}):
            if time.monotonic() > deadline or node.process.wait(0.02):
                raise BadClient(f"transmission does not answer\n{node.process.story()}")
