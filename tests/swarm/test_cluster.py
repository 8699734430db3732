#!/usr/bin/python3
"""What Slurm and Kubernetes share (scripts/swarm_lab/cluster): clocks, the meeting, the record on its
way, what is refused, and a race of tasks that are processes of this machine."""

import contextlib
import io
import json
import pathlib
import signal
import socket
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import tasks_here
import counted_unittest
from swarm_lab import collect, commands, figures, hosts, report, scenario
from swarm_lab.cluster import addresses, clock, meeting, plan, refusals, results, slurm

SMALL = """
title = "three peers, the last of which comes later"
content_mib = 2
deadline_s = 90
[seed]
up_mbit = 40
[[peers]]
count = 2
up_mbit = 20
[[peers]]
count = 1
up_mbit = 20
arrives_s = 0.2
"""


class Clocks(unittest.TestCase):
    def test_the_middle_of_the_shortest_exchange_counts(self):
        # The other clock is 100 s ahead; each way of the second exchange takes 1 ms.
        exchanges = iter([(0.0, 100.5, 0.9), (1.0, 101.001, 1.002), (2.0, 102.05, 2.3)])
        found = clock.measure(lambda: next(exchanges), 3)
        self.assertAlmostEqual(found.seconds, 100)
        self.assertAlmostEqual(found.error, 0.001)

    def test_an_answer_that_was_late_on_one_way_is_wrong_by_no_more_than_the_error(self):
        for way_there, way_back in ((0.0, 0.1), (0.1, 0.0), (0.07, 0.03)):
            with self.subTest(way_there):
                found = clock.measure(lambda: (5.0, 5.0 + way_there - 40, 5.0 + way_there + way_back),
                                      1)
                self.assertLessEqual(abs(found.seconds - -40), found.error + 1e-9)

    def test_clocks_that_run_apart_are_noticed(self):
        self.assertAlmostEqual(clock.Offset(3, 0.1).moved(clock.Offset(2.5, 0.1)), 0.5)


class Addresses(unittest.TestCase):
    def test_the_address_in_the_network_that_was_named(self):
        self.assertEqual(addresses.own("127.0.0.0/8"), "127.0.0.1")

    def test_a_host_without_an_address_there_says_what_it_has(self):
        with self.assertRaises(addresses.NoAddress) as caught:
            addresses.own("233.252.0.0/24")
        self.assertIn("127.0.0.1", str(caught.exception))


class Records(unittest.TestCase):
    RECORD = {"peers": [{"name": f"p{number}", "progress": [[number / 7, step / (number + 3)]
                                                            for step in range(20)]}
                        for number in range(100)]}

    def test_a_record_comes_through_a_log_with_other_lines_between(self):
        lines = results.lines(self.RECORD)
        self.assertGreater(len(lines), 3)
        self.assertLess(max(map(len, lines)), 4096)
        log = "\n".join(f"{line}\nsomething else" for line in lines)
        self.assertEqual(results.from_log(log), self.RECORD)

    def check_refused(self, lines, words):
        with self.assertRaises(results.NoRecord) as caught:
            results.from_log("\n".join(lines))
        self.assertIn(words, str(caught.exception))

    def test_a_log_that_lost_a_line_or_changed_one_is_refused(self):
        lines = results.lines(self.RECORD)
        self.check_refused(lines[1:], "lacks line 1 of")
        self.check_refused(lines[:-1], "no whole record")
        self.check_refused([], "no whole record")
        mark, number, chunk = lines[1].split()
        other = "A" if chunk[9] != "A" else "B"
        lines[1] = f"{mark} {number} {chunk[:9]}{other}{chunk[10:]}"
        self.check_refused(lines, "damaged")


class Refusals(unittest.TestCase):
    def check_refused(self, text, client, words):
        with self.assertRaises(refusals.CannotPlace) as caught:
            refusals.check(scenario.parse(text, "small"), client, "slurm", "clients")
        self.assertIn("without --on", str(caught.exception))
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_what_tasks_cannot_do_is_named(self):
        refusals.check(scenario.parse(SMALL, "small"), "firn:n=16", "slurm", "clients")
        self.check_refused(SMALL, "aria2", ["aria2"])
        self.check_refused(SMALL + "reachable = false\n", "firn", ["`reachable = false`"])
        self.check_refused('congestion = "bbr"\n' + SMALL + "reachable = false\n", "libtorrent",
                           ["bbr", "`reachable = false`", "libtorrent"])

    def test_of_the_projects_scenarios_only_those_with_firewalls_films_and_origins_are_refused(self):
        refused = []
        for name in scenario.names():
            try:
                refusals.check(scenario.load(name), "firn", "kubernetes", "clients")
            except refusals.CannotPlace:
                refused.append(name)
        self.assertEqual([name for name in refused if not name.startswith("origin-")], ["unreachable", "view-apart", "view-halves", "view-seek", "view-together"])
        self.assertEqual([name for name in refused if name.startswith("origin-")],
                         [name for name in scenario.names() if scenario.load(name).seed.origin])


