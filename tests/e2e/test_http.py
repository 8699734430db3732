#!/usr/bin/python3
"""The HTTP door of a daemon and of other programs: JSON-RPC, pages without JavaScript, and access control."""

import html
import http.client
import json
import os
import re
import socket
import stat
import threading
import time
import urllib.parse

import doors
import harness
import rpc_client
from doors import Door
from harness import KIB, LISTEN, PORT_IN_USE, USAGE


class Rpc(Door):
    def test_both_doors_answer_the_same(self):
        self.daemon()
        over_socket = rpc_client.Daemon(str(self.socket))
        for method in ("list", "version"):
            self.assertEqual(over_socket.call(method), self.rpc(method))
        with self.assertRaises(rpc_client.Failed) as failed:
            self.rpc("show", content="missing")
        self.assertEqual(-32000, failed.exception.code)

    def test_malformed_requests_are_refused_in_the_same_words(self):
        self.daemon()
        for body, code in (("no json", -32700), ("[]", -32600), ("", -32700), ("[" * 1000, -32600),
                           (json.dumps({"jsonrpc": "2.0", "id": 1, "method": "x"}), -32601)):
            status, headers, text = self.http("POST", "/rpc", body)
            self.assertEqual((200, "application/json"), (status, headers["Content-Type"]), body[:20])
            self.assertEqual(code, json.loads(text)["error"]["code"])
        self.assertEqual(204, self.http("POST", "/rpc", '{"jsonrpc":"2.0","method":"version"}')[0])

    def test_a_body_past_the_bound_is_refused_unread(self):
        self.daemon()
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as peer:
            peer.sendall(f"POST /rpc HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {self.token}\r\n"
                         f"Content-Length: {(64 << 10) + 1}\r\n\r\n".encode())
            self.assertIn(b" 413 ", peer.recv(4096))
        self.assertEqual([], self.rpc("list")["contents"])

    def test_the_request_that_stops_the_daemon_is_answered(self):
        daemon = self.daemon()
        self.assertEqual({"stopping": True}, self.rpc("stop"))
        self.assertEqual(0, daemon.wait_exit())

    def test_a_kept_connection_takes_one_request_after_another(self):
        self.daemon()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        for i in range(50):
            connection.request("POST", "/rpc", json.dumps({"jsonrpc": "2.0", "id": i, "method": "version"}),
                               {"Authorization": "Bearer " + self.token})
            self.assertEqual(i, json.loads(connection.getresponse().read())["id"])
        connection.close()


