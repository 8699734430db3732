#!/usr/bin/python3
"""A tracker whose tables one address tries to fill serves the others."""

import random
import threading

import harness
from pypeer.connection import Closed
from pypeer.identity import Identity
from pypeer.tracker import TrackerConnection

CONTENTS = 40
FLOODER = "127.9.0.1"  # of another prefix than the honest peers on 127.0.0.1


class TrackerFlood(harness.SwarmTest):
    def setUp(self):
        super().setUp()
        self.flooded = self.tracker("tracker", "127.0.0.1:0", "--contents", CONTENTS)
        self.random = random.Random(5)

    def flooder(self, source=FLOODER):
        connection = TrackerConnection(Identity(self.folder), self.flooded.endpoint(), source)
        self.addCleanup(connection.close)
        return connection

    def fake_ids(self, connection, count):
        """Announces itself in so many contents that nobody has; how many the tracker took."""
        replies = [connection.announce(self.random.randbytes(32)) for _ in range(count)]
        return sum(reply.WhichOneof("body") == "announce" for reply in replies)

    def bare_get(self, link, name):
        """A download that can find the seed through the tracker alone."""
        return self.get(harness.bare(link), name, "--tracker", self.flooded.endpoint())

    def test_fake_contents_of_one_address_keep_no_other_out(self):
        flooder = self.flooder()
        self.assertEqual(CONTENTS, self.fake_ids(flooder, 5 * CONTENTS))  # it may fill the table
        source = self.file(300_000)
        link = self.share(source, "--tracker", self.flooded.endpoint()).link()
        self.assert_downloaded(source, self.bare_get(link, "first"))
        self.fake_ids(flooder, 5 * CONTENTS)
        self.assert_downloaded(source, self.bare_get(link, "second"))

    def test_nor_do_they_while_the_flood_goes_on(self):
        stop = threading.Event()

        def flood():
            connection = self.flooder()
            try:
                while not stop.is_set():
                    self.fake_ids(connection, 20)
            except (Closed, OSError):
                pass  # the tracker has been ended

        flooding = threading.Thread(target=flood)
        flooding.start()
        self.addCleanup(flooding.join)
        self.addCleanup(stop.set)
        source = self.file(300_000)
        link = self.share(source, "--tracker", self.flooded.endpoint()).link()
        self.assert_downloaded(source, self.bare_get(link, "get"))

    def test_a_peer_is_listed_at_the_address_that_it_comes_from_and_not_too_often(self):
        content = self.random.randbytes(32)
        for port in range(3000, 3100):
            self.flooder().announce(content, port)
        reply = self.flooder("127.10.0.1").announce(content).announce
        self.assertEqual(101, reply.incomplete_count)
        self.assertEqual({bytes([127, 9, 0, 1])}, {peer.ip for peer in reply.peers})
        self.assertEqual(64, len(reply.peers))


if __name__ == "__main__":
    harness.main()
