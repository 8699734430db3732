#!/usr/bin/python3
"""Options from configuration files: which are read, what wins, and what is refused."""

import json
import os
import re
import shutil
import unittest
from unittest import mock

import harness
from harness import BUILD, KIB, USAGE


class Config(harness.SwarmTest):
    def setUp(self):
        super().setUp()
        self.home = self.folder / "home"
        (self.home / "firn").mkdir(parents=True)
        changed = mock.patch.dict(os.environ, XDG_CONFIG_HOME=str(self.home))
        changed.start()
        self.addCleanup(changed.stop)
        del os.environ["FIRN_CONFIG"]

    def write(self, text, name="config.toml"):
        path = self.home / "firn" / name
        path.write_text(text)
        path.chmod(0o644)
        return path

    def value_of(self, option, *command):
        """Value and origin that `firn config` shows, or None."""
        status, output, errors = self.run_firn("config", *command)
        self.assertEqual(0, status, errors)
        found = re.search(rf"^{option} +(\S+) +(\S+)", output, re.MULTILINE)
        return found and found.groups()


class UserFile(Config):
    def test_a_download_needs_no_option_that_the_file_has(self):
        tracker = self.tracker()
        self.write(f'tracker = "{tracker.endpoint()}"\nlisten = "127.0.0.1:0"\njson = true\n'
                   '[get]\nseed = "none"\nno-pex = true\n')
        source = self.file(100 * KIB)
        seed = self.firn("seed", "share", source)
        bare = harness.bare(seed.link())
        self.assertIn(f"tr={tracker.endpoint()}", seed.link())
        get = self.firn("get", "get", bare, "-o", self.folder / "get")
        self.assert_downloaded(source, get)

    def test_the_command_line_wins(self):
        self.write("json = true\n")
        manifest = self.create(self.file(10))
        for arguments, spoken in (([], True), (["--json=false"], False), (["--no-config"], False)):
            status, output, errors = self.run_firn("info", manifest, *arguments)
            self.assertEqual(0, status, errors)
            self.assertEqual(spoken, output.startswith("{"), output)

    def test_another_file_replaces_it(self):
        path = self.write("max-peers = 3\n")
        other = self.write("max-peers = 4\n", "other.toml")
        self.assertEqual(("3", f"{path}:1"), self.value_of("max-peers"))
        self.assertEqual(("4", f"{other}:1"), self.value_of("max-peers", "--config", other))
        with mock.patch.dict(os.environ, FIRN_CONFIG=str(other)):
            self.assertEqual(("4", f"{other}:1"), self.value_of("max-peers", "get"))
        self.assertIsNone(self.value_of("max-peers", "--no-config"))

    def test_programs_get_the_values_as_json(self):
        path = self.write('max-peers = 3\njson = true\n[get]\ntracker = ["h:1", "g:2"]\n')
        status, output, errors = self.run_firn("config", "--json")
        self.assertEqual(0, status, errors)
        told = json.loads(output)
        self.assertIn({"path": str(path), "read": True}, told["files"])
        self.assertIn({"option": "tracker", "value": "h:1, g:2", "from": f"{path}:4",
                       "commands": ["get"]}, told["options"])
        peers = [o for o in told["options"] if o["option"] == "max-peers" and o["value"] == "3"]
        self.assertIn("daemon", peers[0]["commands"])

    def test_what_is_wrong_is_named_with_its_line(self):
        manifest = self.create(self.file(10))
        for text, words in (
                ("\n[get]\nup-limt = 5\n", [":3:", "up-limt", "did you mean 'up-limit'"]),
                ("[gte]\n", [":1:", "did you mean 'get'"]),
                ("max-peers = 0\n", [":1:", "max-peers: 0 is not 1 to 20000"]),
                ("json = 1\n", [":1:", "json: must be true or false"]),
                ('output = "x"\n', [":1:", "output", "command line alone"]),
                ("json = true\njson = true\n", [":2:"]), ("json\n", [":1:"]), ("\0", [":1:"])):
            with self.subTest(text=text):
                path = self.write(text)
                self.assert_refused(self.run_firn("info", manifest), USAGE, str(path), "--no-config", *words)
                self.assertEqual(0, self.run_firn("info", "--help")[0])
                self.assertEqual(0, self.run_firn("info", manifest, "--no-config")[0])

    def test_a_file_that_others_can_write_is_refused(self):
        path = self.write("json = true\n")
        for mode in (0o664, 0o646):
            path.chmod(mode)
            self.assert_refused(self.run_firn("doctor"), USAGE, str(path), "chmod go-w")

    @unittest.skipUnless(harness.is_root(), "only root can give files away")
    def test_a_file_of_another_user_is_refused(self):
        path = self.write("json = true\n")
        os.chown(path, 65534, -1)
        self.assert_refused(self.run_firn("doctor"), USAGE, str(path), "another user")

    def test_the_user_s_file_that_may_not_be_read_is_passed_over_with_a_warning(self):
        path = self.write("max-peers = 3\n")
        path.parent.chmod(0)
        self.addCleanup(path.parent.chmod, 0o700)
        # Root may read everything: another account is what this is about.
        prefix = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
        firn = self.folder / "firn"
        shutil.copy(BUILD / "client" / "firn", firn)
        for folder in (self.folder, self.home):
            folder.chmod(0o755)
        def run(name, *arguments):
            run = self.programs.start(
                name, [*(prefix if harness.is_root() else []), firn, "config", *arguments])
            return run, run.wait_exit()
        shown, status = run("shown")
        self.assertEqual(0, status, shown.story())
        self.assertIn(f"{path}: may not be read", shown.output())
        self.assertRegex(shown.output("stderr"),
                         rf"warning: .*{re.escape(str(path))}.*going on without it")
        named, status = run("named", "--config", path)
        self.assertEqual(harness.DISK, status, named.story())

    def test_a_named_file_that_is_missing_is_an_error(self):
        self.assert_refused(self.run_firn("doctor", "--config", self.folder / "no"), harness.DISK,
                            str(self.folder / "no"))
        self.assertEqual(0, self.run_firn("doctor")[0])

    def test_a_fifo_is_not_waited_for(self):
        os.mkfifo(self.folder / "fifo")
        self.assert_refused(self.run_firn("doctor", "--config", self.folder / "fifo"), harness.DISK,
                            "fifo")

    def test_the_example_is_right(self):
        example = harness.ROOT / "docs" / "config.example.toml"
        text = example.read_text()
        self.assertEqual(0, self.run_firn("config", "--config", self.write(text))[0])
        # As its first lines say: with every line that begins with # and no blank.
        path = self.write(re.sub(r"(?m)^#(?=[a-z\[])", "", text))
        status, output, errors = self.run_firn("config", "--config", path)
        self.assertEqual(0, status, errors)
        self.assertGreater(output.count(str(path)), 10)


