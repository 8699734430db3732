#!/usr/bin/python3
"""Origins of the daemon's contents: kept with them, shown in its answers, no secrets among that."""

import json

import harness
from daemons import DaemonTest
from harness import KIB, MIB
from origins import OriginTest


class Daemons(DaemonTest, OriginTest):
    def setUp(self):
        super().setUp()
        self.use_file(2 * MIB)
        self.origin = self.serve()
        self.url = self.url_of(self.origin)

    def begun(self, url, *options):
        """A daemon with the content of the manifest, from this origin."""
        daemon = self.daemon("--no-tracker", *options)
        self.add(self.manifest, "--origin", url)
        return daemon

    def shown(self):
        """The content's origins, by their URLs."""
        return {origin["url"]: origin for origin in self.ask("show", self.path.name)["from_origins"]}

    def assert_arrived(self):
        self.wait_complete()
        self.assert_same(self.path, self.downloads / self.path.name)

    def test_a_content_comes_from_the_origin_that_it_was_added_with(self):
        self.begun(self.url)
        self.assert_arrived()
        self.assertEqual([self.url], list(self.shown()))
        self.assertEqual(2 * MIB, self.shown()[self.url]["bytes"])

    def test_it_goes_on_from_there_after_a_restart(self):
        self.origin.set(dies_after=MIB)
        daemon = self.begun(self.url)
        self.origin.wait(lambda: not self.origin.running)
        self.wait_for(lambda contents: contents and contents[0]["from_origins"][0]["trouble"])
        self.assertEqual(0, daemon.stop())
        self.origin.set(dies_after=None)
        self.origin.start()
        self.daemon("--no-tracker")
        self.assert_arrived()

    def test_trouble_is_told(self):
        self.origin.set(status=404)
        self.begun(self.url)
        shown = self.wait_for(lambda contents: contents and contents[0]["from_origins"][0]["trouble"])[0]["from_origins"][0]
        self.assertIn("404", shown["trouble"])
        self.origin.set(status=0)

    def test_a_password_is_used_also_after_a_restart_and_in_no_answer(self):
        self.origin.set(rate=128 * KIB)
        daemon = self.begun(self.url_of(self.origin, "joe:open-sesame@"), "--header", "X-Token: abrakadabra")
        self.origin.wait_served(256 * KIB)
        answers = [json.dumps(self.contents()), json.dumps(self.request("list")), json.dumps(self.request("status"))]
        self.assertEqual(0, daemon.stop())
        self.origin.set(rate=0)
        before = len(self.origin.requests)
        again = self.daemon("--no-tracker", "--header", "X-Token: abrakadabra")
        self.assert_arrived()
        for request in self.origin.requests[before:]:
            self.assertIn("Basic ", request.headers["Authorization"])
            self.assertEqual("abrakadabra", request.headers["X-Token"])
        self.assert_nowhere(["sesame", "abrakadabra"], *answers, json.dumps(self.contents()), self.said(daemon),
                            self.said(again))


if __name__ == "__main__":
    harness.main()