class Access(Door):
    def test_without_the_token_nothing_is_shown_or_done(self):
        self.daemon()
        for method, path in (("GET", "/"), ("GET", "/events"), ("GET", "/content/x"), ("POST", "/rpc"),
                             ("POST", "/add"), ("POST", "/do"), ("GET", "/missing")):
            status, _, text = self.http(method, path, "{}" if method == "POST" else None, token="")
            self.assertEqual(401, status, path)
            self.assertNotIn("contents", text)

    def test_a_wrong_token_waits_and_is_logged_once(self):
        daemon = self.daemon()
        began = time.monotonic()
        for wrong in ("x" * 52, self.token[:-1], self.token + "a"):
            self.assertEqual(401, self.http("GET", "/", token=wrong)[0])
        self.assertGreaterEqual(time.monotonic() - began, 3)
        self.assertEqual(401, self.form_without_token("/login", token="wrong")[0])
        daemon.stop()
        self.assertEqual(1, daemon.output("stderr").count("wrong token"))
        self.assertNotIn(self.token, daemon.output("stderr"))

    def form_without_token(self, path, **fields):
        return self.http("POST", path, urllib.parse.urlencode(fields), token="",
                         Content_Type="application/x-www-form-urlencoded", Origin=self.url)

    def test_a_browser_signs_in_and_out(self):
        self.daemon()
        self.assertIn('name="token"', self.http("GET", "/", token="")[2])
        status, headers, _ = self.form_without_token("/login", token=self.token)
        self.assertEqual((303, "/"), (status, headers["Location"]))
        given = headers["Set-Cookie"]
        self.assertIn("HttpOnly; SameSite=Strict", given)
        self.assertNotIn(self.token, given)
        cookie = given.partition(";")[0]
        self.assertIn("Contents", self.http("GET", "/", token="", Cookie=cookie)[2])
        body = urllib.parse.urlencode({"content": "x", "action": "pause"})
        kind = {"Content_Type": "application/x-www-form-urlencoded", "Cookie": cookie, "token": ""}
        self.assertEqual(403, self.http("POST", "/do", body, **kind)[0])
        self.assertEqual(403, self.http("POST", "/do", body, Origin="http://localhost:1", **kind)[0])
        self.assertEqual(422, self.http("POST", "/do", body, Origin=self.url, **kind)[0])
        status, headers, _ = self.http("POST", "/logout", "", token="", Cookie=cookie, Origin=self.url)
        self.assertIn("Max-Age=0", headers["Set-Cookie"])

    def test_other_hosts_and_origins_are_refused(self):
        self.daemon()
        for headers in ({"Host": "evil.example"}, {"Host": f"evil.example:{self.port}"},
                        {"Host": f"localhost:{self.port}.evil.example"},
                        {"Origin": "http://evil.example"}, {"Origin": "null"}):
            self.assertEqual(403, self.http("GET", "/", **headers)[0], headers)

    def test_the_address_is_the_one_that_is_listened_at(self):
        """Not `localhost`, at another address of which another user may listen."""
        for listen in ("localhost:0", "*:0"):
            daemon = self.daemon("--http", listen)
            self.assertEqual(f"http://127.0.0.1:{self.port}", self.url)
            daemon.stop()
            self.assertIn(f"page: {self.url}/", daemon.output("stderr"))
        self.share(self.file(100), "--status", "localhost:0").wait_line(r"page: http://127\.0\.0\.1:\d+/#token=", stream="stderr")

    def test_two_hosts_are_none(self):
        self.daemon()
        for hosts in (["localhost", "localhost"], ["localhost", "evil.example"], ["evil.example", "localhost"]):
            lines = "".join(f"Host: {host}\r\n" for host in hosts)
            with socket.create_connection(("127.0.0.1", self.port), timeout=20) as peer:
                peer.sendall(f"GET / HTTP/1.1\r\n{lines}Authorization: Bearer {self.token}\r\n\r\n".encode())
                self.assertIn(b" 403 ", peer.recv(4096))

    def test_a_page_lets_no_script_or_frame_in(self):
        self.daemon()
        _, headers, text = self.http("GET", "/")
        self.assertIn("default-src 'none'", headers["Content-Security-Policy"])
        self.assertIn("frame-ancestors 'none'", headers["Content-Security-Policy"])
        self.assertEqual("no-store", headers["Cache-Control"])
        self.assertEqual("nosniff", headers["X-Content-Type-Options"])
        self.assertEqual([], re.findall(r"<script(?! src=\"/page.js\")|style=|\son\w+=", text))

    def test_the_script_is_small(self):
        self.daemon()
        self.assertLess(len(self.http("GET", "/page.js", token="")[2]), 30 * KIB)

    def test_the_page_is_opened_when_it_is_asked_for(self):
        data, path = self.folder / "state", self.folder / "s"
        process = self.firn("daemon", "daemon", "--data", data, "--socket", path, "--json", *harness.LISTEN)
        process.wait_event("daemon")
        status, output, errors = self.run_firn("page", "--socket", path)
        if "without libwebsockets" in errors:
            self.skipTest("built without libwebsockets")
        self.assertEqual(0, status, errors)
        self.url, _, self.token = output.strip().partition("/#token=")
        self.port = urllib.parse.urlsplit(self.url).port
        self.assertEqual(f"http://127.0.0.1:{self.port}", self.url)
        self.assertIn("There is no content yet", self.page())
        self.assertEqual(401, self.http("GET", "/", token="wrong")[0])
        self.assertEqual(output, self.run_firn("page", "--socket", path)[1])
        process.kill()
        command = ["daemon", "--data", data, "--socket", path, "--json", *harness.LISTEN]
        again = self.firn("again", *command)
        again.wait_event("daemon")
        self.assertEqual(output, self.run_firn("page", "--socket", path)[1])
        self.assertEqual(0, again.stop())
        with socket.create_server(("127.0.0.1", self.port)):
            third = self.firn("third", *command)
            third.wait_event("daemon")
            elsewhere = self.run_firn("page", "--socket", path)
            self.assertEqual(0, elsewhere[0], elsewhere)
            self.assertNotEqual(output, elsewhere[1])
            self.assertEqual(0, third.stop())

    def test_no_log_has_the_token(self):
        logs = [self.folder / name for name in ("daemon.log", "page.log", "events.log", "share.log")]
        to = [("--log", log, "--log-level", "debug") for log in logs]
        self.daemon(*to[0])
        self.assertIn(self.token, self.run_firn("page", "--socket", self.socket, *to[1])[1])
        self.assertIn(self.token, self.run_firn("page", "--socket", self.socket, "--json", *to[2])[1])
        tokens = [self.token]
        share = self.share(self.file(100), "--status", "localhost:0", *to[3])
        tokens.append(share.wait_event("http")["token"])
        share.wait_line(f"page: http://.*/#token={tokens[1]}$", stream="stderr")
        share.stop()
        self.process.stop()
        for log in logs:
            self.assertEqual(0o600, stat.S_IMODE(log.stat().st_mode))
            text = log.read_text()
            self.assertIn("http://127.0.0.1:", text)
            for token in tokens:
                self.assertNotIn(token, text)

    def test_the_token_file_is_for_its_owner_and_stays(self):
        daemon = self.daemon()
        file = self.data / "http-token"
        self.assertEqual(0o600, stat.S_IMODE(file.stat().st_mode))
        self.assertEqual(self.token, file.read_text().strip())
        daemon.stop()
        self.assertNotIn(self.token, daemon.output("stdout") + daemon.output("stderr"))
        first = self.token
        daemon = self.daemon()
        self.assertEqual(first, self.token)
        daemon.stop()
        os.chmod(file, 0o644)
        refused = self.run_firn("daemon", "--data", self.data, "--socket", self.socket, "--http",
                                "localhost:0", *LISTEN)
        self.assert_refused(refused, USAGE, "chmod 600")

    def test_a_port_in_use_and_a_name_are_refused(self):
        self.daemon()
        other = ("daemon", "--data", self.folder / "b", "--socket", self.folder / "t", *LISTEN, "--http")
        self.assert_refused(self.run_firn(*other, f"localhost:{self.port}"), PORT_IN_USE, "in use")
        self.assert_refused(self.run_firn(*other, "a.example:80"), USAGE, "numeric")


