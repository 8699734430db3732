#!/usr/bin/python3
"""Playing what is still on its way: the daemon's streams, `firn play`, and real players."""

import http.client
import json
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import urllib.parse

import doors
import harness
from harness import KIB, MIB

SCRIPT = "fetch('/rpc', {method: 'POST', body: '{}'}).then(() => fetch('/stolen'))"
# What strangers may call files, besides what they may put into them.
NAMES = {
    "film 1.mkv": 2 * MIB,
    "a?b#c%41&d+e;f=g.mp4": 100 * KIB,
    "\u00fcber/'\"<b>.mp3": 10 * KIB,
    "page.html": f"<!doctype html><script>{SCRIPT}</script>".encode(),
    "x.svg": f'<svg xmlns="http://www.w3.org/2000/svg" onload="{SCRIPT}"/>'.encode(),
    "notes.txt": 100,
    "picture.png": 100,
}


def http_get(url, method="GET", **headers):
    """(status, headers, bytes)"""
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
    try:
        connection.request(method, url[url.index(parts.netloc) + len(parts.netloc):],
                           headers={name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        connection.close()


class DaemonStreams(doors.Door):
    def setUp(self):
        super().setUp()
        self.source = self.tree(NAMES)
        self.daemon()

    def added(self, *share_options, **params):
        """What `play` tells of a content that the daemon has begun to download."""
        seed = self.share(self.source, *share_options)
        self.id = self.rpc("add", source=seed.link(), folder=str(self.folder / "downloads"), **params)["content_id"]
        return self.told()

    def told(self):
        deadline = time.monotonic() + 60
        while True:  # until its manifest has come and its store is open
            try:
                told = self.rpc("play", content=self.id)
                self.urls = {file["path"]: file["url"] for file in told["files"]}
                return told
            except doors.rpc_client.Failed:
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.1)

    def bytes_of(self, name):
        return (self.source / name).read_bytes()

    def test_every_file_comes_by_its_url_while_it_comes(self):
        told = self.added("--up-limit", "1M")
        self.assertEqual(set(NAMES), set(self.urls))
        whole = self.bytes_of("film 1.mkv")
        status, headers, data = http_get(self.urls["film 1.mkv"], Range="bytes=-1000")
        self.assertEqual((206, whole[-1000:]), (status, data))
        self.assertEqual(f"bytes {len(whole) - 1000}-{len(whole) - 1}/{len(whole)}", headers["Content-Range"])
        for name, url in self.urls.items():
            self.assertEqual((200, self.bytes_of(name)), http_get(url)[::2], name)
        types = {file["path"]: file["type"] for file in told["files"]}
        self.assertEqual(("video/x-matroska", "image/png", "application/octet-stream"),
                         (types["film 1.mkv"], types["picture.png"], types["x.svg"]))

    def test_ranges_and_heads(self):
        self.added()
        url, whole = self.urls["film 1.mkv"], self.bytes_of("film 1.mkv")
        status, headers, data = http_get(url, "HEAD")
        self.assertEqual((200, str(len(whole)), b""), (status, headers["Content-Length"], data))
        self.assertEqual((206, whole[5:9]), http_get(url, Range="bytes=5-8")[::2])
        self.assertEqual((206, whole[5:9]), http_get(url, Range="bytes=5-8", If_Range=headers["ETag"])[::2])
        self.assertEqual((200, whole), http_get(url, Range="bytes=5-8", If_Range='"x"')[::2])
        status, headers, _ = http_get(url, Range=f"bytes={len(whole)}-")
        self.assertEqual((416, f"bytes */{len(whole)}"), (status, headers["Content-Range"]))

    def test_a_playlist_leads_to_the_media_files_whatever_they_are_called(self):
        told = self.added()
        status, headers, text = http_get(told["playlist"])
        self.assertEqual(200, status)
        first, *lines = text.decode().splitlines()
        self.assertEqual("#EXTM3U", first)
        played = sorted(name for name in NAMES if name.endswith((".mkv", ".mp4", ".mp3")))
        self.assertEqual([f"#EXTINF:-1,{name}" for name in played], lines[::2])
        for name, url in zip(played, lines[1::2], strict=True):
            self.assertEqual(self.bytes_of(name), http_get(url)[2], name)
        self.assertEqual(played, sorted(file["path"] for file in told["files"] if file["played"]))

    def test_a_strangers_file_does_not_act_as_a_page(self):
        self.added()
        for name in ("page.html", "x.svg"):
            status, headers, data = http_get(self.urls[name])
            self.assertEqual((200, self.bytes_of(name)), (status, data))
            self.assertEqual("application/octet-stream", headers["Content-Type"])
            self.assertTrue(headers["Content-Disposition"].startswith("attachment;"))
            self.assertEqual("sandbox; default-src 'none'", headers["Content-Security-Policy"])
            self.assertEqual("nosniff", headers["X-Content-Type-Options"])
            self.assertFalse([key for key in headers if key.lower().startswith("access-control")])
        # The port of streams has none of the page's paths.
        server = urllib.parse.urlsplit(self.urls["x.svg"])
        for path in ("/", "/rpc", "/add"):
            self.assertEqual(404, http_get(f"http://{server.netloc}{path}")[0])
        self.assertEqual(405, http_get(f"http://{server.netloc}/rpc", "POST")[0])

    def test_a_token_is_one_contents_and_ends_with_it(self):
        told = self.added()
        url = self.urls["notes.txt"]
        self.assertEqual(401, http_get(url.split("?")[0])[0])
        self.assertEqual(401, http_get(url[:-1] + ("a" if url[-1] != "a" else "b"))[0])
        self.assertEqual(403, http_get(url, Host="stranger.example")[0])
        self.assertEqual(401, http_get(told["playlist"].replace(told["playlist"].split("=")[1], self.token))[0])
        self.assertEqual(401, self.http("GET", "/", token=url.split("=")[1])[0])
        self.rpc("pause", content=self.id)
        deadline = time.monotonic() + 60
        while http_get(url)[0] != 404:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.1)
        with self.assertRaises(doors.rpc_client.Failed):
            self.rpc("play", content=self.id)
        self.rpc("resume", content=self.id)
        again = self.told()
        self.assertNotEqual(told["playlist"], again["playlist"])
        self.assertEqual((401, 200), (http_get(url)[0], http_get(self.urls["notes.txt"])[0]))

    def test_a_file_that_is_not_chosen_is_refused_with_what_to_do(self):
        self.added(files=["file:*.mkv"])
        self.assertEqual(["film 1.mkv"], list(self.urls))
        missing = self.urls["film 1.mkv"].replace("film%201.mkv", "notes.txt")
        status, _, text = http_get(missing)
        self.assertEqual(404, status)
        self.assertIn(f"firn files {self.id} --file", text.decode())

    def test_the_page_leads_to_players(self):
        told = self.added()
        text = self.page(f"/content/{self.id}")
        number = next(file["number"] for file in told["files"] if file["path"] == "film 1.mkv")
        self.assertIn(f'<a href="/play/{self.id}/{number}"', text)
        self.assertNotIn(told["playlist"].split("=")[1], text)
        self.assertNotIn("'\"<b>", text)
        status, headers, _ = self.http("GET", f"/play/{self.id}/{number}")
        self.assertEqual((303, self.urls["film 1.mkv"]), (status, headers["Location"]))
        status, headers, _ = self.http("GET", f"/play/{self.id}")
        self.assertEqual((303, told["playlist"]), (status, headers["Location"]))
        self.assertEqual(404, self.http("GET", f"/play/{self.id}/99")[0])
        self.assertEqual(401, self.http("GET", f"/play/{self.id}", token="")[0])

    def test_a_browser_of_another_machine_is_not_led_to_itself(self):
        self.added()
        status, headers, text = self.http("GET", f"/play/{self.id}", Host="192.0.2.7:8080")
        self.assertEqual((404, None), (status, headers["Location"]))
        self.assertIn("--streams", text)

    def test_streams_for_other_machines_are_at_the_address_that_found_the_page(self):
        self.rpc("stop")
        self.assertEqual(0, self.process.wait_exit())
        self.daemon("--streams", "*:0")
        told = self.added()
        port = urllib.parse.urlsplit(told["playlist"]).port
        for host in ("192.0.2.7", "[2001:db8::7]"):
            status, headers, _ = self.http("GET", f"/play/{self.id}", Host=f"{host}:8080")
            self.assertEqual((303, f"{host}:{port}"), (status, urllib.parse.urlsplit(headers["Location"]).netloc))
        self.assertEqual(told["playlist"], self.http("GET", f"/play/{self.id}", Host="localhost:1")[1]["Location"])

    def test_a_path_that_is_too_long_for_a_url_is_played(self):
        name = "/".join(["\u65e5" * 60] * 5) + "/film.mkv"
        file = self.source / name
        file.parent.mkdir(parents=True)
        file.write_bytes(b"film")
        told = self.added()
        number = next(file["number"] for file in told["files"] if file["path"] == name)
        status, headers, _ = self.http("GET", f"/play/{self.id}/{number}")
        self.assertEqual((303, self.urls[name]), (status, headers["Location"]))
        self.assertEqual((200, b"film"), http_get(self.urls[name])[::2])
        self.assertIn(self.urls[name], http_get(told["playlist"])[2].decode().splitlines())

    def test_of_many_files_a_thousand_are_listed_and_all_are_in_the_playlist(self):
        many = self.source / "many"
        many.mkdir()
        for i in range(1100):
            (many / f"{i}.mp3").write_bytes(b"x")
        told = self.added()
        self.assertEqual((1000, 1100 + len(NAMES) - 1000), (len(told["files"]), told["left_out"]))
        played = 1100 + sum(name.endswith((".mkv", ".mp4", ".mp3")) for name in NAMES)
        lines = http_get(told["playlist"])[2].decode().splitlines()
        self.assertEqual(1 + 2 * played, len(lines))
        status, _, errors = self.run_firn("play", self.id, "--socket", self.socket, "--with",
                                          f"grep -qF '{told['playlist']}'")
        self.assertEqual(0, status, errors)

    def test_players_find_the_port_again_after_a_restart(self):
        self.added()
        port = urllib.parse.urlsplit(self.urls["notes.txt"]).port
        self.rpc("stop")
        self.assertEqual(0, self.process.wait_exit())
        self.daemon()
        self.told()
        self.assertEqual(port, urllib.parse.urlsplit(self.urls["notes.txt"]).port)

    def test_the_command_plays_a_content_of_the_daemon(self):
        told = self.added()
        status, output, errors = self.run_firn("play", self.id, "--socket", self.socket)
        self.assertEqual((0, told["playlist"]), (status, output), errors)
        status, _, errors = self.run_firn("play", self.id, "--socket", self.socket, "--with", "grep -q 'film 1'")
        self.assertEqual(0, status, errors)
        status, _, errors = self.run_firn("play", self.id, "--socket", self.socket, "--with", "grep -q missing")
        self.assertEqual(1, status, errors)


