#!/usr/bin/python3
"""`firn share --until` ends by itself, with 0 and a line that says why: once enough receivers or all named hosts
have everything, or once nobody fetches any more."""

import harness
from harness import KIB, USAGE, UNREACHABLE, SwarmTest


class Until(SwarmTest):
    def setUp(self):
        super().setUp()
        self.source = self.file(300 * KIB)

    def fetch(self, seed, name, *options, link=None):
        link = link or seed.link()
        return self.assert_completes(self.get(link, name, "--peer", seed.endpoint(), *options))

    def assert_ends(self, seed, why):
        self.assertEqual(0, seed.wait_exit(), seed.story())
        lines = [line for line in seed.lines["stderr"] if why in line]
        self.assertEqual(1, len(lines), seed.output("stderr"))

    def assert_stays(self, seed):
        """It still serves: a receiver of nothing but the manifest is answered."""
        status, _, errors = self.run_firn("info", harness.bare(seed.link()), "--peer", seed.endpoint())
        self.assertEqual(0, status, errors)

    def test_it_ends_once_so_many_receivers_have_everything(self):
        for size in (300 * KIB, 12):
            with self.subTest(bytes=size):
                self.source = self.file(size, f"of-{size}")
                seed = self.share(self.source, "--no-tracker", "--until", "2", name=f"seed-{size}")
                self.fetch(seed, f"one-{size}")
                self.assert_stays(seed)
                self.fetch(seed, f"two-{size}")
                self.assert_ends(seed, "2 peers have everything; leaving")

    def test_part_of_the_files_is_not_everything(self):
        self.source = self.tree({"a": 100 * KIB, "b": 100 * KIB})
        seed = self.share(self.source, "--no-tracker", "--until", "1")
        self.fetch(seed, "part", "--file", "a")
        self.assert_stays(seed)
        self.fetch(seed, "whole")
        self.assert_ends(seed, "1 peer has everything; leaving")

    def test_of_several_paths_each_has_its_receivers(self):
        other = self.file(50 * KIB, "other")
        seed = self.firn("seed", "share", self.source, other, *harness.LISTEN, "--no-tracker", "--until", "1")
        one, two = seed.links(2)
        self.fetch(seed, "first", link=one)
        self.fetch(seed, "second", link=two)
        self.assert_ends(seed, "1 peer has everything; leaving")

    def test_it_ends_once_all_named_hosts_have_everything(self):
        names = self.folder / "names"
        names.write_text("# receivers\nlocalhost\n127.0.0.3\n")
        for words in ("all-of:localhost,127.0.0.3", f"all-of:@{names}"):
            with self.subTest(words=words):
                name = str(len(words))
                seed = self.firn("seed" + name, "share", self.source, "--listen", "127.0.0.1:0", "--json",
                                 "--no-tracker", "--until", words)
                self.fetch(seed, "one" + name)
                self.fetch(seed, "again" + name)
                self.assert_stays(seed)
                third = self.firn("third" + name, "get", seed.link(), "-o", self.folder / ("third" + name), "--json",
                                  "--listen", "127.0.0.3:0", "--peer", seed.endpoint())
                self.assert_completes(third)
                self.assert_ends(seed, "all hosts that were named have everything; leaving")

    def test_it_ends_once_nobody_has_fetched_anything_for_a_time(self):
        seed = self.share(self.source, "--no-tracker", "--until", "idle:2s")
        self.fetch(seed, "get")
        self.assert_ends(seed, "nobody has fetched anything for 2 s; leaving")

    def test_get_and_seed_take_the_same_words(self):
        seed = self.share(self.source, "--no-tracker", "--until", "2")
        manifest = self.create(self.source)
        first = self.get(manifest, "first", "--no-tracker", "--peer", seed.endpoint(), "--seed", "idle:3s")
        self.assert_completes(first)
        served = self.firn("served", "seed", manifest, self.source.parent, *harness.LISTEN, "--no-tracker", "--until", "1")
        self.fetch(served, "second", link=manifest)
        self.assert_ends(served, "1 peer has everything; leaving")

    def test_words_that_mean_nothing_are_refused_at_once(self):
        for words, why in (("0", "number of receivers"), ("idle:", "idle:10m"), ("soon", "expected"), ("all-of:", "expected hosts"),
                           ("all-of:a,,b", "expected hosts"), ("all-of:@/nowhere", "/nowhere")):
            with self.subTest(words=words):
                status, output, errors = self.run_firn("share", self.source, "--until", words)
                self.assertNotIn(status, (0, 1))
                self.assertIn(why, errors)
                self.assertEqual("", output)
        self.assert_refused(self.run_firn("share", self.source, "--until", "all-of:no.such.host.invalid"),
                            UNREACHABLE, "no.such.host.invalid")
        for other in ("--leave-when-safe", "--daemon"):
            self.assert_refused(self.run_firn("share", self.source, "--until", "1", other), USAGE, "--until", other)


if __name__ == "__main__":
    harness.main()
