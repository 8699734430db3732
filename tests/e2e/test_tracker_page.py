#!/usr/bin/python3
"""The tracker's page, `firn-tracker --status`: swarms, peers, announces a second."""

import json
import pathlib
import re
import signal
import stat
import subprocess
import time

import doors
import harness
import metrics
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
        self.assertEqual(f"http://127.0.0.1:{self.port}", self.url)
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
            time.sleep(0.05)
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
        self.assertEqual(["content.bin", "other.bin"], [line["name"] for line in status["largest"]])
        self.assertIn("content.bin", page)
        for words in ("Rates as a table", "Requests refused"):
            self.assertIn(words, page)

    def test_how_far_incomplete_peers_are_is_shown_but_not_of_a_private_content(self):
        endpoint = self.tracker("--interval", "1")
        for private in ((), ("--private",)):
            name = "private" if private else "open"
            link = self.share(self.file(4096 * KIB, name), "--tracker", endpoint, *private, name=name).link()
            self.get(link, "get-" + name, "--down-limit", "200k")
        part = self.wait_status(lambda now: [line["incomplete"] for line in now["largest"]] == [1, 1]
                                and any(line["percent"] for line in now["largest"]))
        shown, hidden = sorted(part["largest"], key=lambda line: line["name"] != "open")
        self.assertEqual((1, 1, None), (hidden["complete"], hidden["incomplete"], hidden["percent"]))
        self.assertIn(shown["percent"], range(1, 100))
        self.assertRegex(self.page(), r"<td class=\"n\">\d+%</td>")

    def test_publishers_and_their_bounds_are_shown_and_a_publisher_past_them_is_told(self):
        key = self.folder / "publisher.pem"
        public = self.run_firn("keygen", key)[1].strip()
        listed = self.folder / "publishers"
        listed.write_text(f"{public} contents=1\n")
        endpoint = self.tracker("--publishers", listed, "--publisher-peers", "7")
        self.share(self.file(20 * KIB), "--sign", key, "--tracker", endpoint).link()
        status = self.wait_status(lambda now: [line["peers"] for line in now["publishers"]] == [1])
        line = status["publishers"][0]
        self.assertEqual((public, 1, 1, 7), (line["key"], line["contents"], line["contents_max"], line["peers_max"]))
        self.assertIn("1 of 7", self.page())
        printed = self.http("GET", "/metrics")[2]
        self.assertIn(f'firn_tracker_publisher_peers{{publisher="{public}"}} 1\n', printed)
        self.assertIn(f'firn_tracker_publisher_contents_max{{publisher="{public}"}} 1\n', printed)
        refused = self.share(self.file(9 * KIB, "second"), "--sign", key, "--tracker", endpoint, name="second")
        self.assertEqual(harness.UNREACHABLE, refused.wait_exit(), refused.story())
        self.assertIn("allows this publisher 1 contents", refused.output("stderr"))

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


class Operations(TrackerDoor):
    def metrics(self):
        status, headers, text = self.http("GET", "/metrics")
        self.assertEqual(200, status, text)
        self.assertIn("version=0.0.4", headers["Content-Type"])
        return metrics.parse(text)[1]

    def test_metrics_count_what_happens(self):
        endpoint = self.tracker("--io-threads", "2", "--closed", self.folder / "closed")
        before = self.metrics()
        program = subprocess.run([harness.BUILD / "tracker/firn-tracker", "--version"], capture_output=True, text=True)
        version, commit = re.fullmatch(r"firn-tracker (\S+)(?: \((.+)\))?\n", program.stdout).groups()
        self.assertEqual(1, before[f'firn_tracker_build_info{{version="{version}",revision="{commit or ""}"}}'])
        self.assertEqual((0, 0), (before["firn_tracker_announces_total"], before["firn_tracker_connections_total"]))
        refused = self.share(self.file(50 * KIB, "other.bin"), "--tracker", endpoint, name="refused")
        self.assertNotEqual(0, refused.wait_exit())
        self.wait_status(lambda now: now["refusals"] > 0)
        after = self.metrics()
        self.assertGreaterEqual(after['firn_tracker_refusals_total{reason="not_allowed"}'], 1)
        self.assertGreaterEqual(after["firn_tracker_connections_total"], 1)
        self.assertEqual(0, after["firn_tracker_database_failing"])
        self.assertGreater(after["process_resident_memory_bytes"], 1 << 20)
        self.assertLess(abs(after["process_start_time_seconds"] - time.time()), 600)

    def tracker(self, *options):
        (self.folder / "closed").write_text("")
        return super().tracker(*options)

    def test_promtool_finds_nothing_to_say(self):
        self.tracker()
        metrics.assert_promtool_agrees(self, self.http("GET", "/metrics")[2])

    def test_health_and_readiness_need_no_token_and_all_else_does(self):
        self.tracker()
        self.wait_status(lambda now: True)
        for path in ("/health", "/ready"):
            self.assertEqual(200, self.http("GET", path, token="")[0], path)
            self.assertEqual(401, self.http("POST", path, "", token="")[0], path)
            self.assertEqual(403, self.http("GET", path, token="", Host="evil.example")[0], path)
        self.assertEqual(401, self.http("GET", "/metrics", token="")[0])

    def test_while_it_drains_it_serves_who_is_there_and_nobody_else(self):
        endpoint = self.tracker("--drain", "60", "--interval", "1")
        self.share(self.file(100 * KIB), "--tracker", endpoint).link()
        self.wait_status(lambda now: now["peers"] == 1)
        self.process.process.send_signal(signal.SIGTERM)
        self.wait_ready(503, "stopping")
        before = self.status()["announces"]
        late = self.share(self.file(50 * KIB, "late.bin"), "--tracker", endpoint, name="late")
        late.wait_line("warning: tracker ", stream="stderr")
        self.wait_status(lambda now: now["announces"] > before)
        self.assertEqual((1, 1), (self.status()["peers"], self.status()["connections"]))
        self.assertEqual(200, self.http("GET", "/health", token="")[0])
        self.process.process.send_signal(signal.SIGTERM)
        self.assertEqual(0, self.process.wait_exit())

    def wait_ready(self, status, words):
        deadline = time.monotonic() + 30
        while (answer := self.http("GET", "/ready", token=""))[0] != status:
            self.assertLess(time.monotonic(), deadline, answer)
            time.sleep(0.05)
        self.assertIn(words, answer[2])

    def test_a_drain_ends_by_itself(self):
        self.tracker("--drain", "1")
        self.process.process.send_signal(signal.SIGTERM)
        self.assertEqual(0, self.process.wait_exit())
        self.assertIn("draining for 1 s", self.process.output("stderr"))

    def test_every_metric_of_the_examples_is_there(self):
        self.tracker()
        printed = self.http("GET", "/metrics")[2]
        for name in ("prometheus-rules.yml", "grafana-tracker.json"):
            metrics.assert_example_fits(self, harness.ROOT / "docs/examples" / name, printed)


class InBrowser(TrackerDoor, Page):
    def test_it_lives_and_is_accessible(self):
        endpoint = self.tracker()
        tab = self.browser.tab()
        self.addCleanup(tab.close)
        tab.go(f"{self.url}/#token={self.token}")
        self.wait_signed_in(tab)
        self.assertIn("No peer has announced itself", tab.text())
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
