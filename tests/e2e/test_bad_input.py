#!/usr/bin/python3
"""Bad input gets a clear error and loses nothing."""

import os
import random
import socket
import unittest

import harness
from harness import KIB, LISTEN, MIB

WRONG_ID = "a" * 52


class BadArguments(harness.SwarmTest):
    def refuse(self, *arguments, words=(), status=harness.USAGE):
        self.assert_refused(self.run_firn(*arguments), status, *words)

    def test_malformed_links(self):
        for link in ("firn:", "firn:abc", "firn:" + "a" * 51, "firn:" + "a" * 53,
                     "firn:" + "1" * 52, f"firn:{WRONG_ID}?tr=nowhere:", f"firn:{WRONG_ID}?tr=h:0",
                     f"firn:{WRONG_ID}?tr=h:99999", f"firn:{WRONG_ID}?tr=%zz",
                     "firn:" + "z" * 51 + "é"):
            with self.subTest(link=link):
                self.refuse("get", link, "-o", self.folder / "get", words=["link"])
                self.refuse("info", link, words=["link"])

    def test_malformed_addresses_sizes_and_rates(self):
        link = f"firn:{WRONG_ID}"
        for option, value, word in (
                ("--peer", "localhost:", "port"), ("--peer", "host:port", "host:port"),
                ("--peer", "short@127.0.0.1:1", "base32"), ("--peer", "::1:80", "brackets"),
                ("--tracker", "", "host"), ("--up-limit", "fast", "--up-limit"),
                ("--down-limit", "-1", "--down-limit"), ("--memory", "1X", "--memory"),
                ("--seed", "sometimes", "sometimes"), ("--listen", "127.0.0.1:70000", "70000")):
            with self.subTest(option=option, value=value):
                self.refuse("get", link, "-o", self.folder / "get", option, value, words=[word])

    def test_the_same_content_twice(self):
        source, manifest = self.file(100), self.folder / "x.firn"
        self.run_firn("create", source, "-o", manifest)
        self.refuse("share", source, source, *LISTEN, words=["twice", source.name])
        self.refuse("seed", manifest, self.folder, manifest, self.folder, *LISTEN,
                    words=["twice", "x.firn"])
        self.refuse("get", manifest, manifest, "-o", self.folder / "get", *LISTEN,
                    words=["twice", "x.firn"])

    def test_what_is_no_manifest(self):
        path = self.file(100, "x.firn")
        self.refuse("get", path, "-o", self.folder / "get", words=["x.firn"])
        self.refuse("info", path, words=["x.firn"])
        self.refuse("info", self.folder / "missing.firn", words=["missing.firn"],
                    status=harness.DISK)
        self.refuse("verify", path, self.folder, words=["x.firn"])
        self.refuse("seed", path, self.folder, words=["x.firn"])

    def test_a_symbolic_link_in_a_folder_is_refused_by_name(self):
        source = self.tree({"a": 10})
        (source / "sneaky").symlink_to("/etc/passwd")
        self.refuse("create", source, "-o", self.folder / "x.firn", words=["sneaky", "symbolic"])
        self.assertFalse((self.folder / "x.firn").exists())

    def test_what_does_not_exist_cannot_be_shared(self):
        self.refuse("create", self.folder / "missing", "-o", self.folder / "x.firn",
                    words=["missing"], status=harness.DISK)
        self.refuse("share", self.folder / "missing", words=["missing"], status=harness.DISK)


