#!/usr/bin/python3
"""`firn get URL`, `firn get URL --share` and `firn create URL`: one file of an ordinary web server."""

import datetime
import json
import os
import pathlib
import subprocess
import time

import harness
from harness import BUILD, DISK, INTERRUPTED, KIB, LISTEN, MIB, UNREACHABLE, USAGE, VERIFY_FAILED
from url_server import Page, UrlServer

DATA = harness.content_bytes(3 * MIB + 77)
OTHER = harness.content_bytes(3 * MIB + 78, seed=2)
MODIFIED = datetime.datetime(1994, 11, 6, 8, 49, 37, tzinfo=datetime.timezone.utc).timestamp()


class UrlTest(harness.SwarmTest):
    def setUp(self):
        super().setUp()
        for name in ("http_proxy", "all_proxy", "ALL_PROXY"):
            os.environ.pop(name, None)
        self.into = self.folder / "into"
        self.into.mkdir()

    def serve(self, pages):
        server = UrlServer(pages)
        self.addCleanup(server.close)
        return server

    def fetch(self, url, *options, **popen):
        return self.run_firn("get", url, "-o", self.into, *options, **popen)

    def fetching(self, url, *options, **popen):
        return self.firn("get", "get", url, "-o", self.into, *options, **popen)

    def assert_fetched(self, result, data=DATA, name="big.bin"):
        status, _, errors = result
        self.assertEqual(0, status, errors)
        self.assertEqual([name], [path.name for path in self.into.iterdir()])
        self.assertEqual(data, (self.into / name).read_bytes())
        return errors


