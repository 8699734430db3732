#!/usr/bin/python3
"""Choosing some of a content's files: their numbers, and what rules take of them."""

import json
import re

import doors
import harness
from daemons import DaemonTest
from harness import DISK, KIB, LISTEN, USAGE, VERIFY_FAILED


class Listing(harness.SwarmTest):
    """`firn info --files`"""

    def setUp(self):
        super().setUp()
        source = self.tree({"a.mkv": 3 * KIB, "b.mkv": 2 * KIB, "extras/\u00fcber a.mkv": KIB,
                            "extras/notes.txt": 10, "odd\u202egnp.exe": 1})
        (source / "empty").mkdir()
        (source / "link").symlink_to("a.mkv")
        self.manifest = self.folder / "x.firn"
        status, _, errors = self.run_firn("create", source, "--symlinks", "keep", "-o", self.manifest)
        self.assertEqual(0, status, errors)

    def info(self, *options):
        status, output, errors = self.run_firn("info", self.manifest, *options)
        self.assertEqual(0, status, errors)
        return output

    def rows(self, *options):
        """The lines of the files, each as its words, and what the last line says."""
        *files, total = self.info("--files", *options).splitlines()
        return [line.split() for line in files], total

    def chosen(self, *rules):
        """The numbers that are marked."""
        return [int(words[1]) for words in self.rows(*rules)[0] if words[0] == "*"]

    def test_every_file_link_and_empty_folder_has_a_number(self):
        files, total = self.rows()
        self.assertEqual([["1", "3.0", "KiB", "a.mkv"], ["2", "2.0", "KiB", "b.mkv"],
                          ["3", "-", "empty/"], ["4", "10", "B", "extras/notes.txt"],
                          ["5", "1.0", "KiB", "extras/\u00fcber", "a.mkv"],
                          ["6", "-", "link", "->", "a.mkv"], ["7", "1", "B", r"odd\u202egnp.exe"]], files)
        self.assertEqual("5 files, 1 folder and 1 link, 6.0 KiB (6155 bytes)", total)

    def test_a_single_file_has_number_1_and_the_name_of_the_content(self):
        manifest = self.folder / "y.firn"
        self.run_firn("create", self.file(10, "one.bin"), "-o", manifest)
        status, output, _ = self.run_firn("info", manifest, "--files", "--file", "one.*")
        self.assertEqual(0, status)
        self.assertRegex(output, r"^\* 1 +10 B  one\.bin\n1 of 1 file chosen, 10 B \(10 bytes\)$")

    def test_without_the_option_there_are_no_numbers(self):
        self.assertRegex(self.info(), r"(?m)^content id ")
        self.assertRegex(self.info(), r"(?m)^ +3\.0 KiB  a\.mkv$")

    def test_a_choice_is_marked_and_added_up(self):
        files, total = self.rows("--file", "*.mkv", "--skip", "extras/")
        self.assertEqual(["*", "1", "3.0", "KiB", "a.mkv"], files[0])
        self.assertEqual(["3", "-", "empty/"], files[2])
        self.assertEqual("2 of 7 files, folders and links chosen, 5.0 KiB (5120 bytes)", total)

    def test_later_rules_go_first_whichever_options_they_are(self):
        self.assertEqual([1, 2, 5], self.chosen("--file", "*.mkv"))
        self.assertEqual([3, 4, 6, 7], self.chosen("--skip", "*.mkv"))
        self.assertEqual([1, 2, 3, 5, 6, 7],
                         self.chosen("--skip", "extras", "--file", "*.mkv"))
        self.assertEqual([1, 2], self.chosen("--file", "*.mkv", "--skip", "extras"))
        self.assertEqual([1, 2, 4], self.chosen("--select-file", "4", "--file", "*.mkv", "--skip", "/extras/*.mkv"))
        self.assertEqual([2, 4, 5], self.chosen("--select-file", "1,4-5", "--skip", "a.mkv", "--select-file", "2"))
        self.assertEqual([7], self.chosen("--file", "odd?gnp*"))

    def test_json_has_numbers_and_the_choice(self):
        event = json.loads(self.info("--json", "--file", "extras"))
        self.assertEqual(list(range(1, 8)), [file["number"] for file in event["files"]])
        self.assertEqual([4, 5], [file["number"] for file in event["files"] if file["chosen"]])
        self.assertEqual((2, 1034), (event["chosen_files"], event["chosen_bytes"]))
        event = json.loads(self.info("--json"))
        self.assertTrue(all(file["chosen"] for file in event["files"]))

    def test_what_names_nothing_is_refused_and_near_names_are_shown(self):
        for rules, *words in ((["--file", "a.mkb"], "choose 'a.mkb'", "did you mean 'a.mkv'"),
                              (["--skip", "Extra/"], "skip 'Extra/'", "'extras/'"),
                              (["--file", "*.avi"], "--files"),
                              (["--file", "odd.gnp.exe"], r"'odd\u202egnp.exe'"),
                              (["--select-file", "1,8"], "no file 8", "7"),
                              (["--select-file", "3-1"], "--select-file", "'3-1'", "1,3-5"),
                              (["--file", ""], "--file"),
                              (["--skip", "*"], "every file is skipped")):
            with self.subTest(rules=rules):
                self.assert_refused(self.run_firn("info", self.manifest, "--files", *rules), USAGE,
                                    *words)

    def test_a_choice_is_none_of_a_configuration(self):
        config = self.folder / "c.toml"
        for key in ("file", "skip", "select-file", "files"):
            with self.subTest(key=key):
                config.write_text(f'[info]\n{key} = "1"\n')
                self.assert_refused(self.run_firn("info", self.manifest, "--config", config), USAGE,
                                    key, "command line")


