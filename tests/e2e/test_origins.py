#!/usr/bin/python3
"""Origins: web servers that have a content's files. Which are used, what goes along with requests, what is asked for."""

import json
import os
import re
import ssl
import subprocess

import harness
from harness import KIB, MIB, USAGE
from origins import (GENERATION, PUBLIC_HOST, SMALL, OriginTest, certificate, from_origins, in_own_network,
                     origins_in, ws_of)
from pypeer.manifest import Manifest, write_manifest
from pypeer.wire import manifest_pb2

BY_HAND_ALONE = "only an origin given by hand (--origin)"


class Links(OriginTest):
    """Who is not by hand: links, manifest files, manifests from the network."""

    def setUp(self):
        super().setUp()
        self.use_file(512 * KIB)

    def key(self):
        path = self.folder / "publisher.pem"
        status, public, errors = self.run_firn("keygen", path)
        self.assertEqual(0, status, errors)
        return path, public.strip()

    def link(self, *origins, manifest=None, publisher=None):
        """A link of the content that names these origins."""
        status, output, errors = self.run_firn("info", manifest or self.manifest, "--json")
        self.assertEqual(0, status, errors)
        link = "firn:" + json.loads(output)["content_id"]
        return link + (f"/pub={publisher}" if publisher else "") + "".join(ws_of(url) for url in origins)

    def assert_unused(self, origin, get, *words):
        """It ends for want of peers, and has not called the origin."""
        self.assert_ends_without(get, *words)
        self.assertEqual(0, origin.connections)

    def assert_used(self, get, url):
        self.assert_all_from(url, self.assert_downloaded(self.path, get))

    @in_own_network
    def test_a_link_leads_to_its_origin(self):
        origin = self.serve(host=PUBLIC_HOST)
        share = self.share(self.path, *SMALL, "--origin", self.url_of(origin))
        link = share.link()
        share.stop()
        self.assertEqual([self.url_of(origin)], origins_in(link))
        get = self.fetch("--peer", self.teller(), what=link)
        self.assert_used(get, self.url_of(origin))

    @in_own_network
    def test_no_origin_uses_none(self):
        origin = self.serve(host=PUBLIC_HOST)
        url = self.url_of(origin)
        get = self.fetch("--no-origin", "--timeout", "2s", "--peer", self.teller(), what=self.link(url))
        self.assert_unused(origin, get)

    def test_a_link_cannot_lead_to_this_machine(self):
        origin = self.serve()
        get = self.fetch("--timeout", "2s", "--peer", self.teller(), what=self.link(self.url_of(origin)))
        self.assert_unused(origin, get, BY_HAND_ALONE, "loopback", self.url_of(origin))

    def test_a_host_that_the_configuration_names_is_still_not_this_machine(self):
        origin = self.serve()
        get = self.fetch("--timeout", "2s", "--origin-host", f"127.0.0.1:{origin.port}", "--peer", self.teller(),
                         what=self.link(self.url_of(origin)))
        self.assert_unused(origin, get, BY_HAND_ALONE)

    def test_what_a_link_names_is_used_if_it_is_also_given_by_hand(self):
        origin = self.serve()
        url = self.url_of(origin)
        self.assert_used(self.fetch("--origin", url, "--peer", self.teller(), what=self.link(url)), url)

    def with_origins(self, url, manifest=None, **around):
        """A copy of the manifest file that names this origin without a signature."""
        manifest = Manifest((manifest or self.manifest).read_bytes())
        path = self.folder / "with origins.firn"
        path.write_bytes(write_manifest(manifest.info, origins=[url.encode()], **around))
        return path

    def test_a_manifest_file_cannot_lead_to_this_machine(self):
        origin = self.serve()
        get = self.fetch("--timeout", "2s", what=self.with_origins(self.url_of(origin)))
        self.assert_unused(origin, get, BY_HAND_ALONE)

    @in_own_network
    def test_a_manifest_file_leads_to_its_origins_also_to_unsigned_ones(self):
        origin = self.serve(host=PUBLIC_HOST)
        get = self.fetch(what=self.with_origins(self.url_of(origin)))
        self.assert_used(get, self.url_of(origin))

    @in_own_network
    def test_origins_that_came_from_a_peer_are_used_if_the_key_in_the_link_signed_them(self):
        origin = self.serve(host=PUBLIC_HOST)
        key, public = self.key()
        manifest = self.folder / "signed.firn"
        status, _, errors = self.run_firn("create", self.path, *SMALL, "--sign", key, "-o", manifest,
                                          "--origin", self.url_of(origin))
        self.assertEqual(0, status, errors)
        teller = self.teller(manifest)
        without = self.fetch("--timeout", "2s", "--peer", teller, what=self.link(manifest=manifest), name="without")
        self.assert_unused(origin, without)
        self.assert_used(self.fetch("--peer", teller, what=self.link(manifest=manifest, publisher=public)),
                         self.url_of(origin))

    @in_own_network
    def test_unsigned_origins_that_came_from_a_peer_are_never_used(self):
        origin = self.serve(host=PUBLIC_HOST)
        key, public = self.key()
        signed = self.folder / "signed.firn"
        status, _, errors = self.run_firn("create", self.path, *SMALL, "--sign", key, "-o", signed)
        self.assertEqual(0, status, errors)
        envelope = manifest_pb2.Envelope.FromString(signed.read_bytes()[8:-32])
        manifest = self.with_origins(self.url_of(origin), signed, publisher_key=envelope.publisher_key,
                                     publisher_signature=envelope.publisher_signature)
        get = self.fetch("--timeout", "2s", "--peer", self.teller(manifest),
                         what=self.link(manifest=manifest, publisher=public))
        self.assert_unused(origin, get)

    @in_own_network
    def test_the_sealed_manifest_of_a_private_content_names_its_origin_which_learns_no_secret(self):
        origin = self.serve(host=PUBLIC_HOST)
        share = self.share(self.path, *SMALL, "--private", "--sign", self.key()[0], "--origin", self.url_of(origin),
                           "--up-limit", "1k")
        link = share.link()
        self.assertEqual([], origins_in(link))
        teller = self.fetch("--no-origin", "--peer", share.endpoint(), what=link, name="teller", seed="forever")
        teller.wait_event("start")
        share.stop()
        get = self.fetch("--peer", teller.endpoint(), what=link)
        complete = self.assert_downloaded(self.path, get)
        self.assertGreater(from_origins(complete)[self.url_of(origin)], 256 * KIB)
        secret = re.search(r"[.]([a-z2-7]{56})", link).group(1)
        for request in origin.requests:
            self.assertNotIn(secret, str(request.headers) + request.target)


    def test_a_private_content_comes_from_an_origin_alone_by_link_and_manifest_together(self):
        origin = self.serve()
        url, manifest = self.url_of(origin), self.folder / "private.firn"
        status, link, errors = self.run_firn("create", self.path, "-o", manifest, *SMALL, "--private", "--origin", url)
        self.assertEqual(0, status, errors)
        self.assertIn(f"hand out {manifest} with the link", errors)
        self.assert_refused(self.run_firn("get", manifest, "-o", self.folder), USAGE, "LINK X.firn")
        for name, sources in (("one", (link.strip(), manifest)), ("two", (manifest, link.strip()))):
            get = self.fetch(sources[1], "--origin", url, what=sources[0], name=name)
            self.assert_all_from(url, self.assert_downloaded(self.path, get))
        self.assert_refused(self.run_firn("get", manifest, manifest, "-o", self.folder), USAGE, "named twice")

    def test_a_link_without_a_manifest_says_that_the_origin_has_none(self):
        origin = self.serve()
        get = self.fetch_from(self.url_of(origin), "--timeout", "2s", what=self.link())
        self.assert_unused(origin, get, "the origin has files and no manifest", "firn seed X.firn")


