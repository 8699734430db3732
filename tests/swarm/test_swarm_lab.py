#!/usr/bin/python3
"""scripts/swarm: its bound, scenarios, records and reports, and one tiny race of real processes
(skipped where hosts cannot be made: it needs root and network namespaces)."""

import dataclasses
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import types
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests")]

import counted_unittest
from swarm_lab import (adapters, bound, collect, figures, hosts, lab_words, report, scenario,
                       sim, summarise, sweep, tables, trust, wire)
from swarm_lab.adapters.firn import Firn
from swarm_lab.bound import Link, lower_bound
from swarm_lab.race import Race

MB = 1e6


def downloaders(count, up, needs, **more):
    return [Link(up=up, needs=needs, **more) for _ in range(count)]


class Output(unittest.TestCase):
    def test_a_reader_that_has_gone_is_no_failure_to_tell_of(self):
        listing = subprocess.Popen([str(ROOT / "scripts/swarm"), "list"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        listing.stdout.close()
        self.assertEqual(b"", listing.stderr.read())
        listing.stderr.close()
        self.assertEqual(141, listing.wait())


class Bound(unittest.TestCase):
    def test_a_slow_source_must_send_everything_once(self):
        swarm = [Link(up=1 * MB, source=True), *downloaders(12, 1 * MB, 30 * MB)]
        limit = lower_bound(swarm, 30 * MB)
        self.assertAlmostEqual(limit.seconds, 30)
        self.assertEqual(limit.limited_by(), "first_copy")
        self.assertAlmostEqual(limit.capacity, 12 * 30 / 13)

    def test_behind_a_fast_source_all_uplinks_together_are_the_limit(self):
        swarm = [Link(up=2 * MB, source=True), *downloaders(12, 1 * MB, 28 * MB)]
        limit = lower_bound(swarm, 28 * MB)
        self.assertAlmostEqual(limit.seconds, 12 * 28 / 14)
        self.assertEqual(limit.limited_by(), "capacity")

    def test_a_narrow_downlink_is_a_limit_of_its_own(self):
        swarm = [Link(up=8 * MB, source=True), *downloaders(2, 8 * MB, 10 * MB),
                 Link(up=8 * MB, down=0.5 * MB, needs=10 * MB, arrives=3)]
        self.assertAlmostEqual(lower_bound(swarm, 10 * MB).seconds, 23)

    def test_when_the_source_leaves_the_rest_goes_on_with_what_remained(self):
        # 20 s of 14 MB/s, then 12 MB/s: 336 MB take 20 + 56/12 s.
        swarm = [Link(up=2 * MB, source=True, leaves=20), *downloaders(12, 1 * MB, 28 * MB)]
        self.assertAlmostEqual(lower_bound(swarm, 28 * MB).seconds, 20 + 56 / 12)

    def test_a_source_that_leaves_before_one_copy_leaves_nobody_complete(self):
        swarm = [Link(up=1 * MB, source=True, leaves=9), *downloaders(3, 1 * MB, 10 * MB)]
        limit = lower_bound(swarm, 10 * MB)
        self.assertEqual(limit.seconds, float("inf"))
        self.assertIsNone(limit.as_record()["seconds"])

    def test_who_crashed_counts_with_what_it_had(self):
        stays = downloaders(1, 1 * MB, 10 * MB)
        crashed = [Link(up=1 * MB, needs=5 * MB, leaves=4)]
        swarm = [Link(up=1 * MB, source=True), *stays, *crashed]
        # 4 s of 3 MB/s, then 2 MB/s: 15 MB take 5.5 s; but one copy takes 10 s.
        limit = lower_bound(swarm, 10 * MB)
        self.assertAlmostEqual(limit.capacity, 5.5)
        self.assertAlmostEqual(limit.seconds, 10)

    def test_the_last_to_come_needs_capacity_that_is_still_to_come(self):
        swarm = [Link(up=1 * MB, source=True), *downloaders(1, 1 * MB, 10 * MB),
                 *downloaders(2, 1 * MB, 10 * MB, arrives=100)]
        # From 100 s on 20 MB pass 4 MB/s; the idle time before does not help.
        self.assertAlmostEqual(lower_bound(swarm, 10 * MB).seconds, 105)

    def test_nothing_begins_before_the_tracker(self):
        swarm = [Link(up=1 * MB, source=True), *downloaders(2, 1 * MB, 10 * MB)]
        self.assertAlmostEqual(lower_bound(swarm, 10 * MB, start=3).seconds, 13)

    def test_nobody_downloads_no_time(self):
        self.assertEqual(lower_bound([Link(up=1, source=True)], 10).seconds, 0)

    def test_no_uplinks_never(self):
        self.assertEqual(bound.time_to_send(1, [], 0), float("inf"))


GOOD = """
title = "t"
content_mib = 2
[seed]
up_mbit = 8
[[peers]]
count = 2
up_mbit = 4
[[peers]]
count = 1
up_mbit = 8
upload_limit_kib = 100
arrives_s = 5
arrives_every_s = 1
"""


class Scenarios(unittest.TestCase):
    def test_every_scenario_of_the_project_can_be_read_and_has_a_bound(self):
        self.assertGreaterEqual(len(scenario.names()), 12)
        for name in scenario.names():
            with self.subTest(name):
                one = scenario.load(name)
                self.assertEqual(one.name, name)
                self.assertGreater(one.bound_if_all_stay().seconds, 0)
                self.assertLess(one.bound_if_all_stay().seconds, one.deadline_s)

    def test_members_are_numbered_through_all_groups(self):
        one = scenario.parse(GOOD, "good")
        self.assertEqual([name for name, _, _ in one.members()], ["p01", "p02", "p03"])
        last = one.peers[1].link(0, one.content_bytes)
        self.assertEqual((last.up, last.arrives, last.needs), (102400, 5, 2 << 20))

    def test_the_flash_crowds_of_the_targets_have_their_known_bounds(self):
        self.assertAlmostEqual(scenario.load("flash-8").bound_if_all_stay().seconds, 33.554, 3)
        self.assertAlmostEqual(scenario.load("flash-16").bound_if_all_stay().seconds, 28.761, 3)

    def test_hostile_peers_are_beside_the_race(self):
        one, honest = scenario.load("polluters-third"), scenario.load("flash-8")
        self.assertEqual([name for name, _, _ in one.members()][-1], "p08")
        self.assertEqual([name for name, _, _ in one.hostile_members()],
                         ["x01", "x02", "x03", "x04"])
        self.assertEqual(list(honest.hostile_members()), [])
        # Their uplinks count for nothing.
        self.assertAlmostEqual(one.bound_if_all_stay().capacity,
                               8 * one.content_bytes / (9 * scenario.bytes_per_second(8)), 3)

    def check_refused(self, text, words):
        with self.assertRaises(scenario.BadScenario) as caught:
            scenario.parse(text, "bad")
        self.assertIn(words, str(caught.exception))

    def test_mistakes_are_named(self):
        self.check_refused(GOOD + "speed = 3\n", "`speed`")
        self.check_refused(GOOD.replace("count = 2\n", ""), "`count` is missing")
        self.check_refused(GOOD.replace("up_mbit = 4", "up_mbit = -4"), "negative")
        self.check_refused("title = ", "bad:")
        self.check_refused('title = "t"\ncontent_mib = 1\n', "[seed]")
        self.check_refused(GOOD.replace("count = 2", "count = 20000"), "10000 peers")
        with self.assertRaises(hosts.NoNetwork) as caught:
            hosts.check_size(scenario.parse(GOOD.replace("count = 2", "count = 2000"), "large"))
        self.assertIn("--on slurm", str(caught.exception))

    def test_a_scenario_that_does_not_exist_is_an_error_with_advice(self):
        with self.assertRaises(scenario.BadScenario) as caught:
            scenario.load("nowhere")
        self.assertIn("swarm list", str(caught.exception))


class Sizes(unittest.TestCase):
    def test_more_peers_than_one_machine_takes_are_refused(self):
        with self.assertRaisesRegex(hosts.NoNetwork, "more than 200 peers"):
            hosts.check_size(types.SimpleNamespace(name="many", peer_count=201))
        hosts.check_size(types.SimpleNamespace(name="many", peer_count=200))


class Clients(unittest.TestCase):
    def test_an_unknown_client_or_setting_is_named(self):
        for text, words in (("telepathy", "no client"), ("firn:colour=red", "no setting `colour`")):
            with self.subTest(text), self.assertRaises(adapters.BadClient) as caught:
                adapters.make(text)
            self.assertIn(words, str(caught.exception))

    def test_the_deeds_of_hostile_peers_are_a_setting(self):
        group = scenario.load("polluter").peers[1]
        for text, deeds in (("firn", "byte"), ("firn:deeds=sparse:10+reports", "sparse:10+reports"),
                            ("firn:deeds=none", "")):
            with self.subTest(text), mock.patch.object(Firn, "check"):
                self.assertEqual(adapters.make(text).deeds(group), deeds)

    def test_clients_without_hostile_peers_say_so(self):
        with self.assertRaises(adapters.BadClient) as caught:
            adapters.base.Adapter("rival", {}).check_hostile()
        self.assertIn("rival", str(caught.exception))


class Reports(unittest.TestCase):
    def setUp(self):
        self.records = report.records([ROOT / "tests" / "swarm" / "stored_run.json"])

    def test_a_stored_run_is_summed_up(self):
        self.assertEqual(len(self.records), 1)
        stored = self.records[0]
        peers = stored["peers"]
        self.assertAlmostEqual(stored["ratio"], stored["last_finish_s"] / stored["bound"]["seconds"],
                               3)
        self.assertAlmostEqual(figures.mean_cpu(stored), sum(p["cpu_s"] for p in peers) / len(peers))
        bad = sum(p["facts"]["blocks_redundant"] for p in peers)
        good = sum(p["facts"]["blocks_innovative"] for p in peers)
        self.assertAlmostEqual(figures.redundant(stored), bad / (bad + good))

    def test_the_table_has_a_row_with_its_bound_for_each_client(self):
        other = json.loads(json.dumps(self.records[0]))
        other.update(client="rival", complete=False, ratio=None, finishers=1)
        other["peers"][0]["facts"] = {}
        records = [*self.records, *self.records, other]
        lines = report.tables([figures.summary(record) for record in records]).splitlines()
        head = next(line for line in lines if line.startswith("| client"))
        ours = next(line for line in lines if line.startswith("| firn"))
        theirs = next(line for line in lines if line.startswith("| rival"))
        for line in (ours, theirs):
            cells = dict(zip(head.split(" | "), line.split(" | ")))
            self.assertEqual(cells["bound s"], f"{other['bound']['seconds']:.2f}")
        self.assertIn("| 2 |", ours)
        self.assertIn("| 1/3 |", theirs)
        self.assertEqual(dict(zip(head.split(" | "), theirs.split(" | ")))["ratio"], "-")

    def test_what_the_wire_carried_adds_up(self):
        record = self.records[0]
        self.assertIsNone(wire.parts(record))  # made before segments were counted
        content = record["scenario"]["content_mib"] * 2**20 * record["finishers"]
        record["segments"] = {"data_segments": 1000, "again_segments": 10,
                              "pure_acks": 100}
        rival = wire.parts(record)
        self.assertAlmostEqual(sum(rival.values()), record["wire_bytes"] / content)
        self.assertAlmostEqual(rival["acknowledgements"], 6600 / content)
        k = record["peers"][0]["facts"]["block_bytes"]
        for peer in (record["seed"], *record["peers"]):
            peer["facts"] |= {"blocks_sent": 80, "bytes_sent": 80 * k + 9000,
                              "block_bytes": k, "generation_size": 64}
        ours = wire.parts(record)
        self.assertAlmostEqual(sum(ours.values()), record["wire_bytes"] / content)
        self.assertEqual(ours["TCP/IP headers"], rival["TCP/IP headers"])
        self.assertIn("coding vectors", report.tables([figures.summary(record)]))

    def test_a_summary_is_small_and_gives_the_same_tables_and_the_curve_of_one_run(self):
        stored = ROOT / "tests" / "swarm" / "stored_run.json"
        with tempfile.TemporaryDirectory() as folder:
            chosen = types.SimpleNamespace(path=[stored, stored], out=folder)
            with mock.patch("builtins.print"):
                self.assertEqual(summarise.summarise(chosen), 0)
            again = report.load([folder])
            self.assertEqual(len(again), 2)
            self.assertEqual([run["rank"] for run in report.load([stored])], [again[0]["rank"]])
            self.assertEqual(report.tables(again), report.tables(report.load([stored, stored])))
            self.assertEqual(again[0]["scenario"], self.records[0]["scenario"])
            self.assertEqual([bool(run.get("rank")) for run in again], [True, False])
            self.assertEqual(again[0]["rank"]["mean"][-1], 1)
            # A summary of summaries loses nothing.
            path = pathlib.Path(folder, again[0]["scenario"]["name"] + ".json")
            before = path.read_text(encoding="utf-8")
            with mock.patch("builtins.print"):
                summarise.summarise(types.SimpleNamespace(path=[folder], out=folder))
            self.assertEqual(path.read_text(encoding="utf-8"), before)

    def test_runs_that_differ_in_a_setting_stand_in_one_table(self):
        runs = [figures.summary(json.loads(json.dumps(self.records[0]))) for _ in range(3)]
        for run, code in zip(runs, ("before", "after", "after")):
            run["settings"]["code"] = code
        ratio = f"{runs[0]['ratio']:.3f}"
        self.assertEqual(report.variants(runs, "code", ["ratio"]).splitlines()[2:],
                         [f"| before | {ratio} |", f"| after | {ratio}, {ratio} |"])

    def test_what_hostile_peers_cost_stands_beside_the_race_without_them(self):
        def run(client, hostile, last, **told):
            return {"scenario": {"name": "polluter"}, "client": client, "complete": True,
                    "last_s": last, "trust": {"deeds": ["byte"] * bool(hostile),
                    "hostile": hostile, "false_blocks": 40, "bans": 11, "honest_banned": 0,
                    "false_files": 0, **told}}
        runs = [run("firn:deeds=none", 0, 30.0), run("firn", 1, 31.5), run("firn", 1, 32.5),
                run("firn", 1, 33.0, honest_banned=2)]
        (table,) = trust.tables(report.grouped(runs))
        self.assertEqual(table.splitlines()[4:], [
            "| polluter | firn | byte | 1 | 3 | 32.50 | 30.00 | 1.083 | 40 | 11 | 2 | 0 |"])
        self.assertEqual(trust.tables(report.grouped(runs[:1])), [])
        self.assertIn("honest banned 2", trust.words(runs[3]["trust"]))

    def test_bans_are_read_from_what_programs_say(self):
        node = types.SimpleNamespace(facts={"notices": [
            f"peer {'a' * 52} at 10.99.0.5:6881 sent a false block of generation 3; banned for 600 s",
            f"peer {'b' * 52} sent a second Hello; banned for 30 s",
            f"peer {'c' * 52} at 10.99.0.6:6881 refused us: sent a false block"]})
        self.assertEqual(trust.bans(node), ["a" * 52, "b" * 52])

    def test_one_line_says_how_many_finished_and_how_far_from_the_bound(self):
        line = report.one_line(self.records[0])
        self.assertIn("3/3 finished", line)
        self.assertIn(f"ratio {self.records[0]['ratio']:.3f}", line)


class Sweeps(unittest.TestCase):
    def run_sweep(self, path, **other):
        chosen = types.SimpleNamespace(
            sweep="peers", strategy=None, values="3,6", most=6, seeds=2, one_seed_from=6, jobs=1,
            missing=False, out=path, plot=None, option=["mib=1", "n=16"])
        vars(chosen).update(other)
        with mock.patch.object(sim, "program"), mock.patch("builtins.print"):
            self.assertEqual(sweep.sweep(chosen), 0)
        return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))

    def test_every_strategy_has_a_point_at_every_value_and_keeps_it(self):
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/sweep.json"
            first = self.run_sweep(path)
            points = {(p["strategy"], p["peers"]): p for p in first["points"]}
            self.assertEqual(set(points), {(s, v) for s in sweep.STRATEGIES for v in (3, 6)})
            for (_, value), point in points.items():
                self.assertEqual(len(point["runs"]), 2 if value == 3 else 1)
                for run in point["runs"]:
                    self.assertTrue(run["done"])
                    self.assertEqual(run["result"]["finished"], value)
                    self.assertGreater(run["result"]["ratio"], 1)
            self.assertTrue(all({"date", "commit"} <= set(p) for p in first["points"]))
            again = self.run_sweep(path, strategy=["firn"], values="3")
            without_cost = [[{**r, "cost": 0} for r in p["runs"]] for p in first["points"]]
            self.assertEqual([[{**r, "cost": 0} for r in p["runs"]] for p in again["points"]],
                             without_cost)
            with self.assertRaises(SystemExit):
                self.run_sweep(path, option=["mib=2"])

    def test_a_point_says_when_and_with_what_it_was_made_and_the_others_stay_as_they_were(self):
        with tempfile.TemporaryDirectory() as folder:
            path, of = f"{folder}/sweep.json", {"strategy": ["firn"], "values": "3"}
            stamps = iter([{"date": "2026-01-01T00:00Z", "commit": "a"},
                           {"date": "2026-01-02T00:00Z", "commit": "b+"},
                           {"date": "2026-01-03T00:00Z", "commit": "c"}])
            with mock.patch.object(sim, "made", lambda: next(stamps)):
                self.run_sweep(path, seeds=1, **of)
                points = self.run_sweep(path, seeds=1, strategy=["firn"], values="6")["points"]
                made = [(p["peers"], p["date"][:10], p["commit"]) for p in points]
                self.assertEqual(made, [(3, "2026-01-01", "a"), (6, "2026-01-02", "b+")])
                kept = self.run_sweep(path, seeds=1, missing=True, **of)["points"]
                self.assertEqual(kept, points)
                anew = self.run_sweep(path, seeds=1, **of)["points"]
                self.assertEqual([p["commit"] for p in anew], ["c", "b+"])

    def test_without_git_a_result_names_no_commit(self):
        with mock.patch.dict("os.environ", PATH="/nowhere"):
            self.assertIsNone(sim.made()["commit"])

    @unittest.skipUnless(shutil.which("git"), "git is not installed")
    def test_the_commit_is_that_of_the_code_and_says_whether_it_was_changed(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)

            def git(*words):
                words = ["git", "-C", folder, "-c", "user.name=t", "-c", "user.email=t@t", *words]
                return subprocess.run(words, check=True, capture_output=True, text=True).stdout

            with mock.patch.object(sim, "ROOT", root):
                self.assertIsNone(sim.made()["commit"])
                git("init", "-q")
                for name in ("client/core/a.cc", "docs/a.md"):
                    (root / name).parent.mkdir(parents=True)
                    (root / name).write_text(name)
                    git("add", name)
                    git("commit", "-q", "-m", name)
                first = git("rev-list", "--max-parents=0", "HEAD").strip()
                self.assertEqual(sim.made()["commit"], first[:10])
                (root / "docs/a.md").write_text("other")
                self.assertEqual(sim.made()["commit"], first[:10])
                (root / "client/core/a.cc").write_text("other")
                self.assertEqual(sim.made()["commit"], first[:10] + "+")

    def test_the_better_variant_counts_and_a_run_that_ends_beats_one_that_does_not(self):
        def point(*runs):
            return {"runs": [{"done": done, "result": {"ratio": ratio}} for done, ratio in runs]}
        ends, faster = point((True, 1.4), (True, 1.2)), point((True, 1.1), (False, 0))
        self.assertLess(sweep.goodness(ends), sweep.goodness(faster))
        self.assertLess(sweep.goodness(point((True, 1.1))), sweep.goodness(ends))

    def test_a_table_has_a_line_for_each_strategy_and_says_what_never_ended(self):
        def point(strategy, peers, *runs):
            return {"strategy": strategy, "peers": peers,
                    "runs": [{"done": done, "result": {"ratio": ratio}} for done, ratio in runs]}
        text = tables.of_sweep({"sweep": "peers", "points": [
            point("rarest-first", 24, (False, 4)),
            point("firn", 12, (True, 1.06), (True, 1.07)),
            point("rarest-first", 12, (True, 1.25), (False, 4))]})
        self.assertEqual(text.splitlines()[2:], [
            "| firn | 1.065 | - |", "| rarest-first | 1.250 (1 of 2 never) | never |"])


