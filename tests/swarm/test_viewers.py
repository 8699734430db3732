#!/usr/bin/python3
"""Viewers of scripts/swarm: the model player, what it reads, and what is made of what it saw."""

import http.server
import pathlib
import sys
import threading
import time
import types
import unittest

ROOT = pathlib.Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests")]

import counted_unittest
from swarm_lab import adapters, scenario, viewing
from swarm_lab.adapters.base import Adapter
from swarm_lab.adapters.firn import FirnNode
from swarm_lab.cluster import refusals
from swarm_lab.player import Player, Stream


class ModelPlayer(unittest.TestCase):
    """Of a film of 100 bytes a second, from 1,000 on."""

    def setUp(self):
        self.player = Player(100, 1000, now=10.0)

    def test_it_starts_at_one_second_of_film_and_not_before(self):
        self.player.take(99, 11.0)
        self.player.advance(20.0)
        self.assertEqual((self.player.waits, self.player.held), ([], 99))
        self.player.take(1, 21.0)
        self.assertEqual(self.player.waits, [("start", 10.0, 21.0)])

    def test_it_shows_the_film_at_its_rate(self):
        self.player.take(300, 11.0)
        self.player.advance(12.5)
        self.assertAlmostEqual(self.player.buffer_s, 1.5)

    def test_a_stall_begins_when_it_holds_nothing_and_ends_at_one_second_of_film(self):
        self.player.take(200, 11.0)
        self.player.advance(15.0)  # it ran dry at 13
        self.player.take(60, 16.0)
        self.player.take(60, 17.0)
        self.assertEqual(self.player.waits, [("start", 10.0, 11.0), ("stall", 13.0, 17.0)])
        self.assertAlmostEqual(self.player.held, 120)

    def test_film_that_comes_in_time_is_no_stall(self):
        self.player.take(100, 11.0)
        for second in range(12, 18):
            self.player.take(100, second - 0.01)
        self.assertEqual(self.player.waits, [("start", 10.0, 11.0)])

    def test_a_seek_drops_what_it_holds_and_waits_for_one_second_there(self):
        self.player.take(500, 11.0)
        self.player.seek(400, 12.0)
        self.assertEqual(self.player.buffer_s, 0)
        self.player.take(100, 13.5)
        self.assertEqual(self.player.waits[1:], [("seek", 12.0, 13.5)])
        self.assertEqual(self.player.left, 300)

    def test_the_end_of_the_film_is_no_stall(self):
        self.player.take(1000, 11.0)
        self.player.advance(30.0)
        self.assertEqual((self.player.ended, self.player.waiting), (21.0, None))

    def test_less_than_a_second_before_the_end_is_shown_at_once(self):
        self.player.seek(40, 12.0)
        self.player.take(40, 13.0)
        self.assertEqual(self.player.waits[-1], ("seek", 12.0, 13.0))


class Film(http.server.BaseHTTPRequestHandler):
    """Not there for the first request; then it ends in the middle of the second answer."""
    bytes = bytes(range(256)) * 4
    asked = []

    def do_GET(self):
        begin = int(self.headers["Range"].removeprefix("bytes=").removesuffix("-"))
        self.asked.append(begin)
        if len(self.asked) == 1:
            self.send_error(503)
            return
        self.send_response(206)
        self.end_headers()
        self.wfile.write(self.bytes[begin:][:300 if len(self.asked) == 2 else None])

    def log_message(self, *_):
        pass


class Streams(unittest.TestCase):
    def test_a_server_that_is_not_ready_or_ends_early_is_asked_again_for_what_is_missing(self):
        server = http.server.HTTPServer(("127.0.0.1", 0), Film)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        stream, got, deadline = Stream(f"http://127.0.0.1:{server.server_port}/film", 100), b"", time.monotonic() + 30
        while len(got) < len(Film.bytes) - 100 and time.monotonic() < deadline:
            got += stream.read()
            stream.wait(time.monotonic() + 0.01)
        stream.close()
        server.shutdown()
        thread.join()
        server.server_close()
        self.assertEqual(got, Film.bytes[100:])
        self.assertEqual(Film.asked, [100, 100, 400])

    def test_firn_says_where_it_serves_the_film(self):
        node = FirnNode(None)
        node.on_line(0.0, '{"event":"play","url":"http://localhost:1/stream/x","token":"y"}')
        self.assertEqual(node.url, "http://localhost:1/stream/x?token=y")

    def test_a_client_that_serves_no_film_says_so(self):
        with self.assertRaisesRegex(adapters.BadClient, "serves no film"):
            Adapter("aria2", {}).start_viewer(None, None, 0, None)


