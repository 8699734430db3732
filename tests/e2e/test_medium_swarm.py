#!/usr/bin/python3
"""Media and swarms complete each other: `firn seed --from-medium`, and `firn get` after `firn medium
read`."""

import json
import os
import signal
import subprocess
import time
import unittest

from harness import (BUILD, DISK, KIB, LISTEN, USAGE, VERIFY_FAILED, SwarmTest, can_mount,
                     content_bytes, in_mount_namespace, main)

RATE = "0.003"


class MediaTest(SwarmTest):
    """A content in the shape of a swarm, its manifest, and a medium of it."""

    def setUp(self):
        super().setUp()
        self.content = self.file(64 * KIB)
        self.manifest = self.create(self.content, "--generation-size", "32", "--block-size", "1K")
        self.medium = self.write(self.content, self.manifest)

    def write(self, content, manifest, name="medium"):
        medium = self.folder / name
        status, _, errors = self.run_firn("medium", "write", content, "-o", medium, "--rate", RATE,
                                          "--manifest", manifest)
        self.assertEqual(0, status, errors)
        return medium

    def part(self, first, last, name):
        """What stands between two shares of the medium."""
        data = self.medium.read_bytes()
        path = self.folder / name
        path.write_bytes(data[int(len(data) * first):int(len(data) * last)])
        return path

    def seed(self, name, *arguments, into=None):
        """A running `firn seed --from-medium` into folder/NAME."""
        return self.firn(name, "seed", *arguments, "-o", into or self.folder / name, *LISTEN)

    def link(self, *peers):
        status, output, errors = self.run_firn("info", self.manifest, "--json", "--no-tracker")
        self.assertEqual(0, status, errors)
        peers = "&".join(f"peer={peer.endpoint()}" for peer in peers)
        return f"firn:{json.loads(output.splitlines()[0])['content_id']}" + (f"?{peers}" * bool(peers))


