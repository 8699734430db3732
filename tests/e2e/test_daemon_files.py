#!/usr/bin/python3
"""What the daemon does with files: contents are moved to other folders."""

import json
import os
import pathlib
import random
import subprocess

import harness
from daemons import DaemonTest
from harness import KIB


def files_below(folder):
    """Relative paths of all files and links below a folder."""
    return sorted(str(path.relative_to(folder)) for path in pathlib.Path(folder).rglob("*")
                  if not path.is_dir() or path.is_symlink())


def children_of(process):
    """Those that have ended, and that nobody has waited for, among them."""
    return [int(one) for one in pathlib.Path(f"/proc/{process}/task/{process}/children").read_text().split()]


class Moves(DaemonTest):
    def setUp(self):
        super().setUp()
        self.elsewhere = self.folder / "elsewhere" / "deeper"

    def wait_moved(self, state="seeding"):
        return self.wait_for(lambda contents: contents and contents[0]["state"] == state)

    def test_a_complete_content_is_moved_and_served_from_there(self):
        source = self.tree({"a": 300 * KIB, "b/c": 5, "empty/": None})
        seed = self.share(source)
        daemon = self.daemon()
        id = self.add(seed.link())["content_id"]
        self.wait_complete()
        self.assertEqual(0, seed.stop())
        self.ask("move", source.name, self.elsewhere)
        self.wait_moved()
        self.assert_same(source, self.elsewhere / source.name)
        self.assertEqual([], os.listdir(self.downloads))
        self.assertEqual([source.name], os.listdir(self.elsewhere))
        shown = self.ask("show", source.name)
        self.assertEqual(str(self.elsewhere), shown["folder"])
        self.assertNotIn("moving_to", shown)
        get = self.get("firn:" + id, "get", "--no-tracker", "--peer", daemon.endpoint())
        self.assert_downloaded(source, get)

    def test_a_download_that_is_moved_goes_on_there_with_what_it_has(self):
        source = self.file(3000 * KIB)
        seed = self.share(source)
        self.daemon("--down-limit", "600K")
        self.add(seed.link())
        had = self.wait_for(lambda contents: contents[0]["rank"] * 4 > contents[0]["rank_total"] > 0)
        self.ask("move", source.name, self.elsewhere)
        again = self.wait_for(lambda contents: contents[0]["state"] == "downloading")
        self.assertGreaterEqual(again[0]["rank"], had[0]["rank"])
        self.wait_complete()
        self.assert_same(source, self.elsewhere / source.name)
        self.assertEqual([], os.listdir(self.downloads))

    def test_a_content_that_is_served_is_moved(self):
        source = self.tree({"a": 100 * KIB, "b/c": 5})
        copy = self.folder / "copy"
        manifest = self.create(source)
        self.daemon()
        self.ask("add", manifest, "-o", source.parent, "--serve")
        self.wait_state("seeding")
        before = files_below(source)
        self.ask("move", source.name, copy)
        self.wait_moved()
        self.assertFalse(source.exists())
        self.assertEqual(before, files_below(copy / source.name))

    def test_a_file_in_the_way_is_left_alone_and_the_content_where_it_was(self):
        source = self.file(100 * KIB)
        self.daemon()
        self.add(self.share(source).link())
        self.wait_complete()
        self.elsewhere.mkdir(parents=True)
        other = self.elsewhere / source.name
        other.write_text("somebody's own")
        said = self.run_firn("move", source.name, self.elsewhere, "--socket", self.socket)
        self.assert_refused(said, harness.DISK, "is there already")
        self.assertEqual("somebody's own", other.read_text())
        self.wait_state("seeding")
        self.assert_same(source, self.downloads / source.name)

    def test_a_content_is_not_removed_while_it_is_moved_and_stays_paused(self):
        source = self.file(100 * KIB)
        self.daemon()
        self.add(self.share(source).link())
        self.wait_complete()
        self.ask("pause", source.name)
        self.ask("move", source.name, self.elsewhere)
        self.wait_moved("paused")
        self.assert_same(source, self.elsewhere / source.name)
        self.ask("remove", source.name, "--delete-data")
        self.wait_for(lambda contents: contents == [])
        self.assertEqual([], os.listdir(self.elsewhere))

    def test_a_daemon_that_is_killed_while_it_moves_ends_the_move(self):
        chance = random.Random(17)
        source = self.tree({f"f{i}": 3000 + i for i in range(60)})
        daemon = self.daemon()
        self.add(self.share(source).link())
        self.wait_complete()
        places = [self.downloads, self.elsewhere]
        for turn in range(6):
            to = places[(turn + 1) % 2]
            self.ask("move", source.name, to)
            for _ in range(chance.randrange(3)):
                self.contents()
            daemon.kill()
            daemon = self.daemon()
            self.wait_moved()
            self.assert_same(source, to / source.name)
            self.assertEqual([], files_below(places[turn % 2]))