# A player: takes what the first entry of its playlist names, and says what it saw of its file.
PLAYER = """
import json, os, pathlib, stat, sys, urllib.request
playlist = pathlib.Path(sys.argv[-1])
urls = [line for line in playlist.read_text().splitlines() if not line.startswith("#")]
data = urllib.request.urlopen(urls[0]).read()
pathlib.Path(sys.argv[1]).write_text(json.dumps({
    "arguments": sys.argv[2:], "mode": stat.S_IMODE(playlist.stat().st_mode),
    "folder": stat.S_IMODE(playlist.parent.stat().st_mode), "urls": urls, "bytes": len(data)}))
sys.exit(int(sys.argv[2]))
"""


class PlayCommand(harness.SwarmTest):
    def setUp(self):
        super().setUp()
        self.player = self.folder / "player.py"
        self.player.write_text(PLAYER)
        self.report = self.folder / "report"

    def play(self, what, *options, name="play"):
        return self.firn(name, "play", what, "-o", self.folder / name, "--listen", "127.0.0.1:0", *options)

    def with_player(self, status):
        return ("--with", f"{sys.executable} {self.player} {self.report} {status}")

    def seen(self):
        return json.loads(self.report.read_text())

    def test_the_player_gets_a_private_playlist_and_its_exit_code_counts(self):
        source = self.tree({"a.mkv": 600 * KIB, "b.mkv": 300 * KIB, "notes.txt": 10, "extras.bin": 200 * KIB})
        seed = self.share(source)
        play = self.play(seed.link(), *self.with_player(7))
        self.assertEqual(7, play.wait_exit(60), play.story())
        seen = self.seen()
        self.assertEqual((0o600, 0o700, 600 * KIB), (seen["mode"], seen["folder"], seen["bytes"]))
        self.assertEqual(["a.mkv", "b.mkv"],
                         [urllib.parse.urlsplit(url).path.split("/")[-1] for url in seen["urls"]])
        self.assertNotIn("token", " ".join(seen["arguments"]))
        self.assertFalse(pathlib.Path(seen["arguments"][-1]).parent.exists())
        self.assertRegex(play.output("stderr"), "the same command goes on where it stopped|is complete in ")
        # What nobody plays is not fetched.
        folder = self.folder / "play" / source.name
        self.assertFalse((folder / "extras.bin").exists() or (folder / "notes.txt").exists())

    def test_one_file_is_played_and_the_download_goes_on_with_get(self):
        source = self.tree({"a.mkv": 60 * KIB, "b.mkv": 30 * KIB, "c.bin": 10})
        seed = self.share(source)
        play = self.play(seed.link(), "--file", "b.mkv", *self.with_player(0))
        self.assertEqual(0, play.wait_exit(60), play.story())
        seen = self.seen()
        self.assertEqual(([30 * KIB], 1), ([seen["bytes"]], len(seen["urls"])))
        get = self.get(seed.link(), into=self.folder / "play")
        self.assert_completes(get)
        self.assert_same(source, self.folder / "play" / source.name)

    def test_without_a_player_the_url_is_printed_and_served_until_interrupted(self):
        source = self.file(700 * KIB, "odd name?.mkv")
        seed = self.share(source)
        play = self.play(seed.link())
        url = play.wait_line("^http://.*").group()
        self.assertEqual((200, source.read_bytes()), http_get(url)[::2])
        play.send(signal.SIGINT)
        self.assertIn(play.wait_exit(60), (0, harness.INTERRUPTED))

    def test_a_player_that_is_missing_is_said(self):
        seed = self.share(self.file(10, "a.mkv"))
        play = self.play(seed.link(), "--with", "firn-no-such-player")
        self.assertEqual(127, play.wait_exit(60), play.story())
        self.assertIn("firn-no-such-player", play.output("stderr"))