class DamagedManifests(harness.SwarmTest):
    def setUp(self):
        super().setUp()
        self.source = self.tree({"a": 5 * KIB, "b/c": 700})
        self.manifest = self.create(self.source, "--generation-size", 4, "--block-size", 256)
        self.bytes = self.manifest.read_bytes()

    def refused(self, data):
        damaged = self.folder / "damaged.firn"
        damaged.write_bytes(data)
        self.assert_refused(self.run_firn("info", damaged), harness.USAGE, "damaged.firn")

    def test_any_bit_flipped(self):
        chance = random.Random(5)
        for position in [0, len(self.bytes) - 1, *chance.sample(range(len(self.bytes)), 60)]:
            with self.subTest(position=position):
                bit = 1 << chance.randrange(8)
                self.refused(self.bytes[:position] + bytes([self.bytes[position] ^ bit])
                             + self.bytes[position + 1:])

    def test_cut_anywhere(self):
        chance = random.Random(6)
        for length in [0, 1, 7, 8, 40, len(self.bytes) - 1, *chance.sample(range(len(self.bytes)), 20)]:
            with self.subTest(length=length):
                self.refused(self.bytes[:length])

    def test_something_appended(self):
        self.refused(self.bytes + b"\0")

    def test_a_damaged_manifest_starts_no_download(self):
        data = bytearray(self.bytes)
        data[20] ^= 1
        self.manifest.write_bytes(data)
        self.assert_refused(self.run_firn("get", self.manifest, "-o", self.folder / "get"),
                            harness.USAGE, self.manifest.name)
        self.assertFalse((self.folder / "get" / "holiday").exists())


class WrongIdentities(harness.SwarmTest):
    def test_a_peer_that_proves_another_id_is_not_used(self):
        source = self.file(100 * KIB)
        seed = self.share(source)
        link = harness.bare(seed.link())
        get = self.get(link, "get", "--no-tracker", "--peer",
                       f"{WRONG_ID}@{seed.endpoint().split('@')[1]}")
        get.wait_line(r"(?i)(another|wrong|different|not the).*(key|id|peer)", stream="stderr")
        get.stop()
        self.assertFalse((self.folder / "get" / source.name).exists())

    def test_a_tracker_that_proves_another_id_is_not_used(self):
        source = self.file(100 * KIB)
        where = self.tracker().endpoint().split("@")[1]
        link = harness.bare(self.share(source, "--tracker", where).link())
        get = self.get(link, "get", "--tracker", f"{WRONG_ID}@{where}")
        get.wait_line(r"(?i)(another|wrong|different|not the).*(key|id|tracker)", stream="stderr")
        get.stop()
        self.assertFalse((self.folder / "get" / source.name).exists())

    def test_a_content_id_that_the_peer_does_not_have(self):
        seed = self.share(self.file(100))
        get = self.get(f"firn:{WRONG_ID}", "get", "--no-tracker", "--peer", seed.endpoint())
        get.wait_line(r"(?i)(does not (have|serve|share)|not serv|unknown content|not.serving)",
                      stream="stderr")
        self.assertIsNone(get.last_event("complete"))


