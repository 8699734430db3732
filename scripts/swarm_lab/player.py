#!/usr/bin/python3
"""A model of a video player, which reads a film by HTTP and shows nothing. Run by viewing.py on a viewer's host.

    player.py URL --rate BYTES --bytes BYTES --joined T [--from PART] [--seek AFTER:PART]... [--ahead SECONDS]

The film has a constant rate. The player starts once it holds one second of film from its place on, stalls when it
holds none, and goes on after a stall at one second again, as mpv does (`cache-pause-wait`). It takes what comes as
fast as it comes: mpv's cache has room for 150 MiB (`demuxer-max-bytes`). With --ahead it stops taking at so many
seconds of film, as browsers do. A seek drops what it holds and asks for the film from another place on.

T is time.monotonic() of the moment when the viewer joined, as are all times here; seeks come AFTER so many seconds.
Prints JSON lines: {"at", "buffer", "waiting"} now and then (seconds; the kind of the wait that goes on, and since
when), and {"wait", "from", "to"} when a wait has ended.
"""

import argparse
import json
import select
import socket
import time
import urllib.parse

SAMPLE_S = 0.5
RETRY_S = 0.05
START_S = 1.0  # of film, before the player starts
CHUNK = 1 << 16


class Player:
    """What a player holds at a time, and when it waited for film. Times never go back."""

    def __init__(self, rate, left, now):
        """`rate`: of the film, bytes per second; `left`: bytes from the player's place to the end."""
        self.rate = rate
        self.waits = []    # (kind, from, to) of those that have ended; kinds: start, seek, stall
        self.ended = None  # when it had shown the last byte
        self._at = now
        self._wait_for("start", left, now)

    def _wait_for(self, kind, left, since):
        self.left = left   # bytes to take yet
        self.held = 0.0    # bytes taken and not shown
        self.waiting = (kind, since)

    @property
    def buffer_s(self):
        return self.held / self.rate

    def advance(self, now):
        """Shows film up to `now`."""
        if self.waiting is None and self.ended is None:
            dry = self._at + self.buffer_s
            self.held = max(0.0, self.held - self.rate * (now - self._at))
            if dry <= now and self.left:
                self._wait_for("stall", self.left, dry)
            elif dry <= now:
                self.held, self.ended = 0.0, dry
        self._at = now

    def take(self, count, now):
        self.advance(now)
        self.held += count
        self.left -= count
        if self.waiting and (self.left <= 0 or self.buffer_s >= START_S):
            self._end_wait(now)

    def seek(self, left, now):
        self.advance(now)
        if self.waiting:
            self._end_wait(now)
        self.ended = None
        self._wait_for("seek", left, now)

    def _end_wait(self, now):
        self.waits.append((*self.waiting, now))
        self.waiting = None


class Stream:
    """The bytes of a URL from some place on. A client that is not yet ready is asked again."""

    def __init__(self, url, place):
        self._url = urllib.parse.urlsplit(url)
        self.place = place
        self._socket = None
        self._head = b""
        self._retry_at = 0.0

    def wait(self, until):
        """Until there may be something to read."""
        pause = max(0.0, until - time.monotonic())
        if self._socket:
            select.select([self._socket], [], [], pause)
        else:
            time.sleep(min(pause, RETRY_S))

    def read(self):
        """Bytes of the film; empty: there are none now."""
        try:
            if self._socket is None:
                self._ask()
                return b""
            if not select.select([self._socket], [], [], 0)[0]:
                return b""
            got = self._socket.recv(CHUNK)
        except OSError:
            got = b""
        if not got:
            self.close()
            return b""
        if self._head is not None:
            got = self._after_head(got)
        self.place += len(got)
        return got

    def _ask(self):
        if time.monotonic() < self._retry_at:
            return
        self._retry_at = time.monotonic() + RETRY_S
        self._socket = socket.create_connection((self._url.hostname, self._url.port), timeout=5)
        self._head = b""
        path = self._url.path + (f"?{self._url.query}" if self._url.query else "")
        self._socket.sendall(f"GET {path} HTTP/1.1\r\nHost: {self._url.netloc}\r\nRange: bytes={self.place}-\r\n"
                             "Connection: close\r\n\r\n".encode())

    def _after_head(self, got):
        self._head += got
        head, end, body = self._head.partition(b"\r\n\r\n")
        if not end:
            return b""
        if head.split(b" ")[1] != b"206":
            self.close()  # not yet
            return b""
        self._head = None
        return body

    def close(self):
        if self._socket:
            self._socket.close()
        self._socket = None


def play(chosen):
    size = chosen.bytes
    player = Player(chosen.rate, size - int(chosen.begin * size), chosen.joined)
    stream = Stream(chosen.url, int(chosen.begin * size))
    seeks = sorted(chosen.seek)
    next_sample, told = time.monotonic(), 0
    while True:
        now = time.monotonic()
        if seeks and now >= chosen.joined + seeks[0][0]:
            place = int(seeks.pop(0)[1] * size)
            stream.close()
            stream = Stream(chosen.url, place)
            player.seek(size - place, now)
        player.advance(now)
        full = player.left <= 0 or (chosen.ahead and player.buffer_s >= chosen.ahead)
        if not full and (got := stream.read()):
            player.take(len(got), time.monotonic())
        for kind, since, until in player.waits[told:]:
            print(json.dumps({"wait": kind, "from": since, "to": until}), flush=True)
        told = len(player.waits)
        if now >= next_sample:
            print(json.dumps({"at": now, "buffer": round(player.buffer_s, 3), "waiting": player.waiting}), flush=True)
            next_sample += SAMPLE_S
        if full:
            time.sleep(RETRY_S)
        else:
            stream.wait(min([next_sample, *(chosen.joined + after for after, _ in seeks[:1])]))


def seek(text):
    after, _, part = text.partition(":")
    return float(after), float(part)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("--rate", type=float, required=True)
    parser.add_argument("--bytes", type=int, required=True)
    parser.add_argument("--joined", type=float, required=True)
    parser.add_argument("--from", dest="begin", type=float, default=0.0)
    parser.add_argument("--seek", type=seek, action="append", default=[])
    parser.add_argument("--ahead", type=float, default=0.0)
    play(parser.parse_args())


if __name__ == "__main__":
    main()