class Fetching(harness.SwarmTest):
    """`get`, `verify` and `seed` of a part. Each generation holds 4 KiB; notes.txt shares one."""

    FILES = {"a.mkv": 40 * KIB, "b.mkv": 20 * KIB + 5, "notes.txt": 100, "z.mkv": 30 * KIB}

    def setUp(self):
        super().setUp()
        self.source = self.tree(self.FILES)
        self.manifest = self.create(self.source, "--generation-size", "4", "--block-size", "1KiB")
        self.seed = self.firn("seed", "seed", self.manifest, self.source.parent, *LISTEN)
        self.copies = self.folder / "copies"

    def fetch(self, name, *options, source=None, into=None):
        return self.get(source or self.manifest, name, "--peer", self.seed.endpoint(), "--no-tracker",
                        *options, into=into or self.copies)

    def assert_holds(self, *names):
        """These files stand in the folder, whole, and no others, not even empty ones."""
        there = {path.name for path in (self.copies / "holiday").iterdir()}
        self.assertEqual(set(names), there)
        for name in names:
            self.assertEqual((self.source / name).read_bytes(),
                             (self.copies / "holiday" / name).read_bytes())

    def verify(self):
        return self.run_firn("verify", self.manifest, self.copies)

    def test_what_is_chosen_comes_alone_and_a_wider_choice_goes_on(self):
        mark = self.folder / "done"
        first = self.fetch("first", "--file", "notes.txt", "--on-complete", f"touch {mark}")
        complete = self.assert_completes(first)
        self.assertTrue(mark.exists())
        self.assert_holds("notes.txt")
        self.assertLessEqual(complete["bytes"], 8 * KIB)
        self.assertLessEqual(complete["blocks_innovative"], 8)
        start = first.wait_event("start")
        self.assertEqual((complete["bytes"], 90 * KIB + 105), (start["bytes_wanted"], start["bytes"]))
        last = first.last_event("progress")
        self.assertEqual((1, last["rank_total"]), (last["share"], last["rank"]))
        self.assertEqual(complete["bytes"], last["bytes_verified"])
        self.assertRegex(first.output("stderr") + first.output("stdout"),
                         "1 of 4 files complete and verified")

        again = self.fetch("again", "--file", "notes.txt")
        self.assertEqual(0, self.assert_completes(again)["blocks_innovative"])

        wider = self.fetch("wider", "--select-file", "2-3")
        complete = self.assert_completes(wider)
        self.assert_holds("b.mkv", "notes.txt")
        self.assertLess(complete["blocks_innovative"], 24)

        whole = self.fetch("whole")
        self.assert_downloaded(self.source, whole, into=self.copies)
        self.assertFalse((self.copies / ".firn").exists())

    def test_a_hook_runs_once_though_shared_bytes_are_fetched_again(self):
        self.assert_completes(self.fetch("first", "--file", "notes.txt", "--file", "b.mkv"))
        ran = self.folder / "ran"
        part = self.fetch("part", "--file", "notes.txt", "--seed", "forever", "--on-complete", f"echo run >> {ran}")
        part.wait_event("complete")
        # It is not chosen any more, so its owner may do with it what he likes.
        (self.copies / "holiday" / "b.mkv").write_bytes(bytes(20 * KIB + 5))
        second = self.get(self.manifest, "second", "--peer", part.endpoint(), "--no-tracker", "--file",
                          "notes.txt")
        part.wait_event("notice", where=lambda e: "fetched again" in e["message"])
        # The seed has parted with it, as both had what they wanted: the bytes come by way of a third.
        self.fetch("third", "--file", "notes.txt", "--peer", part.endpoint(), "--seed", "forever",
                   into=self.folder / "third").wait_event("complete")
        self.assert_completes(second)
        part.stop()
        self.assertEqual("run\n", ran.read_text())

    def test_a_link_alone_is_enough_to_choose(self):
        link = f"firn:{self.seed.wait_event('start')['content_id']}"
        got = self.fetch("got", "--skip", "*.mkv", source=link)
        self.assert_completes(got)
        self.assert_holds("notes.txt")
        refused = self.fetch("refused", "--file", "note.txt", source=link, into=self.folder / "other")
        self.assertEqual(USAGE, refused.wait_exit(60))
        self.assertIn("did you mean 'notes.txt'", refused.output("stdout") + refused.output("stderr"))

    def test_verify_compares_what_was_chosen(self):
        self.assert_completes(self.fetch("got", "--file", "b.mkv"))
        status, output, errors = self.verify()
        self.assertEqual(0, status, output + errors)
        self.assertIn("1 of 4 files, 20.0 KiB: all as the manifest says", output + errors)
        for path in (self.copies / ".firn").rglob("data/*.txt"):
            data = bytearray(path.read_bytes())
            path.write_bytes(bytes(byte ^ 1 for byte in data))
        self.assert_refused(self.verify(), VERIFY_FAILED, "share with others", "same choice of files")
        self.assert_completes(self.fetch("mended", "--file", "b.mkv"))

    def test_repair_without_a_choice_keeps_to_the_kept_one(self):
        self.assert_completes(self.fetch("got", "--file", "b.mkv", "--file", "notes.txt"))
        (self.copies / "holiday" / "b.mkv").write_bytes(b"something else")
        self.assert_refused(self.verify(), VERIFY_FAILED, "1 of 2 files", "b.mkv", "--repair")
        self.assert_completes(self.fetch("repair", "--repair"))
        self.assert_holds("b.mkv", "notes.txt")

    def test_seed_serves_a_part_and_nothing_unfinished(self):
        self.assert_completes(self.fetch("got", "--file", "b.mkv"))
        part = self.firn("part", "seed", self.manifest, self.copies, *LISTEN)
        self.assertIn("1 of 4 files", part.wait_event("notice", where=lambda e: "serving" in e["message"])["message"])
        self.seed.stop()
        second = self.get(self.manifest, "second", "--peer", part.endpoint(), "--no-tracker", "--file",
                          "b.mkv")
        self.assert_completes(second)
        self.assertEqual((self.source / "b.mkv").read_bytes(),
                         (self.folder / "second" / "holiday" / "b.mkv").read_bytes())
        part.stop()

        (self.copies / "holiday" / "b.mkv").unlink()
        self.assert_refused(self.run_firn("seed", self.manifest, self.copies, *LISTEN), DISK,
                            "not all of it is there")


