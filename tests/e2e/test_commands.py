#!/usr/bin/python3
"""What scripts rely on: commands, options, JSON events, exit status, signals."""

import json
import re
import signal
import unittest

import harness
from harness import KIB, LISTEN, MIB

NUMBER = (int, float)
EVENTS = {
    "start": {"content_id": str, "bytes": int, "files": int, "generations": int,
              "generation_size": int, "block_bytes": int},
    "progress": {"seconds": NUMBER, "bytes_verified": int, "rank": int, "rank_total": int,
                 "peers": int, "down_rate": NUMBER, "up_rate": NUMBER},
    "complete": {"seconds": NUMBER, "bytes": int, "bytes_received": int, "bytes_sent": int,
                 "blocks_innovative": int, "blocks_redundant": int, "blocks_recoded": int},
    "error": {"code": str, "message": str},
}


class Help(harness.SwarmTest):
    def test_every_command_has_help_with_its_options(self):
        for command, options in {
                "create": ["--symlinks", "--exclude", "-o", "--generation-size", "--block-size",
                           "--tracker"],
                "share": ["--symlinks", "--exclude", "-o", "--tracker", "--listen", "--up-limit"],
                "get": ["-o", "--repair", "--overwrite", "--tracker", "--peer", "--no-tracker", "--no-pex", "--listen",
                        "--up-limit", "--down-limit", "--memory", "--seed", "--on-complete",
                        "--json", "--log", "-v", "--identity"],
                "seed": ["--tracker", "--peer", "--listen", "--up-limit"],
                "info": ["--json"],
                "verify": []}.items():
            with self.subTest(command=command):
                status, output, _ = self.run_firn(command, "--help")
                self.assertEqual(0, status)
                for option in options:
                    self.assertIn(option, output)

    def test_the_main_help_lists_commands_and_exit_status(self):
        status, output, _ = self.run_firn("--help")
        self.assertEqual(0, status)
        for word in ("create", "share", "get", "seed", "info", "verify", "exit"):
            self.assertIn(word, output.lower())

    def test_the_tracker_has_help(self):
        program = self.programs.start(
            "tracker", [harness.BUILD / "tracker" / "firn-tracker", "--help"])
        self.assertEqual(0, program.wait_exit())
        for option in ("--listen", "--data"):
            self.assertIn(option, program.output())

    def test_wrong_usage_is_an_error(self):
        for arguments in ([], ["fetch"], ["get"], ["get", "x", "--colour"], ["create"]):
            with self.subTest(arguments=arguments):
                program = self.firn("firn", *arguments)
                self.assert_refused((program.wait_exit(), program.output(),
                                     program.output("stderr")), harness.USAGE)


