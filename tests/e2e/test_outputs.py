#!/usr/bin/python3
"""Files that the programs write by name: manifests, logs, keys, figures. Nothing of the user's is lost."""

import json
import os
import socket
import sqlite3
import stat
import threading

import harness
from harness import KIB, LISTEN

BYSTANDERS = ["file", "empty", "link", "dangling", "folder", "fifo", "socket"]
FIGURES = ["bench", "codec", "--quick", "--repeats", 1, "--shape", "4,64", "-q"]


def seen(path):
    """What a name stands for: kind and mode, inode, and the bytes or the target."""
    status = path.lstat()
    what = None
    if stat.S_ISLNK(status.st_mode):
        what = os.readlink(path), seen(path.parent / os.readlink(path)) if path.exists() else None
    elif stat.S_ISREG(status.st_mode):
        what = path.read_bytes()
    return status.st_mode, status.st_ino, what


class OutputTest(harness.SwarmTest):
    def setUp(self):
        super().setUp()
        self.photo = self.file(10 * KIB, "photo.jpg")
        self.outputs = self.folder / "outputs"
        self.outputs.mkdir()

    def bystander(self, kind):
        """Something of the user's that no output may replace."""
        path = self.outputs / kind
        target = self.outputs / "target"
        if kind == "file":
            path.write_bytes(b"mine\n")
        elif kind == "empty":
            path.touch()
        elif kind == "link":
            target.write_bytes(b"mine\n")
            path.symlink_to("target")
        elif kind == "dangling":
            path.symlink_to("nowhere")
        elif kind == "folder":
            path.mkdir()
        elif kind == "fifo":
            os.mkfifo(path)
        elif kind == "socket":
            self.addCleanup(socket.socket(socket.AF_UNIX).close)
            with socket.socket(socket.AF_UNIX) as bound:
                bound.bind(str(path))
        elif kind == "device":
            os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 7))  # as /dev/full
        return path

    def bystanders(self, but=()):
        return [kind for kind in [*BYSTANDERS, *(["device"] if harness.is_root() else [])]
                if kind not in but]

    def refuses(self, path, *arguments, status=harness.DISK, words=()):
        """The command fails before it writes; `path` and its neighbours are what they were."""
        before = seen(path), sorted(os.listdir(self.outputs))
        self.assert_refused(self.run_firn(*arguments, timeout=30), status, path.name, *words)
        self.assertEqual(before, (seen(path), sorted(os.listdir(self.outputs))))

    def refuses_all(self, *arguments, but=(), words=()):
        for kind in self.bystanders(but):
            with self.subTest(kind=kind):
                path = self.bystander(kind)
                self.refuses(path, *arguments, path, words=words)


class Manifests(OutputTest):
    def test_create_replaces_nothing_of_others(self):
        self.refuses_all("create", self.photo, "-o")

    def test_share_replaces_nothing_of_others(self):
        self.refuses_all("share", self.photo, *LISTEN, "-o")

    def test_the_source_is_never_the_output(self):
        manifest = self.create(self.photo)
        for source in (self.photo, manifest):
            alias = self.outputs / source.name
            os.link(source, alias)
            for command in ("create", "share"):
                for output in (source, alias):
                    with self.subTest(command=command, output=output):
                        before = seen(source)
                        self.assert_refused(
                            self.run_firn(command, source, "-o", output,
                                          "--log", self.folder / "log", timeout=30),
                            harness.DISK, output.name, "shared")
                        self.assertEqual(before, seen(source))

    def test_an_older_manifest_is_replaced_and_keeps_its_mode(self):
        manifest = self.outputs / "x.firn"
        for size, command in ((10, "create"), (20, "create"), (30, "share")):
            source = self.file(size, f"{size}.bin")
            if command == "create":
                self.assertEqual(0, self.run_firn("create", source, "-o", manifest)[0])
            else:
                self.share(source, "-o", manifest).endpoint()
            status, output, errors = self.run_firn("info", manifest)
            self.assertIn(f"({size} bytes)", output, errors)
            if size == 10:
                self.assertEqual(0o666 & ~self.umask(), stat.S_IMODE(manifest.stat().st_mode))
                manifest.chmod(0o640)
        self.assertEqual(0o640, stat.S_IMODE(manifest.stat().st_mode))
        self.assertEqual(["x.firn"], os.listdir(self.outputs))

    def umask(self):
        umask = os.umask(0)
        os.umask(umask)
        return umask

    def test_a_manifest_does_not_go_into_what_it_describes(self):
        """It would be another content at the next run."""
        source = self.tree({"a": 10, "below/b": 5})
        alias = self.folder / "alias"
        alias.symlink_to(source)
        for command in ("create", "share"):
            for folder in (source, source / "below", source / "below" / "..", alias):
                with self.subTest(command=command, folder=folder):
                    output = folder / "x.firn"
                    self.assert_refused(
                        self.run_firn(command, source, "-o", output, timeout=30),
                        harness.USAGE, "x.firn", "folder that is shared")
                    self.assertFalse(output.exists())

    def test_a_folder_that_is_missing_is_named_before_the_work(self):
        for command in ("create", "share"):
            self.assert_refused(
                self.run_firn(command, self.photo, "-o", self.folder / "no" / "x.firn", timeout=30),
                harness.DISK, "no such file")