class RelativeFolders(DaemonTest):
    def here(self, command, *arguments):
        status, output, errors = self.run_firn(command, *arguments, "--socket", self.socket, "--json",
                                               cwd=self.place)
        self.assertEqual(0, status, output + errors)
        return json.loads(output)

    def test_a_folder_that_is_not_there_yet_is_below_the_place_where_it_is_named(self):
        self.place = self.folder / "place"
        self.place.mkdir()
        source, served = self.file(10), self.file(20, "served.bin")
        self.daemon("--download-dir", "place/new/dl", "--watch", "place/drop", data="place/state",
                    cwd=self.folder)
        watched = self.here("watch", "--list")["folders"]
        self.assertEqual([(str(self.place / "drop"), str(self.place / "new" / "dl"))],
                         [(one["folder"], one["output"]) for one in watched])
        self.assertTrue((self.place / "state").is_dir())
        added = self.here("add", self.create(source), "-o", "films/")
        self.assertEqual(str(self.place / "films"), added["folder"])
        self.here("add", self.create(served), "--serve", "-o", "../source")
        self.wait_for(lambda _: self.states()[served.name] == "seeding")
        moved = self.here("move", "served.bin", "a/../else/where")
        self.assertEqual("served.bin", moved["name"])
        self.wait_for(lambda _: (self.place / "else" / "where" / "served.bin").exists())
        self.here("watch", "drop2", "-o", "into")
        self.assertIn((str(self.place / "drop2"), str(self.place / "into")),
                      [(one["folder"], one["output"]) for one in self.here("watch", "--list")["folders"]])


class DiskTrouble(DaemonTest):
    def break_store(self):
        """Until mend_store() nothing can be written into the daemon's database."""
        journal = self.data / "contents.sqlite-journal"

        def takes_its_place(contents):
            try:
                journal.mkdir()
            except FileExistsError:
                return False  # a change is being written
            return True

        self.wait_for(takes_its_place)
        (journal / "in the way").mkdir()

    def mend_store(self):
        (self.data / "contents.sqlite-journal" / "in the way").rmdir()
        (self.data / "contents.sqlite-journal").rmdir()

    def test_a_content_is_paused_and_saved_once_the_store_can_be_written(self):
        source = self.file(100 * KIB)
        daemon = self.daemon()
        self.add(self.share(source).link())
        self.wait_complete()
        self.break_store()
        self.assertIs(False, self.ask("pause", source.name).get("saved"))
        self.wait_state("paused")
        daemon.wait_line("is not saved yet", stream="stderr")
        self.mend_store()
        self.wait_for(lambda contents: "saved" not in self.ask("show", source.name))
        daemon.kill()
        self.daemon()
        self.assertEqual({source.name: "paused"}, self.states())

    def removed_while_broken(self, *options):
        source = self.file(100 * KIB)
        daemon = self.daemon()
        self.add(self.share(source).link())
        self.wait_complete()
        self.break_store()
        self.ask("remove", source.name, *options)
        self.wait_for(lambda contents: contents == [])
        self.mend_store()
        manifest = self.create(source)
        self.wait_for(lambda contents: self.run_firn(
            "add", manifest, "-o", self.downloads, "--socket", self.socket)[0] == 0)
        self.ask("remove", source.name)
        daemon.kill()
        self.daemon()
        self.assertEqual([], self.contents())

    def test_a_content_is_removed_and_forgotten_once_the_store_can_be_written(self):
        self.removed_while_broken()

    def test_a_content_is_removed_with_its_files_though_the_store_cannot_be_written(self):
        self.removed_while_broken("--delete-data")


class Unfinished(DaemonTest):
    def test_a_download_that_is_removed_before_it_is_complete_tells_what_it_leaves(self):
        source = self.file(4000 * KIB)
        seed = self.share(source, "--up-limit", "1M")
        self.daemon()
        content = self.add(seed.link())["content_id"]
        self.wait_for(lambda contents: contents[0]["share"])
        status, _, errors = self.run_firn("remove", source.name, "--socket", self.socket)
        self.assertEqual(0, status)
        self.assertRegex(errors, rf"about .* stay in {self.downloads}/\.firn/{content} .*--delete-data")