class LabWords(unittest.TestCase):
    def words(self, name):
        one = dataclasses.asdict(scenario.load(name))
        return dict(word.split("=") for word in
                    lab_words.words(one).split())

    def test_what_the_simulator_is_told_is_what_the_scenario_says(self):
        self.assertEqual(self.words("mixed")["up"], "2,4,8,18")
        narrow = self.words("downlinks")
        self.assertEqual(sorted(narrow["down"].split(",")), ["10"] * 8 + ["9"] * 4)
        self.assertEqual(float(narrow["queue_ms"]), 100)
        half = self.words("unreachable")
        self.assertEqual((int(float(half["hidden"]) * 12), half["firewalled"]), (6, "1"))
        taker = self.words("taker")
        self.assertEqual((taker["peers"], taker["takers"], taker["taker_kib"]), ("12", "1", "1"))

        self.assertEqual(float(self.words("tracker-late")["tracker_starts_s"]), 3)
        self.assertEqual(float(self.words("tracker-dies")["tracker_dies_s"]), 5)

    def test_what_it_has_no_word_for_is_said(self):
        one = dataclasses.asdict(scenario.load("unreachable"))
        one["peers"][0]["up_mbit"] = 16
        with self.assertRaises(lab_words.NotSimulated):
            lab_words.words(one)

    def test_hostile_peers_come_first(self):
        third = self.words("polluters-third")
        self.assertEqual((third["peers"], third["hostile"]), ("12", "4*byte"))