class Scenarios(unittest.TestCase):
    def test_the_film_has_85_percent_of_the_rate_at_which_everybody_can_get_on(self):
        for name, places in (("view-together", 1), ("view-apart", 1), ("view-halves", 2), ("view-seek", 2)):
            one = scenario.load(name)
            ups = sum(group.count * group.up_mbit for group in one.peers)
            rate = min(one.seed.up_mbit / places, (one.seed.up_mbit + ups) / one.peer_count)
            self.assertAlmostEqual(one.film.mbit, 0.85 * rate, msg=name)

    def test_players_are_not_for_clusters(self):
        with self.assertRaisesRegex(refusals.CannotPlace, "film"):
            refusals.check(scenario.load("view-together"), "firn", "slurm", "clients")


def viewer(*lines, joined=100.0):
    one = viewing.Viewer(joined)
    for line in lines:
        one.on_line(0.0, line)
    return one


class Records(unittest.TestCase):
    def record(self, *viewers):
        film = types.SimpleNamespace(watched_s=60.0)
        return viewing.record(types.SimpleNamespace(
            scenario=types.SimpleNamespace(film=film), zero=90.0, over=200.0,
            downloaders=[types.SimpleNamespace(name=f"p{i}", viewer=one) for i, one in enumerate(viewers)]))

    def test_times_count_from_the_join_and_buffers_from_the_race(self):
        found = self.record(viewer('{"wait":"start","from":100.0,"to":102.5}',
                                   '{"wait":"stall","from":130.0,"to":131.0}', '{"wait":"seek","from":140.0,"to":141.5}',
                                   '{"at":92.2,"buffer":0,"waiting":["start",100.0]}',
                                   '{"at":93.1,"buffer":1.26,"waiting":null}', '{"at":93.6,"buffer":1.5,"waiting":null}'))
        self.assertEqual(found["viewers"], [{"name": "p0", "start_s": 2.5, "seeks_s": [1.5], "stalls": [[30.0, 1.0]],
                                              "seen_s": 55.0}])
        self.assertEqual(found["buffers"], {"p0": [None, None, 0, 1.3]})

    def test_a_wait_that_goes_on_counts_until_the_race_is_over(self):
        found = self.record(viewer('{"wait":"start","from":100.0,"to":102.0}',
                                   '{"at":131.0,"buffer":0,"waiting":["stall",130.0]}'))
        self.assertEqual(found["viewers"][0]["stalls"], [[30.0, 70.0]])

    def test_a_viewer_whose_client_never_served_the_film_waited_all_the_time(self):
        client = types.SimpleNamespace(process=types.SimpleNamespace(started=95.0))
        film = types.SimpleNamespace(watched_s=60.0)
        found = viewing.record(types.SimpleNamespace(
            scenario=types.SimpleNamespace(film=film), zero=90.0, over=200.0,
            downloaders=[types.SimpleNamespace(name="p1", viewer=None, node=client)]))
        self.assertEqual((found["viewers"][0]["start_s"], found["viewers"][0]["seen_s"]), (105.0, 0.0))

    def test_a_stall_after_the_time_that_is_watched_does_not_count(self):
        found = self.record(viewer('{"wait":"start","from":100.0,"to":102.0}',
                                   '{"wait":"stall","from":160.5,"to":162.0}'))
        self.assertEqual((found["viewers"][0]["stalls"], found["viewers"][0]["seen_s"]), ([], 58.0))

    def test_the_table_has_the_last_viewer_and_all_stalls(self):
        run = {"ratio": 1.08, "scenario": {"film": {"watched_s": 60.0}},
               "viewers": [{"start_s": 1.0, "seeks_s": [], "stalls": [[3.0, 2.0], [9.0, 1.0]], "seen_s": 56.0},
                           {"start_s": 3.0, "seeks_s": [1.25], "stalls": [], "seen_s": 55.0}]}
        text = viewing.table({"view": {"firn": [run]}, "flash": {"firn": [{"ratio": 1.0}]}})
        self.assertIn("| view | firn | 1 | 3.00 | 2.00 | 1.25 | 1 | 2 | 3.0 | 55.5 | 1.080 |", text)
        self.assertNotIn("flash", text)

    def test_where_nobody_watches_nothing_is_added(self):
        self.assertEqual(viewing.record(types.SimpleNamespace(scenario=types.SimpleNamespace(film=None))), {})
        self.assertEqual(viewing.table({"flash": {"firn": [{"ratio": 1.0}]}}), "")


if __name__ == "__main__":
    counted_unittest.main()
