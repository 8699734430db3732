#!/usr/bin/python3
"""Private contents: who has the link gets them; nobody else learns that they exist."""

import pathlib
import re
import sqlite3

import harness
from harness import KIB, LISTEN, MIB, UNREACHABLE, USAGE
from pypeer.connection import Connection
from pypeer.identity import Identity, raw_of, text_of
from pypeer.leech import Leech
from pypeer.manifest import Manifest
from pypeer.private import PrivateKeys, link_parts, prove
from pypeer.tracker import TrackerConnection
from pypeer.wire import peer_pb2, tracker_pb2

NOT_SERVING = 2
PART = 256 << 10


def secret_text(link):
    """The secret as the link has it."""
    return re.match(r"firn:[a-z2-7]{52}\.([a-z2-7]{56})([/?]|$)", link).group(1)


class PrivateTest(harness.SwarmTest):
    def private_share(self, source, *options, name="seed"):
        share = self.share(source, "--private", *options, name=name)
        return share, share.link()

    def dial(self, endpoint, **options):
        identity = Identity(self.folder)
        connection = Connection(identity, endpoint, **options)
        self.addCleanup(connection.close)
        return identity, connection

    def secrets_of(self, link):
        """What must stand nowhere but in the link: the secret as text, whole and in part, and raw."""
        text = secret_text(link)
        return [text.encode(), text[:40].encode(), text.upper().encode(), link_parts(link)[1]]

    def assert_nowhere(self, needles, hay, where):
        for needle in needles:
            self.assertNotIn(needle, hay, f"{needle} stands in {where}")


class Peers(PrivateTest):
    def test_the_link_is_enough_to_get_it_and_nothing_else_repeats_its_secret(self):
        source = self.tree({"a": 700 * KIB, "deep/b": 3000, "empty/": 0})
        logs = [self.folder / "seed.log", self.folder / "get.log"]
        seed, link = self.private_share(source, "-v", "--log", logs[0], "--log-level", "debug")
        get = self.get(link, "get", "-v", "--log", logs[1], "--log-level", "debug", "--peers", "50ms",
                       "--seed", "forever")
        get.wait_event("complete")
        command_line = pathlib.Path(f"/proc/{get.process.pid}/cmdline").read_bytes()
        self.assertIn(b"--peers", command_line)
        get.stop()
        self.assert_same(source, self.folder / "get" / source.name)
        seed.stop()
        secrets = self.secrets_of(link)
        for log in logs:
            self.assertIn(b"firn:" if log is logs[0] else b"complete", log.read_bytes())
            self.assert_nowhere(secrets, log.read_bytes(), log)
        self.assert_nowhere(secrets, command_line.replace(b"\0", b" "), "the command line")
        for said in (get.output("stdout"), get.output("stderr"), seed.output("stderr")):
            self.assert_nowhere(secrets, said.encode(), "what was said")
        self.assert_nowhere(secrets, seed.output("stdout").replace(link, "").encode(), "the events")

    def test_a_stranger_hears_what_it_would_of_a_content_that_nobody_has(self):
        source = self.file(300 * KIB)
        seed, link = self.private_share(source)
        content_id, secret = link_parts(link)
        keys = PrivateKeys(content_id, secret)
        nowhere = self.answer_to_hello(seed, b"\x05" * 32)
        self.assertEqual(NOT_SERVING, nowhere.goodbye.reason)
        for name in (content_id, keys.rendezvous_id):
            self.assertEqual(nowhere, self.answer_to_hello(seed, name))
        wrong = PrivateKeys(content_id, bytes(32))
        identity, connection = self.dial(seed.endpoint(), key_log=self.folder / "wrong.keys")
        with self.assertRaisesRegex(Exception, "unknown content"):
            prove(connection, identity.id, wrong)
        # With the public link of the same content.
        public = self.get(f"firn:{text_of(content_id)}?peer={seed.endpoint()}", "public",
                          "--timeout", "2s")
        self.assertEqual(UNREACHABLE, public.wait_exit(), public.story())

    def answer_to_hello(self, seed, content_id):
        """The first message that answers a Hello which names this content."""
        _, connection = self.dial(seed.endpoint())
        connection.send(hello=peer_pb2.Hello(version_min=1, version_max=1, content_id=content_id,
                                             agent="pypeer/1"))
        return connection.receive()

    def test_another_implementation_that_has_the_link_downloads(self):
        source = self.file(300 * KIB)
        seed, link = self.private_share(source, "--generation-size", 16, "--block-size", 4096)
        content_id, secret = link_parts(link)
        identity, connection = self.dial(seed.endpoint(), key_log=self.folder / "session.keys")
        prove(connection, identity.id, PrivateKeys(content_id, secret))
        leech = Leech(connection, content_id)
        self.assertTrue(leech.fetch_manifest().info.is_private)
        leech.download()
        self.assertEqual(source.read_bytes(), leech.content())

    def test_peers_that_meet_through_others_prove_it_too(self):
        source = self.file(2 * MIB)
        seed, link = self.private_share(source, "--up-limit", "600K")
        first = self.get(link, "first", "--seed", "forever")
        second = self.get(link, "second", "--seed", "forever", "--peers", "50ms")
        met = second.wait_event("peers", where=lambda e: any(
            p["peer"] == first.id() and p["bytes_received"] for p in e["peers"]), timeout=60)
        self.assertTrue(met)
        for get in (first, second):
            get.wait_event("complete", 60)
            self.assert_same(source, self.folder / get.name / source.name)
        seed.stop()

    def test_an_interrupted_download_goes_on_and_keeps_no_secret_on_disk(self):
        source = self.file(2 * MIB)
        _, link = self.private_share(source, "--up-limit", "600K")
        get = self.get(link, "get")
        get.wait_event("progress", where=lambda e: e["bytes_verified"] > 0)
        get.stop()
        work = self.folder / "get" / ".firn"
        files = [path for path in work.rglob("*") if path.is_file()]
        self.assertTrue(files)
        for path in files:
            self.assert_nowhere(self.secrets_of(link), path.read_bytes(), path)
        again = self.get(link, "get")
        self.assertGreater(again.wait_event("start")["rank"], 0)
        self.assert_downloaded(source, again)


