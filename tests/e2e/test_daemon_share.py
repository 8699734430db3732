#!/usr/bin/python3
"""`firn share --daemon`: files that a daemon serves, also after a restart."""

import os
import socket

import harness
from daemons import DaemonTest
from harness import KIB, MIB, UNREACHABLE, USAGE, WRONG_IDENTITY


class Share(DaemonTest):
    def share_with(self, path, *options):
        """The link that the command prints."""
        status, output, errors = self.run_firn("share", "--daemon", path, "--socket", self.socket, *options)
        self.assertEqual(0, status, output + errors)
        return output.strip()

    def assert_served(self, source, link, name):
        self.assert_downloaded(source, self.get(link, name, into=self.folder / name),
                               into=self.folder / name)

    def test_what_is_shared_is_served_without_the_command_and_after_a_kill(self):
        source = self.tree({"a": 300 * KIB, "b/c": 5})
        daemon = self.daemon("--identity", self.folder / "key")
        link = self.share_with(source)
        self.assertEqual(["s"], [p.name for p in self.folder.glob("s*") if p.is_socket()])
        self.assertEqual([], list(self.folder.glob("*.firn")))
        self.wait_state("seeding")
        self.assertEqual(link, self.ask("show", source.name)["link"])
        self.assert_served(source, link, "first")
        daemon.kill()
        self.daemon("--identity", self.folder / "key", listen=daemon.endpoint().partition("@")[2])
        self.assert_served(source, link, "second")

    def test_files_that_are_as_they_were_are_not_read_again(self):
        source = self.tree({"a": 3000 * KIB, "b": 100 * KIB})
        self.daemon().kill()
        self.daemon()
        self.share_with(source)
        self.wait_state("seeding")
        self.wait_for(lambda contents: self.ask("show", source.name)["trusted"])
        for change, trusted in ((lambda: None, True), (lambda: os.utime(source / "a"), False),
                                (lambda: None, True)):
            self.request("stop")
            change()
            self.wait_gone()
            self.daemon()
            self.wait_state("seeding")
            # What is not trusted is read in the background, and trusted again next time.
            self.assertEqual(trusted, self.ask("show", source.name)["trusted"])
            self.wait_for(lambda contents: self.ask("show", source.name)["stamped"])

    def wait_gone(self):
        self.assertEqual(0, self.last.wait_exit())

    def daemon(self, *options, **others):
        self.last = super().daemon(*options, **others)
        return self.last

    def test_a_private_content_is_shared_with_its_secret(self):
        source = self.file(100 * KIB)
        daemon = self.daemon("--identity", self.folder / "key")
        link = self.share_with(source, "--private")
        secret = harness.bare(link).partition(".")[2]
        self.assertGreater(len(secret), 40)
        self.assert_served(source, link, "first")
        self.wait_state("seeding")
        shown = self.ask("show", source.name)
        self.assertIsNone(shown["link"])
        self.assertNotIn(secret, str(shown))
        daemon.kill()
        self.daemon("--identity", self.folder / "key", listen=daemon.endpoint().partition("@")[2])
        self.assert_served(source, link, "second")

    def test_a_content_is_shared_by_its_publisher(self):
        source = self.file(100 * KIB)
        key = self.folder / "publisher"
        self.assertEqual(0, self.run_firn("keygen", key)[0])
        self.daemon("--sign", key)
        link = self.share_with(source, "--sign", key)
        self.assertIn("pub=", link)
        self.wait_state("seeding")
        self.assertEqual(link, self.ask("show", source.name)["link"])
        self.assert_served(source, link, "first")

    def test_what_is_added_must_be_signed_by_the_publisher_that_is_named(self):
        source = self.file(100 * KIB)
        keys = []
        for name in ("publisher", "other"):
            status, public, _ = self.run_firn("keygen", self.folder / name)
            self.assertEqual(0, status)
            keys.append(public.strip())
        manifest = self.create(source, "--sign", self.folder / "publisher")
        seed = self.firn("seed", "seed", manifest, source.parent, *harness.LISTEN)
        id, peer = seed.wait_event("start")["content_id"], seed.endpoint()
        self.daemon()
        for what in (manifest, f"firn:{id}?pub={keys[0]}"):
            self.assert_refused(self.run_firn("add", what, "--publisher", keys[1], "--socket", self.socket),
                                WRONG_IDENTITY, *keys)
        self.add(f"firn:{id}?peer={peer}", "--publisher", keys[0])
        self.wait_complete()
        self.assertIn(keys[0], self.ask("show", source.name)["link"])
        self.ask("remove", source.name)
        self.add(manifest, "--publisher", keys[0])

    def test_the_link_of_a_content_names_no_publisher_whom_nobody_asked_for(self):
        source, key = self.file(100 * KIB), self.folder / "publisher"
        self.assertEqual(0, self.run_firn("keygen", key)[0])
        seed = self.firn("seed", "seed", self.create(source, "--sign", key), source.parent, *harness.LISTEN)
        self.daemon()
        self.add(f"firn:{seed.wait_event('start')['content_id']}?peer={seed.endpoint()}")
        self.wait_complete()
        self.assertNotIn("pub=", self.ask("show", source.name)["link"])

    def test_a_mirror_serves_by_a_certificate(self):
        self.check_mirror(by_link=False)

    def test_a_mirror_that_downloads_serves_by_a_certificate(self):
        self.check_mirror(by_link=True)

    def check_mirror(self, by_link):
        source = self.file(2 * MIB)
        publisher, identity = self.folder / "publisher", self.folder / "mirror"
        self.assertEqual(0, self.run_firn("keygen", publisher)[0])
        peer = self.run_firn("keygen", identity, "--id")[1].strip()
        manifest = self.create(source, "--sign", publisher)
        status, certificate, errors = self.run_firn("certify", manifest, peer, "--sign", publisher)
        self.assertEqual(0, status, errors)
        daemon = self.daemon("--identity", identity, "--certificate", certificate.strip())
        if by_link:  # the manifest comes from a peer
            seed = self.firn("publisher", "seed", manifest, source.parent, "--sign", publisher, *harness.LISTEN)
            content = self.run_firn("info", manifest)[1].partition("content id")[2].split()[0]
            self.ask("add", f"firn:{content}?peer={seed.endpoint()}", "-o", self.folder / "copy")
        else:
            self.ask("add", manifest, "-o", source.parent)
        self.wait_state("seeding")
        get = self.get(manifest, "get", "--peer", daemon.endpoint(), "--peers", "50ms", "--down-limit", "400K")
        event = get.wait_event("peers", where=lambda e: any(p["held"] for p in e["peers"]))
        self.assertTrue(event["peers"][0]["authority"], event)

    def test_the_link_has_the_tracker_s_id(self):
        tracker = self.tracker()
        source = self.file(100 * KIB)
        self.daemon()
        link = self.share_with(source, "--tracker", tracker.endpoint().partition("@")[2])
        self.assertIn("tr=" + tracker.endpoint(), link)
        self.assert_served(source, link, "first")

    def test_sharing_again_gives_the_same_link(self):
        source = self.file(100 * KIB)
        self.daemon()
        self.assertEqual(self.share_with(source), self.share_with(source))
        self.assertEqual(1, len(self.contents()))

    def test_without_a_daemon_nothing_is_read(self):
        source = self.file(100 * KIB)
        said = self.run_firn("share", "--daemon", source, "--socket", self.socket)
        self.assert_refused(said, UNREACHABLE, "firn daemon", str(self.socket))

    def test_options_that_are_the_daemon_s_are_refused(self):
        source = self.file(100 * KIB)
        for option in (["--up-limit", "1M"], ["--listen", "*:1"], ["--leave-when-safe"]):
            said = self.run_firn("share", "--daemon", source, *option)
            self.assert_refused(said, USAGE, "--daemon", option[0])


class Address(DaemonTest):
    def test_a_link_leads_to_the_daemon_after_a_restart(self):
        self.data.mkdir(mode=0o700)
        source = self.file(100 * KIB)
        self.daemon()
        self.ask("add", self.create(source), "-o", source.parent, "--serve")
        self.wait_state("seeding")
        link = self.ask("show", source.name)["link"]
        self.request("stop")
        self.daemon()
        self.wait_state("seeding")
        self.assertEqual(link, self.ask("show", source.name)["link"])
        self.assert_downloaded(source, self.get(link))

    def test_another_port_is_taken_where_the_last_one_is_in_use(self):
        first = self.daemon()
        id, _, place = first.endpoint().partition("@")
        self.assertEqual(0, first.stop())
        with socket.socket() as other:
            other.bind(("127.0.0.1", int(place.rpartition(":")[2])))
            other.listen()
            second = self.daemon()
            second.wait_line("links of an earlier run name, is in use", stream="stderr")
            self.assertEqual(id, second.endpoint().partition("@")[0])
            self.assertNotEqual(first.port(), second.port())
            self.assertEqual(0, second.stop())
        self.assertEqual(first.port(), self.daemon().port())  # it is free again


if __name__ == "__main__":
    harness.main()
