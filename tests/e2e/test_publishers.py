#!/usr/bin/python3
"""Publishers: keys, signatures, links that name them, and who speaks for a content."""

import base64
import hashlib
import json
import os
import pathlib
import re
import stat
from unittest import mock

import harness
from harness import DISK, KIB, MIB, USAGE, WRONG_IDENTITY
from pypeer.identity import Identity, text_of
from pypeer.manifest import Manifest, write_manifest
from pypeer.tracker import TrackerConnection
from pypeer.wire import manifest_pb2, tracker_pb2


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


class PublisherTest(harness.SwarmTest):
    def key(self, name="publisher.pem"):
        """(file, public key) of `firn keygen`."""
        path = self.folder / name
        status, output, errors = self.run_firn("keygen", path)
        self.assertEqual(0, status, errors)
        return path, output.strip()

    def info(self, source, *options):
        """The table of `firn info`, by its first words."""
        status, output, errors = self.run_firn("info", source, *options)
        self.assertEqual(0, status, errors)
        return {line[:12].strip(): line[13:] for line in output.splitlines()}

    def other_account(self):
        """From here on programs run as a user with another home."""
        state = self.folder / "other account"
        changed = mock.patch.dict(os.environ, XDG_STATE_HOME=str(state))
        changed.start()
        self.addCleanup(changed.stop)
        return state


class Keys(PublisherTest):
    def test_a_key_is_made_for_its_owner_alone_and_never_written_over(self):
        path, public = self.key()
        self.assertRegex(public, "^[a-z2-7]{52}$")
        self.assertEqual(0o600, mode_of(path))
        before = path.read_bytes()
        self.assertTrue(before.startswith(b"-----BEGIN PRIVATE KEY-----"))
        self.assert_refused(self.run_firn("keygen", path), DISK, "stands there", str(path))
        self.assertEqual(before, path.read_bytes())
        status, output, _ = self.run_firn("keygen", "--show", path)
        self.assertEqual((0, public), (status, output.strip()))
        self.assertNotEqual(public, self.key("another.pem")[1])

    def test_what_holds_no_key_is_refused(self):
        source = self.file(KIB)
        for name, data in {"empty": b"", "text": b"hello", "large": bytes(100 * KIB)}.items():
            path = self.folder / name
            path.write_bytes(data)
            for command in (["keygen", "--show", path],
                            ["create", source, "-o", self.folder / "x.firn", "--sign", path]):
                self.assert_refused(self.run_firn(*command), USAGE, str(path), "no unencrypted")
        missing = self.folder / "missing.pem"
        self.assert_refused(self.run_firn("create", source, "-o", self.folder / "x.firn",
                                          "--sign", missing), DISK, str(missing))
        self.assertFalse((self.folder / "x.firn").exists())

    def test_a_key_is_never_shared(self):
        folder = self.tree({"a": 10})
        (folder / "key.pem").write_bytes(self.key()[0].read_bytes())
        self.assert_refused(
            self.run_firn("create", folder, "-o", self.folder / "x.firn", "--sign",
                          folder / "key.pem"), USAGE, "key.pem", "elsewhere")
        with mock.patch.dict(os.environ, XDG_STATE_HOME=str(folder / "state")):
            self.assert_refused(self.run_firn("create", folder, "-o", self.folder / "x.firn"),
                                USAGE, "secret key", "XDG_STATE_HOME")


