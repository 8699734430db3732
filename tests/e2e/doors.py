"""What the tests of HTTP doors share: a daemon with one, requests to it."""

import http.client
import pathlib
import sys
import time
import urllib.parse

import harness
from harness import LISTEN

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "docs/examples"))
import rpc_client

# The name of a file that was made up to attack a page.
HOSTILE = "<img src=x onerror=alert(1)>&\"'.bin"


class Door(harness.SwarmTest):
    def daemon(self, *options):
        self.data = self.folder / "state"
        self.socket = self.folder / "s"
        self.process = self.firn("daemon", "daemon", "--data", self.data, "--socket", self.socket, *LISTEN,
                                 *options, *(() if "--http" in options else ("--http", "localhost:0")))
        self.enter(self.process)
        # The main thread answers: from now on a signal ends it cleanly.
        self.assertEqual(200, self.http("GET", "/")[0])
        return self.process

    def enter(self, process):
        """Waits for the door, or for this build to say that it has none."""
        try:
            told = process.wait_event("http")
        except AssertionError:
            if "without libwebsockets" in process.output("stderr"):
                self.skipTest("built without libwebsockets")
            raise
        self.url = told["url"].rstrip("/")
        self.token = told.get("token") or (self.data / "http-token").read_text().strip()
        self.port = urllib.parse.urlsplit(self.url).port

    def http(self, method, path, body=None, token=None, timeout=30, **headers):
        """(status, headers, text) of one request; the token unless another is named."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        token = self.token if token is None else token
        if token:
            sent["Authorization"] = "Bearer " + token
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode()
        finally:
            connection.close()

    def page(self, path="/"):
        status, _, text = self.http("GET", path)
        self.assertEqual(200, status, text)
        return text

    def form(self, path, **fields):
        return self.http("POST", path, urllib.parse.urlencode(fields),
                         Content_Type="application/x-www-form-urlencoded", Origin=self.url)

    def rpc(self, method, **params):
        return rpc_client.Daemon(self.url, self.token).call(method, **params)

    def wait_for(self, holds, timeout=60):
        deadline = time.monotonic() + timeout
        while not holds(contents := self.rpc("list")["contents"]):
            self.assertLess(time.monotonic(), deadline, contents)
            time.sleep(0.05)
        return contents