class Pages(Door):
    def test_a_content_is_added_shown_paused_and_removed_by_forms(self):
        source = self.file(300 * KIB, doors.HOSTILE)
        seed = self.share(source)
        self.daemon()
        status, headers, text = self.form("/add", source=seed.link(), folder=str(self.folder / "d"))
        self.assertEqual((303, "/"), (status, headers["Location"]), text)
        contents = self.wait_for(lambda contents: contents and contents[0]["complete"])
        id = contents[0]["content_id"]
        for page in (self.page(), self.page("/content/" + id)):
            self.assertIn("&lt;img src=x onerror=alert(1)&gt;", page)
            self.assertNotIn("<img", page)
        page = self.page("/content/" + id)
        self.assertIn("verified", page)
        self.assertIn('id="cells"', page)
        self.assertEqual(303, self.form("/do", content=id, action="pause")[0])
        self.wait_for(lambda contents: contents[0]["state"] == "paused")
        self.assertRegex(self.page("/content/" + id), r'\.bin</th><td class="n">[0-9.]+ KiB</td>')
        self.assertEqual(303, self.form("/do", content=id, action="resume")[0])
        self.wait_for(lambda contents: contents[0]["state"] == "seeding")
        self.assertEqual(303, self.form("/do", content=id, action="remove_data")[0])
        self.wait_for(lambda contents: contents == [])
        self.assertEqual(404, self.http("GET", "/content/" + id)[0])

    def test_a_refused_name_is_shown_and_forms_give_another(self):
        source = self.tree({"x": 10}, name=".config")
        seed = self.share(source)
        self.daemon()
        folder = self.folder / "d"

        def add(**fields):
            self.assertEqual(303, self.form("/add", source=seed.link(), folder=str(folder), **fields)[0])
            return self.wait_for(lambda contents: contents and contents[0]["state"] in ("failed", "seeding"))[0]
        failed = add()
        self.assertIn("--as NAME", self.page("/content/" + failed["content_id"]))
        self.assertFalse((folder / ".config").exists())
        self.form("/do", content=failed["content_id"], action="remove")
        self.wait_for(lambda contents: contents == [])
        self.assertEqual("settings", add(**{"as": "settings"})["name"])
        self.assert_same(source, folder / "settings")
        self.form("/do", content=failed["content_id"], action="move", folder=str(self.folder / "e"), **{"as": "s"})
        self.wait_for(lambda contents: (contents[0]["name"], contents[0]["state"]) == ("s", "seeding"))
        self.assert_same(source, self.folder / "e" / "s")

    def test_limits_place_and_folder_of_a_content_are_set_by_forms(self):
        source = self.file(300 * KIB)
        self.daemon()
        self.rpc("add", source=self.share(source).link(), folder=str(self.folder / "d"))
        id = self.wait_for(lambda contents: contents and contents[0]["complete"])[0]["content_id"]
        page = "/content/" + id

        def change(**fields):
            status, headers, text = self.form("/do", content=id, alone="on", **fields)
            self.assertEqual((303, page), (status, headers["Location"]), text)
            return self.rpc("show", content=id)
        changed = change(action="limit", up=" 2M ", down="", seed_ratio="1.5", seed_time="none")
        self.assertEqual((2 << 20, None, 1.5, None),
                         tuple(changed[name] for name in ("up_limit", "down_limit", "seed_ratio", "seed_time")))
        for text in ("up 2.0 MiB/s, down none", "ratio 1.5"):
            self.assertIn(text, self.page(page))
        self.assertEqual("high", change(action="priority", priority="high")["priority"])
        self.assertIn("seeding, high", self.page(page))
        change(action="queue", to="first")
        moved = self.folder / "moved"
        moved.mkdir()
        change(action="move", folder=str(moved))
        self.wait_for(lambda contents: contents[0]["state"] == "seeding")
        self.assertTrue((moved / source.name).exists())
        for fields, words in (({"action": "limit", "up": "fast"}, "fast"), ({"action": "limit"}, "empty"),
                              ({"action": "priority", "priority": "<b>"}, "priority"),
                              ({"action": "queue", "to": "side"}, "to"), ({"action": "move", "folder": " "}, "folder"),
                              ({"action": "move", "folder": "relative"}, "absolute")):
            status, _, text = self.form("/do", content=id, alone="on", **fields)
            self.assertEqual(422, status, fields)
            self.assertIn('role="alert"', text)
            self.assertIn(words, text, fields)
            self.assertIn('<h2>Files</h2>', text)  # the page that the form stands on
            for typed in ("fast", "relative"):
                self.assertEqual(typed in fields.values(), f'value="{typed}"' in text, fields)
            self.assertNotIn("<b>", text)

    def test_limits_and_watched_folders_of_the_daemon_are_set_by_forms(self):
        self.daemon("--schedule", "mon-sun 00:00-24:00 down=3M")
        self.assertIn("down=3M", self.page())
        self.assertEqual(303, self.form("/do", action="limit", up="1M", down="none")[0])
        status = self.rpc("status")
        self.assertEqual((1 << 20, 3 << 20), (status["up_limit"], status["down_limit"]))  # the schedule holds
        self.assertIn("1.0 MiB/s", self.page())
        inbox, output = self.folder / "in<b>\u2764\ufe0f", self.folder / "out"
        inbox.mkdir()
        output.mkdir()
        self.assertEqual(303, self.form("/do", action="watch", folder=str(inbox), output=str(output))[0])
        self.assertEqual([{"folder": str(inbox), "output": str(output)}], self.rpc("watches")["folders"])
        page = self.page()
        self.assertIn("in&lt;b&gt;", page)
        self.assertNotIn("in<b>", page)
        folder = html.unescape(re.search('name="folder" value="([^"]+)"', page).group(1))
        self.assertEqual(str(inbox), folder)  # what is shown as an escape comes back as it was
        self.assertEqual(303, self.form("/do", action="unwatch", folder=folder)[0])
        self.assertEqual([], self.rpc("watches")["folders"])
        for fields in ({"action": "limit", "up": "1Q"}, {"action": "watch"},
                       {"action": "watch", "folder": "relative", "output": "/"}, {"action": "unwatch"},
                       {"action": "pause"}, {}):
            self.assertEqual(422, self.form("/do", **fields)[0], fields)

    def test_a_manifest_is_uploaded_and_does_not_stay(self):
        manifest = self.create(self.file(100 * KIB))
        self.daemon()
        boundary = "XXXX"
        parts = b"".join(b'--XXXX\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n' % part for part in (
            (b"manifest", manifest.read_bytes()), (b"folder", str(self.folder / "d").encode()))) + b"--XXXX--\r\n"
        status, _, text = self.http("POST", "/add", parts, Origin=self.url,
                                    Content_Type="multipart/form-data; boundary=" + boundary)
        self.assertEqual(303, status, text)
        self.assertEqual(1, len(self.rpc("list")["contents"]))
        self.assertEqual([], list(self.data.glob("upload-*")))

    def test_what_fails_is_said_on_a_page(self):
        self.daemon()
        for path, fields in (("/add", {"source": "firn:<b>", "folder": "/"}), ("/add", {}),
                             ("/do", {"content": "x", "action": "pause"}),
                             ("/do", {"content": "x", "action": "explode"})):
            status, _, text = self.form(path, **fields)
            self.assertIn(status, (400, 422), path)
            self.assertIn('role="alert"', text)
            self.assertNotIn("<b>", text)

    def test_numbers_that_make_no_sense_show_a_page(self):
        source = self.file(100 * KIB)
        self.daemon()
        self.rpc("add", source=self.share(source).link(), folder=str(self.folder / "d"))
        id = self.wait_for(lambda contents: contents and contents[0]["complete"])[0]["content_id"]
        for query in ("from=4294967295&count=4294967295", "from=-1", "from=x&count=%25", "peers=99999999",
                      "from=99999999999999999999", "a" * 500):
            self.page("/content/" + id + "?" + query)
        self.page("/?page=4294967295")

    def test_head_of_events_takes_no_place_among_pages_that_are_live(self):
        self.daemon()
        connections = [http.client.HTTPConnection("127.0.0.1", self.port, timeout=30) for _ in range(33)]
        try:
            for connection in connections:
                connection.request("HEAD", "/events", None, {"Authorization": "Bearer " + self.token})
                answer = connection.getresponse()
                self.assertEqual((200, b""), (answer.status, answer.read()))
        finally:
            for connection in connections:
                connection.close()

    def test_events_bring_what_changes(self):
        source = self.file(2000 * KIB)
        seed = self.share(source)
        self.daemon("--down-limit", "300K")
        self.rpc("add", source=seed.link(), folder=str(self.folder / "d"))
        id = self.wait_for(lambda contents: contents[0]["rank"] > 0)[0]["content_id"]
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request("GET", "/events?content=" + id, None, {"Authorization": "Bearer " + self.token})
        events = connection.getresponse()
        self.assertEqual("text/event-stream", events.headers["Content-Type"])
        rows, states, deadline = {}, set(), time.monotonic() + 60
        while not any('class="v"' in row for row in rows.values()) or "downloading" not in states:
            # Lines come each second, so that readline() does not wait for ever.
            self.assertLess(time.monotonic(), deadline, (rows, states))
            line = events.readline()
            self.assertTrue(line)
            if line.startswith(b"data: "):
                regions = json.loads(line[6:]).get("regions", {})
                rows.update({id: markup for id, markup in regions.items() if id.startswith("row-")})
                states.update(re.findall("downloading|seeding", regions.get("facts", "")))
        connection.close()

    def test_get_share_and_seed_show_their_contents_and_change_nothing(self):
        source = self.file(100 * KIB)
        seed = self.share(source, "--status", "localhost:0")
        seed.link()
        self.enter(seed)
        page = self.page()
        self.assertIn(source.name, page)
        self.assertNotIn("<form method=\"post\" action=\"/do\"", page)
        self.assertEqual(401, self.http("GET", "/", token="")[0])
        id = re.search(r"/content/(\w+)", page).group(1)
        self.assertIn("verified", self.page("/content/" + id))
        self.assertIn(self.http("POST", "/rpc", "{}")[0], (404, 413))
        get = self.get(seed.link(), "get", "--status", "localhost:0", "--seed", "forever")
        self.enter(get)
        get.wait_event("complete")
        self.assertIn(source.name, self.page())
        self.assertRegex(self.page("/content/" + id), r"From peers</dt><dd>100\.0 KiB")


