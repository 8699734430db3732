#!/usr/bin/python3
"""Threads, memory and descriptors that cannot be had: what needs one ends with an error, and
nothing else does."""

import os
import shutil

import harness
from daemons import DaemonTest
from harness import BUILD, KIB, MIB

SCARCITY = BUILD / "tests" / "e2e" / "libscarcity.so"


class Scarce:
    """One thing that a program cannot have, and whether it asked for it."""

    def __init__(self, folder, what):
        self.refused = folder / f"refused-{what}"
        self.environment = {**os.environ, "LD_PRELOAD": str(SCARCITY), "FIRN_TEST_SCARCE": what,
                            "FIRN_TEST_REFUSED": str(self.refused)}

    def was_asked_for(self):
        return self.refused.exists()


def all_are(contents, *states):
    return all(content["state"] in states for content in contents)


class ScarceTest(DaemonTest):
    def in_turn(self, kind, most=200):
        """Each thing of a kind that is refused, until a run asks for fewer."""
        for number in range(1, most):
            scarce = Scarce(self.folder, f"{kind}:{number}")
            yield number, scarce
            if not scarce.was_asked_for():
                return
        self.fail(f"a run asks for {most} of {kind}")

    def assert_ended_itself(self, program, status):
        self.assertGreaterEqual(status, 0, program.story())  # by no signal
        said = program.output("stderr")
        self.assertNotIn("terminate called", said)
        self.assertNotIn("check failed", said)
        if status not in (0, harness.INTERRUPTED):
            self.assertIn("firn: ", said, program.story())

    def get_each(self, kind):
        """A download with each in turn of what it asks for: complete, or ended with an error."""
        source = self.file(3 * MIB)
        seed = self.share(source)
        link = seed.link()
        for number, scarce in self.in_turn(kind):
            with self.subTest(kind=kind, number=number):
                into = self.folder / f"get-{number}"
                get = self.firn(f"get{number}", "get", link, "-o", into, *harness.LISTEN,
                                "--seed", "none", "--timeout", "20s", env=scarce.environment)
                status = get.wait_exit(60)
                self.assert_ended_itself(get, status)
                if status == 0:
                    self.assert_same(source, into / source.name)

    def test_a_download_outlives_each_thread_or_ends_with_an_error(self):
        self.get_each("thread")

    def test_a_download_outlives_each_piece_of_memory_or_ends_with_an_error(self):
        self.get_each("memory")

    def came_to(self, program, wait):
        """Whether it came so far; else it has ended."""
        try:
            wait()
            return True
        except harness.Failed:
            program.wait_exit(20)
            return False

    def test_a_seed_that_lacks_a_thread_or_memory_serves_or_ends_with_an_error(self):
        source = self.file(3 * MIB)
        for kind in ("thread", "memory"):
            for number, scarce in self.in_turn(kind):
                with self.subTest(kind=kind, number=number):
                    name = f"{kind}{number}"
                    seed = self.firn(name, "share", source, *harness.LISTEN, "--no-tracker",
                                     env=scarce.environment)
                    if self.came_to(seed, seed.endpoint):
                        get = self.get(seed.link(), f"get-{name}", "--seed", "none", "--timeout", "10s")
                        get.wait_exit(60)
                    self.assert_ended_itself(seed, seed.stop())

    def test_a_daemon_without_another_thread_says_so_of_its_page_and_goes_on(self):
        for number in range(1, 40):  # until it has those that it starts with
            scarce = Scarce(self.folder, f"thread:{number}-")
            daemon = self.firn(f"daemon{number}", "daemon", "--data", self.data, "--socket",
                               self.socket, "--listen", "127.0.0.1:0", "--json", "--threads", "2",
                               env=scarce.environment)
            ready = self.came_to(daemon, lambda: daemon.wait_event("daemon"))
            had_all = ready and not scarce.was_asked_for()
            if had_all:
                self.assert_refused(self.run_firn("page", "--socket", self.socket), harness.DISK,
                                    "thread", "the page")
                self.assertEqual([], self.contents())
            self.assert_ended_itself(daemon, daemon.stop())
            if had_all:
                return
        self.fail("the daemon never had all its threads")

    def wait_settled(self, daemon):
        try:
            self.wait_for(lambda all: all_are(all, "seeding", "failed"))
        except AssertionError:
            self.fail(daemon.story())

    def test_a_daemon_that_lacks_memory_once_answers_and_goes_on_with_others(self):
        source, other = self.file(3 * MIB), self.file(KIB, "other.bin")
        seed = self.share(source)
        manifest = self.create(other)
        for number, scarce in self.in_turn("memory"):
            with self.subTest(number=number):
                daemon = self.firn(f"daemon{number}", "daemon", "--data", self.folder / f"data{number}",
                                   "--socket", self.socket, "--listen", "127.0.0.1:0", "--json",
                                   env=scarce.environment)
                if self.came_to(daemon, lambda: daemon.wait_event("daemon")):
                    self.run_firn("add", seed.link(), "-o", self.folder / f"to{number}", "--socket",
                                  self.socket)
                    self.run_firn("page", "--socket", self.socket)
                    self.wait_settled(daemon)
                    self.run_firn("add", manifest, "--serve", "-o", other.parent, "--socket",
                                  self.socket)
                    self.wait_settled(daemon)
                self.assert_ended_itself(daemon, daemon.stop())

    def test_a_tracker_that_lacks_a_thread_ends_with_an_error(self):
        for number, scarce in self.in_turn("thread"):
            data = self.folder / f"tracker{number}"
            tracker = self.programs.start(
                f"tracker{number}", [BUILD / "tracker" / "firn-tracker", "--data", data, "--listen",
                                     "127.0.0.1:0", "--status", "localhost:0"],
                env=scarce.environment)
            self.came_to(tracker, lambda: tracker.wait_line("^listening on"))
            status = tracker.stop()
            self.assertGreaterEqual(status, 0, tracker.story())
            self.assertEqual(scarce.was_asked_for(), status != 0, tracker.story())


