#!/usr/bin/python3
"""scripts/bench-transfer: floors of stages, what counts as unexplained, ratios to rivals, and that no process is left; columns
of scripts/bench-fanout. Where a built `firn` lies in FIRN_BUILD, also the chain itself."""

import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import pathlib
import select
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests")]
import counted_unittest

sys.dont_write_bytecode = True
from transfer_bench import report
from transfer_bench.chain import ENDS, Chain, profile_of
from transfer_bench.children import Child, await_line
from transfer_bench.floors import BLOCKS, floor_of

FIRN_BUILD = pathlib.Path(os.environ.get("FIRN_BUILD", ""))
ENOUGH_SAMPLES = 50  # of some 5 ms of processor time each; the parts of fewer are chance
FLOORS = {"copies": 0.1, "hash": 0.3, "tls": 0.2, "disk_write": 0.5, "disk_read": 0.4, "encode": 0.6, "decode": 0.7,
          "network_send": 0.8, "network_receive": 0.9,
          "each_ns": {"wake_up_signal": 1000, "wake_up_wait": 2000, "page_fault": 500, "stage": 50, "block_parse": 100,
                      "block_serialize": 200, "payload": 40, "vector": 300}}


def profile(cpu_s=2.0, **stages):
    return {"cpu_s": cpu_s, "stages": {"tls": cpu_s} | stages, "entered": {"wake_ups": 10_000, "tls": 30_000},
            "page_faults": 2_000_000, "switches_waiting": 20_000, "switches_interrupted": 7,
            "threads": {"firn": {"threads": 1, "ran": 1.0, "waited_for_core": 0.25, "waited": 3.0}}}


def document(**changed):
    return {"bytes": 1 << 30, "cpu": "one", "cpus": 2, "runs": {}, "floors": FLOORS,
            "chains": {"coded": [{end: profile() for end in ENDS}]}} | changed


def printed(what):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        report.print_document(what)
    return out.getvalue().splitlines()


class Floors(unittest.TestCase):
    def floor(self, end, stage, dense=True, **changed):
        return floor_of(FLOORS | changed, end, stage, profile(), dense)

    def test_a_relay_pays_for_both_directions(self):
        self.assertEqual((0.2, 0.4, 0.2), tuple(self.floor(end, "tls") for end in ENDS))
        self.assertAlmostEqual(1.7, self.floor("relay", "network"))
        self.assertAlmostEqual(BLOCKS * 300e-9, self.floor("relay", "messages"))
        self.assertAlmostEqual(BLOCKS * 200e-9, self.floor("seed", "messages"))

    def test_counted_stages_cost_their_price_as_often_as_they_came(self):
        self.assertAlmostEqual(0.01, self.floor("seed", "wake_ups"))
        self.assertAlmostEqual(0.04, self.floor("seed", "waits"))

    def test_what_need_not_be_done_costs_nothing(self):
        self.assertEqual(0, self.floor("get", "decode", dense=False))
        self.assertEqual(0.7, self.floor("get", "decode"))
        self.assertEqual(0, self.floor("relay", "actions"))
        self.assertEqual(0, self.floor("get", "encode"))

    def test_an_older_result_without_prices_has_no_floor_for_what_is_counted(self):
        old = {key: value for key, value in FLOORS.items() if key != "each_ns"}
        self.assertIsNone(floor_of(old, "seed", "wake_ups", profile(), True))
        self.assertEqual(0.2, floor_of(old, "seed", "tls", profile(), True))


