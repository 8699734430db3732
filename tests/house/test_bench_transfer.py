#!/usr/bin/python3
"""scripts/bench-transfer: floors of stages, what counts as unexplained, and ratios to rivals. Where a built `firn` lies in
FIRN_BUILD, also the chain itself."""

import contextlib
import io
import os
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests")]
import counted_unittest

sys.dont_write_bytecode = True
from transfer_bench import report
from transfer_bench.chain import ENDS, Chain
from transfer_bench.floors import BLOCKS, floor_of

FIRN_BUILD = pathlib.Path(os.environ.get("FIRN_BUILD", ""))
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


@unittest.skipUnless((FIRN_BUILD / "client/firn").is_file(), "no firn in FIRN_BUILD")
class Whole(unittest.TestCase):
    def test_the_downloader_gets_all_from_the_relay_and_every_end_has_a_profile(self):
        with tempfile.TemporaryDirectory(prefix="firn-test-") as folder:
            work = pathlib.Path(folder)
            (work / "src").mkdir()
            (work / "src/content.bin").write_bytes(os.urandom(16 << 20))
            run = Chain(FIRN_BUILD, work / "src/content.bin", work).run(dense=True)
        for end in ENDS:
            self.assertAlmostEqual(run[end]["cpu_s"], sum(run[end]["stages"].values()), delta=run[end]["cpu_s"] / 50)
            self.assertGreater(run[end]["entered"]["waits"], 0)
        # Had the downloader found the seed, the relay would have sent next to nothing.
        self.assertGreaterEqual(run["relay"]["blocks_sent"], BLOCKS)
        self.assertLess(run["seed"]["blocks_sent"], 1.5 * BLOCKS)


if __name__ == "__main__":
    counted_unittest.main()
