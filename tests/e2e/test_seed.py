#!/usr/bin/python3
"""`firn seed` claims to serve what it has looked at; contents of one name do not meet in one folder."""

import os

import harness
from harness import KIB, LISTEN, MIB


class Checks(harness.SwarmTest):
    def setUp(self):
        super().setUp()
        self.source = self.tree({"a": 3 * MIB, "b": 700, "c": 900})
        self.manifest = self.create(self.source)

    def change(self, name, keep_time):
        path = self.source / name
        status = path.stat()
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
        if keep_time:
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))

    def seed(self, *options):
        return self.firn("seed", "seed", self.manifest, self.source.parent, *LISTEN, *options)

    def assert_refused_with_advice(self, seed, expected, *words):
        self.assertEqual(expected, seed.wait_exit(60), seed.story())
        self.assertNotIn("serving", seed.output("stderr"))
        for word in (*words, "firn get --repair", "firn share"):
            self.assertIn(word, seed.output("stderr"))

    def test_changed_bytes_are_found_before_it_serves(self):
        self.change("b", keep_time=False)
        self.assert_refused_with_advice(self.seed(), harness.VERIFY_FAILED, "1 of 3", "b (changed)")

    def test_wrong_sizes_and_missing_files_are_all_named(self):
        (self.source / "a").write_bytes(b"short")
        (self.source / "c").unlink()
        self.assert_refused_with_advice(self.seed(), harness.VERIFY_FAILED, "2 of 3", "a (short",
                                        "c (missing)")
        (self.source / "a").unlink()
        self.assert_refused_with_advice(self.seed(), harness.DISK, "a (missing)")

    def test_changes_that_kept_the_time_are_found_while_it_serves(self):
        self.change("a", keep_time=True)
        seed = self.seed()
        seed.wait_event("start")
        notice = seed.wait_event("notice", where=lambda e: "not served any more" in e["message"])
        self.assertIn("firn get --repair", notice["message"])

    def test_a_copy_with_other_times_is_served_when_its_bytes_are_right(self):
        for path in self.source.iterdir():
            os.utime(path)
        self.seed().wait_event("start")

    def test_trust_asks_for_sizes_alone(self):
        self.change("b", keep_time=False)
        self.seed("--trust").wait_event("start")
        (self.source / "b").write_bytes(b"")
        self.assertEqual(harness.VERIFY_FAILED, self.seed("--trust").wait_exit(60))


class OneName(harness.SwarmTest):
    def test_two_contents_of_one_name_do_not_go_into_one_folder(self):
        one, two = self.tree({"a": 5 * KIB}), self.tree({"a": 6 * KIB}, "other/holiday")
        first, second = self.folder / "1.firn", self.folder / "2.firn"
        self.assertEqual(0, self.run_firn("create", one, "-o", first)[0])
        self.assertEqual(0, self.run_firn("create", two, "-o", second)[0])
        result = self.run_firn("get", first, second, "-o", self.folder / "get", *LISTEN)
        self.assert_refused(result, harness.DISK, "two contents are called holiday")
        self.assertFalse((self.folder / "get").exists())

    def test_nor_when_their_names_come_from_the_network(self):
        one, two = self.tree({"a": 5 * KIB}), self.tree({"a": 6 * KIB}, "other/holiday")
        seeds = [self.share(one, name="seed1"), self.share(two, name="seed2")]
        links = [harness.bare(seed.link()) + "?peer=" + seed.endpoint() for seed in seeds]
        get = self.firn("get", "get", *links, "-o", self.folder / "get", *LISTEN)
        self.assertEqual(harness.DISK, get.wait_exit(60), get.story())
        self.assertIn("another content of that name", get.output("stderr"))


if __name__ == "__main__":
    harness.main()
