#!/usr/bin/python3
"""What commands take for a content, a folder and an address, in the shortest forms there are."""

import ipaddress
import pathlib
import re

import harness
from harness import KIB, LISTEN


class DefaultPort(harness.SwarmTest):
    """An address without a port means port 4711."""

    def setUp(self):
        super().setUp()
        self.host = harness.own_host()
        self.source = self.file(100 * KIB)

    def test_of_a_tracker(self):
        tracker = self.tracker(listen=self.host)
        self.assertTrue(tracker.endpoint().endswith(f"@{self.host}:4711"), tracker.endpoint())
        seed = self.share(self.source, "--tracker", self.host)
        self.assertIn(f"tr={tracker.endpoint()}", seed.link())
        bare = harness.bare(seed.link())
        self.assert_downloaded(self.source, self.get(bare, "one", "--tracker", self.host))
        self.assert_downloaded(self.source, self.get(f"{bare}/tr={self.host}", "two"))

    def test_of_a_peer(self):
        seed = self.firn("seed", "share", self.source, "--listen", f"{self.host}:4711")
        bare = harness.bare(seed.link())
        self.assert_downloaded(self.source, self.get(bare, "one", "--peer", self.host))
        self.assert_downloaded(
            self.source, self.get(bare, "two", "--peer", f"{seed.id()}@{self.host}"))
        self.assert_downloaded(self.source, self.get(f"{bare}/peer={self.host}", "three"))

    def test_listening_without_a_port_takes_any_free_one(self):
        seeds = [self.firn(name, "share", self.source, "--listen", self.host, "--json")
                 for name in ("one", "two")]
        ports = {seed.port() for seed in seeds}
        self.assertEqual(2, len(ports))
        self.assertNotIn(0, ports)
        for seed in seeds:
            self.assertIn(f"@{self.host}:{seed.port()}", seed.link())


class OneValueEach(harness.SwarmTest):
    """An option takes one value each time it is given, and all of it."""

    def setUp(self):
        super().setUp()
        self.docs = self.tree({"a": 10, "x.tmp": 10}, "docs")
        self.photo = self.file(10, "f.bin")

    def packed(self, *arguments):
        """What `firn info` shows of what `firn create` packs."""
        status, output, errors = self.run_firn("create", *arguments, "-o", self.folder / "x.firn")
        self.assertEqual(0, status, output + errors)
        return self.run_firn("info", self.folder / "x.firn")[1]

    def test_what_follows_it_is_an_argument(self):
        seed = self.firn("seed", "share", "--tracker", "127.0.0.1:9", self.docs, self.photo,
                         "--listen", "127.0.0.1:0")
        for link in seed.links(2):
            self.assertIn("tr=127.0.0.1:9", link)
        self.assertNotRegex(self.packed("--exclude", "*.tmp", self.docs), r"x\.tmp")

    def test_also_where_a_configuration_gives_the_option(self):
        config = self.folder / "c.toml"
        config.write_text('tracker = ["127.0.0.1:9"]\nexclude = ["*.tmp"]\n')
        config.chmod(0o644)
        manifest = self.create(self.photo)
        for arguments in (["verify", manifest, self.photo.parent],
                          ["get", manifest, "-o", self.photo.parent]):
            status, _, errors = self.run_firn(*arguments, "--config", config)
            self.assertEqual(0, status, errors)
        seed = self.firn("seed", "share", "--config", config, self.docs, self.photo,
                         "--listen", "127.0.0.1:0")
        self.assertIn("tr=127.0.0.1:9", seed.links(2)[1])

    def test_a_value_in_brackets_is_taken_as_it_is(self):
        for name in ("[a,b]", "a", "b", "[mine]"):
            (self.folder / name).mkdir()
            (self.folder / name / f"in-{name}").write_bytes(b"1")
        self.assertIn("in-[a,b]", self.packed(self.folder / "[a,b]"))
        seed = self.firn("seed", "share", "[a,b]", "[mine]", "--listen", "127.0.0.1:0",
                         cwd=self.folder)
        seed.links(2)
        for name in ("[a,b]", "[mine]"):
            seed.wait_line(f"serving {re.escape(name)}", stream="stderr")
        (self.docs / "1").write_bytes(b"1")
        self.assertNotRegex(self.packed(self.docs, "--exclude", "[0-9]"), "(?m) 1$")
        self.packed(self.docs, "--tracker", "[::1]")
        tracker = self.programs.start("tracker", [
            harness.BUILD / "tracker" / "firn-tracker", "--data", self.folder / "data", "--listen",
            "[::1]:0"])
        self.assertIn("@[::1]:", tracker.endpoint())


class CurrentFolder(harness.SwarmTest):
    def test_get_puts_a_content_there_without_o(self):
        source = self.tree({"a": 10 * KIB, "b/c": 1})
        link = self.share(source).link()
        here = self.folder / "here"
        here.mkdir()
        get = self.firn("get", "get", link, *LISTEN, cwd=here)
        self.assert_downloaded(source, get, into=here)

    def test_share_of_the_current_folder_has_its_real_name(self):
        source = self.tree({"a": 10 * KIB, "b/c": 1})
        for i, (path, cwd) in enumerate(((".", source), ("./", source), ("..", source / "b"),
                                         ("b/..", source), ("../holiday/.", source))):
            with self.subTest(path=path):
                seed = self.firn(f"seed{i}", "share", path, *LISTEN, cwd=cwd)
                self.assert_downloaded(source, self.get(seed.link(), f"get{i}"))

    def test_create_of_the_current_folder_has_its_real_name(self):
        source = self.tree({"a": 10 * KIB})
        manifest = self.folder / "x.firn"
        status, _, errors = self.run_firn("create", ".", "-o", manifest, cwd=source)
        self.assertEqual(0, status, errors)
        status, output, _ = self.run_firn("info", manifest)
        self.assertRegex(output, r"name +holiday\b")
        status, _, errors = self.run_firn("verify", manifest, "..", cwd=source)
        self.assertEqual(0, status, errors)

    def test_the_root_folder_has_no_name(self):
        self.assert_refused(self.run_firn("share", ".", *LISTEN, cwd=pathlib.Path("/")),
                            harness.USAGE, "/", "no name")