class Tables(unittest.TestCase):
    def test_turns_outside_all_stages_are_unexplained(self):
        chain = {end: profile(tls=0.9, main_turns=0.05, io_turns=0.03, worker_turns=0.01, none=0.01) for end in ENDS}
        lines = printed(document(chains={"coded": [chain]}))
        self.assertIn("| unexplained | 0.10 (10.0 %) | | 0.10 (10.0 %) | | 0.10 (10.0 %) | |", lines)
        self.assertIn("| all | 1.00 | 0.20 | 1.00 | 0.40 | 1.00 | 0.20 |", lines)
        self.assertFalse([line for line in lines if "main_turns" in line])

    def test_floors_of_stages_that_are_not_shown_are_not_summed(self):
        chain = {end: profile(hash=0.5 if end == "relay" else 0.001) for end in ENDS}
        lines = printed(document(chains={"coded": [chain]}))
        self.assertIn("| hash | - | | 0.50 | 0.30 | - | |", lines)
        self.assertIn("| all | 2.00 | 0.20 | 2.50 | 0.70 | 2.00 | 0.20 |", lines)

    def test_the_run_with_the_median_of_processor_time_is_shown(self):
        runs = [{end: profile(cpu_s) for end in ENDS} for cpu_s in (9.0, 1.0, 2.0)]
        self.assertTrue([line for line in printed(document(chains={"coded": runs})) if line.startswith("| all | 2.00 |")])

    def test_faults_switches_and_waiting_stand_beside(self):
        lines = printed(document())
        self.assertIn("| page faults, s within the stages | 1.00 | 1.00 | 1.00 |", lines)
        self.assertIn("| context switches, voluntary | 20,000 | 20,000 | 20,000 |", lines)
        self.assertIn("| main thread: s running / waiting for a core / for work" + " | 1.00 / 0.25 / 3.00" * 3 + " |", lines)

    def test_ratios_leave_the_making_of_manifests_out(self):
        def runs(rate, seed, get, **more):
            return [{"mb_per_s": rate, "seed_cpu_s": seed, "get_cpu_s": get, "seed_peak_mib": 1, "get_peak_mib": 1} | more]
        lines = printed(document(runs={
            "firn, coded": runs(300, 3.0, 1.0, manifest_cpu_s=1.0), "libtorrent": runs(200, 1.0, 1.0),
            "copy": [{"mb_per_s": 900, "seconds": 1}]}, absent={"aria2c": "not installed"}))
        self.assertIn("| libtorrent | 1.50 | 1.50 |", lines)
        self.assertIn("| aria2c | not installed | | |", lines)


class Fanout(unittest.TestCase):
    def test_turns_are_one_column_in_whatever_parts_they_were_told(self):
        loader = importlib.machinery.SourceFileLoader("bench_fanout", str(ROOT / "scripts/bench-fanout"))
        fanout = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
        loader.exec_module(fanout)

        def cells(stages):
            run = {"mb_per_s": 1, "redundant_share": 0, "cpu_per_gib": {"seed": {"tls": 2.0}, "get": stages}}
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                fanout.print_table({"bytes": 1, "repeats": 1, "cpu": "one", "cores": 2, "cells": [
                    {"shape": "a", "getters": 1, "build": "b", "runs": [run]}]})
            header, _, row = out.getvalue().splitlines()[-3:]
            return dict(zip(header.split(" | "), row.split(" | ")))

        older = cells({"main_turns": 1.5, "io_turns": 1.0, "worker_turns": 0.5, "copies": 0.25})
        newer = cells({name: 0.5 for name in ("events", "actions", "timers", "sockets", "orders", "tasks")} | {"copies": 0.25})
        self.assertEqual("3.00", older["turns"])
        self.assertEqual(older, newer)
        self.assertEqual("0.75", cells({"waits": 0.5, "main_turns": 0.25})["turns"])


class Ended:
    """Stands for a process that has ended."""

    def __init__(self, user, system):
        self.usage = type("Usage", (), {"ru_utime": user, "ru_stime": system})

    def cpu_seconds(self):
        return self.usage.ru_utime + self.usage.ru_stime

    def peak_mib(self):
        return 64


class Profiles(unittest.TestCase):
    def test_stages_of_the_profile_and_what_is_around_it_add_up_to_all(self):
        told = {"event": "profile", "cpu_user": 1.5, "cpu_system": 0.5, "seconds": {"tls": 1.75, "none": 0.25},
                "samples": 400, "entered": {"tls": 8}, "page_faults": 6, "switches_waiting": 4,
                "switches_interrupted": 2, "threads": {"firn": {"threads": 1, "ran": 2.0}}}
        with tempfile.TemporaryDirectory(prefix="firn-test-") as folder:
            log = pathlib.Path(folder, "log")
            log.write_text("\n".join(["a line", json.dumps({"event": "progress", "blocks_sent": 32}), json.dumps(told)]))
            found = profile_of(Ended(1.9, 0.6), log, 0.5)
        self.assertEqual({"tls": 3.5, "none": 0.5, "start_and_end": 1.0}, found["stages"])
        self.assertEqual(found["cpu_s"], sum(found["stages"].values()))
        self.assertEqual((1.2, 400, 64, {"tls": 16}, 12), tuple(
            found[what] for what in ("cpu_system_s", "samples", "blocks_sent", "entered", "page_faults")))
        self.assertEqual({"firn": {"threads": 1, "ran": 4.0}}, found["threads"])


