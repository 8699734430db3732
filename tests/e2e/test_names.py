#!/usr/bin/python3
"""Names of contents that would take over their receiver, and contents under other names."""

import os

import harness
from daemons import DaemonTest
from harness import KIB

# What a shell, a desktop or a login reads unasked, and what commands take for options.
BAD_NAMES = [".config", ".bash_profile", "-rf", "\u200b.ssh", "\U000e0020\ufeff-x"]


class Names(harness.SwarmTest):
    def out(self, name):
        """An empty folder, which also is the home of what runs there."""
        folder = self.folder / name
        folder.mkdir()
        return folder

    def test_a_name_that_programs_read_unasked_is_refused_and_another_one_is_taken(self):
        for number, name in enumerate(BAD_NAMES):
            with self.subTest(name):
                source = self.tree({"firn/config.toml": b"[get]\n"}, name=name)
                seed = self.share(source, name=f"seed{number}")
                out = self.out(f"out{number}")
                for options in ((), ("--repair",), ("--overwrite",)):
                    refused = self.run_firn("get", seed.link(), "-o", out, *options)
                    self.assert_refused(refused, harness.DISK, "--as NAME")
                    self.assertEqual([], os.listdir(out))
                get = self.get(seed.link(), f"get{number}", "--as", "settings", into=out)
                self.assert_completes(get)
                self.assert_same(source, out / "settings")
                self.assertEqual(["settings"], os.listdir(out))
        # Who wants that very name gets it.
        get = self.get(seed.link(), "on purpose", "--as", ".config")
        self.assert_completes(get)
        self.assert_same(source, self.folder / "on purpose" / ".config")

    def test_bin_is_refused_in_the_home_folder_alone(self):
        home = self.out("home")
        for number, name in enumerate(("bin", "BIN")):
            source = self.tree({"ls": b"#!/bin/sh\n"}, name=name)
            seed = self.share(source, name=f"seed{number}")
            refused = self.run_firn("get", seed.link(), env={**os.environ, "HOME": str(home)},
                                    cwd=home)
            self.assert_refused(refused, harness.DISK, "--as NAME", "home")
            self.assertEqual([], os.listdir(home))
            self.assert_downloaded(source, self.get(seed.link(), f"elsewhere{number}"))

    def test_a_manifest_file_is_refused_before_anything_is_made(self):
        manifest = self.create(self.tree({"x": 10}, name=".local"))
        out = self.folder / "out"
        self.assert_refused(self.run_firn("get", manifest, "-o", out), harness.DISK, "--as NAME")
        self.assertFalse(out.exists())

    def test_a_content_under_another_name_goes_on_and_is_verified_and_seeded(self):
        for number, source in enumerate((self.tree({"d/a": 100 * KIB, "b": 10}), self.file(90 * KIB))):
            with self.subTest(source.name):
                seed = self.share(source, name=f"seed{number}")
                out = self.out(f"out{number}")
                (out / source.name).write_text("mine")  # the name is taken
                told = self.folder / f"told{number}"
                options = ["--as", "other name", "--on-complete",
                           f'printf %s "$FIRN_DIR/$FIRN_NAME" > "{told}"']
                for _ in range(2):  # the second finds all there
                    self.assert_completes(self.get(seed.link(), "get", *options, into=out))
                self.assert_same(source, out / "other name")
                self.assertEqual("mine", (out / source.name).read_text())
                self.assertEqual(str(out / "other name"), told.read_text())
                for place in ((out, "--as", "other name"), (out / "other name",)):
                    status, _, errors = self.run_firn("verify", self.create(source), *place)
                    self.assertEqual(0, status, errors)
                    again = self.firn("again", "seed", seed.link(), *place, *harness.LISTEN,
                                      "--no-tracker")
                    again.wait_event("start")
                    self.assert_downloaded(
                        source, self.get(harness.bare(seed.link()), f"from {again.name} {len(place)} {number}",
                                         "--peer", again.endpoint()))
                    again.kill()
                missing = self.run_firn("verify", self.create(source), self.folder)
                self.assert_refused(missing, harness.VERIFY_FAILED, "--as")

    def test_whoever_shares_such_a_name_is_told_and_no_file_keeps_a_set_id_bit(self):
        source = self.tree({"a": 10}, name=".dotfiles")
        (source / "a").chmod(0o6755)
        seed = self.share(source)
        seed.wait_event("notice", where=lambda e: "--as NAME" in e["message"])
        self.assert_completes(self.get(seed.link(), "get", "--as", "x"))
        self.assertEqual(0o755, (self.folder / "get" / "x" / "a").stat().st_mode & 0o7777)

    def test_a_name_is_one_name_and_for_one_content(self):
        manifests = [self.create(self.file(10, name=name)) for name in ("one", "two")]
        for name in ("a/b", "..", "", ".firn", "a\nb"):
            said = self.run_firn("get", manifests[0], "-o", self.folder / "out", "--as", name)
            self.assert_refused(said, harness.USAGE)
        said = self.run_firn("get", *manifests, "-o", self.folder / "out", "--as", "x")
        self.assert_refused(said, harness.USAGE, "one content")

    def test_a_medium_is_read_under_another_name(self):
        source = self.tree({"a": 2000}, name=".config")
        medium = self.folder / "medium"
        status, _, errors = self.run_firn("medium", "write", source, "-o", medium, "--rate", "0.001")
        self.assertEqual(0, status, errors)
        out = self.folder / "out"
        self.assert_refused(self.run_firn("medium", "read", medium, out, "--overwrite"),
                            harness.DISK, "--as NAME")
        self.assertFalse((out / ".config").exists())
        status, _, errors = self.run_firn("medium", "read", medium, out, "--as", "settings")
        self.assertEqual(0, status, errors)
        self.assert_same(source, out / "settings")
        # It can be written from there, and read and written at once whatever its name is.
        new = self.folder / "new"
        status, _, errors = self.run_firn("medium", "write", out / "settings", "-o", new, "--manifest",
                                          self.create(source), "--rate", "0.001")
        self.assertEqual(0, status, errors)
        status, _, errors = self.run_firn("medium", "scrub", new, "-o", self.folder / "newer")
        self.assertEqual(0, status, errors)