class Credentials(OriginTest):
    def setUp(self):
        super().setUp()
        self.use_file(512 * KIB)
        self.origin = self.serve()
        self.url = self.url_of(self.origin)

    def test_a_password_in_a_url_is_sent_and_shown_nowhere(self):
        given = self.url_of(self.origin, "joe:open%20sesame@")
        log = self.folder / "log"
        get = self.fetch_from(given, "-v", "--log", log, "--log-level", "debug")
        self.assert_all_from(self.url, self.assert_downloaded(self.path, get))
        self.assertEqual({"Basic am9lOm9wZW4gc2VzYW1l"},
                         {request.headers["Authorization"] for request in self.origin.requests})
        self.assertIn("complete", log.read_text())
        secrets = ["open sesame", "open%20sesame", "joe:", "am9lOm9wZW4"]
        self.assert_nowhere(secrets, self.said(get), log.read_text())
        kept = b"".join(path.read_bytes() for path in self.folder.rglob("*") if path.is_file())
        self.assert_nowhere([secret.encode() for secret in secrets], kept)

    def test_a_wrong_password_is_not_shown_either(self):
        self.origin.set(status=401)
        get = self.fetch_from(self.url_of(self.origin, "joe:open%20sesame@"), "-v", "--timeout", "1s")
        self.assert_ends_without(get, "answers 401", self.url)
        self.assert_nowhere(["sesame", "joe:"], self.said(get))

    def test_netrc_is_for_origins_given_by_hand(self):
        netrc = self.folder / "home" / ".netrc"
        netrc.write_text("machine 127.0.0.1 login joe password open-sesame\n")
        netrc.chmod(0o600)
        get = self.fetch_from(self.url, "-v")
        self.assert_downloaded(self.path, get)
        self.assertEqual({"Basic am9lOm9wZW4tc2VzYW1l"},
                         {request.headers["Authorization"] for request in self.origin.requests})
        self.assert_nowhere(["sesame"], self.said(get))

    def test_what_is_no_header_is_refused(self):
        for header in ("no colon", "Range: bytes=0-1", "X-A: b\nX-C: secret"):
            with self.subTest(header=header):
                result = self.run_firn("get", self.manifest, "-o", self.folder / "x", "--origin", self.url,
                                       "--header", header)
                self.assert_refused(result, USAGE, "header")
                self.assert_nowhere(["secret"], *result[1:])


