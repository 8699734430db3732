#!/usr/bin/python3
"""`firn medium`: a content through channels that lose, gain and flip bits, with real processes."""

import json
import os
import random
import signal
import subprocess
import typing
import time
import unittest

from harness import (BUILD, DISK, KIB, USAGE, VERIFY_FAILED, SwarmTest, can_mount, content_bytes,
                     in_mount_namespace, main)


class Result(typing.NamedTuple):
    returncode: int
    stdout: str
    stderr: str


class MediumTest(SwarmTest):
    def run_medium(self, *arguments):
        return Result(*self.run_firn(*arguments))

    def write(self, *options, size=10 * KIB, name="content.bin", rate="0.01"):
        """Writes a content to a medium; both paths."""
        content = self.file(size, name)
        medium = self.folder / f"{name}.medium"
        result = self.run_medium("medium", "write", content, "-o", medium, "--rate", rate, *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return content, medium

    def sim(self, medium, rate, seed=1, name="received"):
        received = self.folder / name
        result = self.run_medium("medium", "sim", medium, "-o", received, "--rate", rate,
                               "--seed", str(seed))
        self.assertEqual(result.returncode, 0, result.stderr)
        return received

    def read(self, medium, *options, into="out"):
        return self.run_medium("medium", "read", medium, self.folder / into, "--json", *options)

    def event(self, result, kind):
        events = [json.loads(line) for line in result.stdout.splitlines()]
        found = [event for event in events if event["event"] == kind]
        self.assertEqual(len(found), 1, result.stdout + result.stderr)
        return found[0]

    def assert_read(self, content, medium, *options, into="out"):
        result = self.read(medium, *options, into=into)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assert_same(content, self.folder / into / content.name)
        self.assertEqual(os.listdir(self.folder / into), [content.name], "nothing else is left")
        return self.event(result, "medium_read")

    def cut(self, medium, keep, name="cut"):
        """The medium's bytes that `keep` leaves of them."""
        path = self.folder / name
        path.write_bytes(keep(medium.read_bytes()))
        return path


class WholeMedia(MediumTest):
    def test_what_is_written_is_read_byte_for_byte(self):
        content, medium = self.write()
        event = self.assert_read(content, medium)
        self.assertEqual(event["frames_lost"], 0)

    def test_a_content_survives_the_channel_that_it_was_planned_for(self):
        for rate in ("0.003", "0.01"):
            with self.subTest(rate=rate):
                content, medium = self.write(name=f"at-{rate}.bin", rate=rate)
                received = self.sim(medium, rate, name=f"received-{rate}")
                self.assertNotEqual(received.read_bytes(), medium.read_bytes())
                self.assert_read(content, received, into=f"out-{rate}")

    def test_a_folder_keeps_its_files(self):
        tree = self.tree({"a/small.txt": b"hello", "b.bin": 5000, "empty/": 0})
        medium = self.folder / "medium"
        result = self.run_medium("medium", "write", tree, "-o", medium, "--rate", "0.01")
        self.assertEqual(result.returncode, 0, result.stderr)
        result = self.read(self.sim(medium, "0.01"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assert_same(tree, self.folder / "out" / tree.name)

    def test_a_manifest_that_is_there_keeps_its_content_id(self):
        content = self.file(20 * KIB)
        manifest = self.create(content)
        medium = self.folder / "medium"
        result = self.run_medium("medium", "write", content, "-o", medium, "--rate", "0.003",
                               "--manifest", manifest, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assert_read(content, self.sim(medium, "0.003"), "--expect", manifest)

    def test_a_scrubbed_medium_is_as_good_as_new(self):
        content, medium = self.write()
        received = self.sim(medium, "0.01")
        new = self.folder / "new"
        result = self.run_medium("medium", "scrub", received, "-o", new)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(new.read_bytes(), medium.read_bytes())
        self.assertFalse((self.folder / ".firn").exists())


class DamagedMedia(MediumTest):
    def test_a_truncated_medium_is_read_as_far_as_spare_rows_reach(self):
        content, medium = self.write("--missing", "0.3", size=20 * KIB)
        received = self.sim(medium, "0.01")
        end = self.cut(received, lambda data: data[:len(data) * 8 // 10], "end")
        self.assert_read(content, end, into="end-out")
        begin = self.cut(received, lambda data: data[len(data) * 2 // 10:], "begin")
        self.assert_read(content, begin, into="begin-out")

    def test_ten_percent_may_be_missing_from_the_middle(self):
        content, medium = self.write("--missing", "0.15", size=20 * KIB)
        received = self.sim(medium, "0.01")
        hole = self.cut(received, lambda data: data[:len(data) * 4 // 10] +
                        data[len(data) // 2:])
        event = self.assert_read(content, hole)
        self.assertGreater(event["frames_lost"], 0)

    def test_a_burst_of_noise_costs_the_frames_that_it_meets(self):
        content, medium = self.write("--missing", "0.3", size=20 * KIB)
        received = self.sim(medium, "0.01")
        noise = random.Random(5).randbytes(2000)
        spoilt = self.cut(received, lambda data: data[:9000] + noise + data[11500:])
        event = self.assert_read(content, spoilt)
        self.assertGreater(event["frames_lost"], 0)

    def test_too_much_missing_is_said_and_nothing_is_written(self):
        content, medium = self.write()
        half = self.cut(medium, lambda data: data[:len(data) // 2])
        result = self.read(half)
        self.assertEqual(result.returncode, VERIFY_FAILED, result.stderr)
        event = self.event(result, "medium_read")
        self.assertGreater(event["rows_missing"], 0)
        self.assertFalse((self.folder / "out" / content.name).exists())

    def test_two_halves_complete_each_other(self):
        content, medium = self.write()
        half = self.cut(medium, lambda data: data[:len(data) * 55 // 100], "first")
        other = self.cut(medium, lambda data: data[len(data) * 45 // 100:], "second")
        self.assertEqual(self.read(half).returncode, VERIFY_FAILED)
        self.assert_read(content, other)

    def test_wrong_rates_are_found_and_said(self):
        content, medium = self.write("--missing", "0.3")
        received = self.sim(medium, "0.003")
        result = self.run_medium("medium", "read", received, self.folder / "out",
                               "--rate", "0.1")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("the bits fit a channel with", result.stderr)
        self.assert_same(content, self.folder / "out" / content.name)

    def test_noise_and_other_files_are_no_media(self):
        for name, data in (("noise", content_bytes(30 * KIB, 9)), ("empty", b""),
                           ("zeros", bytes(20 * KIB))):
            with self.subTest(name=name):
                path = self.folder / name
                path.write_bytes(data)
                result = self.run_medium("medium", "read", path, self.folder / "out")
                self.assertEqual(result.returncode, VERIFY_FAILED, result.stderr)
                self.assertIn("no label", result.stderr)
                self.assertFalse((self.folder / "out").exists())

    def test_another_contents_medium_is_refused(self):
        content, medium = self.write()
        other = self.create(self.file(5 * KIB, "other.bin"))
        result = self.run_medium("medium", "read", medium, self.folder / "out", "--expect", other)
        self.assertEqual(result.returncode, USAGE, result.stderr)
        self.assertIn("holds the content", result.stderr)
        self.assertFalse((self.folder / "out").exists())


class PrivateContents(MediumTest):
    def test_a_medium_makes_no_private_content_as_it_would_have_no_link(self):
        content = self.file(KIB)
        for option in ("--private", "--fresh-secret"):
            result = self.run_medium("medium", "write", content, "-o", self.folder / "medium",
                                   "--rate", "0.01", option)
            self.assertEqual(result.returncode, USAGE, result.stderr)

    def test_a_private_manifest_goes_with_its_content_and_no_link_without_the_secret_is_told(self):
        content = self.file(20 * KIB)
        manifest = self.create(content, "--private")
        medium = self.folder / "medium"
        result = self.run_medium("medium", "write", content, "-o", medium, "--rate", "0.003",
                               "--manifest", manifest)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, "")
        half = self.cut(medium, lambda data: data[:len(data) // 2])
        result = self.run_medium("medium", "read", half, self.folder / "out")
        self.assertEqual(result.returncode, VERIFY_FAILED, result.stderr)
        self.assertIn("with its whole link", result.stderr)
        self.assertNotRegex(result.stderr, "firn:[a-z2-7]{52}")
        self.assert_read(content, medium)


class Interruptions(MediumTest):
    def test_a_read_that_is_killed_goes_on(self):
        content, medium = self.write(size=200 * KIB)
        received = self.sim(medium, "0.01")
        out = self.folder / "out"
        command = [BUILD / "client" / "firn", "medium", "read", received, out, "--threads", "1"]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as reader:
            # Rows are kept as they come: the kill is in the middle of the read.
            while reader.poll() is None and not any(
                    path.stat().st_size > 20_000 for path in out.glob(".firn/*.rows")):
                time.sleep(0.001)
            reader.send_signal(signal.SIGKILL)
        self.assertEqual(reader.returncode, -signal.SIGKILL)
        self.assertFalse((out / content.name).exists())
        self.assert_read(content, received)

    def test_a_file_in_the_way_is_left_alone(self):
        content, medium = self.write()
        (self.folder / "out").mkdir()
        there = self.folder / "out" / content.name
        there.write_bytes(b"mine")
        result = self.read(medium)
        self.assertEqual(result.returncode, DISK, result.stderr)
        self.assertEqual(there.read_bytes(), b"mine")
        self.assertEqual(self.read(medium, "--overwrite").returncode, 0)
        self.assert_same(content, there)

    def test_a_medium_overwrites_nothing(self):
        content, medium = self.write()
        before = medium.read_bytes()
        for command in (("write", content), ("sim", medium), ("scrub", medium)):
            options = [] if command[0] == "scrub" else ["--rate", "0.01"]
            result = self.run_medium("medium", *command, "-o", medium, *options)
            self.assertEqual(result.returncode, DISK, result.stderr)
            self.assertIn("overwrite nothing", result.stderr)
        self.assertEqual(medium.read_bytes(), before)

    @unittest.skipUnless(can_mount(), "no mount namespaces here")
    def test_a_full_disk_is_said_and_the_read_goes_on_elsewhere(self):
        content, medium = self.write(size=100 * KIB)
        small = self.folder / "small"
        small.mkdir()
        prefix = in_mount_namespace(f"mount -t tmpfs -o size=64k none '{small}'")
        command = [*prefix, BUILD / "client" / "firn", "medium", "read", medium, small]
        result = subprocess.run(command, capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, DISK, result.stderr)
        self.assertIn("no space", result.stderr.lower())
        self.assert_read(content, medium)


class Writers(MediumTest):
    def test_processes_that_write_one_medium_do_not_disturb_each_other(self):
        content, medium = self.write()
        for name, command in (("written", ["write", content, "--rate", "0.01"]),
                              ("passed", ["sim", medium, "--rate", "0.01"]),
                              ("fresh", ["scrub", medium])):
            with self.subTest(name=name):
                path = self.folder / "media" / name
                path.parent.mkdir(exist_ok=True)
                writers = [self.firn(f"{name}{i}", "medium", *command, "-o", path)
                           for i in range(3)]
                ends = sorted(writer.wait_exit() for writer in writers)
                self.assertEqual([0, DISK, DISK], ends, [writer.story() for writer in writers])
                self.assertEqual([name], os.listdir(path.parent))
                if name != "passed":
                    self.assertEqual(medium.read_bytes(), path.read_bytes())
                path.unlink()

    def test_what_a_killed_writer_left_is_used_again(self):
        content, medium = self.write()
        folder = self.folder / "media"
        folder.mkdir()
        (folder / ".new.firn-part0").write_bytes(b"left" * 1_000_000)
        result = self.run_medium("medium", "write", content, "-o", folder / "new", "--rate", "0.01")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(["new"], os.listdir(folder))
        self.assertEqual(medium.read_bytes(), (folder / "new").read_bytes())


class Plans(MediumTest):
    def plan(self, *options):
        result = self.run_medium("medium", "plan", "--json", *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def test_a_plan_for_64_mib_at_one_percent_takes_few_bits(self):
        plan = self.plan("--size", "64M", "--rate", "0.01")
        self.assertLessEqual(plan["bits_per_content_bit"], 2.3)
        self.assertLessEqual(plan["content_loss"], 1e-9)

    def test_a_plan_tells_how_long_writing_and_reading_take(self):
        plan = self.plan("--size", "1M", "--rate", "0.003", "--threads", "1")
        self.assertGreater(plan["write_seconds"], 0)
        self.assertGreater(plan["read_seconds"], 0)
        self.assertEqual(plan["threads"], 1)
        result = self.run_medium("medium", "plan", "--size", "1M", "--rate", "0.003")
        self.assertIn("an estimate", result.stdout)

    def test_more_losses_cost_more(self):
        mild = self.plan("--size", "1M", "--rate", "0.003")
        rough = self.plan("--size", "1M", "--rate", "0.02")
        safe = self.plan("--size", "1M", "--rate", "0.003", "--loss", "1e-12")
        spare = self.plan("--size", "1M", "--rate", "0.003", "--missing", "0.2")
        for other in (rough, safe, spare):
            self.assertGreater(other["bits"], mild["bits"])

    def test_what_cannot_be_planned_is_refused(self):
        for options in (["--size", "1M"], ["--size", "1M", "--rate", "0.4"],
                        ["--rate", "0.01"], ["--size", "1M", "--rate", "2"]):
            with self.subTest(options=options):
                result = self.run_medium("medium", "plan", *options)
                self.assertEqual(result.returncode, USAGE, result.stderr)

    def test_a_medium_tells_what_it_is(self):
        content, medium = self.write()
        result = self.run_medium("medium", "inspect", self.sim(medium, "0.01"), "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        event = self.event(result, "medium")
        self.assertEqual(event["labels"], 4)
        self.assertEqual(event["fitted_factor"], 1)


if __name__ == "__main__":
    main()