class InTheDaemon(DaemonTest):
    """`firn add --file ...` and `firn files`."""

    FILES = {"a.mkv": 40 * KIB, "b.mkv": 20 * KIB + 5, "notes.txt": 100, "z.mkv": 30 * KIB}

    def setUp(self):
        super().setUp()
        self.source = self.tree(self.FILES)
        self.seed = self.share(self.source, "--generation-size", "4", "--block-size", "1KiB")

    def names_there(self, folder=None):
        return {path.name for path in ((folder or self.downloads) / "holiday").iterdir()}

    def wait_names(self, *names):
        self.wait_for(lambda contents: contents[0]["state"] == "seeding" and contents[0]["complete"]
                      and self.names_there() == set(names))

    def test_a_choice_holds_over_restarts_and_is_changed_while_it_runs(self):
        daemon = self.daemon()
        self.add(self.seed.link(), "--file", "b.mkv")
        self.wait_names("b.mkv")
        shown = self.ask("show", "holiday")
        self.assertEqual((1, 4, 20 * KIB + 5),
                         (shown["chosen_files"], shown["all_files"], shown["chosen_bytes"]))
        self.assertIn("(1 of 4 files)", self.run_firn("list", "--socket", self.socket)[1])
        listed = self.ask("files", "holiday")
        self.assertEqual([(1, False), (2, True), (3, False), (4, False)],
                         [(file["number"], file["chosen"]) for file in listed["files"]])
        self.assertEqual([0, 1], [listed["files"][n]["share"] for n in (0, 1)])

        # While it runs as a download, and then once more as a seed of what it had.
        self.ask("files", "holiday", "--file", "b.mkv", "--select-file", "4")
        self.wait_names("b.mkv", "z.mkv")
        daemon.stop()
        daemon = self.daemon()
        self.wait_names("b.mkv", "z.mkv")
        self.ask("files", "holiday", "--skip", "a.mkv")
        self.wait_names("b.mkv", "notes.txt", "z.mkv")
        self.ask("files", "holiday", "--file", "*")
        self.wait_names(*self.FILES)
        self.assert_same(self.source, self.downloads / "holiday")
        self.assertFalse((self.downloads / ".firn").exists())
        self.assertNotIn("chosen_files", self.ask("show", "holiday"))
        self.assert_refused(self.run_firn("files", "holiday", "--file", "a.mkv", "--socket", self.socket),
                            USAGE, "all of its files are there")

    def test_a_download_fetches_what_is_chosen_while_it_is_on_its_way(self):
        self.daemon("--down-limit", "20K")
        self.add(self.seed.link())
        self.wait_for(lambda contents: contents[0]["rank"] > 0)
        self.ask("files", "holiday", "--file", "notes.txt")
        self.ask("limit", "--down", "none")
        self.wait_for(lambda contents: contents[0]["complete"])
        self.assertEqual(1, self.ask("show", "holiday")["chosen_files"])
        self.assertIn("notes.txt", self.names_there())

    def test_a_choice_of_what_there_is_not_is_refused(self):
        self.daemon()
        self.add(self.seed.link(), "--file", "b.mkv")
        self.wait_names("b.mkv")
        self.assert_refused(self.run_firn("files", "holiday", "--file", "c.mkv", "--socket", self.socket),
                            USAGE, "did you mean")
        self.assertEqual(1, self.ask("show", "holiday")["chosen_files"])
        manifest = self.create(self.file(10, "one.bin"))
        self.assert_refused(self.run_firn("add", manifest, "-o", self.downloads, "--file", "two.bin",
                                          "--socket", self.socket), USAGE, "two.bin", "no file or folder fits")

    def test_a_part_is_moved_and_deleted_with_what_it_shares(self):
        self.daemon()
        self.add(self.seed.link(), "--file", "b.mkv")
        self.wait_names("b.mkv")
        elsewhere = self.folder / "elsewhere"
        self.ask("move", "holiday", elsewhere)
        self.wait_state("seeding")
        self.assertEqual({"b.mkv"}, self.names_there(elsewhere))
        self.assertEqual([], list(self.downloads.iterdir()))
        self.assertEqual(4, len(list((elsewhere / ".firn").rglob("choice"))[0].read_text()))
        self.ask("files", "holiday", "--file", "b.mkv", "--file", "notes.txt")
        self.wait_for(lambda contents: contents[0]["complete"] and len(self.names_there(elsewhere)) == 2)
        self.ask("remove", "holiday", "--delete-data")
        self.wait_for(lambda contents: not contents)
        self.assertEqual([], [path for path in elsewhere.rglob("*") if path.is_file()])