class Links(PrivateTest):
    def test_a_damaged_link_is_told_and_not_repeated(self):
        source = self.file(KIB)
        _, link = self.private_share(source)
        text = secret_text(link)
        for wrong in (text[:-1], text[:-3] + "aaa", text + "a", text[1:] + text[0], ""):
            damaged = link.replace(text, wrong)
            with self.subTest(wrong=wrong):
                result = self.run_firn("info", damaged)
                self.assert_refused(result, USAGE, "damaged", "copy the whole link")
                self.assertNotIn(text[5:45], result[1] + result[2])
        swapped = "firn:" + text_of(bytes(32)) + link[57:]
        self.assert_refused(self.run_firn("info", swapped), USAGE, "damaged")

    def test_a_link_with_another_secret_finds_nobody(self):
        source = self.file(KIB)
        seed, link = self.private_share(source)
        other = self.create_private(source, "--fresh-secret")
        wrong = f"{harness.bare(other)}?peer={seed.endpoint()}"
        self.assertEqual(link_parts(link)[0], link_parts(wrong)[0])
        get = self.get(wrong, "get", "--timeout", "2s")
        self.assertEqual(UNREACHABLE, get.wait_exit(), get.story())
        self.assertIn("does not share this private content", get.output("stderr"))

    def create_private(self, source, *options):
        """The link that `firn create --private` prints."""
        manifest = self.folder / f"{source.name}.firn"
        status, output, errors = self.run_firn("create", source, "-o", manifest, "--private",
                                               *options)
        self.assertEqual(0, status, errors)
        return output.strip()

    def test_the_same_account_gets_the_same_link_and_a_fresh_one_if_asked(self):
        source = self.file(KIB)
        first, second = self.create_private(source), self.create_private(source)
        self.assertEqual(first, second)
        fresh = self.create_private(source, "--fresh-secret")
        self.assertEqual(link_parts(first)[0], link_parts(fresh)[0])
        self.assertNotEqual(link_parts(first)[1], link_parts(fresh)[1])
        share, link = self.private_share(source)
        self.assertEqual(first, harness.bare(link))
        share.stop()
        public = self.share(source, name="public").link()
        self.assertNotEqual(first[5:57], public[5:57])
        self.assert_refused(self.run_firn("create", source, "-o", self.folder / "y.firn",
                                          "--fresh-secret"), USAGE, "--private")

    def test_a_manifest_file_alone_is_not_enough_but_for_who_made_it(self):
        source = self.file(300 * KIB)
        link = self.create_private(source)
        manifest = self.folder / f"{source.name}.firn"
        self.assertTrue(Manifest(manifest.read_bytes()).info.is_private)
        self.assert_refused(self.run_firn("get", manifest, "-o", self.folder / "into"), USAGE,
                            "private", "link")
        status, output, _ = self.run_firn("info", manifest)
        self.assertEqual(0, status)
        self.assertIn("private", output)
        self.assertEqual(0, self.run_firn("verify", manifest, source.parent)[0])
        # The account that made it derives the secret anew.
        seed = self.firn("seed", "seed", manifest, source.parent, *LISTEN)
        with_peer = f"{link}?peer={seed.endpoint()}"
        self.assert_downloaded(source, self.get(with_peer, "get"))
        status, output, errors = self.run_firn("verify", with_peer, self.folder / "get")
        self.assertEqual(0, status, errors)
        status, output, errors = self.run_firn("info", with_peer)
        self.assertEqual(0, status, errors)
        keys = PrivateKeys(*link_parts(link))
        self.assertIn(text_of(keys.rendezvous_id), output)
        self.assertNotIn(secret_text(link), output)
        # Who got it by the link serves it by the link.
        copy = self.firn("copy", "seed", with_peer, self.folder / "get", *LISTEN)
        copy.wait_event("start")
        seed.stop()
        self.assert_downloaded(source, self.get(f"{link}?peer={copy.endpoint()}", "second"))


