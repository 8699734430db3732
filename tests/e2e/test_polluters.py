#!/usr/bin/python3
"""Hostile peers as processes (tests/hostile): honest ones end with the right bytes, and with none of
themselves banned."""

import random
import re
import threading
import time

import harness
from harness import BUILD, KIB, LISTEN, MIB
from pypeer.connection import Closed, Connection
from pypeer.identity import Identity
from pypeer.manifest import Manifest
from pypeer.source import QUOTA, Source

SABOTEUR = BUILD / "tests" / "hostile" / "firn-saboteur"
# Many generations, so that rows are judged all through the download.
SHAPE = ["--generation-size", 16, "--block-size", 4 * KIB]
BANNED = re.compile(r"^peer ([a-z2-7]{52})\b.*; banned for ")


class SlowPolluter(Source):
    """A block without truth in it at each interval, of any generation that the other side takes."""

    def payload_of(self, generation, vector):
        return self.chance.randbytes(self.manifest.k)

    def send_false(self):
        if not self.state_seen or len(self.generations_sent) >= self.credit:
            return
        in_flight = self.generations_sent[self.acknowledged:]
        taken = [g for g in range(self.manifest.generation_count)
                 if g not in self.complete and in_flight.count(g) < self.quota.get(g, QUOTA)]
        if taken:
            g = self.chance.choice(taken)
            if g in self.wanted:
                self._send_plain(g, in_flight.count(g))
            else:
                self.send_block(g, self.chance.randbytes(self.manifest.blocks_in(g)))

    def pollute(self, pace, stop):
        while not self.goodbye and not stop.is_set():
            try:
                self.take(self.connection.receive(pace.due))
            except TimeoutError:
                self.send_false()
                pace.due += pace.interval


class Renamed:
    """A host that pollutes a downloader, and comes back under a fresh name each time it is left."""

    def __init__(self, test, victim, manifest, data, host, rate):
        self.names = []
        self.due, self.interval = time.monotonic(), manifest.k / rate
        self._stop = threading.Event()

        def run():
            while not self._stop.is_set():
                identity = Identity(test.folder)
                try:
                    connection = Connection(identity, victim.endpoint(), host)
                except OSError:
                    self._stop.wait(0.1)  # the download has ended
                    continue
                try:
                    polluter = SlowPolluter(connection, manifest, data, random.Random(identity.id))
                    self.names.append(identity.text)
                    polluter.pollute(self, self._stop)
                except (Closed, OSError):
                    pass
                finally:
                    connection.close()

        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()

    def stop(self):
        self._stop.set()
        self._thread.join()


