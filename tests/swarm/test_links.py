#!/usr/bin/python3
"""Links of scripts/swarm: the matrix of them, and slow links between real hosts (skipped where hosts
cannot be made: it needs root, network namespaces and /dev/net/tun)."""

import contextlib
import io
import json
import pathlib
import socket
import struct
import sys
import tempfile
import threading
import types
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests")]

import counted_unittest
from swarm_lab import hosts, matrix, matrix_command, report, scenario, shaper, slow_link

SMALL = """
target = 1.2
rivals = ["rival"]
[base.star]
peers = 2
content_mib = 1
seed_mbit = 20
up_mbit = 20
[[cells]]
base = "star"
[[cells]]
base = "star"
queue_ms = [50, 200]
delay_ms = [5, 300]
[[cells]]
base = "star"
offload = false
cores = 100000
"""


class Cells(unittest.TestCase):
    def test_a_list_makes_a_cell_of_each_value_and_names_say_what_differs(self):
        found = matrix.parse(SMALL)
        self.assertEqual([cell.name for cell in found.cells], [
            "star", "star-queue-50-delay-5", "star-queue-50-delay-300", "star-queue-200-delay-5",
            "star-queue-200-delay-300", "star-offload-off"])
        corner = found.cells[4]
        self.assertEqual((corner.peers, corner.queue_ms, corner.delay_ms), (2, 200, 300))
        self.assertEqual((found.target, found.rivals), (1.2, ["rival"]))

    def test_cells_are_chosen_by_patterns(self):
        found = matrix.parse(SMALL)
        self.assertEqual([cell.name for cell in found.chosen(["*-delay-5", "star"])],
                         ["star", "star-queue-50-delay-5", "star-queue-200-delay-5"])
        self.assertEqual(len(found.chosen([])), 6)
        with self.assertRaises(matrix.BadMatrix):
            found.chosen(["planet"])

    def test_mistakes_are_named(self):
        for text, words in (
                (SMALL.replace("queue_ms", "colour"), "`colour`"),
                (SMALL.replace('base = "star"', 'base = "moon"'), "no known base"),
                (SMALL.replace("peers = 2\n", ""), "peers"),
                (SMALL + '[[cells]]\nbase = "star"\n', "called star"),
                ("target = ", "matrix:"), ("", "no cells")):
            with self.subTest(words), self.assertRaises(matrix.BadMatrix) as caught:
                matrix.parse(text)
            self.assertIn(words, str(caught.exception))

    def test_every_cell_of_the_project_is_a_scenario_that_says_what_the_cell_says(self):
        found = matrix.load()
        self.assertGreater(len(found.cells), 30)
        for cell in found.cells:
            with self.subTest(cell.name):
                one = scenario.parse(cell.scenario_text(), cell.name)
                self.assertEqual(one.path(),
                                 slow_link.Path(cell.delay_ms, cell.loss, cell.offload))
                self.assertEqual((one.queue_ms, one.bucket_bytes), (cell.queue_ms, cell.bucket_bytes))
                self.assertEqual(len(list(one.members())), cell.peers)
                self.assertEqual({group.down_mbit for group in one.peers}, {cell.down_mbit})
                self.assertGreater(one.deadline_s, 2 * one.bound_if_all_stay().seconds)

    def test_the_matrix_spans_the_links_that_peers_meet(self):
        cells = matrix.load().cells
        for key, least, most in (("queue_ms", 50, 500), ("up_mbit", 0.5, 1000),
                                 ("delay_ms", 0, 300), ("loss", 0, 0.02), ("peers", 6, 60),
                                 ("down_mbit", 0, 50), ("offload", False, True)):
            with self.subTest(key):
                values = [getattr(cell, key) for cell in cells]
                self.assertEqual((min(values), max(values)), (least, most))

    def test_a_scenario_says_delay_loss_and_offload_and_loses_not_everything(self):
        text = matrix.parse(SMALL).cells[0].scenario_text()
        one = scenario.parse(text.replace("loss = 0.0", "loss = 0.5"), "lossy")
        self.assertTrue(one.path().slow)
        # What is lost is a segment: a lossy link has no offload.
        self.assertIn("offload=0", one.path().words(3))
        with self.assertRaises(scenario.BadScenario):
            scenario.parse(text.replace("loss = 0.0", "loss = 1"), "deaf")