class Seeds(MediaTest):
    def test_a_medium_is_served_and_ends_as_seed_does(self):
        seed = self.seed("seed", "--from-medium", self.medium)
        start = seed.wait_event("start")
        self.assertEqual(start["rank_total"], start["rank"])
        self.assertTrue(seed.last_event("medium_read")["complete"])
        self.assert_downloaded(self.content, self.get(self.link(seed)))
        self.assertEqual(0, seed.stop())
        self.assert_same(self.content, self.folder / "seed" / self.content.name)
        self.assertEqual([self.content.name], os.listdir(self.folder / "seed"))

    def test_a_part_is_served_as_rows_and_completed_by_the_swarm(self):
        half = self.part(0, 0.5, "half")
        seed = self.seed("seed", self.link(), "--from-medium", half)
        start = seed.wait_event("start")
        read = seed.last_event("medium_read")
        self.assertEqual((0, False), (read["generations_decoded"], read["complete"]))
        self.assertEqual(read["rows_kept"], start["rank"])
        self.assertGreater(start["rank"], start["rank_total"] // 3)
        # A peer that has nothing gets from it what it has, and nobody else is there.
        get = self.get(self.link(seed))
        get.wait_event("progress", where=lambda e: e["rank"] >= start["rank"])
        self.assertFalse((self.folder / "get" / self.content.name).exists())
        # Then a source comes: of the missing rows each is sent to the seed once.
        share = self.firn("share", "seed", self.manifest, self.content.parent, *LISTEN, "--peer",
                          seed.endpoint())
        complete = seed.wait_event("complete")
        self.assertLessEqual(complete["blocks_innovative"], start["rank_total"] - start["rank"])
        self.assert_downloaded(self.content, get)
        self.assertEqual(0, seed.stop())
        self.assertEqual(0, share.stop())
        self.assertEqual([self.content.name], os.listdir(self.folder / "seed"))

    def test_it_ends_with_zero_while_it_lacks_rows_and_goes_on(self):
        half = self.part(0, 0.5, "half")
        seed = self.seed("seed", "--from-medium", half)
        rank = seed.wait_event("start")["rank"]
        self.assertEqual(0, seed.stop())
        # From its rows: the medium is not read again, and nothing is counted twice.
        again = self.seed("again", "--from-medium", half, into=self.folder / "seed")
        self.assertEqual(rank, again.wait_event("start")["rank"])
        # The other half completes it, and what stood there counts.
        self.assertEqual(0, again.stop())
        other = self.part(0.45, 1, "other")
        last = self.seed("last", "--from-medium", other, into=self.folder / "seed")
        start = last.wait_event("start")
        self.assertEqual(start["rank_total"], start["rank"])

    def test_two_halves_in_two_places_give_a_third_peer_the_content(self):
        first = self.seed("first", "--from-medium", self.part(0, 0.56, "a"))
        second = self.seed("second", "--from-medium", self.part(0.44, 1, "b"), "--peer",
                           first.endpoint())
        for seed in (first, second):
            seed.wait_event("start")
            self.assertEqual(0, seed.last_event("medium_read")["generations_decoded"])
        self.assert_downloaded(self.content, self.get(self.link(first, second)))
        for seed in (first, second):
            seed.wait_event("complete")
        for seed in (first, second):
            self.assertEqual(0, seed.stop())
            self.assert_same(self.content, self.folder / seed.name / self.content.name)

    def test_two_halves_in_two_places_complete_each_other(self):
        # Both lack rows of every generation, at equal ranks, and nobody has one in whole.
        first = self.seed("first", "--from-medium", self.part(0, 0.56, "a"))
        second = self.seed("second", "--from-medium", self.part(0.44, 1, "b"), "--peer",
                           first.endpoint())
        for seed in (first, second):  # neither ends before the other has everything
            complete = seed.wait_event("complete")
            start = seed.last_event("start")
            self.assertEqual(start["rank_total"] - start["rank"], complete["blocks_innovative"])
        for seed in (first, second):
            self.assertEqual(0, seed.stop())

    def test_two_halves_together_are_the_content(self):
        halves = [self.part(0, 0.56, "a"), self.part(0.44, 1, "b")]
        seed = self.seed("seed", *[f"--from-medium={half}" for half in halves])
        start = seed.wait_event("start")
        self.assertEqual(start["rank_total"], start["rank"])
        self.assertEqual(2, seed.last_event("medium_read")["media"])
        self.assertEqual(0, seed.stop())

    def test_a_reading_that_is_killed_goes_on(self):
        out = self.folder / "seed"
        command = [BUILD / "client" / "firn", "seed", "--from-medium", self.medium, "-o", out,
                   "--threads", "1", "--listen", "127.0.0.1:0"]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as reader:
            while reader.poll() is None and not any(
                    path.stat().st_size > 10_000 for path in out.glob(".firn/*.rows")):
                time.sleep(0.001)
            reader.send_signal(signal.SIGKILL)
        self.assertEqual(-signal.SIGKILL, reader.returncode)
        seed = self.seed("seed", "--from-medium", self.medium)
        seed.wait_event("start")
        self.assertEqual(0, seed.stop())
        self.assert_same(self.content, out / self.content.name)


class Refusals(MediaTest):
    def seed_fails(self, *arguments):
        return self.run_firn("seed", *arguments, *LISTEN)

    def test_media_of_another_content_are_refused(self):
        other = self.file(5 * KIB, "other.bin")
        medium = self.write(other, self.create(other), "other.medium")
        out = self.folder / "out"
        self.assert_refused(
            self.seed_fails(self.manifest, "--from-medium", medium, "-o", out), USAGE,
            "holds the content")
        self.assertFalse(out.exists())
        self.assert_refused(
            self.seed_fails("--from-medium", self.medium, "--from-medium", medium, "-o", out), USAGE,
            "holds the content")

    def test_what_is_no_medium_is_said(self):
        noise = self.folder / "noise"
        noise.write_bytes(content_bytes(30 * KIB, 9))
        result = self.seed_fails("--from-medium", noise, "-o", self.folder / "out")
        self.assert_refused(result, VERIFY_FAILED, "no label")
        self.assert_refused(self.seed_fails("--from-medium", self.folder / "none"), DISK, "none")
        self.assertFalse((self.folder / "out").exists())

    def test_usage_is_checked_before_anything_is_read(self):
        for arguments, words in (
                ([], ["--from-medium"]), (["-o", "x"], ["--from-medium"]),
                (["--from-medium", self.medium, "--from-medium", self.medium], ["twice"]),
                (["--from-medium", self.medium, "x", "y"], ["one FILE each time"]),
                ([self.manifest, "x", "--from-medium", self.medium], ["one link"]),
                (["--trust", "--from-medium", self.medium], ["--trust"])):
            with self.subTest(arguments=arguments):
                self.assert_refused(self.seed_fails(*arguments), USAGE, *words)

    def test_a_key_that_is_not_the_contents_is_found_before_anything_is_read(self):
        key = self.folder / "other.pem"
        self.assertEqual(0, self.run_firn("keygen", key)[0])
        result = self.seed_fails(self.manifest, "--sign", key, "--from-medium", self.folder / "none")
        self.assert_refused(result, USAGE, "--sign")

    def test_a_medium_without_its_manifest_wants_one(self):
        # The manifest stands at the beginning, in the middle and at the end; a label comes first.
        data = self.medium.read_bytes()
        piece = self.folder / "piece"
        piece.write_bytes(data[:600] + data[len(data) // 5:len(data) * 9 // 20])
        result = self.seed_fails("--from-medium", piece, "-o", self.folder / "out")
        self.assert_refused(result, VERIFY_FAILED, "give the content's manifest")
        seed = self.seed("seed", self.manifest, "--from-medium", piece)
        self.assertGreater(seed.wait_event("start")["rank"], 0)

    @unittest.skipUnless(can_mount(), "no mount namespaces here")
    def test_a_full_disk_is_said(self):
        small = self.folder / "small"
        small.mkdir()
        prefix = in_mount_namespace(f"mount -t tmpfs -o size=64k none '{small}'")
        command = [*prefix, BUILD / "client" / "firn", "seed", "--from-medium", self.medium, "-o",
                   small, *LISTEN]
        result = subprocess.run(command, capture_output=True, text=True, timeout=60)
        self.assertEqual(DISK, result.returncode, result.stderr)
        self.assertIn("no space", result.stderr.lower())


class Downloads(MediaTest):
    def test_a_download_takes_only_what_the_medium_lacks(self):
        out = self.folder / "out"
        status, output, _ = self.run_firn("medium", "read", self.part(0, 0.5, "part"), out, "--json")
        self.assertEqual(VERIFY_FAILED, status)
        share = self.firn("share", "seed", self.manifest, self.content.parent, *LISTEN)
        get = self.get(self.link(share), into=out)
        start = get.wait_event("start")
        self.assertGreater(start["rank"], start["rank_total"] // 3)
        complete = self.assert_downloaded(self.content, get, into=out)
        lacked = start["rank_total"] - start["rank"]
        self.assertEqual(lacked, complete["blocks_innovative"])
        # Far less than the content has come.
        received = complete["blocks_innovative"] + complete["blocks_redundant"]
        self.assertLess(received, start["rank_total"] * 3 // 4)


if __name__ == "__main__":
    main()
