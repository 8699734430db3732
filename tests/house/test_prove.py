#!/usr/bin/python3
"""scripts/prove: which parts there are, what it says of them, and that it leaves nothing behind. The
parts themselves take hours; those here are commands that end at once, or never."""

import contextlib
import importlib.machinery
import importlib.util
import io
import os
import pathlib
import select
import signal
import subprocess
import sys
import tempfile
import textwrap
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import counted_unittest

LOADER = importlib.machinery.SourceFileLoader("prove", str(ROOT / "scripts/prove"))
sys.dont_write_bytecode = True
prove = importlib.util.module_from_spec(importlib.util.spec_from_loader("prove", LOADER))
LOADER.exec_module(prove)


def part(name, *shell, **environment):
    return prove.Part(name, "", [["sh", "-c", text] for text in shell], environment)


class Parts(unittest.TestCase):
    def names(self, *wanted):
        return [part.name for part in prove.chosen(wanted, prove.parts(1, 1))]

    def test_every_release_compiler_and_fuzz_target_has_one(self):
        names = self.names()
        self.assertEqual(len(set(names)), len(names))
        for name in ("address", "contents", "faults", "http", "kernels", "kills", "neon", "thread", "fresh-bookworm",
                     "fresh-trixie", "tracker-abuse", "clang-bookworm",
                     "clang-trixie", "clang-noble", "fresh-noble", "package-bookworm", "package-trixie", "package-noble"):
            self.assertIn(name, names)
        for target in (ROOT / "tests/fuzz").glob("*.cc"):
            if "FIRN_FUZZ_TARGET(" in target.read_text():
                self.assertIn(f"fuzz-{target.stem}", names)

    def test_one_is_run_by_its_name_and_several_by_how_their_names_begin(self):
        self.assertEqual(["faults"], self.names("faults"))
        self.assertEqual(["fresh-bookworm", "fresh-trixie", "fresh-noble"], self.names("fresh"))
        with self.assertRaises(ValueError):
            self.names("frsh")

    def test_a_folder_made_for_fewer_tests_is_asked_for_all_of_them(self):
        def commands():
            [found] = prove.chosen(["address"], prove.parts(1, 1))
            return found.commands

        with tempfile.TemporaryDirectory() as folder, mock.patch.object(prove, "ROOT", pathlib.Path(folder)):
            (prove.ROOT / "tests/fuzz/corpus").mkdir(parents=True)
            (prove.ROOT / "tests/e2e").mkdir()
            self.assertEqual([["scripts/test", "--sanitize", "address,undefined"]], commands())
            made = prove.ROOT / "build-address-undefined"
            made.mkdir()
            (made / "build.ninja").touch()
            self.assertEqual([["meson", "configure", "-Dinstrumented_all=true", made.name],
                              ["scripts/test", "--sanitize", "address,undefined"]], commands())

    def test_the_list_names_them_and_runs_none(self):
        done = subprocess.run([ROOT / "scripts/prove", "--list"], capture_output=True, text=True)
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual(self.names(), [line.split()[0] for line in done.stdout.splitlines()])

    def test_an_unknown_name_is_refused_before_anything_runs(self):
        done = subprocess.run([ROOT / "scripts/prove", "faults", "none-such"], capture_output=True,
                              text=True)
        self.assertEqual((2, ""), (done.returncode, done.stdout))
        self.assertIn("none-such", done.stderr)


class Running(unittest.TestCase):
    def prove(self, *parts):
        """(exit status, lines printed)"""
        said = io.StringIO()
        with tempfile.TemporaryDirectory() as logs, contextlib.redirect_stdout(said):
            status = prove.prove(parts, pathlib.Path(logs))
        return status, said.getvalue().splitlines()

    def test_a_line_for_each_part_and_one_that_counts(self):
        status, lines = self.prove(part("good", "exit 0"), part("also", "exit 0"))
        self.assertEqual(0, status)
        self.assertEqual(["good", "passed"], lines[0].split()[:2])
        self.assertEqual("2 passed, 0 failed", lines[-1])
        self.assertEqual(3, len(lines))

    def test_a_failure_shows_its_last_words_and_the_others_still_run(self):
        status, lines = self.prove(part("bad", "echo because", "exit 3", "echo never"),
                                   part("good", "exit 0"))
        self.assertEqual(1, status)
        self.assertIn("    because", lines)
        self.assertNotIn("    never", lines)
        self.assertEqual("1 passed, 1 failed", lines[-1])

    def test_a_program_that_is_not_there_is_a_failure(self):
        status, lines = self.prove(prove.Part("gone", "", [["./none-such"]]))
        self.assertEqual((1, "0 passed, 1 failed"), (status, lines[-1]))

    def test_what_cannot_run_here_is_skipped_and_says_why(self):
        status, lines = self.prove(part("good", "exit 0"), part("rootly", "echo needs root; exit 77"))
        self.assertEqual((0, "1 passed, 0 failed, 1 skipped"), (status, lines[-1]))
        self.assertIn("    needs root", lines)

    def test_nothing_but_skipped_parts_is_no_success(self):
        status, lines = self.prove(part("rootly", "exit 77"))
        self.assertEqual((1, "0 passed, 0 failed, 1 skipped"), (status, lines[-1]))

    def test_a_part_gets_its_environment(self):
        status, _ = self.prove(part("huge", '[ "$HUGE" = 1 ]', HUGE="1"))
        self.assertEqual(0, status)

    def test_a_signal_ends_what_was_started(self):
        with tempfile.TemporaryDirectory() as folder:
            said, ends = pathlib.Path(folder, "said"), pathlib.Path(folder, "ends")
            os.mkfifo(said)
            os.mkfifo(ends)
            program = textwrap.dedent(f"""
                import pathlib, sys
                sys.dont_write_bytecode = True
                sys.path.insert(0, {str(ROOT / "tests/house")!r})
                from test_prove import prove
                prove.LOGS = pathlib.Path({folder!r})
                prove.parts = lambda seeds, minutes: [prove.Part("endless", "", [
                    ["sh", "-c", "exec >{said} 3<{ends}; echo began; cat <&3 >/dev/null & wait"]])]
                sys.exit(prove.main([]))
            """)
            # The part ends by itself when this test does, which holds the other end of its input. (A shell
            # gives its background commands an empty standard input, hence a descriptor of its own.)
            holding = os.open(ends, os.O_RDWR)
            self.addCleanup(os.close, holding)
            proving = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            self.addCleanup(proving.kill)
            with said.open() as output:
                self.assertEqual("began\n", output.readline())
                proving.send_signal(signal.SIGTERM)
                self.assertEqual(128 + signal.SIGTERM, proving.wait(90))
                # All that could write there are gone.
                self.assertTrue(select.select([output], [], [], 10)[0])
                self.assertEqual("", output.read())

    def test_a_signal_between_two_commands_ends_the_next(self):
        interrupts = prove.Interrupts()
        interrupts._came(signal.SIGTERM, None)
        process = subprocess.Popen(["cat"], stdin=subprocess.PIPE, start_new_session=True)
        self.addCleanup(process.stdin.close)
        with self.assertRaises(prove.Interrupted):
            interrupts.wait(process)
        self.assertEqual(-signal.SIGTERM, process.poll())


if __name__ == "__main__":
    counted_unittest.main()