class Downloads(UrlTest):
    def test_a_file_comes_under_the_urls_name_and_firn_says_that_it_is_not_verified(self):
        server = self.serve({"/dir/big.bin?x=1": Page(DATA)})
        said = self.assert_fetched(self.fetch(server.url("/dir/big.bin?x=1")))
        self.assertIn("not verified: an ordinary web server has no digests", said)
        self.assertEqual(MODIFIED, (self.into / "big.bin").stat().st_mtime)
        self.assertEqual([None], server.ranges_of("/dir/big.bin?x=1"))

    def test_the_current_folder_is_where_it_goes_without_more(self):
        server = self.serve({"/big.bin": Page(DATA)})
        self.assert_fetched(self.run_firn("get", server.url("/big.bin"), cwd=self.into))

    def test_neither_a_redirect_nor_content_disposition_gives_the_name(self):
        lies = {"Content-Disposition": 'attachment; filename=".bashrc"'}
        server = self.serve({"/big.bin": Page(b"", redirect="/other/evil.sh"),
                             "/other/evil.sh": Page(DATA, headers=lies)})
        self.assert_fetched(self.fetch(server.url("/big.bin")))

    def test_as_gives_another_name(self):
        server = self.serve({"/big.bin": Page(DATA)})
        self.assert_fetched(self.fetch(server.url("/big.bin"), "--as", "mine.bin"), name="mine.bin")

    def test_names_that_lead_elsewhere_or_are_read_unasked_are_refused(self):
        server = self.serve({})
        for path in ("/a/%2e%2e", "/a/%2fetc%2fpasswd", "/a/b%5c..%5cc", "/a/x%00y", "/a/nul",
                     "/a/%2efirn"):
            self.assert_refused(self.fetch(server.url(path)), USAGE, "--as")
        for path in ("/a/.bashrc", "/a/-rf"):
            self.assert_refused(self.fetch(server.url(path)), DISK, "--as")
        self.assertEqual([], list(self.into.iterdir()))
        self.assertEqual([], server.requests)

    def test_a_folder_is_refused_and_firn_says_what_to_do(self):
        server = self.serve({})
        for url in (server.url("/dir/"), server.url("/"), server.url("")):
            self.assert_refused(self.fetch(url), USAGE, "folder", "create")
            self.assert_refused(self.run_firn("create", url, "-o", self.folder / "x.firn"), USAGE,
                                "folder")
        self.assertEqual([], server.requests)

    def test_a_file_that_bears_the_name_stays_unless_it_is_to_be_replaced(self):
        server = self.serve({"/big.bin": Page(DATA)})
        mine = self.into / "big.bin"
        mine.write_bytes(b"mine")
        self.assert_refused(self.fetch(server.url("/big.bin")), DISK, "--as", "-o", "--overwrite")
        self.assertEqual([], server.requests)
        self.assertEqual(b"mine", mine.read_bytes())
        self.assertEqual([mine], list(self.into.iterdir()))
        self.assert_fetched(self.fetch(server.url("/big.bin"), "--overwrite"))

    def test_a_link_that_bears_the_name_is_not_followed(self):
        server = self.serve({"/big.bin": Page(DATA)})
        victim = self.folder / "victim"
        (self.into / "big.bin").symlink_to(victim)
        for options in ([], ["--overwrite"]):
            self.assert_refused(self.fetch(server.url("/big.bin"), *options), DISK, "big.bin")
        self.assertFalse(victim.exists())

    def test_events_say_how_far_it_is(self):
        page = Page(DATA, hold_at=2 * MIB)
        server = self.serve({"/big.bin": page})
        get = self.fetching(server.url("/big.bin"), "--json")
        start = get.wait_event("start")
        self.assertEqual((len(DATA), "big.bin", 0),
                         (start["bytes"], start["name"], start["bytes_there"]))
        page.go_on.set()
        complete = get.wait_event("complete")
        self.assertEqual(0, get.wait_exit(), get.story())
        self.assertEqual((len(DATA), len(DATA), False),
                         (complete["bytes"], complete["bytes_received"], complete["verified"]))

    def test_the_command_of_on_complete_runs_when_all_is_there(self):
        server = self.serve({"/big.bin": Page(DATA)})
        note = self.folder / "note"
        self.assert_fetched(self.fetch(
            server.url("/big.bin"), "--on-complete",
            f'cmp "$FIRN_DIR/$FIRN_NAME" {self.into}/big.bin && echo yes > {note}'))
        self.assertEqual("yes\n", note.read_text())
        (self.into / "big.bin").unlink()
        status, _, errors = self.fetch(server.url("/big.bin"), "--on-complete", "exit 7")
        self.assertEqual(harness.ON_COMPLETE_FAILED, status, errors)

    def test_an_empty_file_comes_too(self):
        server = self.serve({"/big.bin": Page(b"")})
        self.assert_fetched(self.fetch(server.url("/big.bin")), b"")

    def test_a_file_whose_size_is_not_said_comes_too(self):
        server = self.serve({"/big.bin": Page(DATA, length=False)})
        self.assert_fetched(self.fetch(server.url("/big.bin")))

    def test_what_needs_a_manifest_is_refused(self):
        url = self.serve({}).url("/big.bin")
        for options in (["--file", "*"], ["--repair"], ["--publisher", "a" * 52],
                        [self.serve({}).url("/two")]):
            self.assert_refused(self.fetch(url, *options), USAGE)
        self.assert_refused(self.run_firn("get", "firn:" + "a" * 52, "--share"), USAGE, "--seed")
        self.assert_refused(self.fetch(url, "--share", "--seed", "none"), USAGE, "--seed")

    def test_a_percent_sign_that_is_not_encoded_is_explained(self):
        self.assert_refused(self.fetch("s3://bucket/100%.bin"), USAGE, "%25")

    def test_a_bucket_at_an_endpoint(self):
        server = self.serve({"/bucket/dir/big.bin": Page(DATA)})
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith("AWS_")}
        environment["HOME"] = str(self.folder)
        self.assert_fetched(self.fetch("s3://bucket/dir/big.bin", "--endpoint", server.url(""),
                                       env=environment))

    def test_a_manifest_or_link_is_a_file_like_any_other_and_firn_says_how_to_use_it(self):
        server = self.serve({"/x.firn": Page(b"anything")})
        said = self.assert_fetched(self.fetch(server.url("/x.firn")), b"anything", "x.firn")
        self.assertIn(f"firn get {self.into}/x.firn", said)

    def test_a_limit_holds_no_byte_back(self):
        server = self.serve({"/big.bin": Page(DATA[:300 * KIB])})
        self.assert_fetched(self.fetch(server.url("/big.bin"), "--down-limit", "1M"),
                            DATA[:300 * KIB])

    def test_other_commands_say_what_takes_a_url(self):
        for command, *more in (["info"], ["add"], ["verify", self.into], ["seed", self.into]):
            result = self.run_firn(command, "https://user:word@host.example/big.bin", *more)
            self.assert_refused(result, USAGE, "firn get URL", "firn create URL")
            self.assertNotIn("word", result[2])
        self.assert_refused(self.run_firn("share", "https://host.example/big.bin"), USAGE,
                            "firn get URL --share")