class Scripts(unittest.TestCase):
    def test_the_batch_script_has_a_task_for_each_host_and_the_users_options(self):
        one = scenario.load("flash-8")
        text = slurm.script("/shared/run", "firn-flash-8", plan.tasks(one), 7, ["--partition=big"])
        lines = text.splitlines()
        self.assertEqual(lines[0], "#!/bin/bash")
        for option in ("--ntasks=14", "--time=7", "--partition=big", "--output=/shared/run/slurm.log"):
            self.assertIn(f"#SBATCH {option}", lines)
        self.assertTrue(lines[-1].endswith("python3 /shared/run/swarm.pyz /shared/run/plan.json"))

    def states(self, *told):
        return mock.patch.multiple(slurm, POLL_S=0, _state=mock.Mock(side_effect=told))

    def test_a_controller_that_is_away_for_a_moment_ends_no_wait(self):
        with self.states("PENDING", None, "RUNNING", None, None, "TIMEOUT"):
            self.assertEqual(slurm._wait("7"), "TIMEOUT")
        with self.states("RUNNING", *[None] * slurm.SILENT_MAX), \
                self.assertRaises(slurm.JobFailed) as caught:
            slurm._wait("7")
        self.assertIn("job 7", str(caught.exception))

    def test_a_dry_run_prints_and_leaves_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "runs"
            for more, words in ((["slurm"], "#SBATCH --ntasks=14"),
                                (["kubernetes", "--image", "firn"], '"completions": 14')):
                said = io.StringIO()
                with self.subTest(more[0]), contextlib.redirect_stdout(said):
                    status = commands.main(["run", "flash-8", "--out", str(out), "--dry-run",
                                            "--on", *more], "")
                    self.assertEqual(status, 0)
                    self.assertIn(words, said.getvalue())
            self.assertFalse(out.exists())

    def test_the_program_is_the_same_bytes_for_the_same_sources(self):
        self.assertEqual(plan.program(), plan.program())


class Meetings(unittest.TestCase):
    def setUp(self):
        self.door = meeting.Meeting("127.0.0.1", 0, "right")
        self.addCleanup(self.door.close)

    def call(self, **hello):
        link = self.enterContext(socket.create_connection(("127.0.0.1", self.door.port), 20))
        link.sendall(json.dumps(hello).encode() + b"\n")
        return link, link.makefile("rb")

    def come(self, rank):
        link, lines = self.call(hello="right", rank=rank, host=f"node{rank}", address="127.0.0.1")
        link.sendall(b'{"ready":0.001}\n')
        return link, lines

    def assert_turned_away(self, lines):
        # What a caller sent after its hello and nobody read makes the end of a connection a reset.
        with contextlib.suppress(ConnectionResetError):
            self.assertEqual(lines.readline(), b"")

    def test_a_caller_without_the_token_is_turned_away(self):
        for hello in ({"hello": "wrong", "rank": 1, "host": "h", "address": "a"},
                      {"hello": "réel", "rank": 1, "host": "h", "address": "a"}, {"rank": 1}):
            with self.subTest(hello):
                _, lines = self.call(**hello)
                self.assert_turned_away(lines)
        self.assertEqual(self.door.members, {})

    def test_endless_words_of_a_stranger_are_not_kept(self):
        link, lines = self.call()
        with contextlib.suppress(OSError):
            link.sendall(b"x" * (1 << 20))
        self.assert_turned_away(lines)

    def test_a_second_task_of_a_rank_is_turned_away(self):
        self.come(1)
        self.door.wait_for(1, 20)
        _, lines = self.call(hello="right", rank=1, host="another", address="127.0.0.1")
        self.assert_turned_away(lines)
        self.assertEqual(self.door.members[1].host, "node1")

    def test_tasks_that_do_not_come_are_named(self):
        self.come(2)
        with self.assertRaises(meeting.Lost) as caught:
            self.door.wait_for(3, 0.1)
        self.assertRegex(str(caught.exception), r"of 3 tasks did not come.*: 1, .*3")

    def test_a_question_to_a_task_that_goes_is_an_error_and_one_it_answers_is_not(self):
        link, lines = self.come(1)
        member = self.door.wait_for(1, 20)[1]
        number = member.begin("port", usual=5)
        asked = json.loads(lines.readline())
        self.assertEqual((asked["do"], asked["usual"]), ("port", 5))
        link.sendall(json.dumps({"answer": asked["ask"], "value": 77}).encode() + b"\n")
        self.assertEqual(member.answer(number), 77)
        number = member.begin("digest", name="x")
        link.shutdown(socket.SHUT_RDWR)
        with self.assertRaises(meeting.Lost) as caught:
            member.answer(number)
        self.assertIn("task 1 on node1 is gone", str(caught.exception))


