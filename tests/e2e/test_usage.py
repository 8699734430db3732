#!/usr/bin/python3
"""Command lines that are wrong, inputs that are missing, outputs that fail."""

import os
import subprocess

import harness
from harness import KIB, LISTEN

FULL = "/dev/full"


class Words(harness.SwarmTest):
    def refused(self, *arguments, words=(), without=(), program="client/firn"):
        run = self.programs.start("program", [harness.BUILD / program, *arguments],
                                  cwd=self.folder)
        result = run.wait_exit(20), run.output(), run.output("stderr")
        self.assert_refused(result, harness.USAGE, *words)
        for word in without:
            self.assertNotIn(word, result[2])
        self.assertEqual("", result[1], "an error goes to stderr alone")

    def test_an_unknown_command_is_named_with_the_nearest(self):
        for word, nearest in (("gte", "get"), ("shar", "share"), ("verfy", "verify"),
                              ("infoo", "info"), ("Seed", "seed"), ("hepl", "help")):
            with self.subTest(word=word):
                self.refused(word, "x", words=[f"unknown command '{word}'",
                                               f"did you mean '{nearest}'?"])
        self.refused("zzzz", words=["unknown command 'zzzz'", "firn help"], without=["did you"])
        self.refused("bench", "codek", words=["unknown command 'codek'", "'codec'"])
        self.refused("help", "gte", words=["firn: unknown command 'gte'", "'get'", "`firn help`"])
        self.refused("help", "bench", "codek", words=["firn bench: unknown command", "'codec'"])

    def test_an_unknown_option_is_named_with_the_nearest(self):
        for arguments, words in (
                (["--hlep"], ["'--hlep'", "'--help'"]),
                (["get", "--outptu", "x", "y"], ["'--outptu'", "'--output'", "firn get --help"]),
                (["get", "x", "--outptu=y"], ["'--outptu'", "'--output'"]),
                (["get", "x", "-o", "y", "--tarcker", "z"], ["'--tarcker'", "'--tracker'"]),
                (["share", "-x", "y"], ["'-x'"]),
                (["info", "-qz", "y"], ["'-qz'"]),
                (["get", "x", "-log", "y"], ["'-log'", "'--log'"]),
                (["get", "x", "--on-complete", "--outptu", "--outtpu", "y"],
                 ["'--outtpu'", "'--output'"]),  # the first is what --on-complete takes
                (["bench", "codec", "--qiuck"], ["'--qiuck'", "'--quick'"])):
            with self.subTest(arguments=arguments):
                self.refused(*arguments, words=["unknown option", *words])

    def test_an_option_without_its_value_is_named(self):
        for arguments in (["get", "x", "-o", "y", "--listen"], ["get", "x", "--listen"]):
            self.refused(*arguments, words=["--listen needs a value"])
        self.refused("get", "x", "-qo", words=["-qo needs a value"])
        self.refused("--listen", words=["--listen needs a value"], program="tracker/firn-tracker")

    def test_what_is_missing_is_said_when_every_word_is_known(self):
        self.refused(words=["command", "firn help"])
        self.refused("get", words=["SOURCE", "firn get --help"], without=["unknown"])
        self.refused("create", "x", words=["--output"], without=["unknown"])
        self.refused("create", "--", "--outptu", words=["--output"], without=["unknown"])

    def test_the_tracker_names_them_too(self):
        for arguments, words in ((["--dtaa", "x"], ["unknown option '--dtaa'", "'--data'"]),
                                 ([], ["--data"]), (["--data", ""], ["--data", "empty"]),
                                 (["--data", "x", "--log", ""], ["--log", "empty"]),
                                 (["--data", "x", "--identity", ""], ["--identity", "empty"])):
            with self.subTest(arguments=arguments):
                self.refused(*arguments, words=words, program="tracker/firn-tracker")

    def test_help_is_a_command(self):
        for arguments, words in (([], ["get", "share", "Exit codes"]),
                                 (["get"], ["firn get", "--on-complete"]),
                                 (["bench", "gpu"], ["firn bench gpu", "--quick"]),
                                 (["help"], ["firn help", "COMMAND"])):
            with self.subTest(arguments=arguments):
                status, output, errors = self.run_firn("help", *arguments)
                self.assertEqual((0, ""), (status, errors))
                for word in words:
                    self.assertIn(word, output)
        self.assertEqual(self.run_firn("get", "--help")[1], self.run_firn("help", "get")[1])

    def test_versions(self):
        for name in ("client/firn", "tracker/firn-tracker"):
            program = self.programs.start("program", [harness.BUILD / name, "--version"])
            self.assertEqual(0, program.wait_exit())
            self.assertRegex(program.output(), rf"^{name.split('/')[1]} \d+\.\d+\.\d+( \([0-9a-f]+(-dirty)?\))?$")

    def test_an_empty_name_is_refused_everywhere(self):
        photo = self.file(10, "photo.jpg")
        manifest, out = self.create(photo), self.folder / "out"
        for arguments, name in (
                (["create", photo, "-o", ""], "--output"), (["create", "", "-o", out], "PATH"),
                (["share", photo, "-o", ""], "--output"), (["share", ""], "PATH"),
                (["share", photo, "--identity", ""], "--identity"),
                (["get", manifest, "-o", ""], "--output"), (["get", "", "-o", out], "SOURCE"),
                (["get", manifest, "-o", out, "--log", ""], "--log"),
                (["seed", manifest, ""], "empty"), (["seed", "", photo.parent], "empty"),
                (["info", ""], "SOURCE"), (["verify", manifest, ""], "DIR"),
                (["verify", "", photo.parent], "empty"), (["doctor", "--log", ""], "--log"),
                (["bench", "codec", "--quick", "-o", ""], "--output")):
            with self.subTest(arguments=arguments):
                self.refused(*arguments, words=[name, "empty"])


