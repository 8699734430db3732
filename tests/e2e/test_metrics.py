#!/usr/bin/python3
"""/metrics of a peer: its doors, what it counts, and the examples that name its metrics."""

import http.client
import re
import stat
import time
import urllib.parse

import doors
import harness
import metrics
import origins
from harness import KIB, MIB

ODD = 'x"} 1 {y="\u202e.bin'  # no content has a name with a backslash or a line end
TABLE = re.compile(r"^\| `(firn_[a-z_]+)`(?:\{([a-z, ]+)\})? \| (counter|gauge) \|", re.MULTILINE)


class Watched(doors.Door):
    """A program with --metrics."""

    OPEN = ("--metrics", "localhost:0")

    def watch(self, process):
        """Waits for the door of its own."""
        try:
            told = process.wait_event("metrics")
        except AssertionError:
            if "without libwebsockets" in process.output("stderr"):
                self.skipTest("built without libwebsockets")
            raise
        self.watched = urllib.parse.urlsplit(told["url"])
        self.assertEqual(("127.0.0.1", "/metrics"), (self.watched.hostname, self.watched.path))
        return process

    def ask(self, method="GET", path="/metrics", body=None, **headers):
        """(status, headers, text), without a token."""
        connection = http.client.HTTPConnection("127.0.0.1", self.watched.port, timeout=30)
        try:
            connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode()
        finally:
            connection.close()

    def printed(self):
        status, headers, text = self.ask()
        self.assertEqual(200, status, text)
        self.assertEqual("text/plain; version=0.0.4; charset=utf-8", headers["Content-Type"])
        return text

    def values(self):
        return metrics.parse(self.printed())[1]

    def wait_values(self, holds, timeout=60):
        deadline = time.monotonic() + timeout
        while not holds(values := self.values()):
            self.assertLess(time.monotonic(), deadline, values)
            time.sleep(0.1)
        return values

    def of_contents(self, values, metric):
        return [series for series in values if series.startswith(metric + "{")]


class Doors(Watched):
    def test_the_door_gives_the_metrics_by_get_and_head_and_nothing_else(self):
        self.watch(self.daemon(*self.OPEN))
        _, version, _ = self.run_firn("--version")
        self.assertIn(f'firn_build_info{{version="{version.split()[1]}",', self.printed())
        self.assertIn("firn_contents{", self.printed())
        status, headers, text = self.ask("HEAD")
        self.assertEqual((200, ""), (status, text))
        self.assertGreater(int(headers["Content-Length"]), 100)
        for path in ("/", "/metrics/", "/status", "/events", "/content/x", "/page.css", "/page.js", "/login"):
            self.assertEqual(404, self.ask("GET", path)[0], path)

    def test_a_form_of_a_browser_gets_nothing(self):
        self.watch(self.daemon(*self.OPEN))
        form = urllib.parse.urlencode({"action": "pause", "token": self.token})
        kind = {"Content_Type": "application/x-www-form-urlencoded"}
        for path in ("/metrics", "/", "/rpc", "/do", "/add", "/login"):
            status, headers, text = self.ask("POST", path, form, **kind)
            self.assertEqual((405, "GET, HEAD"), (status, headers["Allow"]), path)
            self.assertNotIn("firn_contents", text)
        for method in ("PUT", "DELETE", "OPTIONS"):
            self.assertIn(self.ask(method)[0], (405, 404, 403), method)

    def test_other_hosts_and_origins_are_refused(self):
        self.watch(self.daemon(*self.OPEN))
        for headers in ({"Host": "evil.example"}, {"Host": f"evil.example:{self.watched.port}"},
                        {"Origin": "http://evil.example"}, {"Origin": "null"}):
            status, _, text = self.ask(**headers)
            self.assertEqual(403, status, headers)
            self.assertNotIn("firn_contents", text)
        self.assertEqual(200, self.ask(Host=f"10.0.0.7:{self.watched.port}")[0])

    def test_a_token_is_not_needed_and_does_not_matter(self):
        self.watch(self.daemon(*self.OPEN))
        self.assertEqual(200, self.ask(Authorization="Bearer wrong")[0])

    def test_the_page_s_port_gives_them_to_its_two_tokens(self):
        self.daemon()
        reading = self.data / "http-token.metrics"
        self.assertEqual(0o600, stat.S_IMODE(reading.stat().st_mode))
        reader = reading.read_text().strip()
        self.assertNotEqual(self.token, reader)
        for token in (self.token, reader):
            self.assertIn("firn_contents{", self.http("GET", "/metrics", token=token)[2])
        for token in ("", "wrong", reader[:-1]):
            status, _, text = self.http("GET", "/metrics", token=token)
            self.assertEqual(401, status)
            self.assertNotIn("firn_contents", text)
        self.assertEqual(403, self.http("GET", "/metrics", token=reader, Host="evil.example")[0])

    def test_the_reader_s_token_opens_nothing_else(self):
        self.daemon()
        reader = (self.data / "http-token.metrics").read_text().strip()
        call = '{"jsonrpc":"2.0","id":1,"method":"list"}'
        for method, path in (("GET", "/"), ("GET", "/events"), ("GET", "/range"), ("GET", "/content/x"), ("POST", "/rpc"),
                             ("POST", "/do"), ("POST", "/add"), ("POST", "/metrics"), ("POST", "/logout")):
            status, _, text = self.http(method, path, call if method == "POST" else None, token=reader)
            self.assertEqual(403, status, path)
            self.assertNotIn("contents", text)
        signed_in = self.http("POST", "/login", urllib.parse.urlencode({"token": reader}), token="", Origin=self.url,
                              Content_Type="application/x-www-form-urlencoded")
        self.assertEqual((401, None), (signed_in[0], signed_in[1]["Set-Cookie"]))

    def test_a_restart_keeps_the_reader_s_token(self):
        for _ in range(2):
            process = self.daemon()
            reader = (self.data / "http-token.metrics").read_text()
            self.assertEqual(200, self.http("GET", "/metrics", token=reader.strip())[0])
            process.stop()
        self.assertEqual(reader, (self.data / "http-token.metrics").read_text())

    def test_share_seed_and_get_have_both_doors(self):
        seed = self.share(self.file(100 * KIB), *self.OPEN, "--status", "localhost:0")
        self.enter(self.watch(seed))
        reader = seed.wait_event("http")["metrics_token"]
        self.assertEqual(200, self.http("GET", "/metrics", token=reader)[0])
        self.assertEqual(403, self.http("GET", "/", token=reader)[0])
        self.wait_values(lambda now: now['firn_contents{state="seeding"}'] == 1)
        manifest = self.create(self.file(100 * KIB))
        self.watch(self.firn("serving", "seed", manifest, self.folder / "source", *harness.LISTEN, *self.OPEN))
        self.assertIn("firn_contents{", self.printed())

    def test_a_port_in_use_is_told(self):
        self.watch(self.daemon(*self.OPEN))
        other = self.share(self.file(KIB), "--metrics", f"localhost:{self.watched.port}", name="other")
        self.assertEqual(harness.PORT_IN_USE, other.wait_exit())
        self.assertIn("in use", other.output("stderr"))