class Children(unittest.TestCase):
    """The deadlines of 60 s only end a hang."""

    def test_a_process_that_runs_at_the_end_of_its_block_is_killed(self):
        with self.assertRaises(KeyboardInterrupt), Child(["sleep", "600"]) as child:
            raise KeyboardInterrupt
        self.assertEqual(-signal.SIGKILL, child.process.returncode)

    def test_a_wait_ends_at_its_deadline_and_the_process_with_it(self):
        with self.assertRaisesRegex(SystemExit, "still runs"), Child(["sleep", "600"]) as child:
            child.wait(0.01)
        self.assertEqual(-signal.SIGKILL, child.process.returncode)

    def test_a_program_that_ends_before_it_serves_is_not_waited_for(self):
        with tempfile.NamedTemporaryFile() as log, Child(["false"]) as child:
            with self.assertRaisesRegex(SystemExit, "exit code 1 before it served"):
                await_line(child, log.name, lambda line: line, 60)

    def test_a_child_ends_with_its_parent_also_where_that_is_killed(self):
        starts = ("import signal; from transfer_bench.children import Child; "
                  "print(Child(['sleep', '600']).process.pid, flush=True); signal.pause()")
        with subprocess.Popen([sys.executable, "-c", starts], stdout=subprocess.PIPE, cwd=ROOT / "scripts") as parent:
            child = os.pidfd_open(int(parent.stdout.readline()))
            parent.kill()
        poll = select.poll()
        poll.register(child, select.POLLIN)
        ended = poll.poll(60_000)
        if not ended:
            signal.pidfd_send_signal(child, signal.SIGKILL)
        os.close(child)
        self.assertTrue(ended, "it outlived its parent")


class Interrupted(unittest.TestCase):
    def test_a_benchmark_that_is_told_to_end_leaves_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            build, scratch = pathlib.Path(folder, "build"), pathlib.Path(folder, "scratch")
            for name in ("client/firn", "tests/bench/measure_floors"):  # it ends before it runs them
                (build / name).parent.mkdir(parents=True)
                (build / name).touch()
            scratch.mkdir()
            script = subprocess.Popen([sys.executable, ROOT / "scripts/bench-transfer", "--size", "4G", "--build", build],
                                      env={**os.environ, "TMPDIR": str(scratch)})
            self.addCleanup(script.kill)
            deadline = time.monotonic() + 60
            while not list(scratch.glob("*/src/*")):  # it writes the content
                self.assertIsNone(script.poll())
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.01)
            script.terminate()
            self.assertEqual(128 + signal.SIGTERM, script.wait(60))
            self.assertEqual([], list(scratch.iterdir()))


@unittest.skipUnless((FIRN_BUILD / "client/firn").is_file(), "no firn in FIRN_BUILD")
class Whole(unittest.TestCase):
    def test_the_downloader_gets_all_from_the_relay_and_every_end_has_a_profile(self):
        with tempfile.TemporaryDirectory(prefix="firn-test-") as folder:
            work = pathlib.Path(folder)
            (work / "src").mkdir()
            (work / "src/content.bin").write_bytes(os.urandom(64 << 20))
            run = Chain(FIRN_BUILD, work / "src/content.bin", work).run(dense=True, longest=90)
            self.assertTrue((work / "firn").is_dir(), "its keys are elsewhere: in the user's home?")
        for end in ENDS:
            if run[end]["samples"] >= ENOUGH_SAMPLES:
                self.assertAlmostEqual(run[end]["cpu_s"], sum(run[end]["stages"].values()), delta=run[end]["cpu_s"] / 20)
            self.assertGreater(run[end]["entered"]["waits"], 0)
        # Had the downloader found the seed, the relay would have sent next to nothing.
        self.assertGreaterEqual(run["relay"]["blocks_sent"], BLOCKS)
        self.assertLess(run["seed"]["blocks_sent"], 1.5 * BLOCKS)


if __name__ == "__main__":
    counted_unittest.main()
