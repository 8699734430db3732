#!/usr/bin/python3
"""Answers of origins that are not what was asked for: each fault is named, spoils no download that a peer can complete,
and ends none for good. What does not pass by itself has the origin left alone."""

import harness
from harness import KIB, MIB
from origins import FaultTest


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


if __name__ == "__main__":
    harness.main()
