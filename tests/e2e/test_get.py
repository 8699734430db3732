#!/usr/bin/python3
"""Contents of every shape move from a seed to a peer, found in every way there is."""

import os
import re
import socket

import harness
from harness import KIB, LISTEN, MIB, bare


class WaysToFindASeed(harness.SwarmTest):
    def test_a_link_alone_is_enough(self):
        source = self.file(300 * KIB)
        seed = self.share(source, "--tracker", self.tracker().endpoint())
        self.assert_downloaded(source, self.get(seed.link()))

    def test_a_manifest_file_and_its_tracker(self):
        source = self.file(300 * KIB)
        tracker = self.tracker().endpoint()
        manifest = self.folder / "x.firn"
        seed = self.share(source, "--tracker", tracker, "-o", manifest)
        seed.endpoint()
        self.assert_downloaded(source, self.get(manifest))

    def test_a_tracker_given_by_hand(self):
        source = self.file(300 * KIB)
        tracker = self.tracker().endpoint()
        link = self.share(source, "--tracker", tracker).link()
        self.assert_downloaded(source, self.get(bare(link), "get", "--tracker", tracker))

    def test_a_peer_address_alone(self):
        source = self.file(300 * KIB)
        seed = self.share(source)
        peer = seed.endpoint().split("@")[1]
        self.assert_downloaded(
            source, self.get(bare(seed.link()), "get", "--no-tracker", "--no-pex", "--peer", peer))

    def test_a_peer_address_with_its_id(self):
        source = self.file(300 * KIB)
        seed = self.share(source)
        self.assert_downloaded(
            source, self.get(bare(seed.link()), "get", "--no-tracker", "--peer", seed.endpoint()))

    def test_a_seed_that_starts_from_finished_files(self):
        source = self.tree({"a": 200 * KIB, "b/c": 3})
        manifest = self.create(source)
        seed = self.firn("seed", "seed", manifest, source.parent, *LISTEN)
        self.assert_downloaded(
            source, self.get(manifest, "get", "--no-tracker", "--peer", seed.endpoint()))

    def test_a_seed_that_leaves_when_the_others_hold_everything(self):
        source = self.file(3000 * KIB)
        tracker = self.tracker().endpoint()
        seed = self.share(source, "--tracker", tracker, "--leave-when-safe")
        link = seed.link()
        peers = [self.get(link, name, "--seed", "forever") for name in ("one", "two")]
        self.assertEqual(0, seed.wait_exit(60), seed.story())
        for peer in peers:
            peer.wait_event("complete", 60)
        self.assert_downloaded(source, self.get(link, "late"))

    def test_a_peer_that_has_just_finished_serves_others(self):
        source = self.file(300 * KIB)
        seed = self.share(source)
        first = self.get(bare(seed.link()), "first", "--peer", seed.endpoint(), "--seed", "forever")
        first.wait_event("complete")
        self.assertEqual(0, seed.stop())
        second = self.get(bare(seed.link()), "second", "--no-tracker", "--peer", first.endpoint())
        self.assert_downloaded(source, second)

    def test_ipv6(self):
        with socket.socket(socket.AF_INET6) as probe:
            try:
                probe.bind(("::1", 0))
            except OSError:
                self.skipTest("this machine has no IPv6 loopback")
        source = self.file(300 * KIB)
        tracker = self.tracker(listen="[::1]:0").endpoint()
        listen = ["--listen", "[::1]:0", "--json"]
        seed = self.firn("seed", "share", source, "--tracker", tracker, *listen)
        self.assertIn("@[::1]:", seed.endpoint())
        get = self.firn("get", "get", seed.link(), "-o", self.folder / "get", *listen)
        self.assert_downloaded(source, get)


