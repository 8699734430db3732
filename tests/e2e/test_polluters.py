#!/usr/bin/python3
"""Hostile peers as processes (tests/hostile): honest ones end with the right bytes, and with none of
themselves banned."""

import re

import harness
from harness import BUILD, KIB, LISTEN, MIB

SABOTEUR = BUILD / "tests" / "hostile" / "firn-saboteur"
# Many generations, so that rows are judged all through the download.
SHAPE = ["--generation-size", 16, "--block-size", 4 * KIB]
BANNED = re.compile(r"^peer ([a-z2-7]{52})\b.*; banned for ")


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

    def test_deeds_that_do_not_exist_are_refused(self):
        saboteur = self.saboteur("firn:" + "a" * 52, "politeness")
        self.assertNotEqual(0, saboteur.wait_exit())
        self.assertIn("no such deed", saboteur.output("stderr"))


if __name__ == "__main__":
    harness.main()