class OnThePage(doors.Door):
    """Boxes to tick, without JavaScript."""

    def boxes(self, text):
        """{number: whether it is ticked} of the form."""
        return {int(number): bool(ticked) for number, ticked in
                re.findall(r'type="checkbox" name="file(\d+)" value="on"( checked)?>', text)}

    def test_ticked_files_are_fetched_and_a_refused_form_keeps_its_ticks(self):
        source = self.tree({"a.mkv": 40 * KIB, "b <i>.txt": 10, "c.mkv": 20 * KIB})
        seed = self.share(source)
        self.daemon()
        downloads = self.folder / "downloads"
        id = self.rpc("add", source=seed.link(), folder=str(downloads), files=["file:*.txt"])["content_id"]
        self.wait_for(lambda contents: contents[0]["complete"])
        text = self.page(f"/content/{id}")
        self.assertEqual({1: False, 2: True, 3: False}, self.boxes(text))
        self.assertIn("b &lt;i&gt;.txt (10 B)", text)

        status, _, text = self.form("/do", content=id, alone="on", action="files")
        self.assertEqual(422, status)
        self.assertIn("no file is ticked", text)
        self.assertEqual({1: False, 2: False, 3: False}, self.boxes(text))
        status, _, text = self.form("/do", content=id, alone="on", action="files", file1="on", file9="on")
        self.assertEqual(422, status)
        self.assertEqual({1: True, 2: False, 3: False}, self.boxes(text))

        self.assertEqual(303, self.form("/do", content=id, alone="on", action="files", file2="on", file3="on")[0])
        self.wait_for(lambda contents: contents[0]["complete"] and (downloads / "holiday" / "c.mkv").exists())
        self.assertFalse((downloads / "holiday" / "a.mkv").exists())
        self.assertEqual({1: False, 2: True, 3: True}, self.boxes(self.page(f"/content/{id}")))

    def test_of_very_many_files_those_are_fetched_whose_names_fit(self):
        source = self.tree({f"{n}.{kind}": 10 for n in range(60) for kind in ("txt", "bin")})
        seed = self.share(source)
        self.daemon()
        downloads = self.folder / "downloads"
        id = self.rpc("add", source=seed.link(), folder=str(downloads), files=["file:0.txt"])["content_id"]
        self.wait_for(lambda contents: contents[0]["complete"])
        self.assertEqual({}, self.boxes(self.page(f"/content/{id}")))
        status, _, text = self.form("/do", content=id, alone="on", action="files", take="*.avi", skip="")
        self.assertEqual(422, status)
        self.assertIn('value="*.avi"', text)
        self.assertEqual(303, self.form("/do", content=id, alone="on", action="files", take="*.txt", skip="1?.txt")[0])
        self.wait_for(lambda contents: contents[0]["complete"] and contents[0].get("chosen_files") == 50)
        self.assertEqual({f"{n}.txt" for n in range(60) if n not in range(10, 20)},
                         {path.name for path in (downloads / "holiday").iterdir()})


if __name__ == "__main__":
    harness.main()
