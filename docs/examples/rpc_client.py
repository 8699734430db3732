#!/usr/bin/python3
"""Asks a Firn daemon: an example of docs/rpc.md, with Python's standard library alone.

    rpc_client.py /run/user/1000/firn.sock list
    rpc_client.py http://127.0.0.1:8080 show content=holiday      (the token in FIRN_TOKEN)
    rpc_client.py /run/user/1000/firn.sock limit content=holiday up=1000000 down=none
    rpc_client.py /run/user/1000/firn.sock show '{"content": "holiday"}'

A value is JSON (a number, true, null, a list); what is no JSON is a text, and so is what is quoted: name='"2024"'.
"""

import argparse
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


def params_of(words):
    """NAME=VALUE, or all of them in one object."""
    params = {}
    for word in words:
        if word.startswith("{"):
            params.update(json.loads(word))
            continue
        name, given, value = word.partition("=")
        if not given:
            raise ValueError(f"'{word}' is no NAME=VALUE")
        try:
            params[name] = json.loads(value)
        except ValueError:
            params[name] = value
    return params


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("where", metavar="WHERE", help="the daemon's socket, or http://HOST:PORT")
    parser.add_argument("method", metavar="METHOD", help="'methods' names them all")
    parser.add_argument("params", metavar="NAME=VALUE", nargs="*", default=[], help="or one JSON object")
    arguments = parser.parse_args()
    try:
        params = params_of(arguments.params)
    except ValueError as error:
        parser.error(str(error))
    daemon = Daemon(arguments.where, os.environ.get("FIRN_TOKEN", ""))
    try:
        print(json.dumps(daemon.call(arguments.method, **params), indent=2))
    except (Failed, OSError) as error:
        sys.exit(f"{arguments.where}: {error}")


if __name__ == "__main__":
    main()
