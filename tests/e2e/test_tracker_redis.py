#!/usr/bin/python3
"""Several trackers on one Redis server: a swarm's peers may use any of them, and whatever is killed, the
others go on.

FIRN_TEST_KILLS=N kills trackers and Redis N times, instead of a few, and asks of each that what was announced two
seconds before is not lost, at some tens of contents a second; FIRN_TEST_SEED chooses other moments."""

import os
import pathlib
import random
import re
import shutil
import socket
import time
import unittest

import harness
from doors import Door
from harness import KIB, USAGE
from pypeer.connection import Closed
from pypeer.identity import Identity
from pypeer.tracker import TrackerConnection
from pypeer.wire import tracker_pb2

KILLS = int(os.environ.get("FIRN_TEST_KILLS", "0"))
SEED = int(os.environ.get("FIRN_TEST_SEED", "23"))
STANDS = "is there; swarms are shared"
LOST = "serving alone, trying again"
SERVER = shutil.which("redis-server", path=os.environ.get("PATH", "") + ":/usr/bin")


@unittest.skipUnless(SERVER, "redis-server is not installed")
class RedisTest(Door):
    def setUp(self):
        super().setUp()
        self.socket = self.folder / "redis.socket"
        self.random = random.Random(SEED)

    def redis(self, *options):
        folder = self.folder / "redis"
        folder.mkdir(exist_ok=True)
        server = self.programs.start("redis", [SERVER, "--port", "0", "--unixsocket", self.socket, "--dir", folder,
                                               "--save", "", "--daemonize", "no", *options])
        server.wait_line("eady to accept connections")
        return server

    def sharing(self, name, *options, user="", **popen):
        tracker = self.programs.tracker(self.folder / name, name, "127.0.0.1:0", "--redis",
                                        f"unix://{user}{self.socket}", "--rates", "1000", *options, **popen)
        try:
            tracker.endpoint()
        except harness.Failed:
            for library in ("hiredis", "libwebsockets"):
                if f"without {library}" in tracker.output("stderr"):
                    self.skipTest(f"built without {library}")
            raise
        return tracker

    def standing(self, name, *options, **popen):
        tracker = self.sharing(name, *options, **popen)
        tracker.wait_line(STANDS, stream="stderr")
        return tracker

    def client(self, tracker, identity=None):
        connection = TrackerConnection(identity or Identity(self.folder), tracker.endpoint())
        self.addCleanup(connection.close)
        return connection

    def peers_at(self, client, content):
        """The ids of a content's peers, as one without a port sees them."""
        return {peer.peer_id for peer in client.announce(content, 0).announce.peers}

    def wait_peers(self, client, content, holds):
        deadline = time.monotonic() + 60
        while not holds(peers := self.peers_at(client, content)):
            self.assertLess(time.monotonic(), deadline, peers)
            time.sleep(0.05)


