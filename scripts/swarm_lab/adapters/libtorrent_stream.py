"""Serves the one file of a torrent by HTTP while libtorrent gets it.

The pieces of a window ahead of the reader have deadlines, at the rate of the film, as libtorrent's documentation of
streaming describes; those of a longer window may be preferred to all others, the rarest first. Bytes are read by
`read_piece`, so that nothing is sent before its piece has been checked.
"""

import http.server
import math
import re
import threading

import libtorrent


ORDINARY, PREFERRED = 1, 6  # priorities; a deadline has 7


class Streaming:
    """Of one torrent. `on_alerts` is for the thread of the session; requests have threads of their own."""

    def __init__(self, handle, info, rate, window_s, prefer_s, port):
        """`rate`: of the film, bytes per second; `window_s`, `prefer_s`: of pieces with deadlines, and of those that
        are preferred, in seconds of film. The next piece always has a deadline."""
        self._handle = handle
        self._rate = rate
        self._bytes = info.total_size()
        self._piece_bytes = info.piece_length()
        self._pieces = info.num_pieces()
        self._window = math.ceil(window_s * rate / self._piece_bytes) or 1
        self._preferred = math.ceil(prefer_s * rate / self._piece_bytes)
        self._read = {}            # piece: its bytes, for the reader that waits for them
        self._changed = threading.Condition()
        self._reader = 0           # number of the latest request: it alone has deadlines
        server = http.server.ThreadingHTTPServer(("127.0.0.1", int(port)), self._handler())
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()

    def on_alerts(self, alerts):
        with self._changed:
            for alert in alerts:
                if isinstance(alert, libtorrent.read_piece_alert) and alert.buffer:
                    self._read[alert.piece] = alert.buffer
            self._changed.notify_all()

    def _handler(streaming):  # noqa: N805: the class below has a self of its own
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked = re.match(r"bytes=(\d+)-$", self.headers.get("Range", "bytes=0-"))
                begin = int(asked.group(1))
                size = streaming._bytes
                self.send_response(206)
                self.send_header("Content-Range", f"bytes {begin}-{size - 1}/{size}")
                self.send_header("Content-Length", str(size - begin))
                self.end_headers()
                try:
                    for part in streaming._from(begin):
                        self.wfile.write(part)
                except OSError:
                    pass  # the reader has gone

            def log_message(self, *_):
                pass

        return Handler

    def _from(self, begin):
        """The bytes of the film from `begin` on, as they come."""
        with self._changed:
            self._reader += 1
            number = self._reader
        first = begin // self._piece_bytes
        self._handle.clear_piece_deadlines()
        if self._preferred:
            self._handle.prioritize_pieces([ORDINARY] * self._pieces)
        preferred = first          # pieces before this one are preferred
        urgent = first             # pieces before this one have deadlines
        for piece in range(first, self._pieces):
            while preferred < min(piece + self._preferred, self._pieces):
                self._handle.piece_priority(preferred, PREFERRED)
                preferred += 1
            while urgent < min(piece + self._window, self._pieces):
                if not self._handle.have_piece(urgent):
                    after = (urgent - piece) * self._piece_bytes / self._rate
                    self._handle.set_piece_deadline(urgent, int(after * 1000))
                urgent += 1
            part = self._piece(piece, number)
            if part is None:
                return
            yield part[max(0, begin - piece * self._piece_bytes):]

    def _piece(self, piece, number):
        """Its bytes once it has been checked; None: another request has come."""
        asked = False
        with self._changed:
            while self._reader == number:
                if piece in self._read:
                    return self._read.pop(piece)
                if not asked and self._handle.have_piece(piece):
                    self._handle.read_piece(piece)
                    asked = True
                self._changed.wait(0.25)
        return None