class Races(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.tasks = []

    def start(self, text, **other):
        one = scenario.parse(text, "small")
        tasks_here.write(tasks_here.plan_of(one, self.folder, **other), self.folder)
        for rank in range(plan.tasks(one)):
            self.tasks.append(tasks_here.start(self.folder, rank))
            self.addCleanup(self.tasks[-1].kill)

    def test_a_race_of_tasks_ends_with_the_record_of_a_race(self):
        self.start(SMALL)
        self.assertEqual([task.wait_exit(120) for task in self.tasks], [0] * 5, self.tasks[0].story())
        record = tasks_here.record(self.folder)
        self.assertEqual(collect.failed(record), [])
        self.assertTrue(record["complete"])
        self.assertGreaterEqual(record["peers"][2]["started_s"], 0.2)
        # The commit is the program's own, or the plan's ("abc") where git did not tell the build.
        self.assertRegex(record["version"], r"^firn \S+ \([0-9a-f]+(-dirty)?\)$")
        self.assertEqual(record["placement"]["hosts"], {socket.gethostname(): 5})
        self.assertIsNone(record["wire_bytes"])  # the interface is everybody's
        self.assertGreaterEqual(record["seed"]["payload_copies"], 1)
        line = report.one_line(record)
        self.assertIn("firn on processes", line)
        self.assertIn("3/3 finished", line)
        # Runs of other kinds of hosts stand in lines of their own.
        here = {**record, "placement": None}
        names = report.grouped([figures.summary(record), figures.summary(here)])["small"]
        self.assertEqual(list(names), ["firn on processes", "firn"])

    def test_namespaces_of_tasks_on_two_machines_are_one_network(self):
        try:
            hosts.check()
        except hosts.NoNetwork as reason:
            self.skipTest(str(reason))
        one = scenario.parse(SMALL + "reachable = false\n", "small")
        with hosts.Network() as network:
            machines = [network.add(name) for name in ("a", "b")]
            tasks_here.write(tasks_here.plan_of(one, self.folder, links="namespaces",
                                                network="10.99.0.0/16"), self.folder)
            tasks = []
            for rank in range(plan.tasks(one)):
                tasks.append(tasks_here.start(self.folder, rank, machines[rank % 2].command))
                self.addCleanup(tasks[-1].kill)
            self.assertEqual([task.wait_exit(120) for task in tasks], [0] * 5, tasks[0].story())
            sent = machines[1].counters()["sent"]
        record = tasks_here.record(self.folder)
        self.assertEqual(collect.failed(record), [])
        self.assertTrue(record["complete"])
        # The seed is on the second machine: what the first one's peers have came through tunnels.
        self.assertGreater(sent, one.content_bytes)
        self.assertGreater(record["wire_bytes"], 3 * one.content_bytes)

    def test_a_race_that_loses_a_task_says_so(self):
        # So slow that none is over before the task is killed.
        self.start(SMALL.replace("up_mbit = 40", "up_mbit = 1").replace("deadline_s = 90",
                                                                      "deadline_s = 8"))
        last = self.tasks[4]
        last.wait_line("p03 starts", 60, stream="stderr")
        last.kill()
        self.assertEqual(self.tasks[0].wait_exit(120), 0, self.tasks[0].story())
        problems = "\n".join(collect.failed(tasks_here.record(self.folder)))
        self.assertRegex(problems, r"p03: ended by itself: p03: task 4 on .* is gone")

    def test_tasks_do_not_outlive_the_first_one(self):
        self.start(SMALL.replace("up_mbit = 40", "up_mbit = 0.1"))
        self.tasks[1].wait_line("seed starts", 60, stream="stderr")
        self.tasks[0].send(signal.SIGKILL)
        for task in self.tasks[1:]:
            self.assertEqual(task.wait_exit(60), 1)
            self.assertIn("the first task is gone", task.output("stderr"))

    def test_a_task_that_is_ended_takes_its_peer_and_its_files_with_it(self):
        self.start(SMALL.replace("up_mbit = 40", "up_mbit = 0.1"))
        for task in self.tasks[1:4]:
            task.wait_line("starts", 60, stream="stderr")
        peer = self.tasks[3].process.pid
        peer = int(pathlib.Path(f"/proc/{peer}/task/{peer}/children").read_text().split()[0])
        with open(f"/proc/{peer}/cmdline", "rb") as words:
            self.assertIn(b"p02", words.read())
        for task in self.tasks:
            task.send(signal.SIGTERM)
        for task in self.tasks:
            self.assertIn(task.wait_exit(60), (143, 1), task.story())
        self.assertFalse(pathlib.Path(f"/proc/{peer}").exists())
        self.assertEqual(list(self.folder.glob("firn-swarm-task-*")), [])

    def test_what_the_first_task_lacks_is_its_record(self):
        self.start(SMALL, build="/nowhere", start_within_s=1)
        self.assertEqual(self.tasks[0].wait_exit(60), 1)
        self.assertIn("/nowhere/client/firn is missing", tasks_here.record(self.folder)["failed"])


if __name__ == "__main__":
    counted_unittest.main()