class Load(Door):
    def test_connections_that_say_nothing_keep_nobody_out_for_long(self):
        self.daemon()
        idle = [socket.create_connection(("127.0.0.1", self.port)) for _ in range(500)]
        try:
            # Half of them were closed at once; the others end after their time.
            deadline = time.monotonic() + 60
            while True:
                try:
                    self.assertEqual(200, self.http("GET", "/")[0])
                    break
                except OSError:
                    self.assertLess(time.monotonic(), deadline)
            self.assertEqual([], rpc_client.Daemon(str(self.socket)).call("list")["contents"])
        finally:
            for one in idle:
                one.close()

    def test_a_reader_that_does_not_read_holds_up_nobody(self):
        self.daemon()
        slow = socket.create_connection(("127.0.0.1", self.port))
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        request = f"GET / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {self.token}\r\n\r\n"
        slow.sendall(request.encode() * 20)
        for _ in range(20):
            self.page()
        slow.close()

    def test_many_requests_at_once_are_all_answered(self):
        self.daemon()
        wrong = []

        def ask():
            for _ in range(30):
                if self.http("GET", "/")[0] not in (200, 503):
                    wrong.append(1)
        threads = [threading.Thread(target=ask) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([], wrong)

    def test_it_stops_with_open_connections(self):
        daemon = self.daemon()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request("GET", "/events", None, {"Authorization": "Bearer " + self.token})
        connection.getresponse()
        self.assertEqual(0, daemon.stop())
        connection.close()


if __name__ == "__main__":
    harness.main()