class Buckets(OriginTest):
    """Requests to S3 are signed. tests/e2e/test_origin_servers.py has a server of that kind, which checks no signature."""

    def setUp(self):
        super().setUp()
        self.use_tree({"big": 300 * KIB, "a b": 70 * KIB, "\u00fcber/a+b&c=d;e": 70 * KIB, "100%41#?'!()*": 70 * KIB})
        (self.folder / "buckets").mkdir()
        (self.folder / "buckets" / "bucket").symlink_to(self.path.parent)
        self.origin = self.serve(self.folder / "buckets")
        self.origin.set(keys=("AKID", "open+sesame/"))

    def keys(self, secret="open+sesame/", **more):
        os.environ.update(AWS_ACCESS_KEY_ID="AKID", AWS_SECRET_ACCESS_KEY=secret,
                          AWS_ENDPOINT_URL=self.origin.url().rstrip("/"), **more)

    def fetch_signed(self, *options):
        return self.fetch_from("s3://bucket/holiday/", "-v", *options)

    def test_keys_of_the_environment_sign_whatever_the_name(self):
        self.keys()
        get = self.fetch_signed()
        self.assert_all_from("s3://bucket/holiday/", self.assert_downloaded(self.path, get))
        self.assert_nowhere(["sesame", "AKID"], self.said(get))

    def test_a_session_token_goes_along(self):
        self.keys(AWS_SESSION_TOKEN="token-of-a-session")
        get = self.fetch_signed()
        self.assert_downloaded(self.path, get)
        self.assertEqual({"token-of-a-session"}, {one.headers["X-Amz-Security-Token"] for one in self.origin.requests})
        self.assert_nowhere(["token-of"], self.said(get))

    def test_wrong_keys_are_told_and_not_shown(self):
        self.keys("open-sesame")
        get = self.fetch_signed("--timeout", "2s")
        self.assert_ends_without(get, "answers 403", "s3://bucket/holiday/")
        self.assert_nowhere(["sesame", "AKID"], self.said(get))

    def test_a_bucket_elsewhere_that_a_manifest_names_is_not_looked_for_at_amazons(self):
        named = self.create(self.path, *SMALL, "--origin", "s3://bucket/holiday/")
        self.keys()
        get = self.fetch("--timeout", "2s", what=named)
        self.assert_ends_without(get, "add --origin s3://bucket/holiday/", "it is not used")
        self.assertEqual(0, self.origin.connections)

    def test_another_region_is_signed_for_if_it_is_named(self):
        self.keys()
        get = self.fetch_signed("--timeout", "2s", "--region", "eu-central-1")
        self.assert_ends_without(get, "answers 403")
        self.assertTrue(self.origin.requests[0].is_signed_by("AKID", "open+sesame/", "eu-central-1"))

    def test_keys_do_not_follow_a_redirect(self):
        self.keys()
        other = self.serve(self.folder / "buckets")
        self.origin.set(redirect=lambda target: f"http://127.0.0.1:{other.port}{target}")
        self.assert_downloaded(self.path, self.fetch_signed())
        self.assertTrue(all(one.is_signed_by("AKID", "open+sesame/") for one in self.origin.requests))
        for request in other.requests:
            self.assertNotIn("Authorization", request.headers)


