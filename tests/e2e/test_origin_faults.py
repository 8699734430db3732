#!/usr/bin/python3
"""What origins do wrong: each fault is named, spoils no download that somebody else can complete, and ends none for
good."""

import os

import harness
from harness import KIB, MIB
from origin_server import Faults
from origins import DIFFERS, GENERATION, OriginTest, from_origins


class FaultTest(OriginTest):
    def setUp(self):
        super().setUp()
        self.use_file(MIB)
        self.origin = self.serve()
        self.url = self.url_of(self.origin)

    def mend(self):
        self.origin.set(**{name: value for name, value in vars(Faults).items() if not name.startswith("_")})

    def assert_fault(self, words, **faults):
        """A download from the faulty origin says so. It completes from a peer that comes later; without one it ends by
        --timeout, and completes from where it stood once the origin is right again. Returns what the first had of it."""
        self.origin.set(**faults)
        beside = self.fetch_from(self.url, name="beside")
        alone = self.fetch_from(self.url, "--timeout", "2s", name="alone")
        notice = self.wait_notice(beside, words)
        self.assertIn(self.url, notice["message"])
        self.holder("--peer", beside.endpoint())
        complete = self.assert_downloaded(self.path, beside)
        self.assert_ends_without(alone, words, self.url)
        self.mend()
        self.assert_downloaded(self.path, self.fetch_from(self.url, name="alone"))
        return from_origins(complete).get(self.url, 0)


class Answers(FaultTest):
    """Answers that are not what was asked for."""

    def test_the_whole_file_in_place_of_a_part(self):
        self.assert_fault("sends the whole file where a part was asked for", whole=True)

    def test_other_bytes_than_those_asked_for(self):
        self.assert_fault("were asked for", shift=KIB)

    def test_a_part_that_does_not_say_where_it_begins(self):
        self.assert_fault("does not say which bytes it sends", unranged=True)

    def test_compressed_bytes(self):
        self.assert_fault("compressed (gzip)", encoding="gzip")

    def test_no_such_file(self):
        self.assert_fault("answers 404: it has no such file", status=404)

    def test_a_server_that_asks_for_patience(self):
        self.assert_fault("answers 503: it is overloaded or broken", status=503, retry_after="1")

    def test_a_server_that_is_asked_too_often(self):
        self.assert_fault("answers 429: it is overloaded or broken", status=429)

    def test_a_server_that_asks_for_an_hour_is_left_alone_for_long(self):
        self.origin.set(status=503, retry_after="3600")
        get = self.fetch_from(self.url, "--timeout", "3s")
        self.assert_ends_without(get, "(in 3600 s, it says)")
        # Once, or by each of those that asked at the same time.
        self.assertLessEqual(len(self.origin.requests), 2)

    def test_a_signature_that_ends_and_a_new_one(self):
        self.origin.set(status_after=(4, 403))
        get = self.fetch_from(self.url + "?X-Amz-Signature=secret", "--timeout", "2s", name="alone")
        self.assert_ends_without(get, "answers 403", "signature in the URL has expired")
        self.assertGreater(self.origin.total, 0)
        self.assert_nowhere(["secret"], self.said(get))
        self.origin.set(status_after=None)
        before = self.origin.total
        self.assert_downloaded(self.path, self.fetch_from(self.url_of(self.origin, suffix="?X-Amz-Signature=new"),
                                                          name="alone"))
        self.assertLess(self.origin.total - before, MIB)  # what had come has been kept

    def test_less_than_announced(self):
        self.assert_fault("ended the connection early", less=KIB)

    def test_more_than_asked_for(self):
        self.origin.set(more=1)
        get = self.fetch_from(self.url, "--timeout", "2s", name="alone")
        self.assert_ends_without(get, "sends more than the")
        self.mend()
        self.assert_downloaded(self.path, self.fetch_from(self.url, name="alone"))

    def test_bytes_without_end(self):
        self.assert_fault("sends more than the", endless=True)

    def test_nothing_more_after_some_bytes(self):
        self.origin.set(stalls_after=KIB)
        get = self.fetch_from(self.url)
        self.origin.wait_served(KIB)
        self.holder("--peer", get.endpoint())
        self.assert_downloaded(self.path, get)
        alone = self.fetch_from(self.url, "--timeout", "2s", name="alone")
        self.assert_ends_without(alone)
        self.mend()
        self.assert_downloaded(self.path, self.fetch_from(self.url, name="alone"))


class Connections(FaultTest):
    def test_a_connection_for_each_answer(self):
        self.origin.set(close_each=True)
        self.assert_all_from(self.url, self.assert_downloaded(self.path, self.fetch_from(self.url)))
        self.assertEqual(len(self.origin.requests), self.origin.connections)

    def test_connections_are_used_again_where_the_server_keeps_them(self):
        self.assert_all_from(self.url, self.assert_downloaded(self.path, self.fetch_from(self.url)))
        self.assertLess(self.origin.connections, len(self.origin.requests))
        self.assertLessEqual(self.origin.connections, 4)

    def test_one_connection_at_a_time(self):
        self.origin.set(one_connection=True)
        self.assert_all_from(self.url, self.assert_downloaded(self.path, self.fetch_from(self.url)))

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


class Redirects(FaultTest):
    def setUp(self):
        super().setUp()
        self.other = self.serve()

    def test_another_port_is_followed_and_gets_no_credentials(self):
        self.origin.set(redirect=lambda path: self.other.url(path[1:].split("?")[0]))
        given = self.url_of(self.origin, "user:pass%20word@")
        get = self.fetch_from(given, "--header", "X-Token: open sesame", "--header", "Cookie: a=b")
        complete = self.assert_downloaded(self.path, get)
        self.assert_all_from(self.url, complete)
        self.assert_nowhere(["pass%20word", "pass word", "open sesame"], self.said(get))
        for request in self.origin.requests:
            self.assertEqual("open sesame", request.headers["X-Token"])
            self.assertEqual("a=b", request.headers["Cookie"])
            self.assertTrue(request.headers["Authorization"].startswith("Basic "))
        self.assertEqual(MIB, self.other.total)
        for request in self.other.requests:
            self.assertFalse({"x-token", "cookie", "authorization"} & {name.lower() for name in request.headers})

    def test_the_same_port_keeps_credentials(self):
        self.origin.set(redirect=lambda path: None if "/here/" in path else self.origin.url("here/" + path[1:]))
        here = self.path.parent / "here"
        here.mkdir()
        (here / self.path.name).symlink_to(self.path)
        self.assert_downloaded(self.path, self.fetch_from(self.url, "--header", "X-Token: open sesame"))
        self.assertEqual({"open sesame"}, {request.headers["X-Token"] for request in self.origin.requests})
        self.assertIn("/here/" + self.path.name, {request.path for request in self.origin.requests})

    def test_files_of_this_machine_are_not_read(self):
        self.assert_fault("redirects to what is no URL for files", redirect=f"file://{self.path}")

    def test_the_metadata_service_is_not_asked(self):
        self.assert_fault("address 169.254.169.254 is link-local",
                          redirect="http://169.254.169.254/latest/meta-data/")

    def test_circles_end(self):
        self.assert_fault("redirects more than 5 times", redirect=lambda path: path)


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
        self.assertEqual(0, self.origin.total)


if __name__ == "__main__":
    harness.main()
