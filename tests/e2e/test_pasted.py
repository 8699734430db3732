#!/usr/bin/python3
"""Words as people type and paste them: taken, or refused with the right words."""

import os
import re
import shutil
import subprocess
import urllib.parse

import harness
from harness import LISTEN


class Pasted(harness.SwarmTest):
    def test_a_link_may_have_spaces_around_it_and_an_id_may_stand_alone(self):
        source = self.file(1000)
        seed = self.share(source)
        content = harness.bare(seed.link()).removeprefix("firn:")
        peer = ["--peer", seed.endpoint()]
        self.assert_downloaded(source, self.get(f"  {seed.link()}\n", "spaces"))
        self.assert_downloaded(source, self.get(content, "alone", *peer))
        # A file of that name comes first.
        (self.folder / content).write_bytes(b"no manifest")
        self.assert_refused(self.run_firn("info", content, cwd=self.folder), harness.USAGE,
                            "no manifest")

    def test_share_prints_the_whole_command_for_the_other_side_which_needs_no_quotes(self):
        key = self.folder / "key.pem"
        self.assertEqual(0, self.run_firn("keygen", key)[0])
        source = self.file(1000)
        seed = self.firn("seed", "share", source, "--sign", key, "--listen", "127.0.0.1:0", "--tracker",
                         self.tracker().endpoint())
        link = seed.link()
        command = seed.wait_line("^on another machine: (.*)$", stream="stderr").group(1)
        self.assertEqual(f"firn get {link}", command)
        self.assertEqual([link], seed.lines["stdout"])
        self.assertIn(f"/peer={seed.id()}@127.0.0.1:{seed.port()}", link)
        for shell in filter(shutil.which, ("sh", "bash", "zsh", "fish")):
            said = subprocess.run([shell, "-c", f"echo {link} -o x"], capture_output=True, text=True, cwd=self.folder)
            self.assertEqual((f"{link} -o x\n", ""), (said.stdout, said.stderr))
        program = f"{harness.BUILD.resolve()}/client/{command}"
        get = self.programs.start("copy", ["bash", "-c", f"exec {program} -o copy {' '.join(LISTEN)}"], cwd=self.folder)
        self.assert_downloaded(source, get)

    def test_a_private_share_does_not_repeat_its_link_on_standard_error(self):
        seed = self.firn("seed", "share", self.file(1000), "--private", "--listen", "127.0.0.1:0")
        link = seed.link()
        seed.wait_line("^on another machine: firn get LINK,", stream="stderr")
        self.assertNotIn(link[57:97], seed.output("stderr"))

    def test_links_of_older_programs_are_taken(self):
        source = self.file(1000)
        seed = self.share(source, "--tracker", self.tracker().endpoint())
        old = harness.bare(seed.link())
        parts = [part.partition("=") for part in seed.link().split("/")[1:]]
        self.assertEqual(["tr", "peer"], [name for name, _, _ in parts])
        old += "?" + "&".join(f"{name}={urllib.parse.quote(value, safe=':')}" for name, _, value in parts)
        self.assert_downloaded(source, self.get(old, "old"))
        status, output, errors = self.run_firn("info", old)
        self.assertEqual(0, status, errors)
        self.assertRegex(output, f"(?m)^link +{re.escape(seed.link())}$")
        self.assert_downloaded(source, self.get(f" {seed.link()}/?x=y&peer={seed.endpoint()}#z", "mixed"))

    def test_a_link_is_taken_without_its_beginning(self):
        source = self.file(1000)
        seed = self.share(source)
        self.assert_downloaded(source, self.get(seed.link().removeprefix("firn:"), "get"))

    def test_a_link_may_stand_in_a_file(self):
        source = self.file(1000)
        link = self.share(source).link()
        file = self.folder / "x.link"
        file.write_text(f"# {source.name}\n\n  {link}\n")
        self.assert_downloaded(source, self.get(file))
        for text in ("", f"{link}\n{link}\n", "no link\n"):
            file.write_text(text)
            self.assert_refused(self.run_firn("get", file, "-o", self.folder / "no"), harness.USAGE, "one link")

    def test_what_is_neither_a_link_nor_a_file_is_told(self):
        for text, status, words in (
                ("magnet:?xt=urn:btih:c12fe1c06bba254a9dc9f519b335aa7c1367a88a", harness.USAGE,
                 ["'magnet:'", "another program", "firn:"]),
                ("ftp://example.org/holiday.firn", harness.USAGE, ["'ftp:'", "X.firn"]),
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
