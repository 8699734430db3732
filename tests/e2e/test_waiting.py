#!/usr/bin/python3
"""A download that does not move says why, ends when it is told to, and shows its peers."""

import random
import signal

import harness
from harness import LISTEN
from pypeer.connection import Connection
from pypeer.identity import Identity, raw_of, text_of
from pypeer.leech import Leech
from pypeer.manifest import Manifest
from pypeer.source import Source
from pypeer.wire import peer_pb2
from silence import silent_listener, vanish

N, K = 16, 512
GENERATION = N * K
GENERATIONS = 6
NETWORK = 3  # exit code


def link_to_nothing(**where):
    """A link to a content that no peer has."""
    parts = "&".join(f"{key}={value}" for key, value in where.items())
    return f"firn:{text_of(random.Random(1).randbytes(32))}?{parts}"


class Waiting(harness.SwarmTest):
    def content(self):
        self.source = self.file(GENERATIONS * GENERATION)
        self.data = self.source.read_bytes()
        self.manifest_file = self.create(self.source, "--generation-size", N, "--block-size", K)
        self.manifest = Manifest(self.manifest_file.read_bytes())

    def seed(self):
        return self.firn("seed", "seed", self.manifest_file, self.source.parent, *LISTEN)

    def lone_get(self, *options, name="get"):
        return self.get(self.manifest_file, name, "--no-tracker", "--no-pex", *options)

    def python_source(self, program, seed=1):
        identity = Identity(self.folder)
        connection = Connection(identity, program.endpoint())
        connection.identity = identity
        self.addCleanup(connection.close)
        return Source(connection, self.manifest, self.data, random.Random(seed))

    def standstill(self, program, reason, *words):
        """The program says for this reason that nothing comes."""
        event = program.wait_event("standstill", 30, where=lambda e: e["reason"] == reason)
        for word in words:
            self.assertIn(word, event["message"])
        return event

    # --- why nothing comes ---

    def test_a_content_that_a_living_tracker_does_not_know(self):
        tracker = self.tracker().endpoint()
        get = self.get(link_to_nothing(tr=tracker))
        where = tracker.split("@")[1]
        self.standstill(get, "nobody", f"tracker {where} knows no other peer of this content",
                        "no address of a peer is known")
        get.wait_line(r"nothing has come for \d+s: no peer is connected", stream="stderr")

    def test_a_tracker_that_is_not_there(self):
        where = f"127.0.0.1:{harness.free_port()}"
        get = self.get(link_to_nothing(tr=where))
        self.standstill(get, "nobody", f"tracker {where} cannot be asked: connection refused")

    def test_a_source_whose_file_has_changed(self):
        self.content()
        seed = self.seed()
        seed.wait_event("start")
        with self.source.open("r+b") as file:
            for generation in (1, 4):
                file.seek(generation * GENERATION)
                file.write(b"changed")
        get = self.lone_get("--peer", seed.endpoint())
        event = self.standstill(get, "lacking", f"lacks {2 * GENERATION / 1024:.1f} KiB of what is missing",
                                "says that its files changed or cannot be read", seed.id()[:8])
        self.assertEqual((GENERATIONS - 2) * GENERATION,
                         get.wait_event("progress", where=lambda e: e["bytes_verified"] ==
                                        (GENERATIONS - 2) * GENERATION)["bytes_verified"])
        # It is said once: seconds that pass are no other reason.
        get.wait_event("progress", where=lambda e: e["seconds"] > event["seconds"] + 3)
        said = [line for line in get.output("stderr").splitlines() if "nothing has come" in line]
        self.assertEqual(1, len(said), said)

    def test_packets_that_are_dropped_on_the_way(self):
        with silent_listener() as listener:
            where = f"127.0.0.1:{listener.getsockname()[1]}"
            get = self.get(link_to_nothing(peer=where), "get", "--no-tracker", "-v")
            get.wait_line(f"calling {where}", stream="stderr")
            self.standstill(get, "nobody", f"{where}: no answer yet since")
            # The attempt ends, its outcome is known and said, and another one follows.
            get.wait_event("standstill", 30, lambda e: f"{where}: no answer within" in e["message"])
            get.wait_line(f"{where}: .*no answer within", stream="stderr")

    def test_a_peer_that_died_without_goodbye(self):
        self.content()
        get = self.lone_get()
        source = self.python_source(get)
        source.serve_until(lambda: source.rank_of(0) == N // 2, {0: N // 2})
        vanish(source.connection.plain_socket())
        self.standstill(get, "silent", f"peer {source.connection.identity.text[:8]}",
                        "sends no blocks (last heard ")
        # What was granted to it is granted to another one.
        other = self.python_source(get, 2)
        other.serve_all()
        self.assert_downloaded(self.source, get)

    def test_a_peer_that_says_nothing_about_what_it_holds(self):
        self.content()
        get = self.lone_get()
        connection = Connection(Identity(self.folder), get.endpoint())
        self.addCleanup(connection.close)
        connection.greet(self.manifest.content_id)
        self.standstill(get, "no_state", "has not said what it holds")

    # --- --timeout ---

    def test_a_timeout_ends_a_download_that_cannot_begin(self):
        where = f"127.0.0.1:{harness.free_port()}"
        result = self.run_firn("get", link_to_nothing(peer=where), "-o", self.folder / "get",
                               *LISTEN, "--timeout", "1s")
        self.assert_refused(result, NETWORK, "no progress for 1s", where, "connection refused")

    def test_after_a_timeout_the_same_command_goes_on(self):
        self.content()
        get = self.lone_get("--timeout", "3s")
        source = self.python_source(get)
        source.serve_until(lambda: 0 in source.complete and source.rank_of(1) == N // 2,
                           {0: N, 1: N // 2})
        self.assertEqual(NETWORK, get.wait_exit(30), get.story())
        self.assertEqual("timeout", get.last_event("error")["code"])
        self.assertIn("sends no blocks", get.last_event("error")["message"])
        seed = self.seed()
        again = self.lone_get("--timeout", "60s", "--peer", seed.endpoint())
        self.assertEqual(N + N // 2, again.wait_event("start")["rank"])
        self.assert_downloaded(self.source, again)

    def test_a_timeout_does_not_end_a_peer_that_seeds(self):
        self.content()
        seed = self.seed()
        get = self.lone_get("--timeout", "1s", "--seed", "forever", "--peer", seed.endpoint())
        complete = get.wait_event("complete")
        get.wait_event("progress", where=lambda e: e["seconds"] > complete["seconds"] + 3)
        self.assertEqual(0, get.stop())

    def test_a_timeout_that_is_none(self):
        for text in ("0s", "soon", "-5"):
            result = self.run_firn("get", link_to_nothing(), "-o", self.folder / "get",
                                   "--timeout", text)
            self.assertEqual(harness.USAGE, result[0], result)

    # --- the table of peers ---

    def test_a_signal_shows_the_peers(self):
        self.content()
        get = self.lone_get()
        source = self.python_source(get)
        source.serve_until(lambda: source.rank_of(0) == N // 2, {0: N // 2})
        get.send(signal.SIGUSR1)
        event = get.wait_event("peers")
        self.assertEqual(self.manifest.content_id, raw_of(event["content_id"]))
        peer, = event["peers"]
        self.assertEqual(source.connection.identity.text, peer["peer"])
        self.assertEqual("in", peer["direction"])
        self.assertEqual(1, peer["held"])
        self.assertEqual(N // 2, peer["blocks_innovative"])
        self.assertGreater(peer["bytes_received"], N // 2 * K)
        get.wait_line(rf"^{source.connection.identity.text[:8]} .* in .*100.0%", stream="stderr")
        seed = self.seed()
        seed.wait_event("start")
        seed.send(signal.SIGUSR1)
        self.assertEqual([], seed.wait_event("peers")["peers"])

    def test_a_program_that_has_no_table_takes_no_harm(self):
        tracker = self.tracker()
        endpoint = tracker.endpoint()
        tracker.send(signal.SIGUSR1)
        self.content()
        seed = self.firn("seed", "seed", self.manifest_file, self.source.parent, *LISTEN, "-v",
                         "--tracker", endpoint)
        seed.wait_line(r"tracker .*: 1 complete", stream="stderr")
        self.assertIsNone(tracker.process.poll())

    def test_the_table_comes_as_often_as_it_was_asked_for(self):
        self.content()
        get = self.lone_get("--peers", "1s")
        get.wait_event("peers")
        get.wait_line("0 peers connected", stream="stderr")

    # --- what a source cannot serve any more, and what a peer does not want ---

    def test_a_second_implementation_hears_what_is_withdrawn(self):
        self.content()
        seed = self.seed()
        seed.wait_event("start")
        with self.source.open("r+b") as file:
            file.seek(2 * GENERATION)
            file.write(b"changed")
        connection = Connection(Identity(self.folder), seed.endpoint())
        self.addCleanup(connection.close)
        leech = Leech(connection, self.manifest.content_id)
        leech.use_manifest(self.manifest)
        leech.send_state(generations=[2])
        while True:
            message = connection.receive()
            state = message.state if message.WhichOneof("body") == "state" else message.block.state
            if state.withdrawn:
                break
        self.assertEqual([(2, 1)], [(span.first, span.count) for span in state.withdrawn])
        self.assertEqual([(2, 1)], [(span.first, span.count) for span in state.unwanted])

    def test_what_a_peer_does_not_want_is_not_sent_to_it(self):
        self.content()
        connection = Connection(Identity(self.folder), self.seed().endpoint())
        self.addCleanup(connection.close)
        leech = Leech(connection, self.manifest.content_id)
        leech.use_manifest(self.manifest)
        connection.send(state=peer_pb2.State(credit=4 * N, unwanted=[
            peer_pb2.Span(first=0, count=2), peer_pb2.Span(first=3, count=3)]))
        while 2 not in leech.done:
            leech.take(connection.receive())
        self.assertEqual({2}, {generation for generation, _, _ in leech.blocks})

    def test_a_first_message_that_is_none_gets_a_goodbye(self):
        self.content()
        log = self.folder / "log"
        seed = self.firn("seed", "seed", self.manifest_file, self.source.parent, *LISTEN, "-v",
                         "--log", log)
        connection = Connection(Identity(self.folder), seed.endpoint())
        self.addCleanup(connection.close)
        connection.send(hello=peer_pb2.Hello(version_min=1, version_max=1, content_id=b"short"))
        goodbye = connection.receive().goodbye
        self.assertEqual(peer_pb2.Goodbye.PROTOCOL_ERROR, goodbye.reason)
        self.assertIn("content id", goodbye.detail)
        seed.wait_line("turned away: hello: the content id", stream="stderr")


if __name__ == "__main__":
    harness.main()
