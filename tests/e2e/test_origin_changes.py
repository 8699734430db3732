#!/usr/bin/python3
"""Origins that come and go, take few connections, or have another file than the content's."""

import os
import ssl
import unittest

import harness
from harness import KIB, MIB
from origins import DIFFERS, GENERATION, FaultTest, certificate, from_origins

# Until a transfer counts as stalled.
WAITS = unittest.skipUnless(os.environ.get("FIRN_TEST_HUGE"), "waits for 20 s and more; set FIRN_TEST_HUGE=1")


class Connections(FaultTest):
    def test_a_connection_for_each_answer(self):
        self.origin.set(close_each=True)
        self.assert_all_from(self.url, self.assert_downloaded(self.path, self.fetch_from(self.url)))
        self.assertEqual(len(self.origin.requests), self.origin.connections)

    def test_connections_are_used_again_where_the_server_keeps_them(self):
        self.assert_all_from(self.url, self.assert_downloaded(self.path, self.fetch_from(self.url)))
        self.assertLess(self.origin.connections, len(self.origin.requests))
        self.assertLessEqual(self.origin.connections, 4)

    @WAITS
    def test_one_connection_at_a_time(self):
        self.origin.set(one_connection=True)
        self.assert_all_from(self.url, self.assert_downloaded(self.path, self.fetch_from(self.url), timeout=120))

    def test_one_answer_at_a_time_for_a_folder_of_small_files(self):
        self.use_tree({f"file{number}": 30 * KIB for number in range(40)})
        self.origin.set(at_once=1, rate=4 * MIB)
        get = self.fetch_from(self.url_of(self.origin))
        self.assert_all_from(self.url_of(self.origin), self.assert_downloaded(self.path, get))

    def test_one_answer_at_a_time_and_503_for_more(self):
        self.origin.set(at_once=1, rate=4 * MIB)
        self.assert_all_from(self.url, self.assert_downloaded(self.path, self.fetch_from(self.url)))

    @WAITS
    def test_an_origin_that_hardly_moves_does_not_keep_another_one_from_being_asked(self):
        other = self.serve()
        self.origin.set(rate=KIB)
        get = self.fetch_from(self.url, "--origin", self.url_of(other))
        complete = self.assert_downloaded(self.path, get)
        self.assertGreater(from_origins(complete)[self.url_of(other)], MIB // 2)

    def test_an_interrupt_ends_it_also_while_the_origin_is_silent(self):
        self.origin.set(stalls_after=KIB)
        get = self.fetch_from(self.url)
        self.origin.wait_served(KIB)
        self.assertEqual(harness.INTERRUPTED, get.stop())
        self.origin.set(stalls_after=None)
        self.assert_downloaded(self.path, self.fetch_from(self.url))

    def test_a_certificate_is_believed_if_its_authority_is_named(self):
        path = certificate(self.folder)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        origin = self.serve(tls=context)
        url = self.url_of(origin)
        self.assertTrue(url.startswith("https://"))
        alone = self.fetch_from(url, "--timeout", "2s", name="alone")
        self.assert_ends_without(alone, "certificate cannot be trusted", "CURL_CA_BUNDLE", url)
        self.assertEqual([], origin.requests)
        os.environ["CURL_CA_BUNDLE"] = str(path)
        self.assert_all_from(url, self.assert_downloaded(self.path, self.fetch_from(url, name="alone")))

    def test_a_file_that_was_damaged_here_is_repaired_from_there(self):
        self.assert_downloaded(self.path, self.fetch_from(self.url))
        copy = self.folder / "get" / self.path.name
        with copy.open("r+b") as opened:
            opened.seek(MIB // 2)
            opened.write(b"damage")
        before = self.origin.total
        self.assert_downloaded(self.path, self.fetch_from(self.url, "--repair"))
        self.assertEqual(GENERATION, self.origin.total - before)

    def test_slow_connections(self):
        self.origin.set(rate=512 * KIB)
        self.assert_all_from(self.url, self.assert_downloaded(self.path, self.fetch_from(self.url)))

    def test_nobody_there_and_somebody_later(self):
        self.origin.stop()
        beside = self.fetch_from(self.url, name="beside")
        alone = self.fetch_from(self.url, name="alone")
        for get in (beside, alone):
            self.wait_notice(get, "check that the server runs")
        self.holder("--peer", beside.endpoint())
        self.assert_downloaded(self.path, beside)
        self.origin.start()
        self.assert_all_from(self.url, self.assert_downloaded(self.path, alone))

    def test_a_server_that_dies_half_way_and_comes_back(self):
        self.origin.set(dies_after=MIB // 2)
        get = self.fetch_from(self.url)
        self.origin.wait(lambda: not self.origin.running)
        self.wait_notice(get, self.url)
        self.origin.set(dies_after=None)
        self.origin.start()
        self.assert_all_from(self.url, self.assert_downloaded(self.path, get))
        self.assertLess(self.origin.total, MIB + 4 * GENERATION)  # what had come has been kept


class Changes(FaultTest):
    """The file there is another one than the content's."""

    def change(self, data, keep_time=False):
        at = self.path.stat()
        self.elsewhere.write_bytes(data)
        if keep_time:
            os.utime(self.elsewhere, ns=(at.st_atime_ns, at.st_mtime_ns))

    def setUp(self):
        super().setUp()
        self.data = self.path.read_bytes()
        self.elsewhere = self.folder / "elsewhere" / self.path.name
        self.elsewhere.parent.mkdir()
        self.change(self.data, keep_time=True)
        self.origin = self.serve(self.elsewhere.parent)
        self.url = self.url_of(self.origin)

    def assert_found_on_the_way(self, words, change):
        """The change, made when half of the content has come, is said; a peer completes the download."""
        self.origin.set(rate=256 * KIB)
        get = self.fetch_from(self.url)
        self.origin.wait_served(MIB // 2)
        change()
        self.wait_notice(get, words)
        asked = len(self.origin.requests)
        self.holder("--peer", get.endpoint())
        complete = self.assert_downloaded(self.path, get)
        self.assertGreaterEqual(from_origins(complete)[self.url], GENERATION)
        self.assertLessEqual(len(self.origin.requests), asked + 2)  # it is left alone

    def test_another_etag(self):
        self.assert_found_on_the_way("ETag is another one than before", lambda: os.utime(self.elsewhere))

    def test_another_size(self):
        self.origin.set(undated=True)
        self.assert_found_on_the_way(f"has {MIB + 1} bytes, not {MIB}", lambda: self.change(self.data + b"!"))

    def test_other_bytes_alone_are_found_by_their_digest(self):
        self.assert_found_on_the_way(DIFFERS,
                                     lambda: self.change(bytes(MIB), keep_time=True))

    def test_another_file_from_the_beginning(self):
        self.change(bytes(MIB))
        alone = self.fetch_from(self.url, "--timeout", "2s", name="alone")
        self.assert_ends_without(alone, DIFFERS, self.url)
        self.assertLess(self.origin.total, 4 * GENERATION)
        self.change(self.data)
        self.assert_downloaded(self.path, self.fetch_from(self.url, name="alone"))

    def test_another_size_from_the_beginning(self):
        self.change(self.data[:-1])
        alone = self.fetch_from(self.url, "--timeout", "2s", name="alone")
        self.assert_ends_without(alone, f"has {MIB - 1} bytes, not {MIB}", self.url)
        self.assertEqual(1, len(self.origin.requests))


if __name__ == "__main__":
    harness.main()