RACE = """
title = "three peers, one behind a firewall, one that leaves"
content_mib = 1
deadline_s = 60
[seed]
up_mbit = 40
[[peers]]
count = 1
up_mbit = 20
[[peers]]
count = 1
up_mbit = 20
reachable = false
[[peers]]
count = 1
up_mbit = 20
down_mbit = 40
leaves_on_finish = true
"""


HOSTILE = """
title = "three peers, and one that spoils"
content_mib = 2
deadline_s = 60
[seed]
up_mbit = 8
[[peers]]
count = 3
up_mbit = 8
[[peers]]
count = 1
up_mbit = 8
hostile = "byte"
"""


class RealRace(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            hosts.check()
        except hosts.NoNetwork as reason:
            raise unittest.SkipTest(str(reason)) from None

    def test_three_peers_get_everything_and_nothing_is_left_behind(self):
        adapter = adapters.make("firn")
        with tempfile.TemporaryDirectory() as folder:
            record = Race(scenario.parse(RACE, "race"), adapter, folder).run()
        self.assertEqual(collect.failed(record), [])
        self.assertTrue(record["complete"])
        self.assertGreaterEqual(record["ratio"], 1)  # else the limits or the bound are wrong
        content = 1 << 20
        self.assertGreater(record["seed"]["wire_bytes"], content)
        for peer in record["peers"]:
            self.assertGreater(peer["wire_received"], content)
            self.assertGreater(peer["cpu_s"], 0)
        self.assertIsNotNone(record["peers"][2]["left_s"])
        left = [path.name for path in hosts.NETNS.glob(f"{hosts.PREFIX}-{hosts.os.getpid()}-*")]
        self.assertEqual(left, [])
        self.assertTrue(json.dumps(record))

    def test_a_hostile_peer_is_counted_apart(self):
        adapter = adapters.make("firn:n=16,k=4096")
        with tempfile.TemporaryDirectory() as folder:
            record = Race(scenario.parse(HOSTILE, "hostile"), adapter, folder).run()
        self.assertEqual(collect.failed(record), [])
        self.assertEqual((record["finishers"], len(record["peers"])), (3, 3))
        told = record["trust"]
        self.assertEqual((told["hostile"], told["deeds"]), (1, ["byte"]))
        self.assertGreater(told["false_blocks"], 0)
        self.assertGreater(told["bans"], 0)
        self.assertEqual((told["honest_banned"], told["false_files"]), (0, 0))
        self.assertIn("1 hostile (byte)", report.one_line(record))


if __name__ == "__main__":
    counted_unittest.main()
