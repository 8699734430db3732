#!/usr/bin/python3
"""Asks a Firn daemon: an example of docs/rpc.md, with Python's standard library alone.

    rpc_client.py /run/user/1000/firn.sock list
    rpc_client.py http://127.0.0.1:8080 show content=holiday      (the token in FIRN_TOKEN)
"""

import json
import os
import socket
import sys
import urllib.request


class Failed(Exception):
    """The daemon answered with an error; `code` and the message are its own."""

    def __init__(self, error):
        super().__init__(error["message"])
        self.code = error["code"]


class Daemon:
    """`where` is the path of its socket, or http://HOST:PORT."""
    def __init__(self, where, token=""):
        self.where, self.token, self.calls = where, token, 0

    def call(self, method, **params):
        self.calls += 1
        request = json.dumps({"jsonrpc": "2.0", "id": self.calls, "method": method, "params": params}).encode()
        answer = json.loads(self.post(request) if self.where.startswith("http://") else self.ask(request))
        if "error" in answer:
            raise Failed(answer["error"])
        return answer["result"]

    def post(self, request):
        headers = {"Authorization": "Bearer " + self.token, "Content-Type": "application/json"}
        with urllib.request.urlopen(urllib.request.Request(self.where + "/rpc", request, headers)) as answer:
            return answer.read()

    def ask(self, request):
        with socket.socket(socket.AF_UNIX) as peer, peer.makefile("rb") as answers:
            peer.connect(self.where)
            peer.sendall(request + b"\n")
            return answers.readline()


if __name__ == "__main__":
    daemon = Daemon(sys.argv[1], os.environ.get("FIRN_TOKEN", ""))
    print(json.dumps(daemon.call(sys.argv[2], **dict(one.split("=", 1) for one in sys.argv[3:])), indent=2))