class Hooks(DaemonTest):
    def setUp(self):
        super().setUp()
        self.told = self.folder / "told"
        self.told.mkdir()

    def hook(self, name):
        """A command that writes what it is told to a file, whole."""
        return (f'env | grep -E "^FIRN_(CONTENT_ID|DIR|NAME|EVENT|ERROR)=" | sort > "{self.told}/.{name}" && '
                f'mv "{self.told}/.{name}" "{self.told}/{name}"')

    def wait_told(self, name):
        """What the command was told, once it has written it."""
        path = self.told / name
        self.wait_for(lambda contents: path.exists())
        return dict(line.split("=", 1) for line in path.read_text().splitlines())

    def test_commands_are_run_when_a_content_is_added_and_when_it_is_complete(self):
        source = self.file(100 * KIB, name="it's $(touch bad) \"here\"")
        self.daemon("--on-added", self.hook("added"), "--on-complete", self.hook("complete"),
                    "--on-error", self.hook("error"))
        id = self.add(self.share(source).link())["content_id"]
        added = self.wait_told("added")
        self.assertEqual((id, "added"), (added["FIRN_CONTENT_ID"], added["FIRN_EVENT"]))
        complete = self.wait_told("complete")
        self.assertEqual(
            {"FIRN_CONTENT_ID": id, "FIRN_DIR": str(self.downloads), "FIRN_NAME": source.name,
             "FIRN_EVENT": "complete", "FIRN_ERROR": ""}, complete)
        self.assertFalse((self.told / "error").exists())

    def test_a_command_is_run_when_a_content_fails_and_told_why(self):
        source = self.file(100 * KIB)
        self.downloads.mkdir()
        (self.downloads / source.name).write_text("somebody's own")
        self.daemon("--on-error", self.hook("error"))
        self.add(self.share(source).link())
        error = self.wait_told("error")
        self.assertEqual(source.name, error["FIRN_NAME"])
        self.assertIn(source.name, error["FIRN_ERROR"])

    def test_what_a_command_leaves_running_ends_as_no_zombie_where_firn_is_process_1(self):
        alone = ["unshare", "--pid", "--fork", "--kill-child"]
        if subprocess.run([*alone, "true"], stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("no namespace of processes can be made here")
        pipe = self.told / "pipe"
        os.mkfifo(pipe)
        outer = subprocess.Popen(
            [*alone, harness.BUILD / "client" / "firn", "daemon", "--data", self.data, "--socket", self.socket,
             "--listen", "127.0.0.1:0", "--json", "--on-added", f'(read _ < "{pipe}") & {self.hook("added")}'],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(outer.stdout.close)
        self.addCleanup(outer.wait)
        self.addCleanup(outer.kill)
        while '"daemon"' not in outer.stdout.readline():
            self.assertIsNone(outer.poll())
        self.ask("add", self.create(self.file(10)), "--serve", "-o", self.folder)
        self.wait_told("added")
        first = children_of(outer.pid)[0]
        with open(pipe, "w") as left:  # opens once the other side reads
            self.wait_for(lambda contents: len(children_of(first)) == 1)
            left.write("\n")
        self.wait_for(lambda contents: children_of(first) == [])

    def test_a_command_that_hangs_or_fails_stops_nothing_and_few_run_at_once(self):
        self.daemon("--on-added", f'mkfifo "{self.told}/$$"; read _ < "{self.told}/$$"; exit 9')
        manifests = [self.create(self.file(10 + i, name=f"f{i}")) for i in range(9)]
        for i, manifest in enumerate(manifests):
            self.ask("add", manifest, "--serve", "-o", self.folder)
        self.wait_for(lambda contents: len(contents) == 9 and
                      all(content["state"] == "seeding" for content in contents))
        ended = set()
        while len(ended) < 9:
            waiting = [pipe for pipe in self.told.iterdir() if pipe not in ended]
            self.assertLessEqual(len(waiting), 4)
            for pipe in waiting:
                pipe.write_text("\n")
                ended.add(pipe)
            self.contents()
        self.assertEqual(9, len(self.contents()))


class Watches(DaemonTest):
    def setUp(self):
        super().setUp()
        self.drop = self.folder / "drop"
        self.drop.mkdir()

    def watch(self):
        self.ask("watch", self.drop, "-o", self.downloads)

    def wait_dropped(self, *names):
        """Until the folder holds these files and no others."""
        self.wait_for(lambda contents: self.drop.exists() and
                      sorted(os.listdir(self.drop)) == sorted(names))

    def test_a_manifest_and_links_that_appear_are_added_once_and_renamed(self):
        first, second = self.file(100 * KIB, name="first"), self.file(50 * KIB, name="second")
        seeds = [self.share(source, name=source.name) for source in (first, second)]
        daemon = self.daemon("--peer", seeds[0].endpoint())
        self.watch()
        os.replace(self.create(first), self.drop / "one.firn")
        (self.drop / "two.link").write_text(f"# mine\n\n  {seeds[1].link()}\n")
        (self.drop / "other.txt").write_text("no business of the daemon's")
        self.wait_dropped("one.firn.added", "two.link.added", "other.txt")
        self.wait_complete()
        for source in (first, second):
            self.assert_same(source, self.downloads / source.name)
        # One that is there already is no error, after a restart neither.
        daemon.kill()
        self.daemon()
        (self.drop / "again.link").write_text(seeds[1].link())
        self.wait_dropped("one.firn.added", "two.link.added", "again.link.added", "other.txt")
        self.assertEqual(2, len(self.contents()))

    def test_of_links_one_that_is_bad_is_not_hidden_by_one_that_is_there(self):
        seed = self.share(self.file(50 * KIB))
        self.daemon()
        self.watch()
        self.add(seed.link())
        (self.drop / "two.link").write_text(f"{seed.link()}\nfirn:nonsense\n")
        self.wait_dropped("two.link.invalid")

    def test_a_file_is_not_read_before_it_is_whole(self):
        manifest = self.create(self.file(100 * KIB)).read_bytes()
        daemon = self.daemon()
        self.watch()
        with open(self.drop / "slow.firn", "wb", buffering=0) as file:
            file.write(manifest[:40])
            (self.drop / "wrong.firn").write_bytes(b"this is no manifest")

            def goes_on(contents):
                os.utime(self.drop / "slow.firn")  # a look at it never is the last one's like
                return (self.drop / "wrong.firn.invalid").exists()

            self.assertEqual([], self.wait_for(goes_on))
            file.write(manifest[40:])
        self.wait_dropped("slow.firn.added", "wrong.firn.invalid")
        self.assertEqual(1, len(self.contents()))
        said = daemon.wait_event("error")
        self.assertIn("wrong.firn", said["message"])

    def test_a_folder_that_goes_and_comes_back_is_watched_on(self):
        self.daemon()
        self.watch()
        os.rename(self.drop, self.folder / "away")
        manifest = self.create(self.file(100))
        self.ask("watch", "--list")
        self.drop.mkdir()
        os.replace(manifest, self.drop / "x.firn")
        self.wait_dropped("x.firn.added")

    def test_watched_folders_are_listed_and_removed_and_kept_across_restarts(self):
        other = self.folder / "other"
        daemon = self.daemon("--watch", other, "--download-dir", self.downloads)
        self.watch()
        daemon.kill()
        self.daemon("--watch", other, "--download-dir", self.downloads)
        told = self.ask("watch", "--list")["folders"]
        self.assertEqual({str(self.drop): str(self.downloads), str(other): str(self.downloads)},
                         {one["folder"]: one["output"] for one in told})
        self.ask("watch", "--remove", self.drop)
        self.assertEqual([str(other)], [one["folder"] for one in
                                        self.ask("watch", "--list")["folders"]])
        for folder, words in ((self.drop, "not watched"), (other, "configuration")):
            said = self.run_firn("watch", "--remove", folder, "--socket", self.socket)
            self.assert_refused(said, harness.DISK, words)
        said = self.run_firn("watch", self.drop, "-o", self.drop, "--socket", self.socket)
        self.assert_refused(said, harness.USAGE, "another folder")


class TakenName(DaemonTest):
    def test_a_content_whose_name_is_taken_fails_and_changes_nothing(self):
        seed = self.share(self.tree({"a": 100 * KIB}))
        mine = self.downloads / "holiday" / "mine"
        mine.parent.mkdir(parents=True)
        mine.write_text("mine")
        told = self.folder / "told"
        daemon = self.daemon("--on-error", f"echo \"$FIRN_ERROR\" > '{told}'")
        self.add(seed.link())
        self.wait_state("failed")
        self.assertIn("another folder of that name", self.contents()[0]["failure"])
        daemon.wait_event("error")
        self.wait_for(lambda _: told.exists() and "another folder" in told.read_text())
        self.assertEqual(["holiday", "holiday/mine"], sorted(
            str(path.relative_to(self.downloads)) for path in self.downloads.rglob("*")))


if __name__ == "__main__":
    harness.main()
