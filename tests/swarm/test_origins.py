#!/usr/bin/python3
"""Origins of scripts/swarm: scenarios with a web server in place of the seed, their bound, and what is counted; and one
tiny race of nginx and curl (skipped where hosts cannot be made: it needs root and network namespaces)."""

import dataclasses
import pathlib
import sys
import tempfile
import types
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests")]

import counted_unittest
from swarm_lab import adapters, collect, hosts, lab_words, origin, scenario
from swarm_lab.adapters import torrent
from swarm_lab.adapters.base import Adapter
from swarm_lab.adapters.firn import Firn
from swarm_lab.cluster import refusals
from swarm_lab.race import Race

TEXT = """
title = "two hosts and an origin"
content_mib = 1
deadline_s = 60
[seed]
up_mbit = 16
origin = true
{more}
[[peers]]
count = 2
up_mbit = 16
"""


def small(more=""):
    return scenario.parse(TEXT.format(more=more), "small")


class Scenarios(unittest.TestCase):
    def test_without_faults_the_bound_is_that_of_a_seed(self):
        for name, seed in (("origin-slow", "flash-8"), ("origin-dies-late", "flash-8")):
            self.assertAlmostEqual(scenario.load(name).bound_if_all_stay().seconds,
                                   scenario.load(seed).bound_if_all_stay().seconds, msg=name)

    def test_an_origin_that_dies_before_one_copy_is_waited_for(self):
        calm = small().bound_if_all_stay().seconds
        one = small("dies_at = 0.6\nback_after_s = 5")
        (_, dies), (back, _) = one.seed_periods()
        self.assertAlmostEqual(dies, 0.6 * calm)
        self.assertAlmostEqual(back - dies, 5)
        self.assertAlmostEqual(one.bound_if_all_stay().seconds, calm + 5)

    def test_without_a_return_nobody_can_finish(self):
        self.assertEqual(small("dies_at = 0.6").bound_if_all_stay().seconds, float("inf"))

    def test_mistakes_are_named(self):
        for more, words in (("leaves_when_safe = true", "does not leave"), ("leaves_after_copies = 2", "does not leave"),
                            ("back_after_s = 5", "needs `dies_at`")):
            with self.subTest(more), self.assertRaisesRegex(scenario.BadScenario, words):
                small(more)
        with self.assertRaisesRegex(scenario.BadScenario, "needs `origin = true`"):
            scenario.parse(TEXT.format(more="dies_at = 0.5").replace("origin = true", ""), "small")

    def test_neither_clusters_nor_the_simulator_have_web_servers(self):
        with self.assertRaisesRegex(refusals.CannotPlace, "web server"):
            refusals.check(small(), "firn", "slurm", "clients")
        with self.assertRaisesRegex(lab_words.NotSimulated, "origin"):
            lab_words.words(dataclasses.asdict(small()))