class Contents(Watched):
    def test_promtool_finds_nothing_to_say(self):
        seed = self.share(self.file(100 * KIB, ODD))
        self.watch(self.get(seed.link(), "get", "--seed", "forever", *self.OPEN)).wait_event("complete")
        metrics.assert_promtool_agrees(self, self.printed())

    def test_a_transfer_s_bytes_are_those_of_its_content(self):
        size = 300 * KIB
        seed = self.watch(self.share(self.file(size), *self.OPEN))
        at_seed = self.watched
        link = seed.link()
        get = self.watch(self.get(link, "get", "--seed", "forever", *self.OPEN))
        get.wait_event("complete")
        now = self.wait_values(lambda now: now['firn_contents{state="seeding"}'] == 1)
        id = link[5:21]
        self.assertEqual((size, 0), (now['firn_verified_bytes_total{source="peers"}'],
                                     now['firn_verified_bytes_total{source="origins"}']))
        self.assertEqual(size, now[f'firn_content_verified_bytes_total{{content="{id}",source="peers"}}'])
        self.assertEqual(size, now[f'firn_content_wanted_bytes{{content="{id}"}}'])
        self.assertEqual(1, now[f'firn_content_complete_ratio{{content="{id}"}}'])
        self.assertEqual(1, now[f'firn_content_info{{content="{id}",name="content.bin"}}'])
        self.assertGreater(now["firn_received_bytes_total"], size)
        self.watched = at_seed
        self.wait_values(lambda now: now["firn_sent_bytes_total"] > size)

    def test_peers_that_get_nothing_have_a_reason(self):
        manifest = self.create(self.file(300 * KIB))
        seed = self.watch(self.firn("seed", "seed", manifest, self.folder / "source", "--up-limit", "1", *harness.LISTEN, *self.OPEN))
        self.get(manifest, "get", "--peer", seed.endpoint())
        now = self.wait_values(lambda now: now['firn_unserved_peers{reason="rate_limit"}'] == 1)
        self.assertEqual(1, now["firn_peers"])
        self.assertEqual(1, sum(now[series] for series in self.of_contents(now, "firn_content_peers")))

    def test_a_download_to_which_nothing_comes_has_a_reason(self):
        link = "firn:" + "a" * 52
        self.watch(self.get(link, "get", "--no-tracker", *self.OPEN))
        now = self.wait_values(lambda now: now['firn_waiting_contents{reason="nobody"}'] == 1)
        self.assertEqual(1, now[f'firn_content_waiting{{content="{link[5:21]}",reason="nobody"}}'])
        self.assertEqual(1, sum(value for series, value in now.items() if series.startswith("firn_waiting_contents")))

    def test_what_has_failed_is_counted(self):
        self.watch(self.daemon(*self.OPEN))
        missing = self.create(self.file(10 * KIB))
        self.rpc("add", source=str(missing), folder=str(self.folder / "nowhere"), serve=True)
        now = self.wait_values(lambda now: now['firn_contents{state="failed"}'] == 1)
        self.assertEqual(1, len([s for s in self.of_contents(now, "firn_content_state") if 'state="failed"' in s]))

    def test_a_stranger_s_name_stays_within_its_label(self):
        seed = self.watch(self.share(self.file(10 * KIB, ODD), *self.OPEN))
        seed.link()
        values = self.wait_values(lambda now: self.of_contents(now, "firn_content_info"))
        (info,) = self.of_contents(values, "firn_content_info")
        self.assertTrue(info.endswith(',name="x\\"} 1 {y=\\"\\\\u202e.bin"}'), info)

    def test_a_private_content_has_no_name_and_no_content_its_whole_id(self):
        seed = self.watch(self.share(self.file(10 * KIB, "plans.bin"), "--private", *self.OPEN))
        link = seed.link()
        self.wait_values(lambda now: now['firn_contents{state="seeding"}'] == 1)
        printed = self.printed()
        self.assertNotIn("plans", printed)
        self.assertIn(link[5:21], printed)
        self.assertNotIn(link[5:22], printed)

    def test_of_many_contents_a_bounded_number_has_figures(self):
        self.watch(self.daemon(*self.OPEN, "--max-downloads", "0", "--no-tracker"))
        letters = "abcdefghijklmnopqrstuvwxyz"
        for i in range(203):
            self.rpc("add", source="firn:" + letters[i // 26] + letters[i % 26] + "a" * 50,
                     folder=str(self.folder / "into"))
        now = self.wait_values(lambda now: now['firn_contents{state="searching"}'] == 203)
        self.assertEqual((200, 3), (len(self.of_contents(now, "firn_content_info")), now["firn_unlisted_contents"]))
        self.assertEqual(200, len(self.of_contents(now, "firn_content_state")))

    def test_counts_stay_when_a_content_goes(self):
        size = 100 * KIB
        seed = self.share(self.file(size))
        self.watch(self.daemon(*self.OPEN))
        self.rpc("add", source=seed.link(), folder=str(self.folder / "into"))
        self.wait_values(lambda now: now['firn_verified_bytes_total{source="peers"}'] == size)
        self.rpc("remove", content="content.bin", delete_data=True)
        now = self.wait_values(lambda now: not self.of_contents(now, "firn_content_info"))
        self.assertEqual(size, now['firn_verified_bytes_total{source="peers"}'])


class Origins(origins.OriginTest, Watched):
    def test_bytes_of_peers_and_origins_make_the_content(self):
        self.use_file(2 * MIB)
        server = self.serve()
        holder = self.holder("--up-limit", "1M")
        get = self.watch(self.fetch_from(self.url_of(server), "--peer", holder.endpoint(), *self.OPEN, seed="forever"))
        get.wait_event("complete")
        now = self.wait_values(lambda now: now['firn_contents{state="seeding"}'] == 1)
        by_source = [now[f'firn_verified_bytes_total{{source="{source}"}}'] for source in ("peers", "origins")]
        self.assertEqual(2 * MIB, sum(by_source))
        told = [now[series] for series in self.of_contents(now, "firn_origin_bytes_total")]
        self.assertEqual(by_source[1], sum(told))


class Documents(Watched):
    def test_the_table_of_the_manual_is_what_is_printed(self):
        self.watch(self.daemon(*self.OPEN))
        types, _ = metrics.parse(self.printed())
        text = (harness.ROOT / "docs/operations.md").read_text(encoding="utf-8")
        section = text[text.index("\n### Metrics\n"):]
        table = {name: kind for name, _, kind in TABLE.findall(section[:section.index("\n### ", 1)])}
        self.assertEqual({name: kind for name, kind in types.items() if name.startswith("firn_")}, table)

    def test_promtool_reads_the_dashboards_queries(self):
        for name in ("grafana-peers.json", "grafana-tracker.json"):
            metrics.assert_promtool_parses(self, harness.ROOT / "docs/examples" / name)

    def test_every_metric_of_the_dashboard_is_there(self):
        seed = self.share(self.file(100 * KIB))
        get = self.watch(self.get(seed.link(), "get", "--seed", "forever", *self.OPEN))
        get.wait_event("complete")
        metrics.assert_example_fits(self, harness.ROOT / "docs/examples/grafana-peers.json", self.printed())


if __name__ == "__main__":
    harness.main()