def run(cell, client, ratio, wire=1.07, date="2026-01-02T03:04:05+00:00"):
    one = scenario.parse(cell.scenario_text(), cell.name)
    return {"scenario": scenario.dataclasses.asdict(one), "client": client, "date": date,
            "bound_s": 10.0, "ratio": ratio, "wire": wire}


class Tables(unittest.TestCase):
    def setUp(self):
        self.cells = matrix.parse(SMALL).cells

    def rows(self, runs, clients=("firn", "rival")):
        text = matrix.table(report.grouped(runs), self.cells, 1.2, list(clients))
        lines = text.splitlines()
        head = lines[0].strip("| ").split(" | ")
        rows = [dict(zip(head, line.strip("| ").split(" | "))) for line in lines[2:-2]]
        return {row["cell"]: row for row in rows}, lines[-1]

    def test_each_cell_has_a_row_with_the_median_and_the_verdict(self):
        star, corner = self.cells[0], self.cells[4]
        rows, last = self.rows([run(star, "firn", 1.1), run(star, "firn", 1.3),
                                run(star, "firn", 1.15), run(star, "rival", 1.5),
                                run(corner, "firn", 1.25)])
        self.assertEqual(len(rows), 6)
        self.assertEqual(rows["star"]["firn"], "1.150 (1.100..1.300)")
        self.assertEqual(rows["star"]["rival"], "1.500")
        self.assertEqual(rows["star"]["<= 1.2"], "met")
        self.assertEqual(rows[corner.name]["<= 1.2"], "missed")
        self.assertEqual(rows[corner.name]["delay ms"], "300")
        self.assertIn("6 cells: 1 met, 4 not raced, 1 missed", last)

    def test_each_cell_says_when_the_first_client_last_raced_in_it(self):
        star, other = self.cells[:2]
        rows, _ = self.rows([run(star, "firn", 1.1), run(star, "firn", 1.1, date="2026-03-04T00:00:00+00:00"),
                             run(star, "rival", 1.5, date="2026-05-06T00:00:00+00:00"), run(other, "rival", 1.5)])
        self.assertEqual((rows["star"]["raced"], rows[other.name]["raced"]), ("2026-03-04", "-"))

    def test_a_run_that_did_not_complete_fails_its_cell_and_no_other(self):
        star, other = self.cells[:2]
        rows, _ = self.rows([run(star, "firn", 1.1), run(star, "firn", None, None),
                             run(other, "firn", 1.1), run(other, "rival", None, None)])
        self.assertEqual(rows["star"]["firn"], "1.100, 1 failed")
        self.assertEqual(rows["star"]["<= 1.2"], "failed")
        self.assertEqual(rows[other.name]["<= 1.2"], "met")

    def test_a_cell_counts_where_tcp_could_fill_the_uplink_twice_in_spite_of_loss(self):
        def one(peers, up_mbit, delay_ms, loss):
            return {"peers": [{"count": peers, "up_mbit": up_mbit}], "delay_ms": delay_ms,
                    "loss": loss}
        # 1.22 x 1448 bytes / (10 ms x 0.1) = 14.1 Mbit/s a connection.
        self.assertTrue(matrix.tcp_can_fill_twice(one(12, 80, 5, 0.01)))
        self.assertFalse(matrix.tcp_can_fill_twice(one(12, 90, 5, 0.01)))
        self.assertTrue(matrix.tcp_can_fill_twice(one(1, 1000, 300, 0)))
        self.assertFalse(matrix.tcp_can_fill_twice(one(12, 8, 300, 0.02)))
        # A peer of a large mesh has no more neighbours than one of a mesh of twelve.
        self.assertFalse(matrix.tcp_can_fill_twice(one(60, 90, 5, 0.01)))
        self.assertEqual(matrix.verdict(one(12, 8, 300, 0.02), [1.1], 1.12), "does not count")

    def test_in_two_places_fast_races_run_alone_and_all_others_beside_each_other(self):
        fast = matrix.Cell("fast", 6, 1, 100, 100)
        slow = matrix.Cell("slow", 2, 1, 8, 8)
        guard, running, seen = threading.Lock(), [], []
        both = threading.Barrier(2, timeout=30)

        def race(cell, client):
            with guard:
                running.append(cell.name)
                seen.append(list(running))
            if cell is slow:
                both.wait()  # ends only when the other one of its kind runs too
            with guard:
                running.remove(cell.name)

        jobs = [(slow, "a"), (slow, "b"), (fast, "a"), (fast, "b"), (slow, "a"), (slow, "b")]
        matrix_command.in_turn(jobs, 2, race)
        self.assertEqual(len(seen), 6)
        self.assertTrue(all(names == ["fast"] for names in seen if "fast" in names))

    def test_a_fast_race_takes_as_many_places_as_its_uplinks_need(self):
        fast = matrix.Cell("fast", 6, 1, 100, 100)  # 700 Mbit/s: seven places of nine
        slow = matrix.Cell("slow", 2, 1, 8, 8)
        three = threading.Barrier(3, timeout=30)
        two = threading.Barrier(2, timeout=0.3)
        ended = []

        def race(cell, client):
            try:
                (three if client == "together" else two).wait()
                ended.append(client)
            except threading.BrokenBarrierError:
                ended.append("alone")

        matrix_command.in_turn([(fast, "together"), (slow, "together"), (slow, "together"),
                                (fast, "later"), (fast, "later")], 9, race)
        self.assertEqual(ended, ["together"] * 3 + ["alone"] * 2)

    def test_the_command_goes_on_where_a_race_fails_and_skips_what_needs_more_cores(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "matrix.toml")
            path.write_text(SMALL, encoding="utf-8")
            chosen = types.SimpleNamespace(
                matrix=path, cells=["star", "star-offload-off", "*-50-delay-5"], client=None,
                list=False, table=False, out=f"{folder}/out", rounds=2, at_once=1)
            raced = []

            def fake(command, **_):
                name, client = command[3].stem, command[5]
                raced.append((name, client))
                cell = next(cell for cell in matrix.parse(SMALL).cells if cell.name == name)
                if name == "star":
                    return types.SimpleNamespace(returncode=2, stdout="", stderr="no\n")
                record = pathlib.Path(command[7], f"{name}.{client}.{len(raced)}.json")
                record.write_text(json.dumps(run(cell, client, 1.1)), encoding="utf-8")
                return types.SimpleNamespace(returncode=0, stdout="", stderr="")

            said = io.StringIO()
            with mock.patch.object(hosts, "check"), \
                    mock.patch.object(shaper, "share", return_value=1), \
                    mock.patch.object(matrix_command.building, "program"), contextlib.redirect_stdout(said), \
                    contextlib.redirect_stderr(io.StringIO()) as trouble, \
                    mock.patch.object(matrix_command.subprocess, "run", fake):
                self.assertEqual(matrix_command.command(chosen), 0)
            one_round = [(name, client) for name in ("star", "star-queue-50-delay-5")
                         for client in ("firn", "rival")]
            self.assertEqual(raced, 2 * one_round)
            self.assertIn("star-offload-off: skipped", trouble.getvalue())
            self.assertIn("star, firn: failed", trouble.getvalue())
            self.assertIn("1 met", said.getvalue())
            self.assertIn("2 not raced", said.getvalue())


    def test_links_that_leave_less_than_their_rate_to_tcp_are_not_raced(self):
        home = matrix.Cell("home", 2, 1, 100, 1, 8, bucket_bytes=2000)
        tried = []

        def share(mbit, queue_ms, bucket_bytes, offload):
            tried.append((mbit, queue_ms, bucket_bytes, offload))
            return 0.985 if mbit == 100 else 0.995

        with mock.patch.object(shaper, "share", share):
            self.assertIn("0.985 of 100 Mbit/s", shaper.complaint(home))
            self.assertEqual(tried, [(mbit, 100, 2000, True) for mbit in (1, 8, 100)])
            self.assertEqual(shaper.complaint(matrix.Cell("slow", 2, 1, 8, 8)), "")