class Links(harness.SwarmTest):
    """A link is enough wherever a manifest file is."""

    def setUp(self):
        super().setUp()
        self.source = self.tree({"a": 200 * KIB, "b/c": 3})
        self.seed = self.share(self.source)
        self.link = self.seed.link()
        self.copy = self.folder / "copy"
        self.assert_downloaded(self.source, self.get(self.link, "copy"))

    def test_seed_takes_a_link(self):
        # The content's own folder is as good as the one in which it stands.
        second = self.firn("second", "seed", self.link, self.copy / "holiday", *LISTEN)
        second.endpoint()
        self.assertEqual(0, self.seed.stop())
        bare = harness.bare(self.link)
        self.assert_downloaded(self.source, self.get(bare, "get", "--peer", second.endpoint()))
        self.assertEqual(0, second.stop())

    def test_seed_waits_for_a_manifest_that_nobody_has_yet(self):
        self.assertEqual(0, self.seed.stop())
        bare = harness.bare(self.link)
        tracker = self.tracker().endpoint()
        second = self.firn("second", "seed", bare, self.copy, "--tracker", tracker, "-v", *LISTEN)
        second.wait_line("0 complete", stream="stderr")
        self.share(self.source, "--tracker", tracker, name="late")
        self.assertEqual(second.wait_event("start")["bytes"], 200 * KIB + 3)

    def test_verify_takes_a_link(self):
        status, _, errors = self.run_firn("verify", self.link, self.copy)
        self.assertEqual(0, status, errors)
        changed = self.copy / "holiday" / "a"
        changed.write_bytes(bytes(200 * KIB))
        self.assert_refused(self.run_firn("verify", self.link, self.copy),
                            harness.VERIFY_FAILED, "holiday/a")

    def test_verify_of_a_link_that_names_nobody_says_what_to_do(self):
        bare = harness.bare(self.link)
        self.assert_refused(self.run_firn("verify", bare, self.copy), harness.UNREACHABLE,
                            "--tracker", "--peer")

    def test_verify_interrupted_while_it_looks_for_the_manifest(self):
        self.assertEqual(0, self.seed.stop())
        verify = self.firn("verify", "verify", self.link, self.copy, "-v", "--listen",
                           "127.0.0.1:0")
        verify.wait_line(".", stream="stderr")
        self.assertEqual(harness.INTERRUPTED, verify.stop(), verify.story())


def is_near(host):
    """Whether it is an address of this machine's loopback or of a private network."""
    near = ("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "::1/128", "fc00::/7")
    address = ipaddress.ip_address(host)
    return any(address in ipaddress.ip_network(network) for network in near)


class WithoutTracker(harness.SwarmTest):
    def test_the_link_names_this_machine_and_a_warning_says_what_that_means(self):
        source = self.file(100 * KIB)
        seed = self.firn("seed", "share", source)  # listens everywhere
        peers = re.findall(r"/peer=([a-z2-7]{52})@([^/]+):(\d+)", seed.link())
        self.assertTrue(peers, seed.link())
        for peer, host, port in peers:
            self.assertEqual((seed.id(), seed.port()), (peer, int(port)))
            self.assertNotIn(host, ("::", "0.0.0.0", "*"))
            self.assertNotRegex(host, "^(169[.]254[.]|fe[89ab])")
        hosts = [host for _, host, _ in peers]
        loopback = [host for host in hosts if host in ("127.0.0.1", "::1")]
        self.assertIn(len(loopback), (0, len(hosts)), seed.link())
        seed.wait_line(f"receivers connect to TCP port {seed.port()} .*--listen", stream="stderr")
        if all(is_near(host) for host in hosts):
            seed.wait_line("warning: no tracker: the link names only", stream="stderr")
        self.assert_downloaded(source, self.get(seed.link()))

    def test_loopback_alone_if_it_was_asked_for(self):
        seed = self.share(self.file(10))
        self.assertEqual([f"peer={seed.endpoint()}"], seed.link().split("/")[1:])

    def test_a_link_works_also_while_its_tracker_does_not(self):
        source = self.file(1000 * KIB)
        gone = f"127.0.0.1:{harness.free_port()}"
        seed = self.firn("seed", "share", source, "--tracker", gone)
        self.assertIn(f"/tr={gone}/peer=", seed.link())
        self.assert_downloaded(source, self.get(seed.link()))
        seed.wait_line("1 peer has everything; the latest: ", stream="stderr")

    def test_a_share_with_a_port_and_a_key_has_the_same_link_again(self):
        port, source = harness.free_port(), self.file(10)
        links = set()
        for name in ("once", "again"):
            seed = self.firn(name, "share", source, "--listen", f"127.0.0.1:{port}", "--identity",
                             self.folder / "share.pem")
            seed.wait_line(f"receivers connect to TCP port {port} of this machine$", stream="stderr")
            self.assertIn(f"@127.0.0.1:{port}", seed.link())
            links.add(seed.link())
            self.assertEqual(0, seed.stop())
        self.assertEqual(1, len(links))
        seed = self.firn("fresh", "share", source, "--listen", f"127.0.0.1:{port}")
        seed.wait_line(f"receivers connect to TCP port {port} .*--identity", stream="stderr")


if __name__ == "__main__":
    harness.main()