class Proxies(OriginTest):
    """The name files.example stands for no address here: whoever reaches it has asked the proxy."""

    URL = "http://files.example/content.bin"

    def setUp(self):
        super().setUp()
        self.use_file(512 * KIB)
        self.server = self.proxy()

    def link(self):
        return "firn:" + json.loads(self.run_firn("info", self.manifest, "--json")[1])["content_id"] + ws_of(self.URL)

    def test_an_origin_given_by_hand_is_asked_through_it(self):
        get = self.fetch_from(self.URL)
        self.assert_all_from(self.URL, self.assert_downloaded(self.path, get))
        self.assertEqual({"files.example"}, self.server.hosts())

    def test_a_tunnel_is_made_for_https(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate(self.folder))
        origin = self.serve(tls=context)
        os.environ.update(https_proxy=self.server.url(), CURL_CA_BUNDLE=str(self.folder / "server.pem"))
        get = self.fetch_from(self.url_of(origin))
        self.assert_all_from(self.url_of(origin), self.assert_downloaded(self.path, get))
        self.assertEqual({("CONNECT", f"127.0.0.1:{origin.port}")},
                         {(request.method, request.target) for request in self.server.requests})

    def test_no_proxy_names_hosts_that_are_asked_without_it(self):
        os.environ["no_proxy"] = "localhost"
        origin = self.serve()
        self.assert_downloaded(self.path, self.fetch_from(self.url_of(origin).replace("127.0.0.1", "localhost")))
        self.assertEqual(512 * KIB, origin.total)
        self.assertEqual([], self.server.requests)

    def test_an_origin_of_a_link_is_not_asked_through_it(self):
        get = self.fetch("--timeout", "2s", "--peer", self.teller(), what=self.link())
        self.assert_ends_without(get, "names a proxy", "--origin-host", self.URL)
        self.assertEqual([], self.server.requests)

    def test_one_of_a_host_that_is_named_is_and_gets_its_headers(self):
        get = self.fetch("--origin-host", "files.example:80", "--header", "X-Token: open sesame", "--peer", self.teller(),
                         what=self.link())
        self.assert_all_from(self.URL, self.assert_downloaded(self.path, get))
        self.assertEqual({"open sesame"}, {request.headers["X-Token"] for request in self.server.requests})

    def test_the_configuration_names_hosts(self):
        config = self.folder / "config.toml"
        config.write_text('origin-host = ["files.example:80"]\n')
        get = self.fetch("--config", config, "--peer", self.teller(), what=self.link())
        self.assert_all_from(self.URL, self.assert_downloaded(self.path, get))


