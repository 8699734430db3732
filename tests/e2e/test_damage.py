#!/usr/bin/python3
"""Files of a complete content that are cut, changed or lost while they are served, and come back."""

import shutil

import harness
from daemons import DaemonTest
from harness import LISTEN, MIB

GENERATIONS = 48  # more than are read at a time
SHAPE = ("--generation-size", 64, "--block-size", 4096)  # 256 KiB a generation


def cut(path):
    with path.open("r+b") as file:
        file.truncate(100)


def overwrite(path):
    with path.open("r+b") as file:
        file.write(bytes(path.stat().st_size))


def replace(path):
    """Another file of that size gets its name."""
    other = path.with_name("other")
    other.write_bytes(bytes(path.stat().st_size))
    other.replace(path)


class Damage(DaemonTest):
    """`a` is spoilt before anybody has asked for it. Then a peer asks for everything, and waits."""

    def setUp(self):
        super().setUp()
        self.source = self.tree({"a": 8 * MIB, "b": 4 * MIB})
        self.file = self.source / "a"
        self.kept = self.folder / "kept" / self.source.name
        shutil.copytree(self.source, self.kept)
        self.manifest = self.create(self.source, *SHAPE)
        self.told = self.folder / "told"
        self.told.touch()

    def start(self):
        # Little memory: what was served before has left it, and is read again.
        return self.daemon("--memory", "16M", "--on-error", f"echo \"$FIRN_ERROR\" >> '{self.told}'")

    def serve(self):
        daemon = self.start()
        self.ask("add", self.manifest, "-o", self.source.parent, "--serve", "--trust")
        self.wait_state("seeding")
        return daemon

    def ask_for_all(self, program, name="get"):
        return self.get(self.manifest, name, "--no-tracker", "--peer", program.endpoint(),
                        "--seed", "none")

    def write_back(self):
        shutil.copy2(self.kept / "a", self.file)

    def rename_back(self):
        other = self.file.with_name("other")
        shutil.copy2(self.kept / "a", other)
        other.replace(self.file)

    def check_damage(self, daemon, spoil, restore, name="get"):
        spoil(self.file)
        get = self.ask_for_all(daemon, name)
        damaged = self.wait_state("damaged")[0]
        self.assertIn(f"of {GENERATIONS} generations are not served", damaged["failure"])
        self.assertIn(str(self.file), damaged["failure"])
        self.assertTrue(damaged["complete"])
        self.assertLess(damaged["rank"], damaged["rank_total"])
        self.assertRegex(self.run_firn("list", "--socket", self.socket)[1], r"damaged +\d+\.\d%")
        # `b` is served, and what is in memory.
        get.wait_event("progress", where=lambda e: e["bytes_verified"] >= 4 * MIB)
        restore()
        self.assert_downloaded(self.kept, get)
        whole = self.wait_state("seeding")[0]
        self.assertEqual(whole["rank_total"], whole["rank"])
        self.assertNotIn("failure", whole)

    def hooks(self):
        return self.told.read_text().splitlines()

    def test_what_is_right_again_is_served_again_and_each_time_is_told_once(self):
        daemon = self.serve()
        self.check_damage(daemon, cut, self.write_back, "get1")
        self.check_damage(daemon, overwrite, self.write_back, "get2")
        self.wait_for(lambda _: len(self.hooks()) >= 2)
        self.assertEqual(0, daemon.stop())
        self.assertEqual([True, True], [str(self.file) in line for line in self.hooks()])
        damage = [event["generations_lost"] > 0 for event in daemon.events
                  if event["event"] == "damage"]
        self.assertEqual([True, False, True, False], damage)

    def test_a_file_that_gets_the_name_is_looked_at_the_right_one_too(self):
        self.check_damage(self.serve(), replace, self.rename_back)

    def test_a_folder_that_is_away_is_served_when_it_is_back(self):
        daemon = self.serve()
        away = self.source.with_name("away")
        self.source.rename(away)
        get = self.ask_for_all(daemon)
        self.wait_for(lambda contents: (contents[0]["state"], contents[0]["rank"]) == ("damaged", 0))
        away.rename(self.source)
        self.wait_state("seeding")
        self.assert_downloaded(self.kept, get)

    def test_what_the_daemon_has_downloaded_is_served_again_likewise(self):
        daemon = self.start()
        seed = self.share(self.source, *SHAPE)
        self.add(seed.link())
        self.wait_state("seeding")
        seed.stop()
        self.file = self.downloads / self.source.name / "a"
        self.check_damage(daemon, lambda file: file.unlink(), self.write_back)

    def test_a_seed_without_a_daemon_tells_it_too(self):
        seed = self.firn("seed", "seed", self.manifest, self.source.parent, "--trust", *LISTEN)
        seed.wait_event("start")
        cut(self.file)
        get = self.ask_for_all(seed)
        damage = seed.wait_event("damage", where=lambda e: e["generations_lost"] > 0)
        self.assertEqual(GENERATIONS, damage["generations"])
        self.write_back()
        self.assert_downloaded(self.kept, get)
        seed.wait_event("damage", where=lambda e: e["generations_lost"] == 0)


if __name__ == "__main__":
    harness.main()