class SystemFile(Config):
    @unittest.skipUnless(harness.can_mount(), "needs a mount namespace")
    def test_the_user_s_file_goes_before_it(self):
        user = self.write("max-peers = 3\n")
        system = self.write('max-peers = 4\n[get]\nmax-peers = 5\nmemory = "64M"\n', "system.toml")
        prefix = harness.in_mount_namespace(
            f"mount -t tmpfs none /etc; mkdir /etc/firn; "
            f"install -m 644 '{system}' /etc/firn/config.toml")
        shown = self.programs.start("config", [*prefix, BUILD / "client" / "firn", "config", "get"])
        self.assertEqual(0, shown.wait_exit(), shown.story())
        self.assertRegex(shown.output(), rf"(?m)^max-peers +3 +{re.escape(str(user))}:1 ")
        self.assertRegex(shown.output(), r"(?m)^memory +64M +/etc/firn/config\.toml:4 ")


class Tracker(Config):
    def test_its_options_may_stand_in_its_own_file(self):
        del os.environ["FIRN_TRACKER_CONFIG"]
        data = self.folder / "data"
        self.write(f'data = "{data}"\nlisten = "127.0.0.1:0"\nlog-level = "debug"\n', "tracker.toml")
        tracker = self.programs.start("tracker", [BUILD / "tracker" / "firn-tracker"])
        self.assertTrue(tracker.endpoint().split("@")[1].startswith("127.0.0.1:"))
        self.assertTrue((data / "tracker.sqlite").exists())
        self.assertEqual(0, tracker.stop())
        path = self.write("intervall = 3\n", "tracker.toml")
        wrong = self.programs.start("wrong", [BUILD / "tracker" / "firn-tracker", "--data", data])
        self.assertEqual(USAGE, wrong.wait_exit())
        self.assertIn(f"{path}:1: unknown key 'intervall'; did you mean 'interval'?",
                      wrong.output("stderr"))


if __name__ == "__main__":
    harness.main()