class Folders(OriginTest):
    NAMES = {
        "a file.txt": 100 * KIB,
        "\u00fcber/gr\u00f6\u00dfe.bin": 300 * KIB,
        "100%41.txt": 10 * KIB,
        "a#b.txt": 70 * KIB,
        "what?.txt": 3000,
        "a+b&c=d;e,f.bin": 90 * KIB,
        "deep/er/and er/x": 1,
        "deep/empty": 0,
        "empty folder/": None,
    }

    def test_files_have_any_names(self):
        self.use_tree(self.NAMES)
        origin = self.serve()
        get = self.fetch_from(self.url_of(origin))
        self.assert_all_from(self.url_of(origin), self.assert_downloaded(self.path, get))
        self.assertNotIn("/holiday/deep/empty", {request.path for request in origin.requests})

    def test_links_are_made_and_not_fetched(self):
        source = self.tree({"a": 100 * KIB})
        (source / "link").symlink_to("a")
        self.use_tree({}, "--symlinks", "keep")
        origin = self.serve()
        self.assert_downloaded(self.path, self.fetch_from(self.url_of(origin)))
        self.assertEqual({"/holiday/a"}, {request.path for request in origin.requests})

    def test_a_query_goes_to_the_end_of_each_files_url(self):
        self.use_tree({"a": 100 * KIB, "b c": 100 * KIB})
        origin = self.serve()
        get = self.fetch_from(self.url_of(origin, suffix="?token=open-sesame"))
        self.assert_downloaded(self.path, get)
        self.assertEqual({"/holiday/a?token=open-sesame", "/holiday/b%20c?token=open-sesame"},
                         {request.target for request in origin.requests})
        self.assert_nowhere(["sesame"], self.said(get))

    def test_a_file_that_is_missing_there_is_named_and_the_others_are_fetched(self):
        self.use_tree({"a": 300 * KIB, "b": 300 * KIB})
        elsewhere = self.folder / "elsewhere"
        harness.write_tree(elsewhere / "holiday", {"a": (self.path / "a").read_bytes()})
        origin = self.serve(elsewhere)
        get = self.fetch_from(self.url_of(origin))
        self.wait_notice(get, "answers 404")
        self.holder("--peer", get.endpoint())
        self.assert_downloaded(self.path, get)
        self.assertIn("/holiday/b", self.said(get))

    def test_a_file_that_is_missing_there_keeps_no_other_from_coming(self):
        self.use_tree({"a": 4 * GENERATION, "b": 4 * GENERATION, "c": 4 * GENERATION})
        elsewhere = self.folder / "elsewhere"
        harness.write_tree(elsewhere / "holiday", {name: (self.path / name).read_bytes() for name in ("a", "c")})
        get = self.fetch_from(self.url_of(self.serve(elsewhere)), "--timeout", "3s")
        get.wait_event("progress", 60, lambda event: event["bytes_verified"] == 8 * GENERATION)
        self.assert_ends_without(get, "b: the server answers 404")

    def test_a_choice_of_files_is_all_that_is_fetched(self):
        self.use_tree({"a": 4 * GENERATION, "b": 3 * GENERATION, "c": 5 * GENERATION})
        origin = self.serve()
        get = self.fetch_from(self.url_of(origin), "--file", "b")
        complete = self.assert_completes(get)
        self.assertEqual({self.url_of(origin): 3 * GENERATION}, from_origins(complete))
        self.assertEqual({"/holiday/b"}, {request.path for request in origin.requests})
        self.assertEqual((self.path / "b").read_bytes(), (self.folder / "get" / "holiday" / "b").read_bytes())

    def test_one_file_goes_to_standard_output_in_order_from_an_origin_alone(self):
        self.use_tree({"a": 4 * GENERATION, "b": MIB + 77})
        origin = self.serve()
        output = self.folder / "output"
        with output.open("wb") as opened:
            got = subprocess.run([harness.BUILD / "client" / "firn", "get", self.manifest, "-o", "-", "--file", "b",
                                  "--origin", self.url_of(origin), "--no-tracker", "--seed", "none", "--listen",
                                  "127.0.0.1:0"], stdout=opened, stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(0, got.returncode, got.stderr.decode())
        self.assertEqual((self.path / "b").read_bytes(), output.read_bytes())
        self.assertNotIn("/holiday/a", {request.path for request in origin.requests})

    def test_the_url_of_a_folder_ends_in_a_slash(self):
        self.use_tree({"a": 10, "b": 10})
        origin = self.serve()
        get = self.fetch_from(origin.url("holiday"), "--timeout", "2s")
        self.assert_ends_without(get, "the URL of a folder ends in '/'")
        self.assertEqual(0, origin.connections)

    def test_a_single_file_may_stand_in_a_folder(self):
        self.use_file(300 * KIB, "a b.bin")
        origin = self.serve()
        self.assert_downloaded(self.path, self.fetch_from(origin.url()))
        self.assertEqual({"/a%20b.bin"}, {request.target for request in origin.requests})


if __name__ == "__main__":
    harness.main()
