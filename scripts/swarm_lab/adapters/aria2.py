"""aria2c, asked by JSON-RPC. Its best setting found is pieces of 16 KiB; of those that it takes from an origin,
pieces at random (`selector`)."""

import json
import subprocess
import time

from swarm_lab.adapters.base import BadClient, Node
from swarm_lab.adapters.torrent import Rpc, TorrentAdapter

RPC_PORT = 6800
COMMON = ["--enable-dht=false", "--enable-dht6=false", "--bt-enable-lpd=false", "--disable-ipv6",
          "--enable-peer-exchange=true", "--file-allocation=none", "--seed-ratio=0.0",
          "--bt-max-peers=100", "--bt-tracker-interval=10", "--no-conf", "--summary-interval=0",
          "--enable-rpc", f"--rpc-listen-port={RPC_PORT}", "--console-log-level=warn",
          "--check-certificate=false", "--max-tries=0", "--retry-wait=1"]  # these two: of an origin that comes back


class Aria2Node(Node):
    def __init__(self, host):
        super().__init__(host, None)
        self._rpc = Rpc(host, RPC_PORT, "/jsonrpc")

    def poll(self, now):
        status = self.status()
        if status is None:
            return
        total, have = int(status["totalLength"]), int(status["completedLength"])
        self.saw_uploaded(now, int(status["uploadLength"]))
        if total:
            self.saw(now, have / total)
            if have == total and self.completed is None:
                self.completed = time.monotonic()
        if have > 0:
            self.facts.setdefault("first_verified_s", now - self.process.started)

    def status(self):
        keys = ["totalLength", "completedLength", "uploadLength", "status"]
        try:
            _, _, body = self._rpc.post({"jsonrpc": "2.0", "id": 1, "method": "aria2.tellActive",
                                         "params": [keys]})
        except OSError:
            return None  # not yet up, or gone: the race sees which
        active = json.loads(body).get("result", [])
        return active[0] if active else None


class Aria2(TorrentAdapter):
    settings = {"piece_kib": "16", "selector": "random"}
    programs = {"aria2c": "aria2", "opentracker": "opentracker"}
    poll_interval_s = 0.5

    def version(self):
        said = subprocess.run(["aria2c", "--version"], capture_output=True, text=True, check=True)
        return said.stdout.splitlines()[0]

    def start_seed(self, host, folder, content, tracker_host, leave_when_safe=False):
        self.refuse(leave_when_safe)
        node = self._start(host, folder, content.parent, ["--check-integrity=true"])
        deadline = time.monotonic() + 30
        while node.completed is None:
            node.poll(time.monotonic())
            if time.monotonic() > deadline or node.process.wait(0.05):
                raise BadClient(f"the seed does not come up\n{node.process.story()}")
        return node

    def start_peer(self, host, folder, upload_limit_bytes):
        limit = [f"--max-upload-limit={upload_limit_bytes}"] if upload_limit_bytes else []
        return self._start(host, folder, folder / host.name, limit)

    def _start(self, host, folder, where, more):
        node = Aria2Node(host)
        node.process = host.start(host.name, [
            "aria2c", *COMMON, f"--stream-piece-selector={self.settings['selector']}", f"--listen-port={self.port}", f"--dir={where}", *more,
            self.torrent], folder)
        return node