class Missing(harness.SwarmTest):
    def test_a_missing_input_is_an_error_of_the_disk(self):
        photo = self.file(10, "photo.jpg")
        manifest, missing = self.create(photo), self.folder / "missing.firn"
        for arguments in (
                ["create", missing, "-o", self.folder / "x.firn"], ["share", missing, *LISTEN],
                ["get", missing, "-o", self.folder / "get", *LISTEN],
                ["seed", missing, photo.parent, *LISTEN], ["seed", manifest, missing, *LISTEN],
                ["info", missing], ["verify", missing, photo.parent], ["verify", manifest, missing],
                ["share", photo, "--identity", missing / "key.pem", *LISTEN],
                ["share", photo, "--log", missing / "log", *LISTEN]):
            with self.subTest(arguments=arguments):
                self.assert_refused(self.run_firn(*arguments, timeout=20), harness.DISK,
                                    "missing.firn")

    def test_a_folder_is_no_manifest(self):
        for arguments in (["info", self.folder],
                          ["get", self.folder, "-o", self.folder / "get", *LISTEN]):
            with self.subTest(arguments=arguments):
                self.assert_refused(self.run_firn(*arguments, timeout=20), harness.USAGE, "folder")


class Outputs(harness.SwarmTest):
    def fails(self, *command, stdout=FULL):
        """The command's stdout takes nothing: it says so and does not end with 0."""
        with open(stdout, "w") as full:
            run = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL,
                                 stdout=full, stderr=subprocess.PIPE, text=True, timeout=30)
        self.assertEqual(harness.DISK, run.returncode, run.stderr)
        self.assertIn("standard output", run.stderr)
        self.assertEqual(1, run.stderr.count("standard output"), run.stderr)

    def firn_fails(self, *arguments):
        self.fails(harness.BUILD / "client" / "firn", *arguments)

    def test_what_cannot_be_said_is_an_error(self):
        photo = self.file(10 * KIB, "photo.jpg")
        manifest = self.create(photo)
        for arguments in (["info", manifest], ["info", manifest, "--json"], ["--help"],
                          ["--version"], ["help"], ["help", "get"], ["get", "--help"], ["doctor"],
                          ["doctor", "--json"], ["create", photo, "-o", self.folder / "x.firn"],
                          ["verify", manifest, photo.parent, "--json"],
                          ["bench", "codec", "--quick", "--repeats", 1, "--shape", "4,64"]):
            with self.subTest(arguments=arguments):
                self.firn_fails(*arguments)

    def test_a_link_that_nobody_can_read_is_not_served(self):
        photo = self.file(10, "photo.jpg")
        self.firn_fails("share", photo, *LISTEN[:2])
        self.firn_fails("share", photo, *LISTEN)

    def test_a_download_goes_on_and_ends_with_the_error(self):
        photo = self.file(10 * KIB, "photo.jpg")
        seed = self.share(photo)
        self.firn_fails("get", seed.link(), "-o", self.folder / "get", "--peer", seed.endpoint(),
                        *LISTEN)
        self.assert_same(photo, self.folder / "get" / photo.name)

    def test_the_tracker_s(self):
        tracker = harness.BUILD / "tracker" / "firn-tracker"
        self.fails(tracker, "--listen", "127.0.0.1:0", "--data", self.folder / "data")
        self.fails(tracker, "--help")
        self.fails(tracker, "--version")

    def test_a_pipe_whose_reader_has_gone_is_no_error_message(self):
        for program in ("client/firn", "tracker/firn-tracker"):
            with self.subTest(program=program):
                reader, writer = os.pipe()
                os.close(reader)
                # Without restore_signals SIGPIPE is ignored, as it is in some shells and services.
                run = subprocess.run([harness.BUILD / program, "--help"], stdin=subprocess.DEVNULL, stdout=writer,
                                     stderr=subprocess.PIPE, text=True, restore_signals=False, timeout=30)
                os.close(writer)
                self.assertEqual((harness.DISK, ""), (run.returncode, run.stderr))

    def test_a_closed_stream_is_not_taken_for_a_file(self):
        """With it closed, the first file that is opened would get its number."""
        photo = self.file(10, "photo.jpg")
        manifest = self.create(photo)
        before = manifest.read_bytes()
        run = subprocess.run(
            ["sh", "-c", 'exec "$@" >&-', "sh", harness.BUILD / "client" / "firn", "info", manifest],
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=30)
        self.assertEqual(harness.DISK, run.returncode, run.stderr)
        self.assertIn("standard output", run.stderr)
        self.assertEqual(before, manifest.read_bytes())
        run = subprocess.run(
            ["sh", "-c", 'exec "$@" 2>&-', "sh", harness.BUILD / "client" / "firn", "create", photo,
             "-o", self.folder / "y.firn", "--log", self.folder / "log", "-v"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=30)
        self.assertEqual(0, run.returncode)
        log = (self.folder / "log").read_text()
        self.assertEqual(1, log.count("photo.jpg"), log)
        self.assertEqual(0, os.system(f"'{harness.BUILD}/client/firn' info '{self.folder}/y.firn'"
                                      " >/dev/null"))


if __name__ == "__main__":
    harness.main()