class Sharing(RedisTest):
    def test_a_seed_of_one_tracker_is_found_at_the_other_with_its_manifest(self):
        self.redis()
        a, b = self.standing("a", "--io-threads", "2"), self.standing("b")
        source = self.file(300 * KIB)
        link = self.share(source, "--tracker", a.endpoint()).link()
        self.assert_downloaded(source, self.get(harness.bare(link), "get", "--tracker", b.endpoint()))

    def test_when_a_tracker_is_killed_the_other_has_its_peers(self):
        self.redis()
        a, b = self.standing("a"), self.standing("b")
        content, identity = self.random.randbytes(32), Identity(self.folder)
        at_b = self.client(b)
        self.client(a, identity).announce(content)
        self.wait_peers(at_b, content, lambda peers: identity.id in peers)
        a.kill()
        self.assertIn(identity.id, self.peers_at(at_b, content))
        # And when it comes back without all that it had, it has them again.
        shutil.rmtree(self.folder / "a")
        again = self.client(self.standing("a"))
        self.wait_peers(again, content, lambda peers: identity.id in peers)

    def test_while_redis_is_away_each_serves_alone_and_then_they_agree(self):
        server = self.redis()
        a, b = self.standing("a"), self.standing("b")
        contents = [self.random.randbytes(32) for _ in range(20)]
        first, second, looker = (Identity(self.folder) for _ in range(3))
        at_a, at_b = self.client(a, first), self.client(b, second)
        server.kill()
        for tracker in (a, b):
            tracker.wait_line(LOST, stream="stderr")
        for content in contents:
            for client in (at_a, at_b):
                self.assertEqual("announce", client.announce(content).WhichOneof("body"))
        self.redis()  # it kept nothing
        look = [self.client(tracker, looker) for tracker in (a, b)]
        for content in contents:
            for client in look:
                self.wait_peers(client, content, lambda peers: {first.id, second.id} <= peers)
        for tracker in (a, b):
            self.assertEqual(1, tracker.output("stderr").count(LOST))

    def test_a_tracker_that_starts_without_redis_serves_until_there_is_one(self):
        a = self.sharing("a")
        a.wait_line(LOST, stream="stderr")
        content, identity = self.random.randbytes(32), Identity(self.folder)
        self.client(a, identity).announce(content)
        self.redis()
        a.wait_line(STANDS, stream="stderr")
        self.wait_peers(self.client(self.standing("b")), content, lambda peers: identity.id in peers)

    def test_one_that_never_answers_holds_up_no_announce_and_no_end(self):
        with socket.socket(socket.AF_UNIX) as deaf:
            deaf.bind(str(self.socket))
            deaf.listen()
            a = self.sharing("a", "--redis-timeout", "1")
            client = self.client(a)
            content = self.random.randbytes(32)
            while "does not answer in time" not in a.output("stderr"):
                self.assertEqual("announce", client.announce(content).WhichOneof("body"))
            self.assertEqual(0, a.stop())

    def test_the_password_comes_from_a_file_or_the_environment(self):
        self.redis("--requirepass", "sesame")
        wrong = self.sharing("wrong")
        self.assertIn("--redis-password-file", wrong.wait_line(f".*{LOST}", stream="stderr").group())
        password = self.folder / "password"
        password.write_text("sesame\n")
        self.standing("a", "--redis-password-file", password)
        self.standing("b", env={**os.environ, "FIRN_REDIS_PASSWORD": "sesame"})
        secret = self.sharing("secret", env={**os.environ, "FIRN_REDIS_PASSWORD": "not-this"})
        secret.wait_line(LOST, stream="stderr")
        self.assertNotIn("not-this", secret.output("stderr"))


    def test_a_user_of_redis_with_the_rights_that_the_documents_list_is_enough(self):
        self.redis()
        text = (harness.ROOT / "docs/operations.md").read_text(encoding="utf-8")
        rights = re.search(r"^ +(ACL SETUSER firn (?:.*\\\n)*.*)$", text, re.MULTILINE).group(1)
        with socket.socket(socket.AF_UNIX) as redis:
            redis.connect(str(self.socket))
            redis.sendall(re.sub(r"\\\n", " ", rights).replace("PASSWORD", "sesame").encode() + b"\n")
            self.assertEqual(b"+OK\r\n", redis.recv(100))
        a = self.standing("a", user="firn:sesame@")
        content, identity = self.random.randbytes(32), Identity(self.folder)
        source = self.file(200 * KIB)
        link = self.share(source, "--tracker", a.endpoint()).link()
        self.client(a, identity).announce(content)
        b = self.standing("b", user="firn:sesame@")
        self.wait_peers(self.client(b), content, lambda peers: identity.id in peers)
        self.assert_downloaded(source, self.get(harness.bare(link), "get", "--tracker", b.endpoint()))
        for tracker in (a, b):
            self.assertNotIn(LOST, tracker.output("stderr"))


class Page(RedisTest):
    def test_page_and_metrics_say_how_redis_is(self):
        server = self.redis()
        a = self.standing("a", "--status", "localhost:0")
        page = a.wait_line(r"page: http://[^ ,]+:(\d+)/, token in (.+)", stream="stderr")
        self.port, self.token = int(page.group(1)), pathlib.Path(page.group(2)).read_text(encoding="utf-8").strip()
        self.wait_text("/status", r'"redis":"shared"')
        self.wait_text("/metrics", r"^firn_tracker_redis_failing 0$")
        server.kill()
        a.wait_line(LOST, stream="stderr")
        self.wait_text("/metrics", r"^firn_tracker_redis_failing 1$")
        self.wait_text("/metrics", r"^firn_tracker_redis_losses_total 1$")
        self.wait_text("/metrics", r"^firn_tracker_redis_lag_seconds [0-9.]*[1-9]")
        self.wait_text("/", r"<dt>Redis</dt><dd>lost</dd>")
        self.assertEqual(200, self.http("GET", "/ready", token="")[0])  # it serves

    def wait_text(self, path, pattern):
        deadline = time.monotonic() + 60
        while not re.search(pattern, text := self.http("GET", path)[2], re.MULTILINE):
            self.assertLess(time.monotonic(), deadline, text)
            time.sleep(0.05)