class Trackers(PrivateTest):
    def memory_of(self, program):
        """All that a process holds in writable memory."""
        maps = pathlib.Path(f"/proc/{program.process.pid}/maps").read_text().splitlines()
        with open(f"/proc/{program.process.pid}/mem", "rb") as memory:
            for line in maps:
                where, rights = line.split()[:2]
                if not rights.startswith("rw") or line.endswith(("[vvar]", "[vsyscall]")):
                    continue
                begin, end = (int(x, 16) for x in where.split("-"))
                memory.seek(begin)
                try:
                    yield memory.read(end - begin)
                except OSError:
                    pass  # given back meanwhile

    def test_a_tracker_knows_neither_content_nor_manifest(self):
        tracker = self.tracker()
        source = self.tree({"a very special name.bin": 700 * KIB}, "unlikely folder")
        seed, link = self.private_share(source, "--tracker", tracker.endpoint())
        self.assertIn("/tr=", link)
        self.assert_downloaded(source, self.get(link, "get"))
        content_id, secret = link_parts(link)
        keys = PrivateKeys(content_id, secret)
        hidden = [content_id, text_of(content_id).encode(), secret, secret_text(link).encode(),
                  b"a very special name", b"unlikely folder", b"FIRNMAN1\x0a"]
        held = b""
        for part in self.memory_of(tracker):
            self.assert_nowhere(hidden, part, "the tracker's memory")
            held += part if keys.rendezvous_id in part else b""
        self.assertIn(keys.rendezvous_id, held)

        # A seed that is gone: the manifest comes from the tracker, and opens with the link alone.
        asker = TrackerConnection(Identity(self.folder), tracker.endpoint())
        self.addCleanup(asker.close)
        reply = asker.ask(manifest_get=tracker_pb2.TrackerManifestGet(
            content_id=keys.rendezvous_id))
        self.assertEqual(1 << 16, reply.manifest_part.total_bytes)
        manifest = Manifest(keys.open_manifest(reply.manifest_part.data))
        self.assertEqual(content_id, manifest.content_id)
        self.assertEqual("error", asker.ask(manifest_get=tracker_pb2.TrackerManifestGet(
            content_id=content_id)).WhichOneof("body"))
        seed.stop()
        status, output, errors = self.run_firn("info", link)
        self.assertEqual(0, status, errors)
        self.assertIn("unlikely folder", output)

        tracker.stop()
        for path in (self.folder / "tracker").rglob("*"):
            if path.is_file():
                self.assert_nowhere(hidden, path.read_bytes(), path)
        with sqlite3.connect(self.folder / "tracker" / "tracker.sqlite") as database:
            self.assertEqual([(keys.rendezvous_id,)],
                             database.execute("SELECT content FROM manifest").fetchall())

    def test_who_knows_the_rendezvous_id_alone_cannot_put_a_manifest_there(self):
        tracker = self.tracker()
        source = self.file(KIB)
        _, link = self.private_share(source)
        keys = PrivateKeys(*link_parts(link))
        stranger = TrackerConnection(Identity(self.folder), tracker.endpoint())
        self.addCleanup(stranger.close)
        stranger.announce(keys.rendezvous_id)
        forged = (b"FIRNSEA1" + bytes(1 << 16))[: 1 << 16]
        for data in (forged, self.create(source).read_bytes()):
            reply = stranger.ask(manifest_put=tracker_pb2.TrackerManifestPut(
                content_id=keys.rendezvous_id, total_bytes=len(data), data=data))
            self.assertEqual("error", reply.WhichOneof("body"), reply)