class Clients(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.content = self.folder / "content.bin"
        self.content.write_bytes(bytes(100))
        self.host = mock.Mock(address="10.99.0.1", port=lambda usual: usual, left_to_client=lambda limit: (limit, 0))
        self.host.name = "p01"

    def test_a_torrent_that_names_the_origin_is_the_same_torrent(self):
        path, url = self.folder / "x.torrent", "http://10.99.0.2:80/content.bin"
        plain = torrent.write_torrent(self.content, path, 16384, "http://t/announce")
        self.assertNotIn(b"url-list", path.read_bytes())
        self.assertEqual(torrent.write_torrent(self.content, path, 16384, "http://t/announce", url), plain)
        self.assertIn(b"8:url-list%d:%s" % (len(url), url.encode()), path.read_bytes())

    def test_firn_gets_a_manifest_and_the_origin(self):
        firn = Firn("firn", Firn.settings)
        with mock.patch("subprocess.run", return_value=types.SimpleNamespace(returncode=0)) as run:
            firn.use_origin(self.folder, self.content, self.host, "http://o/content.bin")
        self.assertIn("create", run.call_args.args[0])
        firn.start_peer(self.host, self.folder, 0)
        words = list(map(str, self.host.start.call_args.args[1]))
        self.assertEqual(words[1:3], ["get", str(self.folder / "content.firn")])
        self.assertEqual(words[words.index("--origin") + 1], "http://o/content.bin")

    def test_a_client_without_web_seeds_says_so_and_curl_needs_an_origin(self):
        with self.assertRaisesRegex(adapters.BadClient, "nothing from a web server"):
            Adapter("other", {}).use_origin(None, None, None, "")
        with self.assertRaisesRegex(adapters.BadClient, "needs an origin"):
            adapters._classes()["curl"]("curl", {}).start_seed(None, None, None, None)


class Program:
    """A process that runs until it is ended."""

    def __init__(self, started):
        self.started, self.ended, self.running = started, None, True

    def kill(self):
        self.ended, self.running = self.started + 1, False

    send = wait = lambda self, _: None

    def story(self):
        return "its last words"

    def cpu_seconds(self):
        return 0.5


class Lives(unittest.TestCase):
    def setUp(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        host = mock.Mock(address="10.99.0.2")
        host.start.side_effect = [Program(100.0), Program(120.0)]
        self.log = folder / "nginx.access"
        self.node = origin.Origin(host, folder, [(0.0, 10.0), (15.0, float("inf"))])
        self.node.start()
        self.race = types.SimpleNamespace(origin=self.node, zero=100.5, scenario=types.SimpleNamespace(content_bytes=1000))

    def test_it_dies_and_comes_back_at_its_times(self):
        there = []
        for now in (0.0, 9.9, 10.0, 14.9, 15.0, 99.0):
            self.assertEqual(self.node.follow(now), [])
            there.append(self.node.process.running)
        self.assertEqual(there, [True, True, False, False, True, True])
        self.assertEqual(origin.source_times(self.race), [(0.0, 0.5), (19.5, float("inf"))])

    def test_an_end_that_nobody_planned_is_told_once_and_ends_its_time(self):
        self.node.process.kill()
        self.assertIn("its last words", self.node.follow(5.0)[0])
        self.assertEqual(self.node.follow(5.1), [])
        self.assertEqual(origin.source_times(self.race), [(0.0, 0.5)])

    def test_copies_are_those_on_its_link_without_headers(self):
        self.log.write_text("206\n206\n404\n")
        counted = {"sent": 1050 + 66 * 6, "data_segments": 3, "again_segments": 1, "pure_acks": 2}
        self.assertEqual(origin.record(self.race, counted)["origin"], {
            "copies": 1.05, "requests": 3, "statuses": {"206": 2, "404": 1}, "there_s": [[0.0, None]], "cpu_s": 0.5})


def run(last, client="firn", **more):
    return {"scenario": {"name": "origin-x"}, "client": client, "complete": last is not None, "last_s": last,
            "bound_s": 10.0, "ratio": last and last / 10, "finished_s": [10.5, 10.8, last] if last else [],
            "finishers": 3 if last else 0, "expected_finishers": 3, "seed_copies": 1.1, "cpu_s": 0.25,
            "origin": {"copies": 1.02, "requests": 30}, **more}


class Tables(unittest.TestCase):
    def test_a_row_has_last_and_median_finisher_and_copies(self):
        text = origin.tables({"origin-x": {"firn": [run(11.0), run(12.0)], "curl": [run(23.0, "curl")]}})[0]
        self.assertIn("| origin-x | firn | 2 | 3/3 | 10.00 | 11.50 | 1.150 (1.100..1.200) | 1.080 | 1.020 | 1.100 | 30 | "
                      "0.500 | 0.25 |", text)

    def test_a_run_that_did_not_complete_has_no_times(self):
        text = origin.tables({"origin-x": {"firn": [run(None)]}})[0]
        self.assertIn("| origin-x | firn | 1 | 0/3 | 10.00 | - | - | - | 1.020 |", text)

    def test_where_there_is_no_origin_nothing_is_added(self):
        flash = run(11.0)
        del flash["origin"]
        self.assertEqual(origin.tables({"flash": {"firn": [flash]}}), [])
        self.assertEqual(origin.record(types.SimpleNamespace(origin=None), {}), {})


class RealRace(unittest.TestCase):
    def setUp(self):
        try:
            hosts.check()
            origin.check()
            self.curl = adapters.make("curl")
        except (hosts.NoNetwork, adapters.BadClient) as reason:
            self.skipTest(str(reason))

    def race(self, more=""):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        return Race(small(more), self.curl, folder).run()

    def test_two_hosts_with_curl_take_two_copies(self):
        record = self.race()
        self.assertEqual(collect.failed(record), [])
        self.assertTrue(record["complete"])
        self.assertEqual(record["origin"]["statuses"], {"200": 2})
        self.assertAlmostEqual(record["origin"]["copies"], 2.0, 1)
        self.assertGreater(record["seed"]["wire_copies"], record["origin"]["copies"])
        self.assertGreaterEqual(record["ratio"], 1)

    def test_downloads_go_on_when_the_origin_is_back(self):
        record = self.race("dies_at = 0.6\nback_after_s = 0.5")
        self.assertEqual(collect.failed(record), [])
        self.assertTrue(record["complete"])
        (_, died), (back, still) = record["origin"]["there_s"]
        self.assertGreater(back, died)
        self.assertIsNone(still)


if __name__ == "__main__":
    counted_unittest.main()
