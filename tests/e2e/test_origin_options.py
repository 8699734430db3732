#!/usr/bin/python3
"""Options about origins, without an origin: what links, manifests, the daemon and messages have of them."""

import base64
import json
import stat

import harness
from daemons import DaemonTest
from harness import KIB, USAGE

URL = "https://files.example/all/"
SECRET = "https://me:pass-word@files.example/all/"
NAMED = "/ws=" + base64.urlsafe_b64encode(URL.encode()).decode().rstrip("=")


class Published(DaemonTest):
    def publish(self, *options, path=None):
        """(link, what `firn info` says of the manifest's origins, errors) of `firn create`."""
        manifest = self.folder / "made.firn"
        status, link, errors = self.run_firn("create", path or self.file(KIB), "-o", manifest, "--origin", URL, *options)
        self.assertEqual(0, status, errors)
        info = json.loads(self.run_firn("info", manifest, "--json")[1])
        return link.strip(), info["origins"], errors

    def key(self):
        path = self.folder / "key.pem"
        self.assertEqual(0, self.run_firn("keygen", path)[0])
        return path

    def test_link_and_manifest_name_the_origin_and_a_key_signs_it(self):
        for options, signed in (((), False), (("--sign", self.key()), True)):
            link, origins, _ = self.publish(*options)
            self.assertIn(NAMED, link)
            self.assertEqual([{"url": URL, "named_by": "manifest", "signed": signed}], origins)

    def test_a_private_contents_origin_is_in_the_manifest_alone_and_who_sees_what_is_said(self):
        link, origins, errors = self.publish("--private")
        self.assertNotIn("/ws=", link)
        self.assertEqual(URL, origins[0]["url"])
        self.assertIn("plain bytes", errors)
        self.assertNotIn("plain bytes", self.publish()[2])

    def test_a_url_with_a_secret_is_not_published(self):
        source, manifest = self.file(KIB), self.folder / "x.firn"
        for command in (["create", source, "-o", manifest], ["share", source],
                        ["seed", self.create(source), source.parent]):
            for url in SECRET, URL + "?X-Amz-Signature=pass-word":
                with self.subTest(command=command[0], url=url):
                    result = self.run_firn(*command, "--origin", url)
                    self.assert_refused(result, USAGE, "everybody")
                    self.assertNotIn("pass-word", result[1] + result[2])
        self.assertFalse(manifest.exists())

    def test_what_is_no_origin_is_refused(self):
        for options, word in ((("--origin", "ftp://host/"), "s3://"), (("--header", "nonsense"), "NAME: VALUE"),
                              (("--endpoint", "s3://bucket/"), "http"), (("--origin-host", "a/b"), "HOST"),
                              (("--origin", URL, "--no-origin"), "--no-origin")):
            self.assert_refused(self.run_firn("get", "x.firn", *options), USAGE, word)

    def test_a_folder_needs_the_url_of_a_folder(self):
        folder = self.tree({"a": KIB})
        for command in (["create", folder, "-o", self.folder / "x.firn"], ["share", folder]):
            self.assert_refused(self.run_firn(*command, "--origin", "https://files.example/x"), USAGE,
                                "the URL of a folder ends in '/'")

    def test_share_and_seed_print_a_link_that_names_the_origin(self):
        source = self.file(KIB)
        self.assertIn(NAMED, self.share(source, "--origin", URL).link())
        seed = self.firn("seed", "seed", self.create(source), source.parent, "--origin", URL, "--listen", "127.0.0.1:0")
        self.assertIn(NAMED, seed.link())

    def test_doctor_names_libcurl_and_config_shows_no_header(self):
        self.assertIn("libcurl", json.loads(self.run_firn("doctor", "--json")[1]))
        config = self.folder / "config.toml"
        config.write_text('header = ["Authorization: pass-word"]\n')
        config.chmod(0o600)
        status, output, errors = self.run_firn("config", "--config", config)
        self.assertEqual(0, status, errors)
        self.assertIn("Authorization: ...", output)
        self.assertNotIn("pass-word", output)


class Daemon(DaemonTest):
    def test_origins_of_a_content_outlive_a_restart_and_nothing_shows_their_password(self):
        source = self.file(KIB)
        daemon = self.daemon("-v")
        self.add(self.create(source), "--origin", SECRET, "--paused")
        for run in range(2):
            shown = self.ask("show", source.name)
            self.assertEqual([URL], shown["origins"])
            self.assertNotIn("pass-word", json.dumps([shown, self.ask("list")]))
            for told in ("from_origins", "bytes_from_origins", "bytes_from_peers", "bytes_redundant", "bytes_refused"):
                self.assertIn(told, shown)
            self.assertNotIn("pass-word", daemon.story())
            daemon.kill()
            if run == 0:
                daemon = self.daemon()
        database, = self.folder.rglob("contents.sqlite")
        self.assertEqual(0o600, stat.S_IMODE(database.stat().st_mode))
        self.assertIn(b"pass-word", database.read_bytes())

    def test_a_content_may_use_no_origin(self):
        manifest = self.create(self.file(KIB), "--origin", URL)
        self.daemon()
        self.assertIs(True, self.add(manifest, "--no-origin", "--paused")["no_origin"])
        for params in ({"origins": ["ftp://me:pass-word@host/"]}, {"origins": [URL], "no_origin": True},
                       {"origins": [URL] * 17}):
            line = {"jsonrpc": "2.0", "id": 1, "method": "add",
                    "params": {"source": str(manifest), "folder": str(self.folder), **params}}
            answer, = self.call(json.dumps(line).encode() + b"\n")
            self.assertEqual("bad_input", answer["error"]["data"]["code"])
            self.assertNotIn("pass-word", json.dumps(answer))


if __name__ == "__main__":
    harness.main()