class Networks(harness.SwarmTest):
    def test_a_port_in_use(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            listen = ["--listen", f"127.0.0.1:{taken.getsockname()[1]}"]
            source = self.file(100)
            self.assert_refused(self.run_firn("share", source, *listen),
                                harness.PORT_IN_USE, "in use")
            self.assert_refused(self.run_firn(
                "get", f"firn:{WRONG_ID}", "-o", self.folder / "get", *listen),
                harness.PORT_IN_USE, "in use")
            tracker = self.programs.tracker(self.folder / "t", "tracker", listen[1])
            status = tracker.wait_exit()
            self.assert_refused((status, tracker.output(), tracker.output("stderr")), 3, "in use")

    def test_an_unreachable_tracker_is_named_once_and_costs_nothing(self):
        """The download outlasts two more attempts at the tracker, which are seen: the seed comes
        only after them."""
        with socket.create_server(("127.0.0.1", 0)) as hangs_up:
            hangs_up.settimeout(60)
            dead = f"127.0.0.1:{hangs_up.getsockname()[1]}"
            source = self.file(MIB)
            manifest = self.create(source)
            get = self.get(manifest, "get", "--tracker", dead)
            for _ in range(3):
                hangs_up.accept()[0].close()
            self.firn("seed", "seed", manifest, source.parent, *LISTEN, "--peer", get.endpoint())
            self.assert_downloaded(source, get)
            said = [line for line in get.lines["stderr"] if dead in line and "trying again" in line]
            self.assertEqual(1, len(said), get.story())


class Folders(harness.SwarmTest):
    def test_a_folder_that_cannot_be_made(self):
        seed = self.share(self.file(100 * KIB))
        in_the_way = self.file(1, "a file")
        result = self.run_firn("get", seed.link(), "-o", in_the_way / "below", *LISTEN,
                               "--peer", seed.endpoint())
        self.assert_refused(result, harness.DISK, "a file")

    @unittest.skipUnless(harness.can_mount(), "needs root and mount namespaces")
    def test_a_read_only_mount(self):
        seed = self.share(self.file(100 * KIB))
        folder = self.folder / "frozen"
        folder.mkdir()
        prefix = harness.in_mount_namespace(
            f"mount -t tmpfs -o ro none '{folder}'")
        program = self.programs.start(
            "get", [*prefix, harness.BUILD / "client" / "firn", "get", seed.link(), "-o", folder,
                    "--peer", seed.endpoint(), *LISTEN])
        status = program.wait_exit()
        self.assert_refused((status, program.output(), program.output("stderr")),
                            harness.DISK, str(folder))
        code = program.last_event("error")["code"]
        self.assertEqual("read_only", code)

    @unittest.skipIf(harness.is_root(), "root may write anywhere")
    def test_a_folder_without_permission(self):
        seed = self.share(self.file(100 * KIB))
        folder = self.folder / "frozen"
        folder.mkdir(mode=0o555)
        self.assert_refused(self.run_firn("get", seed.link(), "-o", folder, *LISTEN, "--peer",
                                          seed.endpoint()), harness.DISK, str(folder))

    def test_files_of_others_in_the_way_are_kept(self):
        source = self.file(100 * KIB)
        seed = self.share(source)
        mine = self.folder / "get" / source.name
        mine.parent.mkdir()
        mine.write_text("mine")
        self.assert_refused(self.run_firn("get", seed.link(), "-o", mine.parent, *LISTEN,
                                          "--peer", seed.endpoint()), harness.DISK, source.name)
        self.assertEqual("mine", mine.read_text())


class ChangedUnderneath(harness.SwarmTest):
    def test_a_shared_file_that_changes_is_not_served(self):
        source = self.file(8 * MIB)
        seed = self.share(source)
        link, endpoint = harness.bare(seed.link()), seed.endpoint()
        status = source.stat()
        with source.open("r+b") as file:  # same size and time: only the digest can tell
            file.seek(5 * MIB)
            file.write(b"not what was shared")
        os.utime(source, ns=(status.st_atime_ns, status.st_mtime_ns))
        get = self.get(link, "get", "--no-tracker", "--peer", endpoint)
        seed.wait_line(rf"(?i){source.name}.*(chang|match|digest)|(chang|match|digest).*{source.name}",
                       stream="stderr")
        # All else arrives; nothing false is kept, and the sender is not accused.
        get.wait_event("progress", where=lambda e: e["rank"] >= e["rank_total"] * 0.5)
        self.assertIsNone(get.last_event("complete"))
        get.stop()
        self.assertFalse((self.folder / "get" / source.name).exists())
        self.assertNotIn("banned", get.output("stderr"))

    def test_verify_names_the_file_that_differs(self):
        source = self.tree({"good": 10 * KIB, "bad": 10 * KIB, "gone": 5})
        manifest = self.create(source)
        self.assertEqual(0, self.run_firn("verify", manifest, source.parent)[0])
        (source / "gone").unlink()
        data = bytearray((source / "bad").read_bytes())
        data[100] ^= 1
        (source / "bad").write_bytes(data)
        result = self.run_firn("verify", manifest, source.parent)
        self.assert_refused(result, harness.VERIFY_FAILED, "bad", "gone")


if __name__ == "__main__":
    harness.main()
