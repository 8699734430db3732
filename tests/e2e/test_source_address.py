#!/usr/bin/python3
"""Which address and interface a peer's connections use, and what limits bound."""

import shutil
import subprocess
import time

import harness
from harness import KIB, MIB, USAGE, bare


def own_network():
    """A command prefix that runs what follows in a network of its own, where lo is down; or None."""
    prefix = ["unshare", "--net"]
    if not harness.is_root() or not shutil.which("unshare"):
        return None
    return prefix if subprocess.run([*prefix, "true"], capture_output=True).returncode == 0 else None


class SourceAddress(harness.SwarmTest):
    def test_a_peer_is_seen_and_announced_under_the_address_that_it_listens_on(self):
        """The tracker tells the address it sees: the peer listens on no other."""
        source = self.file(300 * KIB)
        tracker = self.tracker().endpoint()
        seed = self.firn("seed", "share", source, "--listen", "127.0.0.2:0", "--json", "-vv",
                         "--tracker", tracker)
        get = self.firn("get", "get", bare(seed.link()), "-o", self.folder / "get", "--json",
                        "--listen", "127.0.0.3:0", "--tracker", tracker, "--no-pex")
        self.assert_downloaded(source, get)
        seed.wait_line(r"peer .* at 127\.0\.0\.3:", stream="stderr")

    def test_a_content_comes_through_a_named_interface(self):
        source = self.file(300 * KIB)
        through = ["--listen", "*:0", "--interface", "lo", "--json"]
        seed = self.firn("seed", "share", source, *through)
        peer = f"{seed.id()}@127.0.0.1:{seed.port()}"
        get = self.firn("get", "get", bare(seed.link()), "-o", self.folder / "get", *through,
                        "--no-tracker", "--peer", peer)
        self.assert_downloaded(source, get)

    def test_an_interface_that_cannot_be_used_is_a_clear_error(self):
        source = self.file(KIB)
        self.assert_refused(self.run_firn("share", source, "--interface", "nosuch0"), USAGE,
                            "nosuch0", "none of that name", "lo")
        self.assert_refused(
            self.run_firn("share", source, "--interface", "lo", "--listen", "192.0.2.1:0"), USAGE,
            "192.0.2.1")
        prefix = own_network()
        if prefix is None:
            return
        down = self.programs.start("share", [*prefix, harness.BUILD / "client" / "firn", "share",
                                             source, "--interface", "lo"])
        self.assertEqual(USAGE, down.wait_exit())
        self.assertIn("is down", down.output("stderr"))


class Limits(harness.SwarmTest):
    def test_an_up_limit_bounds_all_contents_together(self):
        sources = [self.file(3 * MIB, f"content{i}") for i in range(2)]
        limit = MIB
        seed = self.firn("seed", "share", *sources, *harness.LISTEN, "--up-limit", limit)
        links = seed.links(2)
        began = time.monotonic()
        gets = [self.get(link, f"get{i}", "--peer", seed.endpoint(), "--seed", "none")
                for i, link in enumerate(links)]
        self.assertEqual(2, len(gets))
        for get in gets:
            self.assert_completes(get, 120)
        # However slow the machine is: no more than the limit, and what is saved up or on its way.
        allowed = limit * (time.monotonic() - began) + limit / 4
        self.assertLess(6 * MIB, allowed)


if __name__ == "__main__":
    harness.main()