class Json(harness.SwarmTest):
    def test_every_line_is_an_event_with_its_fields(self):
        source = self.tree({"a": 6 * MIB, "b": 1})
        seed = self.share(source, "--up-limit", "4M")
        get = self.get(seed.link(), "get", "--peer", seed.endpoint())
        self.assert_downloaded(source, get)
        kinds = []
        for line in get.lines["stdout"]:
            event = json.loads(line)
            kinds.append(event["event"])
            for field, kind in EVENTS.get(event["event"], {}).items():
                self.assertIsInstance(event.get(field), kind, f"{field} in {line}")
        self.assertEqual("start", [kind for kind in kinds if kind != "notice"][0])
        self.assertIn("progress", kinds)
        self.assertEqual(1, kinds.count("complete"))

        start, complete = get.wait_event("start"), get.wait_event("complete")
        self.assertEqual(6 * MIB + 1, start["bytes"])
        self.assertEqual(2, start["files"])
        self.assertEqual(re.match(r"firn:(\w+)", seed.link()).group(1), start["content_id"])
        blocks = 6 * MIB // start["block_bytes"] + 1  # a fills its generations, b has a block
        self.assertEqual(blocks, start["rank_total"])
        self.assertEqual(blocks, complete["blocks_innovative"])
        self.assertEqual(
            complete["blocks_innovative"] + complete["blocks_redundant"],
            sum(neighbour["blocks"] for neighbour in complete["blocks_from"]))

    def test_an_error_is_an_event_too(self):
        get = self.firn("get", "get", self.file(10, "x.firn"), "-o", self.folder / "get", "--json")
        self.assertGreater(get.wait_exit(), 0)
        error = get.wait_event("error")
        for field, kind in EVENTS["error"].items():
            self.assertIsInstance(error[field], kind)

    def test_progress_never_falls(self):
        source = self.file(8 * MIB)
        seed = self.share(source, "--up-limit", "4M")
        get = self.get(seed.link(), "get", "--peer", seed.endpoint())
        self.assert_downloaded(source, get)
        progress = [e for e in get.events if e["event"] == "progress"]
        for field in ("seconds", "bytes_verified", "rank"):
            values = [e[field] for e in progress]
            self.assertEqual(sorted(values), values, field)

    def test_info_tells_what_a_manifest_holds(self):
        source = self.tree({"a": 70 * KIB, "b/c": 3})
        manifest = self.create(source, "--generation-size", 8, "--block-size", 1024,
                               "--tracker", "tracker.example:7070")
        status, output, _ = self.run_firn("info", manifest, "--json")
        self.assertEqual(0, status)
        info = json.loads(output)
        self.assertEqual(70 * KIB + 3, info["bytes"])
        self.assertEqual((8, 1024, 9), (info["generation_size"], info["block_bytes"],
                                        info["generations"]))
        status, output, _ = self.run_firn("info", manifest)
        self.assertEqual(0, status)
        for word in (info["content_id"], "holiday", "tracker.example:7070"):
            self.assertIn(word, output)

    def test_info_of_a_link(self):
        seed = self.share(self.file(10), "--tracker", self.tracker().endpoint())
        info = self.firn("info", "info", seed.link(), "--json")
        self.assertEqual(0, info.wait_exit(), info.story())
        self.assertEqual(10, info.wait_event("info")["bytes"])
        self.assertIn(info.wait_event("info")["content_id"], seed.link())
        self.assertEqual(seed.link(), info.wait_event("info")["link"])

    def test_info_says_that_a_tracker_that_answers_knows_nothing_of_the_content(self):
        tracker = self.tracker()
        status, _, errors = self.run_firn("info", "firn:" + "a" * 52, "--tracker", tracker.endpoint())
        self.assertEqual(3, status, errors)
        self.assertRegex(errors, r"no peer sent the manifest within 10 s: .*tracker .*knows no other peer")


class Quiet(harness.SwarmTest):
    def test_without_a_terminal_and_json_a_download_says_nothing_on_stdout(self):
        source = self.file(100 * KIB)
        seed = self.share(source)
        status, output, errors = self.run_firn(
            "get", seed.link(), "-o", self.folder / "get", "--listen", "127.0.0.1:0",
            "--peer", seed.endpoint())
        self.assertEqual((0, ""), (status, output), errors)

    def test_the_first_line_of_share_is_the_link_and_nothing_else(self):
        program = self.firn("seed", "share", self.file(10), "--listen", "127.0.0.1:0")
        self.assertRegex(program.link(), r"^firn:[a-z2-7]{52}(/\S*)?$")

    def test_a_log_is_written_where_asked(self):
        source = self.file(100 * KIB)
        seed = self.share(source)
        log = self.folder / "firn.log"
        get = self.get(seed.link(), "get", "--peer", seed.endpoint(), "--log", log, "-v")
        self.assert_downloaded(source, get)
        self.assertGreater(log.stat().st_size, 0)


class Signals(harness.SwarmTest):
    def test_share_and_tracker_stop_cleanly(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number):
                tracker = self.tracker(f"tracker-{number}")
                seed = self.share(self.file(10), "--tracker", tracker.endpoint(),
                                  name=f"seed-{number}")
                seed.endpoint()
                seed.send(number)
                self.assertEqual(0, seed.wait_exit(15), seed.story())
                tracker.send(number)
                self.assertEqual(0, tracker.wait_exit(15), tracker.story())

    def test_a_download_that_waits_for_peers_stops_at_once(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number):
                get = self.get(self.create(self.file(10)), f"get-{number}", "--no-tracker")
                get.wait_event("start")
                get.send(number)
                self.assertEqual(harness.INTERRUPTED, get.wait_exit(15), get.story())
                self.assertIsNone(get.last_event("complete"))


