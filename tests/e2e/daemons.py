"""What the tests of `firn daemon` share."""

import json
import socket
import time

import harness


class DaemonTest(harness.SwarmTest):
    def setUp(self):
        super().setUp()
        self.data = self.folder / "state"
        self.socket = self.folder / "s"
        self.downloads = self.folder / "downloads"
        self.started = 0

    def daemon(self, *options, data=None, path=None, listen="127.0.0.1:0", **popen):
        """A running daemon that takes commands."""
        self.started += 1
        daemon = self.firn(f"daemon{self.started}", "daemon", "--data", data or self.data, "--socket",
                           path or self.socket, "--listen", listen, "--json", *options,
                           **popen)
        daemon.wait_event("daemon")
        return daemon

    def ask(self, command, *arguments):
        """The event that a command ends with; it must succeed."""
        status, output, errors = self.run_firn(
            command, *arguments, "--socket", self.socket, "--json")
        self.assertEqual(0, status, output + errors)
        return json.loads(output)

    def add(self, source, *options):
        return self.ask("add", source, "-o", self.downloads, *options)

    def contents(self):
        return self.ask("list")["contents"]

    def states(self):
        return {content["name"]: content["state"] for content in self.contents()}

    def wait_for(self, holds, timeout=60):
        """Asks until holds(contents) does: what a daemon does is seen through its answers."""
        deadline = time.monotonic() + timeout
        while True:
            contents = self.contents()
            if holds(contents):
                return contents
            self.assertLess(time.monotonic(), deadline, contents)
            time.sleep(0.1)  # each look is a process

    def wait_state(self, state):
        return self.wait_for(lambda contents: contents and contents[0]["state"] == state)

    def wait_complete(self):
        return self.wait_for(lambda contents: all(c["complete"] for c in contents))

    def call(self, line, timeout=20):
        """The answers to raw bytes, until the daemon closes the connection or all are there."""
        with socket.socket(socket.AF_UNIX) as peer:
            peer.settimeout(timeout)
            peer.connect(str(self.socket))
            peer.sendall(line)
            peer.shutdown(socket.SHUT_WR)
            answer = b""
            while chunk := peer.recv(1 << 16):
                answer += chunk
        return [json.loads(one) for one in answer.splitlines()]

    def request(self, method, **params):
        return self.call(json.dumps(
            {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode() + b"\n")[0]
