#!/usr/bin/python3
"""What bounds a daemon: rates and goals of seeding, for each content and for all together."""

import os

import harness
from daemons import DaemonTest
from harness import KIB, USAGE


class Limits(DaemonTest):
    def limits(self, **expected):
        status = self.ask("limit")
        self.assertEqual(expected, {name: status[name] for name in expected})

    def test_the_daemon_s_limits_are_set_kept_shown_and_lifted(self):
        daemon = self.daemon("--up-limit", "1M")
        self.limits(up_limit=1 << 20, down_limit=None, seed_ratio=None, seed_time=None)
        self.ask("limit", "--up", "2M", "--down", "300K", "--seed-ratio", "1.5", "--seed-time", "1h")
        daemon.kill()
        daemon = self.daemon("--up-limit", "5M")
        self.limits(up_limit=2 << 20, down_limit=300 << 10, seed_ratio=1.5, seed_time=3600)
        self.ask("limit", "--up", "default", "--down", "none")
        self.limits(up_limit=5 << 20, down_limit=None, seed_ratio=1.5, seed_time=3600)
        self.assertEqual(0, daemon.stop())

    def test_a_content_s_limits_are_set_kept_shown_and_lifted(self):
        source = self.file(100 * KIB)
        daemon = self.daemon("--content-up-limit", "10K")
        self.ask("add", self.create(source), "-o", source.parent, "--serve", "--seed-ratio", "3")
        self.ask("limit", source.name, "--down", "20K")
        daemon.kill()
        daemon = self.daemon("--content-up-limit", "30K")
        content = self.ask("show", source.name)
        self.assertEqual((30 << 10, 20 << 10, 3), (content["up_limit"], content["down_limit"],
                                                   content["seed_ratio"]))
        content = self.ask("limit", source.name, "--up", "0", "--down", "none", "--seed-ratio", "none")
        self.assertEqual([None] * 3, [content[name] for name in ("up_limit", "down_limit",
                                                                 "seed_ratio")])
        self.assertEqual(None, self.contents()[0]["up_limit"])
        status, output, _ = self.run_firn("limit", source.name, "--socket", self.socket)
        self.assertEqual((0, "up none, down none, seed ratio none, seed time none"),
                         (status, output))
        self.assertEqual(0, daemon.stop())

    def test_a_download_without_upload_sends_no_block_and_ends(self):
        source = self.file(300 * KIB)
        self.daemon()
        added = self.add(self.share(source).link(), "--no-upload")
        self.assertEqual((1, "none"), (added["up_limit"], added["seeding"]))
        self.wait_for(lambda contents: contents[0]["state"] == "finished")
        for option in (["--seed", "forever"], ["--up", "1M"]):
            self.assert_refused(self.run_firn("add", "x", "--no-upload", *option), USAGE, option[0])

    def test_a_download_that_stands_almost_still_is_whole_once_its_limit_is_lifted(self):
        source = self.file(3000 * KIB)
        seed = self.share(source)
        self.daemon()
        self.ask("limit", "--down", "1")
        self.add(seed.link())
        self.wait_for(lambda contents: contents[0]["bytes"])
        self.ask("limit", source.name, "--down", "1")
        self.ask("limit", "--down", "none")
        self.assertFalse(self.contents()[0]["complete"])
        self.ask("limit", source.name, "--down", "default")
        self.wait_complete()
        self.assert_same(source, self.downloads / source.name)

    def test_what_a_schedule_says_holds_before_other_limits(self):
        self.daemon("--up-limit", "1M", "--down-limit", "2M",
                    "--schedule", "daily 00:00-24:00 up=3K", "--schedule", "mon 00:00-01:00 up=4K")
        self.limits(up_limit=3 << 10, down_limit=2 << 20, schedule="daily 00:00-24:00 up=3K",
                    schedules=["daily 00:00-24:00 up=3K", "mon 00:00-01:00 up=4K"])
        self.ask("limit", "--up", "9K", "--down", "none")
        self.limits(up_limit=3 << 10, down_limit=None)
        status, output, _ = self.run_firn("list", "--socket", self.socket)
        self.assertEqual((0, "limits: up 3.0 KiB/s, down none (schedule daily 00:00-24:00 up=3K)"),
                         (status, output.splitlines()[-1]))
        status, _, errors = self.run_firn("daemon", "--schedule", "mon 8-9 up=1")
        self.assertEqual(USAGE, status, errors)

    def test_the_configuration_says_all_of_it_too(self):
        file = self.folder / "config.toml"
        file.write_text('[daemon]\nschedule = ["daily 00:00-24:00 up=3K, down=4K"]\n')
        os.environ["FIRN_CONFIG"] = str(file)
        self.addCleanup(os.environ.__setitem__, "FIRN_CONFIG", "")
        status, _, errors = self.run_firn("daemon")
        self.assertEqual(USAGE, status, errors)
        file.write_text('[daemon]\nmax-downloads = 3\nmax-seeds = 20\nseed-ratio = 2.5\nseed-time = "1h"\n'
                        'schedule = ["mon 00:00-00:01 up=1", "daily 00:00-24:00 up=3K down=4K"]\n')
        self.daemon()
        self.limits(max_downloads=3, max_seeds=20, seed_ratio=2.5, seed_time=3600, schedules=[
            "mon 00:00-00:01 up=1", "daily 00:00-24:00 up=3K down=4K"])

    def test_bad_limits_are_refused(self):
        for option, value in (("--up", "fast"), ("--down", "-1"), ("--seed-ratio", "1x"),
                              ("--seed-ratio", "nan"), ("--seed-time", "1ms"), ("--up", "")):
            status, _, errors = self.run_firn("limit", option, value, "--socket", self.socket)
            self.assertEqual(USAGE, status, (option, value, errors))