class OnComplete(harness.SwarmTest):
    def test_it_runs_once_after_verification(self):
        source = self.file(MIB)
        seed = self.share(source)
        # The command itself sees the finished file.
        command = (f"cmp '{source}' '{self.folder}/get/{source.name}' && "
                   f"echo right >>'{self.folder}/ran'")
        get = self.get(seed.link(), "get", "--peer", seed.endpoint(), "--on-complete", command)
        self.assert_downloaded(source, get)
        self.assertEqual("right\n", (self.folder / "ran").read_text())

    def test_its_failure_is_told_apart_from_a_failed_download(self):
        source = self.file(1000)
        seed = self.share(source)
        get = self.get(seed.link(), "get", "--peer", seed.endpoint(), "--on-complete", "exit 3")
        get.wait_event("complete")
        self.assertEqual(harness.ON_COMPLETE_FAILED, get.wait_exit(), get.story())
        self.assert_same(source, self.folder / "get" / source.name)

    def test_it_is_told_where_the_files_are_when_their_folder_was_moved(self):
        source = self.file(2 * MIB)
        seed = self.share(source)
        get = self.get(seed.link(), "get", "--peer", seed.endpoint(), "--down-limit", "500k",
                       "--on-complete", f"cmp \"$FIRN_DIR/$FIRN_NAME\" '{source}'")
        get.wait_event("progress", where=lambda e: e["rank"] > 0)
        (self.folder / "get").rename(self.folder / "moved")
        (self.folder / "get").mkdir()
        (self.folder / "get" / source.name).write_text("another")
        self.assertEqual(0, get.wait_exit(), get.story())
        self.assert_same(source, self.folder / "moved" / source.name)
        self.assertIn(str(self.folder / "moved"), get.output("stderr"))

    def test_it_does_not_run_for_what_is_not_complete(self):
        get = self.get(self.create(self.file(10)), "get", "--no-tracker",
                       "--on-complete", f"touch '{self.folder}/ran'")
        get.wait_event("start")
        get.stop()
        self.assertFalse((self.folder / "ran").exists())


class Seeding(harness.SwarmTest):
    def setUp(self):
        super().setUp()
        self.source = self.file(MIB)
        self.seed = self.share(self.source)
        self.link = harness.bare(self.seed.link())

    def first(self, *options):
        return self.get(self.link, "first", "--no-pex", "--peer", self.seed.endpoint(), *options)

    def second(self, first):
        return self.get(self.link, "second", "--no-pex", "--peer", first.endpoint())

    def test_none_leaves_at_once(self):
        self.assert_downloaded(self.source, self.first("--seed", "none"))

    def test_forever_serves_until_told_to_stop(self):
        first = self.first("--seed", "forever")
        first.wait_event("complete")
        self.assertEqual(0, self.seed.stop())
        self.assert_downloaded(self.source, self.second(first))
        self.assertIsNone(first.process.poll())
        self.assertEqual(0, first.stop())

    def test_a_ratio_ends_when_so_much_has_been_sent(self):
        first = self.first("--seed", "ratio:0.5")
        first.wait_event("complete")
        self.assertEqual(0, self.seed.stop())
        self.assertIsNone(first.process.poll())
        self.second(first)
        self.assertEqual(0, first.wait_exit(), first.story())
        self.assertGreaterEqual(first.last_event("progress")["bytes_sent"], MIB // 2)

    def test_a_duration_ends_by_itself(self):
        first = self.first("--seed", "1s")
        first.wait_event("complete")
        self.assertEqual(0, first.wait_exit(), first.story())


class Several(harness.SwarmTest):
    def test_one_process_shares_several_contents(self):
        one, two = self.file(MIB, "one"), self.tree({"x": MIB}, "two")
        seed = self.firn("seed", "share", one, two, *LISTEN)
        links = seed.links(2)
        for i, (source, link) in enumerate(zip((one, two), links)):
            self.assert_downloaded(source, self.get(link, f"get{i}", "--peer", seed.endpoint()))


class Identities(harness.SwarmTest):
    def test_they_are_fresh_unless_kept(self):
        source, key = self.file(10), self.folder / "key.pem"
        ids = []
        for i, options in enumerate(([], [], ["--identity", key], ["--identity", key])):
            seed = self.share(source, *options, name=f"seed{i}")
            ids.append(seed.id())
            self.assertEqual(0, seed.stop())
        self.assertEqual(3, len(set(ids)))
        self.assertEqual(ids[2], ids[3])
        self.assertEqual("0o600", oct(key.stat().st_mode & 0o777))


if __name__ == "__main__":
    harness.main()