class Usage(RedisTest):
    def assert_wrong(self, word, *options):
        tracker = self.tracker("wrong", "127.0.0.1:0", *options)
        self.assertEqual(USAGE, tracker.wait_exit(), tracker.story())
        self.assertIn(word, tracker.output("stderr"))
        self.assertNotIn("sesame", tracker.output("stderr").partition(" --redis ")[0])

    def test_what_makes_no_sense_is_wrong_usage_and_names_no_password(self):
        self.sharing("works").kill()
        self.assert_wrong("redis://", "--redis", "http://:sesame@host")
        self.assert_wrong("--redis-prefix", "--redis", "redis://host", "--redis-prefix", "a{b")
        self.assert_wrong("certificates", "--redis", "rediss://host", "--redis-ca", "/dev/null") \
            if self.has_tls() else self.assert_wrong("no TLS", "--redis", "rediss://host")
        empty = self.folder / "empty"
        empty.write_text("")
        self.assert_wrong("password", "--redis", "redis://host", "--redis-password-file", empty)

    def has_tls(self):
        tracker = self.tracker("probe", "127.0.0.1:0", "--redis", "rediss://127.0.0.1:1")
        ended = tracker.wait_line(f"{LOST}|no TLS", stream="stderr").group()
        tracker.kill()
        return ended == LOST


class Kills(RedisTest):
    """What is killed starts again, now and then with an empty folder. Each content has one peer."""

    def setUp(self):
        super().setUp()
        self.identity = Identity(self.folder)
        self.keys = {}
        self.server = self.redis(*self.DURABLE)
        self.trackers = {name: self.start(name) for name in ("a", "b")}
        self.announced = []  # contents, and when they were

    DURABLE = ("--appendonly", "yes", "--appendfsync", "everysec")

    def start(self, name):
        key = self.keys.setdefault(name, self.folder / f"{name}.pem")
        return self.standing(name, "--identity", key, "--contents", "1000000")

    def announce_until(self, client, end):
        """Announces contents, one after another, until it is time or the tracker is gone."""
        while time.monotonic() < end:
            content = self.random.randbytes(32)
            try:
                self.assertEqual("announce", client.announce(content).WhichOneof("body"))
                for _ in range(50):  # thousands would come in a second, and fill the tracker
                    reply = client.announce(content)
                    if reply.WhichOneof("body") == "error":  # it has much to do, and knows this one
                        self.assertEqual(tracker_pb2.TrackerError.SLOW_DOWN, reply.error.code, reply)
                        self.assertIn("knows this peer", reply.error.detail)
            except (Closed, OSError):
                return
            self.announced.append((content, time.monotonic()))

    def kill_some(self):
        what = self.random.choice([("a",), ("redis",), ("a", "redis"), ("a", "b", "redis")])
        when = time.monotonic()
        for name in what:
            (self.server if name == "redis" else self.trackers[name]).kill()
        forgets = self.random.random() < 0.5
        if "redis" in what:
            self.server = self.redis(*self.DURABLE)
        for name in what:
            if name == "redis":
                continue
            if forgets and what == ("a",):
                shutil.rmtree(self.folder / name)
            self.trackers[name] = self.start(name)
        return what, when

    def test_nothing_that_was_announced_a_while_before_is_lost(self):
        for _ in range(KILLS or 3):
            at_a, at_b = (self.client(self.trackers[name], self.identity) for name in ("a", "b"))
            self.announce_until(at_a, time.monotonic() + (self.random.uniform(2, 5) if KILLS else 0.3))
            settled = len(self.announced)
            if not KILLS:  # a machine may be slow: what both know is settled
                looker = self.client(self.trackers["b"])
                for content, _ in self.announced:
                    self.wait_peers(looker, content, lambda peers: self.identity.id in peers)
            self.announce_until(at_b if self.random.random() < 0.5 else at_a,
                                time.monotonic() + self.random.uniform(0, 1))
            what, when = self.kill_some()
            if KILLS:
                settled = sum(at < when - 2 for _, at in self.announced)
            for name in ("a", "b"):
                looker = self.client(self.trackers[name])
                for content, _ in self.announced[:settled]:
                    with self.subTest(killed=what, asked=name):
                        self.wait_peers(looker, content, lambda peers: self.identity.id in peers)
            self.announced.clear()


if __name__ == "__main__":
    harness.main()