class Players(harness.SwarmTest):
    """Real ones, over a film whose index stands at its end."""

    def setUp(self):
        super().setUp()
        missing = [name for name in ("ffmpeg", "ffprobe", "mpv") if not shutil.which(name)]
        if missing:
            self.skipTest(f"{', '.join(missing)} not installed")
        self.film = self.folder / "source" / "film.mp4"
        self.film.parent.mkdir(parents=True)
        subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc=duration=20:size=320x240:rate=10",
                        "-c:v", "mpeg4", "-b:v", "800k", str(self.film)], check=True)
        data = self.film.read_bytes()
        self.assertLess(data.index(b"mdat"), data.rindex(b"moov"))
        self.seed = self.share(self.film, "--up-limit", "1M")

    def play(self, *options):
        return self.firn("play", "play", self.seed.link(), "-o", self.folder / "play",
                         "--listen", "127.0.0.1:0", *options)

    def test_ffprobe_reads_the_index_at_the_end(self):
        play = self.play()
        url = play.wait_line("^http://.*").group()
        seen = subprocess.run(["ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", url],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((0, "20.000000"), (seen.returncode, seen.stdout.strip()), seen.stderr)

    def test_mpv_seeks_to_the_middle_and_plays_from_there(self):
        play = self.play("--with", "mpv --no-config --vo=null --ao=null --start=50% --length=1 "
                                   "--msg-level=all=info --untimed")
        self.assertEqual(0, play.wait_exit(90), play.story())


if __name__ == "__main__":
    harness.main()