class Contents(harness.SwarmTest):
    """Through a peer address alone; the manifest comes from the seed."""

    def moves(self, source, *options, get_options=()):
        manifest = self.folder / "x.firn"
        seed = self.share(source, "-o", manifest, *options)
        get = self.get(bare(seed.link()), "get", "--peer", seed.endpoint(), *get_options)
        return self.assert_downloaded(source, get)

    def test_a_folder_with_empty_files_and_utf_8_names_and_empty_folders(self):
        self.moves(self.tree({
            "empty": 0, "deep/er/file": 100 * KIB, "ümläut/日本語.txt": 5000, "naïve café": 1,
            "zero too": 0, "an empty folder/": None, "deep/another empty one/": None}))

    def test_modes_and_times_are_kept(self):
        source = self.tree({"run.sh": 50, "secret": 60, "old": 0})
        for name, mode, ns in (("run.sh", 0o755, 1_000_000_000_123_456_789),
                               ("secret", 0o600, 1_700_000_000_000_000_001),
                               ("old", 0o444, 1)):
            (source / name).chmod(mode)
            os.utime(source / name, ns=(ns, ns))
        self.moves(source)
        modes = {p.name: oct(p.stat().st_mode & 0o777)
                 for p in (self.folder / "get" / "holiday").iterdir()}
        self.assertEqual({"run.sh": "0o755", "secret": "0o600", "old": "0o444"}, modes)

    def test_an_empty_file(self):
        self.assertEqual(0, self.moves(self.file(0))["bytes"])

    def test_a_folder_of_nothing_but_empty_files(self):
        self.moves(self.tree({"a": 0, "b/c": 0, "d/": None}))

    def test_one_byte(self):
        self.assertEqual(1, self.moves(self.file(1))["bytes"])

    def test_sizes_one_either_side_of_a_block_and_a_generation(self):
        n, k = 16, 1024
        for size in (k - 1, k, k + 1, n * k - 1, n * k, n * k + 1, 3 * n * k + 1):
            with self.subTest(size=size):
                source = self.file(size, f"content-{size}.bin")
                manifest = self.create(source, "--generation-size", n, "--block-size", k)
                seed = self.firn(f"seed-{size}", "seed", manifest, source.parent, *LISTEN)
                get = self.get(manifest, f"get-{size}", "--peer", seed.endpoint())
                complete = self.assert_downloaded(source, get)
                self.assertEqual(size, complete["bytes"])
                start = get.wait_event("start")
                self.assertEqual((n, k, -(-size // (n * k))), (
                    start["generation_size"], start["block_bytes"], start["generations"]))
                self.assertEqual(0, seed.stop())

    def test_several_generations_of_the_usual_shape(self):
        complete = self.moves(self.file(12 * MIB + 5))
        self.assertEqual(12 * MIB + 5, complete["bytes"])
        self.assertGreaterEqual(complete["bytes_received"], complete["bytes"])


class Swarms(harness.SwarmTest):
    def test_two_contents_at_once_through_one_tracker(self):
        tracker = self.tracker().endpoint()
        one, two = self.file(2 * MIB, "one"), self.tree({"x": MIB, "y/z": MIB + 1}, "two")
        links = [self.share(path, "--tracker", tracker, name=f"seed-{path.name}").link()
                 for path in (one, two)]
        gets = [self.get(link, f"get{i}") for i, link in enumerate(links * 2)]
        for source, get in zip((one, two) * 2, gets):
            self.assert_downloaded(source, get)

    def test_two_peers_behind_one_address(self):
        tracker = self.tracker().endpoint()
        source = self.file(4 * MIB)
        link = self.share(source, "--tracker", tracker, "--up-limit", "2M").link()
        one, two = self.get(link, "one"), self.get(link, "two")
        self.assertNotEqual(one.id(), two.id())
        complete = self.assert_downloaded(source, one)
        self.assert_downloaded(source, two)
        self.assertIn(two.id(), [n["peer"] for n in complete["blocks_from"]],
                      "the two never exchanged a block")

    def test_a_peer_that_never_meets_the_seed_gets_recoded_blocks(self):
        source = self.file(8 * MIB)
        seed = self.share(source, "--up-limit", "4M")
        relay = self.get(bare(seed.link()), "relay", "--no-pex", "--peer", seed.endpoint())
        leaf = self.get(bare(seed.link()), "leaf", "--no-pex", "--peer", relay.endpoint())
        complete = self.assert_downloaded(source, leaf)
        self.assert_downloaded(source, relay)
        self.assertEqual([relay.id()], [n["peer"] for n in complete["blocks_from"] if n["blocks"]])
        self.assertGreater(complete["blocks_recoded"], 0)

    def test_without_uploading_no_block_goes_to_another_peer(self):
        source = self.file(4 * MIB)
        seed = self.share(source, "--up-limit", "2M")
        taker = self.get(bare(seed.link()), "taker", "--no-pex", "--peer", seed.endpoint(), "--no-upload")
        leaf = self.get(bare(seed.link()), "leaf", "--no-pex", "--peer", taker.endpoint(), "--peer", seed.endpoint())
        complete = self.assert_downloaded(source, taker)
        self.assertEqual(0, complete["blocks_sent"])
        self.assertEqual(0, taker.wait_exit())
        complete = self.assert_downloaded(source, leaf)
        self.assertEqual([seed.id()], [n["peer"] for n in complete["blocks_from"] if n["blocks"]])
        status, _, errors = self.run_firn("get", seed.link(), "-o", self.folder / "again", "--up-limit", "0", "--seed", "none")
        self.assertEqual(0, status)
        self.assertIn("--up-limit 0 sets no limit", errors)

    def test_the_tracker_hosts_the_manifest_while_no_seed_is_there(self):
        source = self.file(300 * KIB)
        manifest = self.folder / "x.firn"
        seed = self.share(source, "--tracker", self.tracker().endpoint(), "-o", manifest)
        link = seed.link()
        self.assertEqual(0, seed.stop())
        get = self.get(link)
        get.wait_event("start")
        self.firn("again", "seed", manifest, source.parent, *LISTEN)
        self.assert_downloaded(source, get, timeout=90)

    def test_the_swarm_goes_on_without_its_tracker(self):
        tracker = self.tracker()
        source = self.file(8 * MIB)
        seed = self.share(source, "--tracker", tracker.endpoint(), "--up-limit", "4M")
        get = self.get(seed.link())
        get.wait_event("progress", where=lambda e: e["rank"] > 0)
        tracker.kill()
        self.assert_downloaded(source, get)

    def test_two_downloads_into_one_folder_are_refused(self):
        source = self.file(4 * MIB)
        seed = self.share(source, "--up-limit", "1M")
        peer = ("--peer", seed.endpoint())
        first = self.get(bare(seed.link()), "first", *peer)
        first.wait_event("start")
        self.assert_refused(self.run_firn(
            "get", bare(seed.link()), "-o", self.folder / "first", *LISTEN, *peer),
            harness.DISK, "another firn")
        self.assert_downloaded(source, first)

    def test_a_finished_download_asked_for_again_is_complete_at_once(self):
        source = self.file(MIB)
        seed = self.share(source)
        link, peer = bare(seed.link()), ("--peer", seed.endpoint())
        self.assert_downloaded(source, self.get(link, "first", *peer))
        again = self.get(link, "again", *peer, into=self.folder / "first")
        complete = self.assert_downloaded(source, again, into=self.folder / "first")
        self.assertEqual(0, complete["blocks_innovative"])

    def test_limits_are_kept(self):
        source = self.file(3 * MIB)
        seed = self.share(source)
        get = self.get(bare(seed.link()), "get", "--peer", seed.endpoint(), "--down-limit", "1M")
        complete = self.assert_downloaded(source, get)
        # Not a measure of speed: three times the limit cannot pass in less than two seconds.
        self.assertGreater(complete["seconds"], 2)


class Links(harness.SwarmTest):
    def test_a_link_names_content_and_trackers(self):
        source = self.file(1)
        tracker = self.tracker().endpoint()
        link = self.share(source, "--tracker", tracker).link()
        self.assertRegex(link, r"^firn:[a-z2-7]{52}/tr=")
        self.assertIn(re.search(r":(\d+)$", tracker).group(1), link)


if __name__ == "__main__":
    harness.main()