class Goals(DaemonTest):
    def test_a_content_finishes_seeding_at_its_time_and_is_served_again_by_resume(self):
        source = self.file(100 * KIB)
        daemon = self.daemon()
        self.ask("add", self.create(source), "-o", source.parent, "--serve", "--seed-time", "1s")
        self.wait_state("finished")
        daemon.kill()
        self.daemon()
        self.assertEqual({source.name: "finished"}, self.states())
        self.ask("resume", source.name)
        self.wait_state("seeding")
        self.assertIsNone(self.ask("show", source.name)["seed_time"])

    def test_a_content_finishes_seeding_at_the_daemon_s_ratio(self):
        source = self.file(200 * KIB)
        daemon = self.daemon("--seed-ratio", "0.5")
        self.ask("add", self.create(source), "-o", source.parent, "--serve")
        id = self.wait_state("seeding")[0]["content_id"]
        get = self.get("firn:" + id, "get", "--no-tracker", "--peer", daemon.endpoint())
        self.assert_downloaded(source, get)
        self.wait_state("finished")
        self.assertGreater(self.ask("show", source.name)["uploaded"], 100 * KIB)
        self.assertEqual(0, daemon.stop())
        self.daemon()
        self.assertGreater(self.ask("show", source.name)["uploaded"], 100 * KIB)


class Queue(DaemonTest):
    def serve(self, names, *options):
        for name in names:
            source = self.file(20 * KIB, name)
            self.ask("add", self.create(source), "-o", source.parent, "--serve", *options)

    def served(self, **expected):
        """Waits until contents stand so."""
        self.wait_for(lambda contents: expected == {c["name"]: c["state"] for c in contents})

    def test_seeds_beyond_the_bound_wait_in_their_order(self):
        daemon = self.daemon("--max-seeds", "1")
        self.serve(["a", "b", "c"])
        self.served(a="seeding", b="queued", c="queued")
        self.assertEqual([None, 1, 2], [c["queue_position"] for c in self.contents()])
        self.ask("queue", "c", "up")
        self.assertEqual([None, 2, 1], [c["queue_position"] for c in self.contents()])
        self.ask("pause", "a")
        self.served(a="paused", b="queued", c="seeding")
        self.ask("priority", "b", "high")
        self.served(a="paused", b="seeding", c="queued")
        daemon.kill()
        daemon = self.daemon("--max-seeds", "1")
        self.served(a="paused", b="seeding", c="queued")
        self.ask("priority", "b", "low")
        self.ask("resume", "a")
        self.served(a="seeding", b="queued", c="queued")
        self.ask("queue", "a", "last")
        self.served(a="queued", b="queued", c="seeding")
        self.ask("remove", "c")
        self.served(a="seeding", b="queued")
        self.assertEqual(0, daemon.stop())

    def test_priorities_are_given_with_a_content(self):
        self.daemon("--max-seeds", "1")
        self.serve(["a"], "--priority", "low")
        self.serve(["b"])
        self.served(a="queued", b="seeding")
        self.assertEqual("low", self.ask("show", "a")["priority"])

    def test_a_download_that_stands_still_lets_the_next_one_go_first(self):
        dead = self.file(20 * KIB, "dead")
        alive = self.file(300 * KIB, "alive")
        self.daemon("--max-downloads", "1", "--queue-patience", "1s")
        self.add(self.create(dead), "--priority", "high")
        self.wait_state("downloading")
        self.add(self.share(alive).link())
        self.wait_for(lambda contents: contents[-1]["complete"])
        self.assert_same(alive, self.downloads / "alive")
        self.wait_state("downloading")  # it goes on when the place is free again


if __name__ == "__main__":
    harness.main()