class Signed(PublisherTest):
    def test_info_says_who_signed_and_what_is_asked_for_is_checked(self):
        key, public = self.key()
        other = self.key("other.pem")[1]
        source = self.file(100 * KIB)
        manifest = self.create(source, "--sign", key)
        table = self.info(manifest, "--publisher", public)
        self.assertEqual(public, table["signed by"])
        self.assertEqual(public, table["authority"])
        for command in (["info", manifest], ["verify", manifest, source.parent],
                        ["get", manifest, "-o", self.folder / "into"]):
            with self.subTest(command=command[0]):
                self.assert_refused(self.run_firn(*command, "--publisher", other), WRONG_IDENTITY,
                                    other, public)
        status, _, errors = self.run_firn("verify", manifest, source.parent, "--publisher", public)
        self.assertEqual(0, status, errors)
        self.assertFalse((self.folder / "into").exists())
        self.assert_refused(self.run_firn("info", manifest, "--publisher", public[1:]), USAGE,
                            "52 characters")

    def test_a_content_without_a_signature_is_refused_where_one_is_asked_for(self):
        public = self.key()[1]
        source = self.file(KIB)
        manifest = self.create(source, "--no-authority")
        table = self.info(manifest)
        self.assertEqual(("nobody", "none"), (table["signed by"], table["authority"]))
        self.assert_refused(self.run_firn("info", manifest, "--publisher", public), WRONG_IDENTITY,
                            public, "not signed")

    def test_info_shows_origins_and_whether_they_are_signed(self):
        manifest = Manifest(self.create(self.file(KIB)).read_bytes())
        signer = Identity(self.folder)
        urls = ["https://a.example/x?X-Amz-Signature=secret", "s3://bucket/x"]
        message = b"firn origins v1" + manifest.content_id
        message += b"".join(len(url).to_bytes(4, "big") + url.encode() for url in urls)
        shown = ["https://a.example/x?X-Amz-Signature=...", "s3://bucket/x"]
        signatures = {"publisher_key": signer.public_key,
                      "publisher_signature": signer.key.sign(b"firn manifest v1" + manifest.info_bytes),
                      "origins_signature": signer.key.sign(message)}
        path = self.folder / "named.firn"
        for fields, signed in (({}, False), (signatures, True)):
            with self.subTest(signed=signed):
                path.write_bytes(write_manifest(manifest.info, origins=[url.encode() for url in urls], **fields))
                status, output, errors = self.run_firn("info", path, "--json")
                self.assertEqual(0, status, errors)
                self.assertEqual(
                    [{"url": url, "named_by": "manifest", "signed": signed} for url in shown],
                    json.loads(output)["origins"])
                status, table, _ = self.run_firn("info", path)
                self.assertEqual(0, status)
                for url in shown:
                    note = "signed by the publisher" if signed else "not signed"
                    self.assertRegex(table, rf"origin +{re.escape(url)} \({note}\)")
                self.assertNotIn("secret", output + table)

    def test_info_shows_the_origins_of_a_link_and_keeps_them_in_it(self):
        seed = self.share(self.file(10))
        url = base64.urlsafe_b64encode(b"https://a.example/x").decode().rstrip("=")
        link = f"{seed.link()}/ws={url}"
        status, output, errors = self.run_firn("info", link, "--json")
        self.assertEqual(0, status, errors)
        info = json.loads(output)
        self.assertEqual(link, info["link"])
        self.assertEqual([{"url": "https://a.example/x", "named_by": "link", "signed": False}],
                         info["origins"])
        self.assertIn("https://a.example/x (the link names it)", self.run_firn("info", link)[1])
        password = base64.urlsafe_b64encode(b"https://user:secret@a.example/").decode().rstrip("=")
        status, output, errors = self.run_firn("info", f"{seed.link()}/ws={password}")
        self.assertEqual(USAGE, status)
        self.assertIn("password", errors)
        for word in ("secret", password[:20]):
            self.assertNotIn(word, output + errors)

    def test_a_link_carries_the_publisher_and_get_checks_it(self):
        key, public = self.key()
        other = self.key("other.pem")[1]
        source = self.file(300 * KIB)
        seed = self.share(source, "--sign", key)
        link = seed.link()
        self.assertIn(f"pub={public}", link)
        self.assert_downloaded(source, self.get(link, "right", "--publisher", public))
        wrong = self.get(link.replace(public, other), "wrong", "--timeout", "1")
        self.assertEqual(WRONG_IDENTITY, wrong.wait_exit(), wrong.story())
        for word in (public, other):
            self.assertIn(word, wrong.output("stderr"))
        self.assertFalse((self.folder / "wrong" / source.name).exists())
        self.assert_refused(self.run_firn("info", link.replace(public, other)), WRONG_IDENTITY,
                            public, other)
        self.assert_refused(self.run_firn("info", link, "--publisher", other), WRONG_IDENTITY, public, other)

    def test_who_asks_for_a_publisher_takes_no_unsigned_content(self):
        public = self.key()[1]
        source = self.file(300 * KIB)
        link = self.share(source, "--no-authority").link()
        get = self.get(link, "get", "--publisher", public, "--timeout", "1")
        self.assertEqual(WRONG_IDENTITY, get.wait_exit(), get.story())
        self.assertIn("not signed", get.output("stderr"))

    def test_a_strangers_copy_without_the_signature_keeps_nobody_from_a_signed_content(self):
        key, public = self.key()
        tracker = self.tracker().endpoint()
        source = self.file(300 * KIB)
        signed = self.create(source, "--sign", key, "--tracker", tracker)
        manifest = Manifest(signed.read_bytes())
        bare = b"FIRNMAN1" + manifest_pb2.Envelope(info=manifest.info_bytes).SerializeToString()
        bare += hashlib.sha256(bare).digest()
        stranger = TrackerConnection(Identity(self.folder), tracker)
        self.addCleanup(stranger.close)
        stranger.announce(manifest.content_id, port=0)
        put = stranger.ask(manifest_put=tracker_pb2.TrackerManifestPut(
            content_id=manifest.content_id, total_bytes=len(bare), data=bare))
        self.assertEqual(len(bare), put.manifest_put.next_offset)
        self.firn("seed", "seed", signed, source.parent, *harness.LISTEN)
        link = f"firn:{text_of(manifest.content_id)}?pub={public}&tr={tracker}"
        self.assert_downloaded(source, self.get(link))
        asked = stranger.ask(manifest_get=tracker_pb2.TrackerManifestGet(
            content_id=manifest.content_id,
            signer=manifest_pb2.Envelope.FromString(signed.read_bytes()[8:-32]).publisher_key))
        self.assertEqual(manifest.info_bytes, Manifest(asked.manifest_part.data).info_bytes)

    def test_a_key_signs_for_its_own_contents_alone(self):
        key = self.key()[0]
        other, other_public = self.key("other.pem")
        source = self.file(100 * KIB)
        manifest = self.create(source, "--sign", key)
        seed = self.firn("seed", "seed", manifest, source.parent, "--sign", other,
                         *harness.LISTEN)
        self.assertEqual(USAGE, seed.wait_exit(), seed.story())
        self.assertIn(other_public, seed.output("stderr"))