class Logs(OutputTest):
    def test_a_log_is_appended_to_nothing_of_others(self):
        manifest = self.create(self.photo)
        for command in (["create", self.photo, "-o", self.folder / "y.firn"],
                        ["share", self.photo, *LISTEN], ["info", manifest],
                        ["verify", manifest, self.photo.parent], ["doctor"],
                        ["get", manifest, "-o", self.folder / "get", *LISTEN]):
            with self.subTest(command=command[0]):
                path = self.outputs / "mine"
                path.write_text("mine, not yours\n")
                self.refuses(path, *command, "--log", path, words=["log"])
        self.refuses_all("info", manifest, "--log", but=("empty", "fifo"))

    def test_a_log_does_not_go_into_what_is_shared(self):
        source = self.tree({"a": 10})
        key = source / "key.pem"
        for option in ("--log", "--identity"):
            for command in ("share", "create"):
                if (option, command) == ("--identity", "create"):
                    continue
                with self.subTest(option=option, command=command):
                    output = ["-o", self.folder / "x.firn"]
                    self.assert_refused(
                        self.run_firn(command, source, *output, option, key, timeout=30),
                        harness.USAGE, "key.pem", "folder that is shared")
                    self.assertFalse(key.exists())

    def test_an_older_log_is_continued(self):
        manifest, log = self.create(self.photo), self.outputs / "firn.log"
        log.touch()  # an empty file is a log as well
        said = b""
        for _ in range(2):
            self.assertEqual(0, self.run_firn("verify", manifest, self.photo.parent,
                                              "--log", log)[0])
            now = log.read_bytes()
            self.assertTrue(now.startswith(said) and len(now) > len(said), now)
            said = now

    def test_a_log_goes_to_streams(self):
        manifest = self.create(self.photo)
        verify = ["verify", manifest, self.photo.parent, "-q", "--log"]
        for name, stream in (("/dev/stdout", "stdout"), ("/dev/stderr", "stderr"),
                             ("/dev/fd/2", "stderr")):
            with self.subTest(name=name):
                program = self.firn("verify", *verify, name)
                self.assertEqual(0, program.wait_exit(), program.story())
                self.assertIn("photo.jpg", program.output(stream))
        self.assertEqual(0, self.run_firn(*verify, "/dev/null")[0])

    def test_a_log_goes_to_a_fifo(self):
        manifest, fifo = self.create(self.photo), self.bystander("fifo")
        said = []
        reader = threading.Thread(target=lambda: said.append(fifo.read_text()), daemon=True)
        reader.start()
        self.assertEqual(0, self.run_firn("verify", manifest, self.photo.parent, "--log", fifo)[0])
        reader.join(20)
        self.assertIn("photo.jpg", said[0])


class Keys(OutputTest):
    def test_a_key_replaces_nothing_of_others(self):
        for kind in self.bystanders():
            with self.subTest(kind=kind):
                path = self.bystander(kind)
                status = harness.USAGE if kind in ("file", "empty", "link") else harness.DISK
                self.refuses(path, "share", self.photo, *LISTEN, "--identity", path, status=status)
        self.assertFalse((self.outputs / "nowhere").exists())

    def test_a_missing_folder_is_an_error_of_the_disk(self):
        self.assert_refused(
            self.run_firn("share", self.photo, *LISTEN, "--identity", self.folder / "no" / "key"),
            harness.DISK, "no such file")


class Figures(OutputTest):
    def test_figures_replace_nothing_of_others(self):
        self.refuses_all(*FIGURES, "-o")

    def test_older_figures_are_replaced(self):
        path = self.outputs / "figures.json"
        for _ in range(2):
            self.assertEqual(0, self.run_firn(*FIGURES, "-o", path)[0])
            self.assertIn("cells", json.loads(path.read_text()))
        self.assertEqual(["figures.json"], os.listdir(self.outputs))


class Tracker(OutputTest):
    def start(self, *options, data="data"):
        return self.programs.start(
            "tracker", [harness.BUILD / "tracker" / "firn-tracker", "--listen", "127.0.0.1:0",
                        "--data", self.folder / data, *options])

    def refuses(self, path, *options, data="data", words=()):
        before = seen(path)
        tracker = self.start(*options, data=data)
        status = tracker.wait_exit(20)
        self.assert_refused((status, tracker.output(), tracker.output("stderr")), 4,
                            path.name, *words)
        self.assertEqual(before, seen(path))

    def test_its_log_is_appended_to_nothing_of_others(self):
        for kind in self.bystanders(but=("empty", "fifo")):
            with self.subTest(kind=kind):
                path = self.bystander(kind)
                self.refuses(path, "--log", path)

    def test_its_log_is_continued(self):
        log = self.outputs / "tracker.log"
        said = b""
        for _ in range(2):
            tracker = self.start("--log", log)
            tracker.endpoint()
            self.assertEqual(0, tracker.stop())
            now = log.read_bytes()
            self.assertTrue(now.startswith(said) and len(now) > len(said), now)
            said = now

    def test_its_key_replaces_nothing_of_others(self):
        for kind in ("dangling", "socket"):
            with self.subTest(kind=kind):
                path = self.bystander(kind)
                self.refuses(path, "--identity", path)
        missing = self.start("--identity", self.folder / "no" / "key.pem")
        self.assertEqual(4, missing.wait_exit(20), missing.story())

    def test_the_database_of_another_program_is_left_alone(self):
        for version in (0, 1, 2):
            with self.subTest(version=version):
                data = self.folder / f"data-{version}"
                data.mkdir()
                path = data / "tracker.sqlite"
                with sqlite3.connect(path) as database:
                    database.execute("CREATE TABLE manifest(cargo TEXT)")
                    database.execute("INSERT INTO manifest VALUES('bananas')")
                    database.execute(f"PRAGMA user_version={version}")
                database.close()
                self.refuses(path, data=data.name, words=["another program"])

    def test_a_database_behind_a_symbolic_link_is_left_alone(self):
        data = self.folder / "data"
        data.mkdir()
        path = data / "tracker.sqlite"
        path.symlink_to("elsewhere")
        self.refuses(path, words=["symbolic link"])
        self.assertFalse((data / "elsewhere").exists())


if __name__ == "__main__":
    harness.main()