DATA = bytes(range(256)) * 4096  # 1 MiB


def transfer(network):
    """DATA from the first host to the second; what arrived, and the least round trip that TCP saw,
    in seconds."""
    sender, receiver = network.hosts
    with hosts.socket_in(receiver.namespace, socket.SOCK_STREAM) as listening:
        listening.bind((receiver.address, 0))
        listening.listen()
        listening.settimeout(60)
        with hosts.socket_in(sender.namespace, socket.SOCK_STREAM) as link:
            link.settimeout(60)
            link.connect(listening.getsockname())
            came, _ = listening.accept()
            with came:
                came.settimeout(60)
                thread = threading.Thread(target=lambda: (link.sendall(DATA),
                                                          link.shutdown(socket.SHUT_WR)))
                thread.start()
                got = b""
                while part := came.recv(1 << 16):
                    got += part
                thread.join()
            info = link.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 152)
    return got, struct.unpack_from("I", info, 148)[0] * 1e-6


class SlowLinks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            hosts.check()
        except hosts.NoNetwork as reason:
            raise unittest.SkipTest(str(reason)) from None
        if not slow_link.TUN.exists():
            raise unittest.SkipTest(f"there is no {slow_link.TUN}")

    @contextlib.contextmanager
    def two_hosts(self, path):
        with hosts.Network(100, "cubic", path) as network:
            network.add("a", 100)
            network.add("b")
            yield network

    def test_frames_come_later_by_the_delay_and_all_of_them_come(self):
        for offload in (True, False):
            with self.subTest(offload=offload), \
                    self.two_hosts(slow_link.Path(delay_ms=20, offload=offload)) as network:
                got, round_trip_s = transfer(network)
                self.assertEqual(got, DATA)
                self.assertGreaterEqual(round_trip_s, 0.04)  # no frame is faster than the link
                frames = network.hosts[0].slow_link.counts()["from_host"]
                self.assertEqual((frames["lost"], frames["overflowed"]), (0, 0))
                segments = len(DATA) // matrix.MSS
                if offload:  # frames of several segments: how many, the kernel chooses by the rate
                    self.assertLess(frames["passed"], segments)
                else:
                    self.assertGreaterEqual(frames["passed"], segments)
                self.assertGreater(network.hosts[0].counters()["sent"], len(DATA))

    def test_a_lossy_link_loses_segments_and_tcp_sends_them_again(self):
        network = self.enterContext(self.two_hosts(slow_link.Path(loss=0.05)))
        self.assertEqual(transfer(network)[0], DATA)
        counters = network.hosts[0].counters()
        self.assertGreater(counters["lost"], 0)
        self.assertGreater(counters["again_segments"], 0)

    def test_without_offload_no_interface_makes_or_takes_large_frames(self):
        network = self.enterContext(self.two_hosts(slow_link.Path(offload=False)))
        ends = [(host.namespace, "eth0") for host in network.hosts]
        ends += [(network.hub, host.cable) for host in network.hosts]
        for namespace, device in ends:
            with hosts.socket_in(namespace, socket.SOCK_DGRAM) as control:
                self.assertEqual(slow_link.offloads(control, device),
                                 {"tso": False, "gso": False, "gro": False})
        self.assertIsNone(network.hosts[0].slow_link)
        self.assertEqual(transfer(network)[0], DATA)

    def test_one_stream_finds_out_what_a_limited_link_carries(self):
        # Without its token bucket the link would carry a thousand times as much.
        with mock.patch.object(shaper, "TAKES_S", 1):
            self.assertLess(0.1, shaper.share(8, 100, 0, False))
            self.assertLess(shaper.share(8, 100, 0, False), 1.5)

    def test_a_link_that_cannot_be_made_says_why(self):
        network = self.enterContext(self.two_hosts(slow_link.Path()))
        with self.assertRaises(slow_link.BrokenLink) as caught:
            slow_link.SlowLink(hosts.NETNS, network.hosts[0].namespace, "eth0", "nowhere", "h9", [])
        self.assertIn("nowhere", str(caught.exception))

    def test_a_cell_of_the_matrix_is_raced_and_ends_in_the_table(self):
        cell = "star-queue-50-delay-5"
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "matrix.toml")
            path.write_text(SMALL, encoding="utf-8")
            chosen = types.SimpleNamespace(
                matrix=path, cells=[cell], client=["firn"], list=False, table=False,
                out=f"{folder}/out", rounds=1, at_once=1)
            # A busy machine may leave less than it should to the stream that is tried first.
            with contextlib.redirect_stdout(io.StringIO()) as said, \
                    mock.patch.object(shaper, "LEAST", 0):
                self.assertEqual(matrix_command.command(chosen), 0)
        row = next(line for line in said.getvalue().splitlines() if line.startswith(f"| {cell} "))
        self.assertRegex(row, r"\| (met|missed) \| \d{4}-\d\d-\d\d \|$")
        left = [path.name for path in hosts.NETNS.glob(f"{hosts.PREFIX}-*")
                if str(hosts.os.getpid()) in path.name]
        self.assertEqual(left, [])


if __name__ == "__main__":
    counted_unittest.main()