class Polluters(harness.SwarmTest):
    def setUp(self):
        super().setUp()
        self.where = ["--tracker", self.tracker().endpoint()]

    def saboteur(self, link, deeds, name="saboteur"):
        return self.programs.start(name, [SABOTEUR, link, "-o", self.folder / name, "--deeds", deeds,
                                          *LISTEN])

    def banned_by(self, program):
        """The ids of peers that it said it had banned."""
        told = (BANNED.match(event["message"]) for event in program.events
                if event.get("event") == "notice")
        return {match.group(1) for match in told if match}

    def test_one_that_flips_bytes_is_banned_by_all_and_told_to_check_its_memory(self):
        source = self.file(3 * MIB)
        seed = self.share(source, *self.where, *SHAPE, "--up-limit", "768K")
        saboteur = self.saboteur(seed.link(), "byte")
        gets = [self.get(seed.link(), f"get-{i}", "--seed", "forever") for i in range(3)]
        saboteur.wait_line("check its memory", 60, stream="stderr")
        for get in gets:
            get.wait_event("complete")
            self.assert_same(source, self.folder / get.name / source.name)
        saboteur.stop()
        self.assertGreaterEqual(saboteur.last_event("deeds")["false_blocks"], len(gets))
        for program in (seed, *gets):
            self.assertLessEqual(self.banned_by(program), {saboteur.id()}, program.story())
        for get in gets:
            self.assertEqual({saboteur.id()}, self.banned_by(get))

    def test_one_that_changes_its_name_spoils_nothing_either(self):
        source = self.file(MIB)
        seed = self.share(source, *self.where, *SHAPE, "--up-limit", "256K")
        saboteur = self.saboteur(seed.link(), "fresh:1+noise")
        gets = [self.get(seed.link(), f"get-{i}", "--seed", "forever") for i in range(2)]
        for get in gets:
            get.wait_event("complete")
            self.assert_same(source, self.folder / get.name / source.name)
        saboteur.stop()
        deeds = [event for event in saboteur.events if event["event"] == "deeds"]
        self.assertGreater(sum(event["false_blocks"] for event in deeds), 0)
        names = {event["peer"] for event in deeds}
        self.assertGreater(len(names), 1)
        for program in (seed, *gets):
            self.assertLessEqual(self.banned_by(program), names, program.story())

    # --- hosts that come back under fresh names ---

    # How long it takes is printed, not asserted, and so is how many names are used up: they go by
    # the clock, so that their count is a time too.

    def race(self, manifest_file, polluters):
        """A download from a seed of 1 MiB/s, beside polluters that send 128 KiB/s between them. How
        many seconds it took, names of polluters there were, rows came from them, and generations
        failed."""
        manifest = Manifest(manifest_file.read_bytes())
        source = self.folder / "source" / "content.bin"
        seed = self.firn(f"seed-{polluters}", "seed", manifest_file, source.parent, *LISTEN,
                         "--no-tracker", "--up-limit", "1M")
        get = self.get(manifest_file, f"get-{polluters}", "--no-tracker", "--no-pex",
                       "--peer", seed.endpoint())
        crowd = [Renamed(self, get, manifest, source.read_bytes(), f"127.3.{i}.1",
                         128 * KIB / polluters) for i in range(polluters)]
        try:
            complete = self.assert_downloaded(source, get, 120)
        finally:
            for polluter in crowd:
                polluter.stop()
        seed.stop()
        names = {name for polluter in crowd for name in polluter.names}
        for program in (seed, get):
            self.assertLessEqual(self.banned_by(program), names, program.story())
        rows = sum(one["blocks"] for one in complete["blocks_from"] if one["peer"] in names)
        failed = re.findall("generation ([0-9]+) decoded to false data", get.output("stderr"))
        # A generation that has failed is fetched by blocks that prove themselves: what is false in
        # it ends its sender. Otherwise only false rows are thrown away.
        self.assertEqual(len(set(failed)), len(failed), failed)
        blocks = sum(manifest.blocks_in(g) for g in range(manifest.generation_count))
        self.assertLessEqual(rows, blocks + 2 * len(names))
        return complete["seconds"], len(names), rows, len(failed)

    def races(self, *create):
        source = self.file(3 * MIB)
        manifest_file = self.create(source, "--generation-size", 32, "--block-size", 8 * KIB, *create)
        for polluters in (0, 4, 8):
            seconds, names, rows, failed = self.race(manifest_file, polluters)
            if polluters:
                self.assertGreater(names, polluters, "none came back")
            print(f"{self.id()}: {polluters} polluters: {seconds:.1f} s; {names} names, {rows} rows "
                  f"of theirs, {failed} generations failed", flush=True)

    def test_fresh_names_spoil_no_download_from_the_publisher(self):
        self.races()

    def test_fresh_names_spoil_no_download_from_a_complete_peer(self):
        """The content's authority is away."""
        key = self.folder / "publisher.key"
        self.assertEqual(0, self.run_firn("keygen", key)[0])
        self.races("--sign", key)

    def test_fresh_names_spoil_no_download_of_a_content_without_an_authority(self):
        self.races("--no-authority")

    def test_deeds_that_do_not_exist_are_refused(self):
        saboteur = self.saboteur("firn:" + "a" * 52, "politeness")
        self.assertNotEqual(0, saboteur.wait_exit())
        self.assertIn("no such deed", saboteur.output("stderr"))


if __name__ == "__main__":
    harness.main()
