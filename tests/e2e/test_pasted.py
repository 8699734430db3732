#!/usr/bin/python3
"""Words as people type and paste them: taken, or refused with the right words."""

import os

import harness
from harness import LISTEN


class Pasted(harness.SwarmTest):
    def test_a_link_may_have_spaces_around_it_and_an_id_may_stand_alone(self):
        source = self.file(1000)
        seed = self.share(source)
        content = seed.link().removeprefix("firn:").partition("?")[0]
        peer = ["--peer", seed.endpoint()]
        self.assert_downloaded(source, self.get(f"  {seed.link()}\n", "spaces"))
        self.assert_downloaded(source, self.get(content, "alone", *peer))
        # A file of that name comes first.
        (self.folder / content).write_bytes(b"no manifest")
        self.assert_refused(self.run_firn("info", content, cwd=self.folder), harness.USAGE,
                            "no manifest")

    def test_a_link_is_taken_without_its_beginning(self):
        source = self.file(1000)
        seed = self.share(source)
        self.assert_downloaded(source, self.get(seed.link().removeprefix("firn:"), "get"))

    def test_what_is_neither_a_link_nor_a_file_is_told(self):
        for text, status, words in (
                ("magnet:?xt=urn:btih:c12fe1c06bba254a9dc9f519b335aa7c1367a88a", harness.USAGE,
                 ["'magnet:'", "another program", "firn:"]),
                ("https://example.org/holiday.firn", harness.USAGE, ["'https:'", "X.firn"]),
                ("wvzurgpe", harness.DISK, ["nor is it a link", "52 characters"]),
                ("a:b", harness.DISK, ["a:b"]), ("./magnet:x", harness.DISK, ["No such file"])):
            for command in ("info", "get", "add"):
                with self.subTest(text=text, command=command):
                    self.assert_refused(self.run_firn(command, text, cwd=self.folder), status, *words)
        # A file of that name comes first.
        (self.folder / "magnet:x").write_bytes(b"no manifest")
        self.assert_refused(self.run_firn("info", "magnet:x", cwd=self.folder), harness.USAGE,
                            "no manifest")

    def test_a_manifest_does_not_go_to_standard_output(self):
        source = self.file(10)
        for command in ("create", "share"):
            self.assert_refused(
                self.run_firn(command, source, "-o", "-", cwd=self.folder, timeout=20),
                harness.USAGE, "standard output")
        self.assertEqual(["source"], os.listdir(self.folder))

    def test_ranges_and_counts_are_told_in_plain_numbers(self):
        source, output = self.file(10), self.folder / "x.firn"
        create = ["create", source, "-o", output, "--generation-size"]
        for value in ("0", "4097", "x"):
            self.assert_refused(self.run_firn(*create, value), harness.USAGE, "1 to 4096")
        self.assert_refused(self.run_firn("seed", output), harness.USAGE, "needs its folder")
        status, _, errors = self.run_firn("get", output, "--seed", "30x")
        self.assertEqual(harness.USAGE, status)
        self.assertIn("30m", errors)
        self.assertNotIn("alone", errors)  # of --seed a number alone is refused
        self.assert_refused(self.run_firn("get", output, "--on-complete", ""), harness.USAGE,
                            "--on-complete", "empty")

    def test_a_timeout_is_told_as_it_was_given(self):
        manifest = self.create(self.file(10))
        status, _, errors = self.run_firn("get", manifest, "-o", self.folder / "get", *LISTEN,
                                          "--timeout", "200ms")
        self.assertEqual(harness.UNREACHABLE, status, errors)
        self.assertIn("no progress for 200ms", errors)


if __name__ == "__main__":
    harness.main()