class Limits(DaemonTest):
    def limited(self, name, limits, *arguments):
        return self.programs.start(name, ["sh", "-c", limits + '; exec "$@"', "sh",
                                          BUILD / "client" / "firn", *arguments])

    def test_many_idle_contents_leave_descriptors_for_peers_and_commands(self):
        """Each of them has more files than all of them together may hold open."""
        contents, files = 8, 40
        for number in range(contents):
            self.tree({f"f{i}": 2 * KIB for i in range(files)}, f"c{number}")
        manifests = [self.create(self.folder / "source" / f"c{n}") for n in range(contents)]
        daemon = self.limited("daemon", "ulimit -n 128", "daemon", "--data", self.data, "--socket",
                              self.socket, *harness.LISTEN)
        at = f"127.0.0.1:{daemon.wait_event('daemon')['listen'].rpartition(':')[2]}"
        for manifest in manifests:
            self.ask("add", manifest, "--serve", "-o", self.folder / "source")
        self.wait_complete()
        for number, manifest in enumerate(manifests):
            get = self.get(manifest, f"get{number}", "--no-tracker", "--peer", at, "--seed", "none",
                           "--timeout", "30s")
            self.assert_downloaded(self.folder / "source" / f"c{number}", get)
        self.assertEqual(contents, len(self.contents()))

    def test_few_descriptors_are_enough_or_an_error(self):
        source = self.file(MIB)
        link = self.share(source).link()
        for most in (4, 20, 31, 32, 40, 48, 64):
            get = self.limited(f"get{most}", f"ulimit -n {most}", "get", link, "-o",
                               self.folder / f"get{most}", *harness.LISTEN, "--seed", "none",
                               "--timeout", "5s")
            status = get.wait_exit(60)
            self.assertIn(status, (0, harness.UNREACHABLE, harness.DISK), get.story())
            if most >= 48:
                self.assertEqual(0, status, get.story())
            if most < 32:
                self.assertIn("ulimit -n", get.output("stderr"))

    def test_a_limit_of_file_sizes_ends_no_program(self):
        source = self.file(MIB)
        seed = self.share(source)
        get = self.limited("get", "ulimit -f 128", "get", seed.link(), "-o", self.folder / "get",
                           *harness.LISTEN, "--timeout", "3s")
        status = get.wait_exit(60)
        self.assertGreater(status, 0, get.story())
        self.assertIn("too large", get.output("stderr").lower(), get.story())