class DaemonNames(DaemonTest):
    def hook(self):
        return f'printf "%s %s\\n" "$FIRN_NAME" "$FIRN_ERROR" >> "{self.folder}/told"'

    def told(self):
        path = self.folder / "told"
        return path.read_text() if path.exists() else ""

    def test_a_link_to_a_refused_name_fails_with_event_and_hook_and_another_name_is_taken(self):
        source = self.tree({"x": 50 * KIB}, name=".config")
        seed = self.share(source)
        daemon = self.daemon("--on-error", self.hook())
        self.add(seed.link())
        failed = self.wait_state("failed")[0]
        self.assertIn("--as NAME", failed["failure"])
        self.assertIn("--as NAME", daemon.wait_event("error")["message"])
        self.wait_for(lambda _: ".config" in self.told())
        self.assertFalse((self.downloads / ".config").exists())
        self.ask("remove", failed["content_id"])
        added = self.add(seed.link(), "--as", "settings")
        self.assertEqual("settings", added["as"])
        self.assertEqual("settings", self.ask("show", "settings")["name"])
        self.wait_complete()
        self.assert_same(source, self.downloads / "settings")
        # Also in another run, and in another folder, under the same name and then another.
        daemon.kill()
        self.daemon()
        self.wait_state("seeding")
        for number, options in enumerate(((), ("--as", "more settings"))):
            place = self.folder / f"moved{number}"
            self.ask("move", "settings", place, *options)
            name = options[-1] if options else "settings"
            self.wait_for(lambda contents: contents[0]["state"] == "seeding" and
                          contents[0]["name"] == name)
            self.assert_same(source, place / name)
            self.assertEqual([name], os.listdir(place))
        refused = self.request("move", content="more settings", folder=str(self.folder / "x"),
                               **{"as": "a/b"})
        self.assertEqual("bad_input", refused["error"]["data"]["code"])
        shown = self.ask("show", "more settings")
        self.assertEqual("more settings", shown["as"])
        copy = self.get(shown["link"], "copy", "--as", "x")
        self.assert_completes(copy)
        self.ask("remove", "more settings", "--delete-data")
        self.wait_for(lambda contents: not contents)
        self.assertEqual([], os.listdir(self.folder / "moved1"))

    def test_a_manifest_with_a_refused_name_is_told_at_once(self):
        manifest = self.create(self.tree({"x": 10}, name="-x"))
        self.daemon()
        said = self.run_firn("add", manifest, "-o", self.downloads, "--repair", "--socket", self.socket)
        self.assert_refused(said, harness.DISK, "--as NAME")
        self.assertEqual({"-x": "failed"}, self.states())
        self.assertFalse(self.downloads.exists())

    def test_a_served_content_is_not_moved_to_where_its_name_is_refused(self):
        source = self.tree({"x": 10}, name=".config")
        self.daemon()
        id = self.ask("add", self.create(source), "--serve", "-o", source.parent)["content_id"]
        self.wait_state("seeding")
        to = self.folder / "to"
        self.assert_refused(self.run_firn("move", id, to, "--socket", self.socket),
                            harness.DISK, "--as NAME")
        self.assertTrue(source.exists())
        self.ask("move", id, to, "--as", "settings")
        self.wait_for(lambda contents: contents[0]["name"] == "settings" and
                      contents[0]["state"] == "seeding")
        self.assertEqual(["x"], os.listdir(to / "settings"))

    def test_what_a_watched_folder_brings_is_refused_alike_and_its_file_stays(self):
        drop = self.folder / "drop"
        drop.mkdir()
        daemon = self.daemon("--on-error", self.hook())
        self.ask("watch", drop, "-o", self.downloads)
        os.replace(self.create(self.tree({"x": 10}, name=".config")), drop / "x.firn")
        self.wait_state("failed")
        self.assertIn("--as NAME", daemon.wait_event("error")["message"])
        self.wait_for(lambda _: ".config" in self.told())
        self.wait_for(lambda _: os.listdir(drop) == ["x.firn.added"])
        self.assertFalse(self.downloads.exists())

    def test_files_in_the_way_are_replaced_or_repaired_as_add_says(self):
        seeds = [self.share(self.file(100 * KIB, name=name), name=name) for name in ("one", "two")]
        self.downloads.mkdir()
        (self.downloads / "one").write_text("another")
        damaged = bytearray((self.folder / "source" / "two").read_bytes())
        damaged[-1] ^= 1
        (self.downloads / "two").write_bytes(damaged)
        self.daemon()
        self.add(seeds[0].link(), "--overwrite", "--up", "1M")
        self.add(seeds[1].link(), "--repair", "--paused")
        self.assertEqual("paused", self.ask("show", seeds[1].link()[5:20])["state"])
        self.assertEqual(1 << 20, self.ask("show", "one")["up_limit"])
        self.ask("resume", seeds[1].link()[5:20])
        self.wait_complete()
        for name in ("one", "two"):
            self.assert_same(self.folder / "source" / name, self.downloads / name)
        served = self.run_firn("add", self.create(self.file(10, name="x")), "--serve", "--repair",
                               "--socket", self.socket)
        self.assert_refused(served, harness.USAGE)

    def test_a_content_can_be_named_as_soon_as_it_is_added(self):
        seed = self.share(self.file(100 * KIB, name="film"))
        self.daemon()
        self.add(seed.link())
        self.assertEqual("film", self.ask("show", "film")["name"])


if __name__ == "__main__":
    harness.main()
