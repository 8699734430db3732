#!/usr/bin/python3
"""Peers and origins together: who is asked for what, and how that is told."""

import harness
from harness import KIB, MIB
from origins import OriginTest, from_origins


class Swarms(OriginTest):
    """Three peers and one origin, without a seed."""

    def setUp(self):
        super().setUp()
        self.use_file(4 * MIB)
        self.origin = self.serve()
        self.url = self.url_of(self.origin)

    def crowd(self):
        """They have met before the first byte comes."""
        self.origin.set(stalls_after=0, rate=512 * KIB)
        first = self.fetch_from(self.url, name="peer0", seed="forever")
        peers = [first]
        for number in (1, 2):
            known = [word for peer in peers for word in ("--peer", peer.endpoint())]
            peers.append(self.fetch_from(self.url, *known, name=f"peer{number}", seed="forever"))
        for peer in peers:
            peer.wait_event("progress", where=lambda event: event["peers"] == 2)
        self.origin.set(stalls_after=None)
        return peers

    def assert_all_complete(self, peers):
        for peer in peers:
            complete = peer.wait_event("complete")
            self.assert_same(self.path, self.folder / peer.name / self.path.name)
            # A third each, or so: the rest comes from the other two.
            self.assertLess(from_origins(complete).get(self.url, 0), 4 * MIB * 2 // 3)

    def test_each_byte_leaves_the_origin_about_once(self):
        self.assert_all_complete(self.crowd())
        self.assertGreaterEqual(self.origin.total, 4 * MIB)
        self.assertLessEqual(self.origin.total, 4 * MIB * 5 // 4)

    def test_what_a_seed_has_is_not_asked_of_the_origin(self):
        holder = self.holder()
        complete = self.assert_downloaded(self.path, self.fetch_from(self.url, "--peer", holder.endpoint()))
        self.assertLessEqual(from_origins(complete).get(self.url, 0), MIB)
        self.assertLessEqual(self.origin.total, MIB)

    def test_when_the_seed_goes_the_origin_gives_the_rest(self):
        holder = self.holder("--up-limit", "1M")
        get = self.fetch_from(self.url, "--peer", holder.endpoint())
        get.wait_event("progress", where=lambda event: event["bytes_verified"] >= MIB)
        holder.kill()
        complete = self.assert_downloaded(self.path, get)
        self.assertGreater(from_origins(complete)[self.url], MIB)
        self.assertLess(from_origins(complete)[self.url], 4 * MIB)

    def test_an_origin_that_dies_when_most_has_left_it_is_used_again_once_it_is_back(self):
        self.origin.set(dies_after=4 * MIB * 6 // 10)
        peers = self.crowd()
        self.origin.wait(lambda: not self.origin.running)
        for peer in peers:
            self.wait_notice(peer, self.url)
        self.origin.set(dies_after=None)
        self.origin.start()
        self.assert_all_complete(peers)
        self.assertLessEqual(self.origin.total, 4 * MIB * 5 // 4)

    def test_an_origin_that_dies_when_all_has_left_it_is_missed_by_nobody(self):
        peers = self.crowd()
        peers[0].wait_event("complete")
        self.origin.stop()
        known = [word for peer in peers for word in ("--peer", peer.endpoint())]
        late = self.fetch_from(self.url, *known, name="late")
        self.assertEqual({}, from_origins(self.assert_downloaded(self.path, late)))
        self.assert_all_complete(peers)


class Shown(OriginTest):
    """Where the bytes came from."""

    def setUp(self):
        super().setUp()
        self.use_file(2 * MIB)
        self.origin = self.serve()
        self.url = self.url_of(self.origin)

    def test_the_last_line_tells_it(self):
        status, output, errors = self.run_firn(
            "get", self.manifest, "-o", self.folder / "get", "--no-tracker", "--seed", "none", "--listen",
            "127.0.0.1:0", "--origin", self.url)
        self.assertEqual(0, status, errors)
        self.assertIn(f"2.0 MiB from {self.url}", output + errors)

    def test_peers_and_origins_are_told_apart(self):
        self.origin.set(rate=512 * KIB)
        get = self.fetch_from(self.url)
        self.origin.wait_served(MIB)
        self.holder("--peer", get.endpoint())
        complete = self.assert_downloaded(self.path, get)
        there = from_origins(complete)[self.url]
        self.assertTrue(MIB // 2 <= there <= 2 * MIB, there)
        self.assertGreater(2 * MIB, there)
        progress = get.last_event("progress")
        self.assertEqual(there, from_origins(progress)[self.url])

    def test_an_origin_that_gave_nothing_is_listed_with_its_trouble(self):
        gone = self.url.replace(self.path.name, "gone")
        complete = self.assert_downloaded(self.path, self.fetch_from(self.url, "--origin", gone))
        self.assertEqual({self.url: 2 * MIB}, from_origins(complete))

    def test_two_origins_share_the_work_and_one_is_enough(self):
        other = self.serve()
        for server in (self.origin, other):
            server.set(rate=512 * KIB)
        complete = self.assert_downloaded(
            self.path, self.fetch_from(self.url, "--origin", self.url_of(other)))
        self.assertEqual(2 * MIB, sum(from_origins(complete).values()))
        other.stop()
        complete = self.assert_downloaded(
            self.path, self.fetch_from(self.url, "--origin", self.url_of(other), name="again"))
        self.assert_all_from(self.url, complete)


if __name__ == "__main__":
    harness.main()