class SilentNameServer(DaemonTest):
    """Programs in a network of their own, whose name server takes questions and answers none."""

    PREPARE = """
        ip link set lo up
        ip link add d0 type veth peer name d1
        ip addr add 10.99.0.1/24 dev d0
        ip link set d0 up
        ip link set d1 up
        ip neigh add 10.99.0.9 lladdr 02:00:00:00:00:09 dev d0
        mount --bind "$RESOLV" /etc/resolv.conf
        mount --bind "$SWITCH" /etc/nsswitch.conf
    """

    def setUp(self):
        super().setUp()
        resolv, switch = self.folder / "resolv.conf", self.folder / "nsswitch.conf"
        resolv.write_text("nameserver 10.99.0.9\noptions timeout:30 attempts:5\n")
        switch.write_text("hosts: files dns\n")
        self.environment = {**os.environ, "RESOLV": str(resolv), "SWITCH": str(switch)}
        script = f"set -e\n{self.PREPARE}\nexec sleep 600"
        if not harness.is_root() or not shutil.which("unshare") or not shutil.which("ip"):
            self.skipTest("needs root, unshare and ip")
        self.inside = self.programs.start(
            "network", ["unshare", "--net", "--mount", "--propagation", "private", "sh", "-c",
                        script.replace("exec sleep", "echo ready\nexec sleep")],
            env=self.environment)
        try:
            self.inside.wait_line("ready")
        except harness.Failed:
            self.skipTest("no network namespace can be made here")

    def started_inside(self, name, *arguments, program=BUILD / "client" / "firn"):
        return self.programs.start(
            name, ["nsenter", "--net", "--mount", "--target", str(self.inside.process.pid), program,
                   *arguments], env=self.environment)

    def test_a_download_that_is_complete_ends(self):
        source = self.file(300 * KIB)
        manifest = self.create(source)
        seed = self.started_inside("seed", "seed", manifest, source.parent, "--no-tracker",
                                   *harness.LISTEN)
        at = f"127.0.0.1:{seed.port()}"
        get = self.started_inside("get", "get", manifest, "-o", self.folder / "get", *harness.LISTEN,
                                  "--peer", at, "--tracker", "tracker.test", "--seed", "none")
        self.assertEqual(0, get.wait_exit(60), get.story())

    def test_a_daemon_that_asks_for_names_ends_when_it_is_told_to(self):
        daemon = self.started_inside("daemon", "daemon", "--data", self.data, "--socket", self.socket,
                                     "--tracker", "tracker.test", *harness.LISTEN)
        daemon.wait_event("daemon")
        self.add(self.create(self.file(KIB)))
        self.assertEqual(0, daemon.stop(60), daemon.story())

    def test_a_tracker_that_looks_for_redis_ends_when_it_is_told_to(self):
        tracker = self.started_inside("tracker", "--data", self.folder / "tracker", "--listen",
                                      "127.0.0.1:0", "--redis", "redis://redis.test",
                                      program=BUILD / "tracker" / "firn-tracker")
        tracker.wait_line("^listening on")
        self.assertEqual(0, tracker.stop(60), tracker.story())

    def test_a_program_that_is_to_listen_on_a_name_says_that_nobody_answers_for_it(self):
        share = self.started_inside("share", "share", self.file(KIB), "--listen", "here.test")
        self.assertEqual(harness.USAGE, share.wait_exit(60), share.story())
        self.assertIn("no name server answers", share.output("stderr"))


if __name__ == "__main__":
    harness.main()