class Authority(PublisherTest):
    def speaks(self, seed, source, name):
        """Whether a peer that downloads from the seed takes it for the content's authority."""
        get = self.get(seed, name, "--peers", "50ms", "--down-limit", "400K")
        event = get.wait_event("peers", where=lambda e: any(p["held"] for p in e["peers"]))
        get.stop()
        return event["peers"][0]["authority"]

    def test_the_same_account_gets_the_same_link_and_speaks_for_it_again(self):
        source = self.file(2 * MIB)
        first = self.create(source)
        state = pathlib.Path(os.environ["XDG_STATE_HOME"]) / "firn"
        self.assertEqual(0o700, mode_of(state))
        self.assertEqual(0o600, mode_of(state / "account.pem"))
        mine = self.info(first)
        self.assertTrue(mine["authority"].endswith("(this account's)"), mine)
        self.assertEqual("nobody", mine["signed by"])

        share = self.share(source)
        self.assertEqual(mine["content id"], share.link()[5:57])
        self.assertTrue(self.speaks(share.link(), source, "from share"))
        share.stop()
        seed = self.firn("seed", "seed", first, source.parent, *harness.LISTEN)
        self.assertTrue(self.speaks(self.link_of(first, seed), source, "from seed"))
        seed.stop()

        self.other_account()
        self.assertNotIn("(this", self.info(first)["authority"])
        foreign = self.firn("foreign", "seed", first, source.parent, *harness.LISTEN)
        self.assertFalse(self.speaks(self.link_of(first, foreign), source, "from foreign"))
        second = self.info(self.create(source))
        self.assertNotEqual(mine["content id"], second["content id"])

    def link_of(self, manifest, seed):
        return f"firn:{self.info(manifest)['content id']}?peer={seed.endpoint()}"

    def mirror(self, name="mirror.pem"):
        """(file, peer id) of a new key."""
        path = self.folder / name
        status, output, errors = self.run_firn("keygen", path, "--id")
        self.assertEqual(0, status, errors)
        self.assertNotEqual(output, self.run_firn("keygen", "--show", path)[1])
        return path, output.strip()

    def certify(self, manifest, *arguments):
        status, output, errors = self.run_firn("certify", manifest, *arguments)
        self.assertEqual(0, status, errors)
        return output.split()

    def test_a_mirror_speaks_by_a_certificate_without_the_key(self):
        key = self.key()[0]
        source = self.file(2 * MIB)
        manifest = self.create(source, "--sign", key)
        identity, peer = self.mirror()
        stranger = self.mirror("stranger.pem")[1]
        strangers, mirrors = self.certify(manifest, stranger, peer, "--sign", key)
        self.other_account()
        serve = ["seed", manifest, source.parent, "--identity", identity]
        seed = self.firn("mirror", *serve, "--certificate", mirrors, *harness.LISTEN)
        self.assertTrue(seed.endpoint().startswith(peer), seed.endpoint())
        self.assertTrue(self.speaks(self.link_of(manifest, seed), source, "by certificate"))
        seed.stop()
        seed = self.firn("without", *serve, *harness.LISTEN)
        self.assertFalse(self.speaks(self.link_of(manifest, seed), source, "without"))
        seed.stop()
        for more, words in ((["--certificate", strangers], (strangers, peer)),
                            (["--certificate", mirrors, "--certificate", strangers], (strangers,)),
                            (["--certificate", mirrors[1:]], ("103 characters",))):
            self.assert_refused(self.run_firn(*serve, *more, *harness.LISTEN), USAGE, *words)
        self.assert_refused(self.run_firn("seed", manifest, source.parent, "--certificate", mirrors), USAGE, "--identity")

    def test_an_account_certifies_peers_for_what_it_made(self):
        source = self.file(100 * KIB)
        manifest = self.create(source)
        unsigned = self.create(self.file(KIB, "other.bin"), "--no-authority")
        peer = self.mirror()[1]
        self.assertRegex(self.certify(manifest, peer)[0], "^[a-z2-7]{103}$")
        self.assert_refused(self.run_firn("certify", unsigned, peer), USAGE, "no authority")
        self.assert_refused(self.run_firn("certify", manifest, peer, "--sign", self.key()[0]), USAGE, "authority is")
        self.assert_refused(self.run_firn("certify", manifest, peer[1:]), USAGE, "52 characters")
        self.other_account()
        self.assert_refused(self.run_firn("certify", manifest, peer), USAGE, "--sign")

    def test_a_named_key_speaks_for_its_content_in_every_run(self):
        key = self.key()[0]
        source = self.file(2 * MIB)
        manifest = self.create(source, "--sign", key)
        self.other_account()
        seed = self.firn("seed", "seed", manifest, source.parent, "--sign", key, *harness.LISTEN)
        self.assertTrue(self.speaks(self.link_of(manifest, seed), source, "get"))

    def test_without_a_place_for_a_key_contents_have_no_authority(self):
        source = self.file(KIB)
        blocked = self.folder / "blocked"
        blocked.write_bytes(b"a file")
        manifest = self.folder / "x.firn"
        with mock.patch.dict(os.environ, XDG_STATE_HOME=str(blocked)):
            status, _, errors = self.run_firn("create", source, "-o", manifest)
            self.assertEqual(0, status, errors)
            self.assertIn("no key for this account", errors)
            self.assertIn(str(blocked), errors)
            status, _, errors = self.run_firn("create", source, "-o", manifest, "--no-authority")
            self.assertEqual(0, status, errors)
            self.assertNotIn("account", errors)
        self.assertEqual("none", self.info(manifest)["authority"])
        self.assertEqual(b"a file", blocked.read_bytes())

    def test_without_an_authority_everybody_gets_the_same_content_id(self):
        source = self.file(KIB)
        first = self.info(self.create(source, "--no-authority"))
        self.other_account()
        second = self.info(self.create(source, "--no-authority"))
        self.assertEqual(first["content id"], second["content id"])


if __name__ == "__main__":
    harness.main()