class Interruptions(UrlTest):
    def begun(self, page, *options):
        """A server, and a `firn get` that has written a part of the page there."""
        server = self.serve({"/big.bin": page})
        get = self.fetching(server.url("/big.bin"), *options)
        self.assertTrue(page.held.wait(60), get.story())
        self.wait_until(lambda: self.part_bytes() >= MIB, get)
        return server, get

    def wait_until(self, holds, get):
        end = time.monotonic() + 60
        while not holds():
            self.assertLess(time.monotonic(), end, get.story())
            time.sleep(0.02)

    def part_bytes(self):
        return sum(path.stat().st_size for path in self.into.glob(".firn/url-*/part"))

    def test_a_killed_download_goes_on_where_it_was(self):
        page = Page(DATA, hold_at=2 * MIB)
        server, get = self.begun(page)
        get.kill()
        self.assertEqual([".firn"], [path.name for path in self.into.iterdir()])
        there = self.part_bytes()
        page.go_on.set()
        said = self.assert_fetched(self.fetch(server.url("/big.bin")))
        self.assertIn("going on", said)
        self.assertEqual([None, f"bytes={there}-{len(DATA) - 1}"], server.ranges_of("/big.bin"))

    def test_an_interrupted_download_says_that_it_goes_on(self):
        page = Page(DATA, hold_at=2 * MIB)
        server, get = self.begun(page)
        self.assertEqual(INTERRUPTED, get.stop())
        self.assertIn("goes on where it stopped", get.output("stderr"))
        page.go_on.set()
        self.assert_fetched(self.fetch(server.url("/big.bin")))

    def test_a_file_that_has_changed_since_begins_anew(self):
        page = Page(DATA, hold_at=2 * MIB)
        server, get = self.begun(page)
        get.kill()
        page.data, page.etag, page.modified = OTHER, '"v2"', "Sun, 06 Nov 1994 09:00:00 GMT"
        page.go_on.set()
        said = self.assert_fetched(self.fetch(server.url("/big.bin")), OTHER)
        self.assertIn("changed", said)

    def test_without_a_validator_it_begins_anew(self):
        page = Page(DATA, hold_at=2 * MIB, etag=None, modified=None)
        server, get = self.begun(page)
        get.kill()
        page.go_on.set()
        self.assert_fetched(self.fetch(server.url("/big.bin")))
        self.assertEqual([None, None], server.ranges_of("/big.bin"))

    def test_a_server_that_closes_early_is_asked_for_the_rest(self):
        server = self.serve({"/big.bin": Page(DATA, cut_at=[MIB, MIB])})
        self.assert_fetched(self.fetch(server.url("/big.bin")))
        first, *others = server.ranges_of("/big.bin")
        self.assertIsNone(first)
        self.assertEqual(2, len(others))
        self.assertTrue(all(others))

    def test_a_server_without_ranges_sends_all_again(self):
        server = self.serve({"/big.bin": Page(DATA, cut_at=[MIB], ranges=False)})
        self.assert_fetched(self.fetch(server.url("/big.bin")))

    def test_a_file_that_changes_meanwhile_begins_anew(self):
        page = Page(DATA, hold_at=2 * MIB, cut_at=[2 * MIB])
        server, get = self.begun(page)
        page.data, page.etag, page.modified = OTHER, '"v2"', "Sun, 06 Nov 1994 09:00:00 GMT"
        page.go_on.set()
        self.assertEqual(0, get.wait_exit(), get.story())
        self.assertEqual(OTHER, (self.into / "big.bin").read_bytes())
        self.assertIn("changed", get.output("stderr"))

    def test_a_server_that_is_not_there_is_given_up_after_three_attempts_or_the_timeout(self):
        url = f"http://{harness.own_host()}:{harness.free_port()}/big.bin"
        self.assert_refused(self.fetch(url, "--timeout", "500ms"), UNREACHABLE, "no connection",
                            "next attempt is in 1 s", "500 ms")
        self.assert_refused(self.fetch(url), UNREACHABLE, "no connection", "next attempt is in 2 s")
        self.assert_refused(self.run_firn("create", url, "-o", self.folder / "x.firn"), UNREACHABLE, "no connection")
        self.assertEqual([], list(self.into.iterdir()))

    def test_a_folder_without_its_slash_is_refused_where_the_server_redirects(self):
        server = self.serve({"/photos": Page(b"", redirect="/photos/"), "/photos/": Page(b"<html>a list</html>")})
        url = server.url("/photos")
        self.assert_refused(self.fetch(url), USAGE, "URL of a folder", url + "/")
        self.assert_refused(self.run_firn("create", url, "-o", self.folder / "x.firn"), USAGE, "URL of a folder")
        self.assertEqual([], list(self.into.iterdir()))

    def test_what_the_server_has_not_or_refuses_is_said_at_once(self):
        server = self.serve({"/secret": Page(b"", status=403)})
        self.assert_refused(self.fetch(server.url("/none")), UNREACHABLE, "404", "check the URL")
        self.assert_refused(self.fetch(server.url("/secret")), UNREACHABLE, "403", "credentials")
        self.assertEqual([], list(self.into.iterdir()))

    def test_two_downloads_to_one_name_do_not_mix(self):
        page = Page(DATA, hold_at=2 * MIB)
        server, get = self.begun(page)
        self.assert_refused(self.fetch(server.url("/big.bin")), DISK, "another firn")
        page.go_on.set()
        self.assertEqual(0, get.wait_exit(), get.story())
        self.assertEqual(DATA, (self.into / "big.bin").read_bytes())

    def test_secrets_of_a_url_are_neither_kept_nor_said(self):
        page = Page(DATA, hold_at=2 * MIB)
        server = self.serve({"/big.bin?X-Amz-Signature=topsecret": page})
        url = server.url("/big.bin?X-Amz-Signature=topsecret").replace("//", "//me:password@")
        get = self.fetching(url, "-v", "--json")
        self.assertTrue(page.held.wait(60), get.story())
        self.wait_until(lambda: self.part_bytes() >= MIB, get)
        said = pathlib.Path(f"/proc/{get.process.pid}/cmdline").read_text()
        get.kill()
        said += get.output("stdout") + get.output("stderr")
        for path in self.into.rglob("*"):
            if path.is_file() and path.name != "part":
                said += path.read_text()
        self.assertNotIn("topsecret", said)
        self.assertNotIn("password", said)