class KnownPublishers(PrivateTest):
    def key(self, name):
        path = self.folder / name
        status, output, errors = self.run_firn("keygen", path)
        self.assertEqual(0, status, errors)
        return path, output.strip()

    def list_of(self, name, *lines):
        path = self.folder / name
        path.write_text("# a list\n\n" + "".join(f"  {line}  # one\n" for line in lines))
        return path

    def test_a_tracker_for_known_publishers_serves_theirs_and_tells_others_what_to_do(self):
        key, public = self.key("known.pem")
        stranger = self.key("stranger.pem")[0]
        tracker = self.tracker("tracker", "127.0.0.1:0", "--publishers",
                               self.list_of("publishers", public))
        source = self.file(300 * KIB)
        seed = self.share(source, "--sign", key, "--tracker", tracker.endpoint())
        link = seed.link()
        self.assert_downloaded(source, self.get(link, "get"))
        for options in (["--sign", stranger], [], ["--private"]):
            refused = self.share(source, *options, "--tracker", tracker.endpoint(), name="refused")
            self.assertEqual(UNREACHABLE, refused.wait_exit(), refused.story())
            for word in ("--sign", "operator", "--tracker", "--no-tracker"):
                self.assertIn(word, refused.output("stderr"))

    def test_a_closed_tracker_serves_what_is_listed_private_contents_too(self):
        source, other = self.file(300 * KIB), self.file(KIB, "other.bin")
        private, link = self.private_share(source)
        status, output, errors = self.run_firn("info", link)
        self.assertEqual(0, status, errors)
        rendezvous = re.search(r"^rendezvous +(\w+)$", output, re.MULTILINE).group(1)
        private.stop()
        tracker = self.tracker("tracker", "127.0.0.1:0", "--closed",
                               self.list_of("contents", rendezvous))
        _, link = self.private_share(source, "--tracker", tracker.endpoint(), name="again")
        self.assert_downloaded(source, self.get(link, "get"))
        refused = self.share(other, "--tracker", tracker.endpoint(), name="refused")
        self.assertEqual(UNREACHABLE, refused.wait_exit(), refused.story())
        self.assertIn("operator", refused.output("stderr"))
        self.assertEqual(raw_of(rendezvous), PrivateKeys(*link_parts(link)).rendezvous_id)
        # Of two the one that is served goes on.
        listed = self.file(2 * KIB, "listed.bin")
        status, output, errors = self.run_firn("create", listed, "-o", self.folder / "listed.firn")
        self.assertEqual(0, status, errors)
        status, output, errors = self.run_firn("info", self.folder / "listed.firn")
        content = re.search(r"^content id +(\w+)$", output, re.MULTILINE).group(1)
        tracker = self.tracker("second", "127.0.0.1:0", "--closed", self.list_of("more", content))
        both = self.share(listed, other, "--tracker", tracker.endpoint(), name="both")
        link = both.link()
        self.assertIn(content, link)
        self.assert_downloaded(listed, self.get(link, "got"))
        self.assertEqual(UNREACHABLE, both.stop(), both.story())


if __name__ == "__main__":
    harness.main()
