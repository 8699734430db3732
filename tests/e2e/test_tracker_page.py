#!/usr/bin/python3
"""The tracker's page, `firn-tracker --status`: swarms, peers, announces a second."""

import json
import pathlib
import stat
import time

import doors
import harness
from harness import KIB
from pages import PICTURES, Page

PORT_IN_USE = 3  # of firn-tracker


class TrackerDoor(doors.Door):
    def tracker(self, *options):
        """A tracker with a page: its endpoint."""
        self.data = self.folder / "tracker"
        self.process = super().tracker("tracker", "127.0.0.1:0", "--status", "localhost:0", *options)
        try:
            endpoint = self.process.endpoint()
        except harness.Failed:
            if "without libwebsockets" in self.process.output("stderr"):
                self.skipTest("built without libwebsockets")
            raise
        page = self.process.wait_line(r"page: (http://[^ ,]+:(\d+))/, token in (.+)", stream="stderr")
        self.url, self.port = page.group(1), int(page.group(2))
        self.token = pathlib.Path(page.group(3)).read_text().strip()
        return endpoint

    def status(self):
        status, headers, text = self.http("GET", "/status")
        self.assertEqual((200, "application/json"), (status, headers["Content-Type"]), text)
        return json.loads(text)

    def wait_status(self, holds, timeout=60):
        deadline = time.monotonic() + timeout
        while not holds(status := self.status()):
            self.assertLess(time.monotonic(), deadline, status)
        return status


class Status(TrackerDoor):
    def test_swarms_peers_and_announces_are_counted(self):
        endpoint = self.tracker()
        empty = self.status()
        self.assertEqual((0, 0, []), (empty["swarms"], empty["peers"], empty["largest"]))
        link = self.share(self.file(100 * KIB), "--tracker", endpoint).link()
        self.share(self.file(50 * KIB, "other.bin"), "--tracker", endpoint, name="other")
        self.get(link, "get", "--seed", "forever").wait_event("complete")
        status = self.wait_status(lambda now: now["complete"] == 3 and now["swarms"] == 2)
        self.assertEqual((3, 2), (status["peers"], len(status["largest"])))
        first = status["largest"][0]
        self.assertIn(first["content_id"], link)
        self.assertEqual((2, 0), (first["complete"], first["incomplete"]))
        self.assertGreaterEqual(status["announces"], 3)
        page = self.page()
        self.assertIn(first["content_id"], page)
        for words in ("Rates as a table", "Requests refused"):
            self.assertIn(words, page)

    def test_what_several_threads_hold_is_counted_together(self):
        endpoint = self.tracker("--io-threads", "3")
        links = [self.share(self.file(20 * KIB, f"{i}.bin"), "--tracker", endpoint, name=f"share{i}").link()
                 for i in range(5)]
        status = self.wait_status(lambda now: now["complete"] == 5)
        self.assertEqual((5, 5, 5), (status["swarms"], status["peers"], status["connections"]))
        # Equal ones stand by their ids, where digits come after letters.
        self.assertEqual(sorted((link[5:57] for link in links), key=lambda id: [(c.isdigit(), c) for c in id]),
                         [line["content_id"] for line in status["largest"]])

    def test_the_page_names_no_peer(self):
        endpoint = self.tracker()
        seed = self.share(self.file(100 * KIB), "--tracker", endpoint)
        seed.link()
        self.wait_status(lambda now: now["peers"] == 1)
        for text in (self.page(), json.dumps(self.status())):
            self.assertNotIn(seed.id(), text)
            self.assertNotIn(f":{seed.port()}", text)

    def test_without_the_token_nothing_is_shown(self):
        self.tracker()
        for path in ("/", "/status", "/events"):
            status, _, text = self.http("GET", path, token="")
            self.assertEqual(401, status, path)
            self.assertNotIn("Requests refused", text)
        self.assertEqual(401, self.http("GET", "/status", token="wrong")[0])
        self.assertEqual(1, self.process.output("stderr").count("wrong token"))
        self.assertEqual(403, self.http("GET", "/status", Host="evil.example")[0])
        self.assertEqual(0o600, stat.S_IMODE((self.data / "http-token").stat().st_mode))

    def test_it_takes_no_commands(self):
        self.tracker()
        for path in ("/", "/rpc", "/do", "/add", "/missing"):
            self.assertIn(self.http("POST", path, "{}")[0], (404, 413), path)
        self.assertEqual(404, self.http("GET", "/content/x")[0])

    def test_a_port_in_use_is_told_and_a_page_does_not_hold_up_the_end(self):
        self.tracker()
        other = self.programs.tracker(self.folder / "b", "other", "127.0.0.1:0", "--status",
                                      f"localhost:{self.port}")
        self.assertEqual(PORT_IN_USE, other.wait_exit())
        self.assertIn("in use", other.output("stderr"))
        self.http("GET", "/")
        self.assertEqual(0, self.process.stop())


class InBrowser(TrackerDoor, Page):
    def test_it_lives_and_is_accessible(self):
        endpoint = self.tracker()
        tab = self.browser.tab()
        self.addCleanup(tab.close)
        tab.go(f"{self.url}/#token={self.token}")
        tab.wait_for("document.body.innerText.includes('No peer has announced itself')")
        tab.wait_for("document.querySelector('#live').innerText == 'Live'")
        tab.ask("window.notReloaded = true")
        id = self.share(self.file(100 * KIB), "--tracker", endpoint).link()[5:57]
        tab.wait_for(f"document.querySelector('#swarms').innerText.includes({json.dumps(id)})")
        self.assertTrue(tab.ask("window.notReloaded"))
        for scheme in ("light", "dark"):
            tab.colours(scheme == "dark")
            tab.picture(PICTURES / f"15-tracker-{scheme}.png")
            self.assert_accessible(tab, "tracker, " + scheme)
        self.assert_quiet(tab)


if __name__ == "__main__":
    harness.main()