class FullDisks(UrlTest):
    def setUp(self):
        super().setUp()
        if not harness.can_mount():
            self.skipTest("needs root and mount namespaces")

    def small(self, size):
        return harness.in_mount_namespace(f"mount -t tmpfs -o size={size} none {self.into}")

    def test_a_disk_without_room_is_said_before_a_byte_is_written(self):
        server = self.serve({"/big.bin": Page(DATA)})
        result = subprocess.run(
            [*self.small("2m"), BUILD / "client" / "firn", "get", server.url("/big.bin"), "-o",
             self.into], capture_output=True, text=True, timeout=60)
        self.assertEqual(DISK, result.returncode, result.stderr)
        self.assertIn("MiB are free", result.stderr)

    def test_a_disk_that_gets_full_ends_the_download_clearly(self):
        server = self.serve({"/big.bin": Page(DATA, length=False)})
        result = subprocess.run(
            [*self.small("2m"), BUILD / "client" / "firn", "get", server.url("/big.bin"), "-o",
             self.into], capture_output=True, text=True, timeout=60)
        self.assertEqual(DISK, result.returncode, result.stderr)
        self.assertIn("space", result.stderr.lower())


class StandardOutput(UrlTest):
    def to_stdout(self, url, *options, command="cat"):
        """Runs `firn get URL -o - | COMMAND`: (firn's status, the command's output, messages)."""
        result = subprocess.run(
            ["bash", "-c", f'"$0" get "$@" -o - | {command}; exit ${{PIPESTATUS[0]}}',
             BUILD / "client" / "firn", url, *options], capture_output=True, timeout=60,
            cwd=self.into)
        return result.returncode, result.stdout, result.stderr.decode()

    def test_the_bytes_and_nothing_else(self):
        server = self.serve({"/big.bin": Page(DATA, cut_at=[MIB])})
        status, output, errors = self.to_stdout(server.url("/big.bin"))
        self.assertEqual((0, DATA), (status, output), errors)
        self.assertIn("not verified", errors)
        self.assertEqual([], list(self.into.iterdir()))

    def test_a_reader_that_goes_ends_it(self):
        server = self.serve({"/big.bin": Page(DATA)})
        status, output, _ = self.to_stdout(server.url("/big.bin"), command="head -c 100")
        self.assertEqual((141, DATA[:100]), (status, output))

    def test_a_file_that_changes_meanwhile_is_an_error(self):
        page = Page(DATA, hold_at=2 * MIB, cut_at=[2 * MIB])
        server = self.serve({"/big.bin": page})
        process = subprocess.Popen(
            [BUILD / "client" / "firn", "get", server.url("/big.bin"), "-o", "-"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        self.assertTrue(page.held.wait(60))
        page.data, page.etag, page.modified = OTHER, '"v2"', "Sun, 06 Nov 1994 09:00:00 GMT"
        page.go_on.set()
        _, errors = process.communicate(timeout=60)
        self.assertEqual(VERIFY_FAILED, process.returncode, errors)
        self.assertIn("changed", errors)


class Manifests(UrlTest):
    def create_of(self, url, *options, expected=0):
        manifest = self.folder / "x.firn"
        status, output, errors = self.run_firn("create", url, "-o", manifest, *options)
        self.assertEqual(expected, status, errors)
        return manifest, output, errors

    def info(self, manifest):
        status, output, errors = self.run_firn("info", manifest, "--json")
        self.assertEqual(0, status, errors)
        return json.loads(output.splitlines()[0])

    def local(self, data=DATA, name="big.bin"):
        """The same file here, as the server has it: its manifest has the same content id."""
        path = self.folder / "source" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        path.chmod(0o644)
        os.utime(path, (MODIFIED, MODIFIED))
        return self.create(path)

    def test_a_manifest_of_a_url_is_that_of_the_file_and_nothing_is_kept(self):
        server = self.serve({"/big.bin": Page(DATA)})
        manifest, link, _ = self.create_of(server.url("/big.bin"))
        self.assertEqual(self.info(self.local())["content_id"], self.info(manifest)["content_id"])
        self.assertIn(server.url("/big.bin").encode(), manifest.read_bytes())
        self.assertIn("/ws=", link)
        self.assertEqual([None], server.ranges_of("/big.bin"))

    def test_a_large_file_is_hashed_in_order_by_several_threads(self):
        data = harness.content_bytes(40 * MIB + 5)
        server = self.serve({"/big.bin": Page(data, cut_at=[9 * MIB])})
        manifest, _, _ = self.create_of(server.url("/big.bin"), "--block-size", "1K",
                                        "--generation-size", "512")
        path = self.folder / "source" / "big.bin"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        path.chmod(0o644)
        os.utime(path, (MODIFIED, MODIFIED))
        same = self.create(path, "--block-size", "1K", "--generation-size", "512")
        self.assertEqual(self.info(same)["content_id"], self.info(manifest)["content_id"])

    def test_a_size_that_is_not_said_is_found_by_reading_twice(self):
        server = self.serve({"/big.bin": Page(DATA, length=False)})
        manifest, _, errors = self.create_of(server.url("/big.bin"))
        self.assertIn("twice", errors)
        self.assertEqual(self.info(self.local())["content_id"], self.info(manifest)["content_id"])

    def test_another_name(self):
        server = self.serve({"/": Page(DATA), "/a%2fb": Page(DATA)})
        self.assert_refused(self.run_firn("create", server.url("/a%2fb"), "-o",
                                          self.folder / "x.firn"), USAGE, "--as")
        manifest, _, _ = self.create_of(server.url("/a%2fb"), "--as", "mine.bin")
        self.assertEqual("mine.bin", self.info(manifest)["name"])

    def test_a_url_with_secrets_is_not_named_in_the_manifest(self):
        server = self.serve({"/big.bin?sig=topsecret": Page(DATA)})
        manifest, link, errors = self.create_of(server.url("/big.bin?sig=topsecret"))
        self.assertIn("signature", errors)
        self.assertNotIn("topsecret", errors + link)
        self.assertNotIn("/ws=", link)
        self.assertNotIn(b"topsecret", manifest.read_bytes())

    def test_a_query_is_named_in_the_manifest_only_by_hand(self):
        server = self.serve({"/big.bin?part=1": Page(DATA)})
        url = server.url("/big.bin?part=1")
        manifest, link, errors = self.create_of(url)
        self.assertIn("--origin", errors)
        self.assertNotIn("/ws=", link)
        self.assertNotIn(b"part=1", manifest.read_bytes())
        manifest.unlink()
        manifest, _, _ = self.create_of(url, "--origin", url)
        self.assertIn(b"part=1", manifest.read_bytes())

    def test_a_file_that_changes_while_it_is_read_is_an_error(self):
        page = Page(DATA, hold_at=2 * MIB, cut_at=[2 * MIB])
        server = self.serve({"/big.bin": page})
        create = self.firn("create", "create", server.url("/big.bin"), "-o",
                           self.folder / "x.firn")
        self.assertTrue(page.held.wait(60), create.story())
        page.data, page.etag, page.modified = OTHER, '"v2"', "Sun, 06 Nov 1994 09:00:00 GMT"
        page.go_on.set()
        self.assertEqual(VERIFY_FAILED, create.wait_exit(), create.story())
        self.assertFalse((self.folder / "x.firn").exists())

    def test_the_file_is_got_and_shared_on(self):
        server = self.serve({"/big.bin": Page(DATA)})
        seed = self.firn("seed", "get", server.url("/big.bin"), "-o", self.into, "--share", *LISTEN)
        self.assertEqual("big.bin", seed.wait_event("complete")["name"])
        link = seed.links(1)[0]
        self.assertIn("/ws=", link)
        self.assertIn("not verified", seed.output("stderr"))
        got = self.get(link, "copy", "--no-origin")
        self.assert_completes(got)
        self.assertEqual(DATA, (self.folder / "copy" / "big.bin").read_bytes())
        self.assertEqual(self.info(self.local())["content_id"],
                         got.last_event("complete")["content_id"])
        self.assertEqual(0, seed.stop(), seed.story())

    def test_an_interrupted_download_that_is_to_be_shared_goes_on(self):
        page = Page(DATA, hold_at=2 * MIB)
        server = self.serve({"/big.bin": page})
        first = self.fetching(server.url("/big.bin"), "--share", *LISTEN)
        self.assertTrue(page.held.wait(60), first.story())
        first.kill()
        page.go_on.set()
        second = self.firn("seed", "get", server.url("/big.bin"), "-o", self.into, "--share",
                           *LISTEN)
        complete = second.wait_event("complete", where=lambda event: "url" in event)
        self.assertEqual(len(DATA), complete["bytes"])
        start = second.wait_event("start", where=lambda event: "content_id" in event)
        self.assertEqual(self.info(self.local())["content_id"], start["content_id"])
        self.assertEqual(DATA, (self.into / "big.bin").read_bytes())
        self.assertEqual(0, second.stop(), second.story())


if __name__ == "__main__":
    harness.main()
