"""What the BitTorrent clients share: a .torrent file, a tracker (opentracker), JSON over RPC."""

import hashlib
import http.client
import json
import socket

from swarm_lab.adapters.base import Adapter, BadClient

TRACKER_PORT = 6969


def bencode(value):
    if isinstance(value, int):
        return b"i%de" % value
    if isinstance(value, bytes):
        return b"%d:%s" % (len(value), value)
    return b"d" + b"".join(bencode(k) + bencode(v) for k, v in sorted(value.items())) + b"e"


def write_torrent(content, path, piece_bytes, announce, web_seed=None):
    """Writes the file and returns the torrent's id (info hash, in hex). `web_seed`: a URL of the content (BEP 19)."""
    pieces = b""
    with content.open("rb") as data:
        while piece := data.read(piece_bytes):
            pieces += hashlib.sha1(piece).digest()
    info = {b"length": content.stat().st_size, b"name": content.name.encode(),
            b"piece length": piece_bytes, b"pieces": pieces}
    seeds = {b"url-list": web_seed.encode()} if web_seed else {}
    path.write_bytes(bencode({b"announce": announce.encode(), b"info": info, **seeds}))
    return hashlib.sha1(bencode(info)).hexdigest()


class TorrentAdapter(Adapter):
    """A BitTorrent client with opentracker."""

    def __init__(self, name, settings):
        super().__init__(name, settings)
        try:
            self.piece_bytes = int(settings["piece_kib"]) * 1024
        except ValueError:
            raise BadClient(f"{name}: piece_kib is no number") from None
        self.torrent = None
        self.info_hash = None

    def prepare(self, folder, content, tracker_host):
        self._write(folder, content, tracker_host)

    def use_origin(self, folder, content, tracker_host, url):
        self._write(folder, content, tracker_host, url)

    def _write(self, folder, content, tracker_host, web_seed=None):
        self.torrent = folder / "content.torrent"
        self.info_hash = write_torrent(content, self.torrent, self.piece_bytes,
                                       f"http://{tracker_host.address}:{TRACKER_PORT}/announce", web_seed)

    def refuse(self, leave_when_safe):
        if leave_when_safe:
            raise BadClient(f"{self.name}: no BitTorrent client knows when it may leave")

    def start_tracker(self, host, folder):
        # It changes its root to its folder, gives up root, and serves only torrents on its list.
        data = folder / "tracker"
        data.mkdir()
        data.chmod(0o777)
        (data / "whitelist").write_text(self.info_hash + "\n")
        return host.start("tracker", [
            "opentracker", "-i", host.address, "-p", TRACKER_PORT, "-P", TRACKER_PORT,
            "-d", data, "-u", "nobody", "-w", "whitelist"], folder)


class Rpc:
    """POSTs of JSON to 127.0.0.1:port of a host, over one connection that is kept."""

    def __init__(self, host, port, path):
        self.host = host
        self.port = port
        self.path = path
        self.headers = {"Content-Type": "application/json"}
        self._connection = None

    def post(self, request):
        """(status, headers, answer); raises OSError if the client does not answer."""
        try:
            if self._connection is None:
                self._connection = http.client.HTTPConnection("127.0.0.1", self.port)
                self._connection.sock = self.host.connect(self.port)
            self._connection.request("POST", self.path, json.dumps(request), self.headers)
            answer = self._connection.getresponse()
            body = answer.read()
        except (http.client.HTTPException, socket.timeout, OSError) as error:
            self._connection = None
            raise OSError(f"{self.host.name}: no answer on port {self.port}: {error}") from None
        if answer.will_close:
            self._connection = None
        return answer.status, answer.headers, body
