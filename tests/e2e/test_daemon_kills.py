#!/usr/bin/python3
"""A daemon is killed at random moments of what it is asked: its list is then as before or after, and
no data is lost.

FIRN_TEST_KILLS=N kills it N times, instead of a few; FIRN_TEST_SEED chooses other moments."""

import json
import os
import pathlib
import random
import socket
import subprocess

import harness
from daemons import DaemonTest
from harness import KIB

KILLS = int(os.environ.get("FIRN_TEST_KILLS", "14"))
SEED = int(os.environ.get("FIRN_TEST_SEED", "17"))
# Long enough for a move; a download takes longer.
ANSWER_SECONDS = 0.04
DOWNLOAD_SECONDS = 0.6


class Kills(DaemonTest):
    def setUp(self):
        super().setUp()
        self.chance = random.Random(SEED)
        self.source = self.tree({"big": 4000 * KIB, **{f"f{i}": 2000 + i for i in range(40)}})
        other = self.file(100 * KIB, "bystander")
        self.link = self.share(self.source).link()
        bystander = self.create(other)
        self.running = self.daemon()
        self.ask("add", bystander, "--serve", "-o", other.parent)
        self.wait_for(lambda contents: contents[0]["state"] == "seeding")
        # What is known of the content: its folder (None: there is no content), whether it is paused,
        # and whether the daemon has said that it is complete.
        self.place, self.paused, self.whole = None, False, False
        self.places = 0

    def new_place(self):
        self.places += 1
        return str(self.folder / f"place{self.places}")

    def killed(self, seconds, method=None, **params):
        """Whether the daemon has answered that it did what it is asked, before it was killed."""
        with socket.socket(socket.AF_UNIX) as peer:
            peer.settimeout(20)
            peer.connect(str(self.socket))
            if method is not None:
                peer.sendall(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method,
                                         "params": params}).encode() + b"\n")
            with self.assertRaises(subprocess.TimeoutExpired):
                self.running.process.wait(self.chance.uniform(0, seconds))
            self.running.kill()
            answer = b""
            try:
                while chunk := peer.recv(1 << 16):
                    answer += chunk
            except ConnectionResetError:
                pass
        if not answer.endswith(b"\n"):
            return False
        self.assertIn("result", json.loads(answer), answer)
        return True

    def found(self):
        """The content after a restart, once it is neither moved nor removed any more; or None."""
        self.running = self.daemon()
        contents = self.wait_for(lambda contents: not any(
            c["state"] in ("moving", "removing", "starting", "checking", "stopping")
            for c in contents))
        self.assertEqual([], [c for c in contents if c["state"] == "failed"])
        self.assertEqual(("bystander", "seeding"), (contents[0]["name"], contents[0]["state"]))
        self.assertLessEqual(len(contents), 2)
        if len(contents) == 1:
            return None
        return self.request("show", content=contents[1]["content_id"])["result"]

    def assert_files(self, place, there):
        """All of the content's files stand in `place`, or nothing of it."""
        if there:
            self.assert_same(self.source, pathlib.Path(place) / self.source.name)
        else:
            left = [name for _, _, names in os.walk(place) for name in names]
            self.assertEqual([], left)

    def step(self):
        """Asks for something, kills, and looks."""
        if self.place is None:
            place = self.new_place()
            answered = self.killed(DOWNLOAD_SECONDS, "add", source=self.link, folder=place)
            after = {(place, False)} if answered else {(place, False), (None, False)}
            return "add", place, after
        name = self.id
        before = (self.place, self.paused)
        actions = ["move", "remove", "delete", "resume" if self.paused else "pause"]
        if not self.paused and not self.whole:
            actions += ["wait"] * 4
        action = self.chance.choice(actions)
        if action == "wait":
            self.killed(DOWNLOAD_SECONDS)
            return action, self.place, {before}
        if action == "move":
            place = self.new_place()
            answered = self.killed(ANSWER_SECONDS, "move", content=name, folder=place)
            # It has been accepted; a file system that refuses it would put it back.
            return action, place, {(place, self.paused)} | (set() if answered else {before})
        if action in ("pause", "resume"):
            answered = self.killed(ANSWER_SECONDS, action, content=name)
            change = (self.place, action == "pause")
        else:
            answered = self.killed(ANSWER_SECONDS, "remove", content=name,
                                   delete_data=action == "delete")
            change = (None, False)
        return action, self.place, {change} if answered else {change, before}

    def look(self, action, place, allowed):
        was_at, was_whole = self.place, self.whole
        content = self.found()
        now = (None, False) if content is None else (content["folder"], content["state"] == "paused")
        self.assertIn(now, allowed, action)
        self.place, self.paused = now
        if content is None:
            self.whole = False
            if action == "delete":
                self.assert_files(was_at, False)
            elif action == "remove" and was_whole:
                self.assert_files(was_at, True)
            return
        self.id = content["content_id"]
        self.assertLessEqual(was_whole, content["complete"], "it was complete")
        self.whole = content["complete"]
        if self.whole:
            self.assert_files(self.place, True)
        if action == "move":
            self.assert_files(was_at if self.place == place else place, False)

    def test_the_list_is_as_before_or_after_and_no_data_is_lost(self):
        done = set()
        for number in range(KILLS):
            with self.subTest(kill=number, seed=SEED):
                action, place, allowed = self.step()
                done.add(action)
                self.look(action, place, allowed)
        self.assertIn("add", done)
        if self.place is not None:
            if self.paused:
                self.ask("resume", self.id)
            self.wait_for(lambda contents: contents[1]["complete"])
            self.assert_files(self.place, True)


if __name__ == "__main__":
    harness.main()
