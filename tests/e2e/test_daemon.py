#!/usr/bin/python3
"""One process holds all contents: `firn daemon` and the commands that ask it."""

import json
import os
import pathlib
import signal
import socket
import stat
import time

import harness
from daemons import DaemonTest
from harness import DISK, KIB, LISTEN, UNREACHABLE, USAGE


class Contents(DaemonTest):
    def test_a_content_that_is_added_arrives_and_is_served_on(self):
        source = self.tree({"a": 300 * KIB, "b/c": 5})
        seed = self.share(source)
        daemon = self.daemon()
        added = self.add(seed.link())
        self.assertTrue(seed.link().startswith("firn:" + added["content_id"]))
        self.wait_complete()
        self.assert_same(source, self.downloads / source.name)
        self.assertEqual({"holiday": "seeding"}, self.states())
        self.assertEqual(0, seed.stop())
        get = self.get("firn:" + added["content_id"], "get", "--no-tracker", "--peer",
                       daemon.endpoint())
        self.assert_downloaded(source, get)
        self.assertEqual(0, daemon.stop())

    def test_a_manifest_file_is_added_by_its_path_and_served(self):
        source = self.file(200 * KIB)
        manifest = self.create(source)
        daemon = self.daemon()
        self.ask("add", manifest, "-o", source.parent, "--serve")
        manifest.unlink()
        self.wait_state("seeding")
        id = self.contents()[0]["content_id"]
        get = self.get("firn:" + id, "get", "--no-tracker", "--peer", daemon.endpoint())
        self.assert_downloaded(source, get)

    def test_a_content_without_a_folder_goes_where_downloads_go(self):
        seed = self.share(self.file(100 * KIB))
        self.daemon("--download-dir", self.downloads)
        status, output, errors = self.run_firn("add", seed.link(), "--socket", self.socket)
        self.assertEqual(0, status, errors)
        self.assertIn(f"goes into {self.downloads}", errors)
        self.wait_complete()
        self.assertTrue((self.downloads / "content.bin").exists())
        served = self.file(10 * KIB, "served.bin")
        status, _, errors = self.run_firn("add", self.create(served), "--serve", "--socket", self.socket,
                                          cwd=served.parent)
        self.assertEqual(0, status, errors)
        self.assertEqual(str(served.parent), self.ask("show", "served.bin")["folder"])

    def test_downloads_go_where_the_desktop_has_them(self):
        config = self.folder / "config"
        config.mkdir()
        (config / "user-dirs.dirs").write_text(f'XDG_DOWNLOAD_DIR="{self.downloads}"\n')
        environment = dict(os.environ, HOME=str(self.folder), XDG_CONFIG_HOME=str(config))
        daemon = self.firn("daemon", "daemon", "--data", self.data, "--socket", self.socket, "--json", *LISTEN,
                           env=environment)
        daemon.wait_event("daemon")
        self.assertEqual(str(self.downloads), self.request("status")["result"]["download_dir"])
        self.assertEqual(0, daemon.stop())
        # Without a home there is no such place, and it is told that one is missing.
        del environment["HOME"], environment["XDG_CONFIG_HOME"]
        daemon = self.firn("homeless", "daemon", "--data", self.data, "--socket", self.socket, "--json", *LISTEN,
                           env=environment)
        daemon.wait_event("daemon")
        refused = self.run_firn("add", "firn:" + "a" * 52, "--socket", self.socket)
        self.assert_refused(refused, USAGE, "folder is missing", "--download-dir")
        refused = self.run_firn("watch", self.folder, "--socket", self.socket)
        self.assert_refused(refused, USAGE, "--download-dir")

    def test_the_peers_of_a_content_are_listed(self):
        source = self.file(300 * KIB)
        seed = self.share(source)
        self.daemon("--down-limit", "100K")
        self.add(seed.link())
        self.wait_for(lambda contents: contents[0]["rank"] > 0)
        told = self.ask("peers", source.name)
        self.assertEqual([seed.id()], [peer["peer"] for peer in told["peers"]])
        self.assertRegex(told["peers"][0]["agent"], "^firn/")
        self.assertGreater(told["peers"][0]["bytes_received"], 0)
        self.assertEqual([], told["bans"])
        status, table, _ = self.run_firn("peers", source.name, "--socket", self.socket)
        self.assertEqual((0, 2), (status, len(table.splitlines())))
        self.assertIn(seed.id()[:8], table)

    def test_contents_are_paused_and_resumed(self):
        source = self.file(300 * KIB)
        seed = self.share(source)
        self.daemon()
        id = self.add(seed.link())["content_id"]
        self.wait_complete()
        self.ask("pause", source.name)
        paused = self.wait_state("paused")
        self.assertEqual(0, paused[0]["peers"])
        self.ask("resume", id[:6])
        self.wait_state("seeding")

    def test_a_download_that_was_paused_goes_on(self):
        source = self.file(2000 * KIB)
        seed = self.share(source)
        daemon = self.daemon("--down-limit", "400K")
        self.add(seed.link())
        self.wait_for(lambda contents: contents[0]["rank"] > 0)
        self.ask("pause", source.name)
        self.ask("resume", source.name)
        self.ask("pause", source.name)
        self.wait_state("paused")
        self.assertFalse((self.downloads / source.name).exists())
        self.ask("resume", source.name)
        self.wait_complete()
        self.assert_same(source, self.downloads / source.name)
        self.assertEqual(0, daemon.stop())

    def test_a_removed_content_leaves_its_files_unless_told_otherwise(self):
        source = self.tree({"a": 100 * KIB, "b/c": 5, "empty/": None})
        seed = self.share(source)
        self.daemon()
        copy = self.downloads / source.name
        self.add(seed.link())
        self.wait_complete()
        self.ask("remove", source.name)
        self.wait_for(lambda contents: contents == [])
        self.assert_same(source, copy)

        self.wait_added_again(seed.link())
        self.wait_complete()
        (copy / "b" / "mine").write_text("not the content's")
        self.ask("remove", source.name, "--delete-data")
        self.wait_for(lambda contents: contents == [])
        self.assertEqual(["b", "b/mine"], sorted(str(p.relative_to(copy)) for p in copy.rglob("*")))
        self.assertEqual([source.name], [p.name for p in self.downloads.iterdir()])

    def wait_added_again(self, link):
        """A content that was removed can be added once its session has left."""
        deadline = time.monotonic() + 30
        while True:
            status, output, errors = self.run_firn(
                "add", link, "-o", self.downloads, "--socket", self.socket, "--json")
            if status == 0:
                return
            self.assertIn("being removed", output + errors)
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)

    def test_what_a_download_has_finished_is_deleted_with_it_and_nothing_else(self):
        source = self.tree({"a": 900 * KIB, "b": 4000 * KIB})
        self.daemon("--down-limit", "800K")
        self.add(self.share(source).link())
        copy = self.downloads / source.name
        self.wait_for(lambda contents: (copy / "a").exists())
        (copy / "b").write_bytes(b"mine")
        self.ask("remove", source.name, "--delete-data")
        self.wait_for(lambda contents: contents == [])
        self.assertEqual([copy / "b"], [p for p in self.downloads.rglob("*") if p != copy])

    def test_a_file_that_was_in_the_way_is_not_deleted_with_the_content(self):
        source = self.file(100 * KIB)
        self.downloads.mkdir()
        other = self.downloads / source.name
        other.write_text("somebody's own")
        self.daemon()
        self.add(self.share(source).link())
        failed = self.wait_state("failed")
        self.assertIn("failure", failed[0])
        self.ask("remove", failed[0]["content_id"], "--delete-data")
        self.wait_for(lambda contents: contents == [])
        self.assertEqual("somebody's own", other.read_text())

    def test_only_the_content_s_own_files_are_deleted_with_it(self):
        source = self.tree({"a": 100 * KIB, "b": 50 * KIB, "c": 30 * KIB})
        self.daemon()
        self.add(self.share(source).link())
        self.wait_complete()
        copy = self.downloads / source.name
        (copy / "a").write_bytes(bytes(100 * KIB))  # of the same size
        os.utime(copy / "b")  # the same bytes, touched
        (copy / "c").unlink()
        self.ask("remove", source.name, "--delete-data")
        self.wait_for(lambda contents: contents == [])
        self.assertEqual(["a"], os.listdir(copy))

    def test_a_file_of_the_same_name_one_folder_deeper_is_not_deleted(self):
        source = self.file(100 * KIB)
        self.daemon()
        self.add(self.share(source).link())
        self.wait_complete()
        deeper = self.downloads / "project"
        deeper.mkdir()
        (self.downloads / source.name).rename(deeper / source.name)
        self.ask("remove", source.name, "--delete-data")
        self.wait_for(lambda contents: contents == [])
        self.assert_same(source, deeper / source.name)

    def test_what_was_never_right_is_not_deleted_with_a_served_content(self):
        source = self.file(100 * KIB)
        manifest = self.create(source)
        self.downloads.mkdir()
        own = self.downloads / source.name
        own.write_text("another version")
        self.daemon()
        self.ask("add", manifest, "--serve", "-o", self.downloads)
        self.wait_state("failed")
        self.ask("remove", source.name, "--delete-data")
        self.wait_for(lambda contents: contents == [])
        self.assertEqual("another version", own.read_text())

    def test_a_finished_content_is_served_on_after_resume(self):
        source = self.file(100 * KIB)
        self.daemon()
        self.add(self.share(source).link(), "--seed", "none")
        self.wait_state("finished")
        self.ask("resume", source.name)
        self.wait_state("seeding")

    def test_seeding_ends_when_it_is_said_to(self):
        source = self.file(100 * KIB)
        daemon = self.daemon()
        self.add(self.share(source).link(), "--seed", "none")
        self.wait_state("finished")
        daemon.stop()
        self.daemon()
        self.assertEqual({source.name: "finished"}, self.states())

    def test_the_secret_of_a_private_content_is_shown_nowhere(self):
        source = self.file(100 * KIB)
        seed = self.share(source, "--private")
        secret = harness.bare(seed.link()).partition(".")[2]
        self.assertGreater(len(secret), 40)
        daemon = self.daemon("-v", "--log", self.folder / "log")
        self.add(seed.link())
        self.wait_complete()
        said = self.run_firn("add", seed.link(), "--socket", self.socket)
        self.assert_refused(said, DISK, "there already")
        shown = self.run_firn("show", source.name, "--socket", self.socket)
        wrong = self.request("add", source=seed.link() + "/tr=:::", folder="/")
        unknown = self.request("show", content=seed.link())
        daemon.stop()
        log = (self.folder / "log").read_text()
        for text in (str(said), str(shown), str(wrong), str(unknown), log, daemon.output("stdout"),
                     daemon.output("stderr")):
            self.assertNotIn(secret, text)


class Restarts(DaemonTest):
    def restarted(self, end):
        source = self.file(2000 * KIB)
        other = self.file(50 * KIB, "paused.bin")
        seed, paused = self.share(source), self.share(other, name="other")
        daemon = self.daemon("--down-limit", "400K")
        self.add(seed.link())
        self.add(paused.link())
        self.wait_for(lambda contents: contents[1]["name"] == other.name)
        self.ask("pause", other.name)
        self.wait_for(lambda contents: contents[0]["rank"] > 0)
        end(daemon)
        self.daemon()
        self.wait_for(lambda contents: contents[0]["state"] == "seeding")
        self.assertEqual({source.name: "seeding", other.name: "paused"}, self.states())
        self.assert_same(source, self.downloads / source.name)

    def test_contents_go_on_after_a_stop(self):
        def stop(daemon):
            daemon.send(signal.SIGTERM)
            self.assertEqual(0, daemon.wait_exit())
            self.assertFalse(self.socket.exists())
        self.restarted(stop)

    def test_contents_go_on_after_a_kill(self):
        self.restarted(lambda daemon: daemon.kill())

    def test_contents_go_on_after_the_daemon_was_asked_to_stop(self):
        def stop(daemon):
            self.assertEqual({"stopping": True}, self.request("stop")["result"])
            self.assertEqual(0, daemon.wait_exit())
        self.restarted(stop)

    def test_a_complete_content_is_served_again_without_its_source(self):
        source = self.file(300 * KIB)
        seed = self.share(source)
        daemon = self.daemon()
        id = self.add(seed.link())["content_id"]
        self.wait_complete()
        seed.stop()
        daemon.kill()
        daemon = self.daemon()
        get = self.get("firn:" + id, "get", "--no-tracker", "--peer", daemon.endpoint())
        self.assert_downloaded(source, get)

    def test_a_kill_after_an_answer_loses_nothing_of_it(self):
        manifests = [self.create(self.file(10 * KIB, f"{i}.bin")) for i in range(3)]
        for i, manifest in enumerate(manifests):
            daemon = self.daemon()
            self.add(manifest)
            daemon.kill()
            daemon = self.daemon()
            self.assertEqual(i + 1, len(self.contents()))
            self.ask("pause", f"{i}.bin")
            daemon.kill()
            daemon = self.daemon()
            self.assertEqual({f"{j}.bin": "paused" for j in range(i + 1)}, self.states())
            daemon.stop()
        daemon = self.daemon()
        self.ask("remove", "1.bin", "--delete-data")
        daemon.kill()
        self.daemon()
        self.wait_for(lambda contents: [c["name"] for c in contents] == ["0.bin", "2.bin"])


class Sockets(DaemonTest):
    def test_without_a_daemon_a_command_says_how_to_start_one(self):
        for command in (["list"], ["show", "x"], ["remove", "x"]):
            said = self.run_firn(*command, "--socket", self.socket)
            self.assert_refused(said, UNREACHABLE, "firn daemon", str(self.socket))

    def test_socket_and_state_are_for_this_account_alone(self):
        self.daemon()
        self.assertEqual(0o600, stat.S_IMODE(self.socket.stat().st_mode))
        self.assertEqual(0o700, stat.S_IMODE(self.data.stat().st_mode))
        for path in self.data.iterdir():
            self.assertEqual(0o600, stat.S_IMODE(path.stat().st_mode), path)

    def test_the_default_places_are_those_of_xdg(self):
        self.data = self.folder / "xdg"
        environment = dict(os.environ, XDG_STATE_HOME=str(self.data))
        environment.pop("XDG_RUNTIME_DIR", None)
        daemon = self.firn("daemon", "daemon", *LISTEN, env=environment)
        told = daemon.wait_event("daemon")
        self.assertEqual(str(self.data / "firn" / "firn.sock"), told["socket"])
        status, output, _ = self.run_firn("list", "--json", env=environment)
        self.assertEqual((0, []), (status, json.loads(output)["contents"]))
        # Its user has a session, which a daemon of the system has not.
        environment["XDG_RUNTIME_DIR"] = str(self.folder)
        status, output, _ = self.run_firn("list", "--json", env=environment)
        self.assertEqual((0, []), (status, json.loads(output)["contents"]))

    def test_the_service_manager_is_told_of_start_and_end(self):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.settimeout(20)
            manager.bind(str(self.folder / "manager"))
            daemon = self.firn("daemon", "daemon", "--data", self.data, "--socket", self.socket, *LISTEN,
                               env=dict(os.environ, NOTIFY_SOCKET=str(self.folder / "manager")))
            self.assertEqual(b"READY=1", manager.recv(100))
            self.assertEqual([], self.contents())
            self.assertEqual(0, daemon.stop())
            self.assertEqual(b"STOPPING=1", manager.recv(100))

    def test_a_second_daemon_on_the_same_data_is_refused(self):
        self.daemon()
        second = self.run_firn("daemon", "--data", self.data, "--socket", self.folder / "t", *LISTEN)
        self.assert_refused(second, DISK, "another daemon", str(self.data))
        self.assertEqual([], self.contents())

    def test_a_socket_that_another_program_listens_on_is_left_alone(self):
        self.daemon()
        second = self.run_firn("daemon", "--data", self.folder / "t", "--socket", self.socket, *LISTEN)
        self.assert_refused(second, DISK, "another program listens")
        self.assertEqual([], self.contents())

    def test_what_is_no_socket_is_left_alone(self):
        self.socket.write_text("mine")
        refused = self.run_firn("daemon", "--data", self.data, "--socket", self.socket, *LISTEN)
        self.assert_refused(refused, DISK, "--socket")
        self.assertEqual("mine", self.socket.read_text())
        long = self.folder / ("x" * 120)
        refused = self.run_firn("daemon", "--data", self.data, "--socket", long, *LISTEN)
        self.assert_refused(refused, USAGE, "too long")

    def test_what_listens_and_is_no_daemon_is_told(self):
        with socket.socket(socket.AF_UNIX) as other:
            other.bind(str(self.socket))
            other.listen()
            asking = self.firn("list", "list", "--socket", self.socket)
            peer, _ = other.accept()
            with peer:
                peer.sendall(b"SSH-2.0-something\n")
                self.assertEqual(UNREACHABLE, asking.wait_exit())
        self.assertIn("no daemon of firn", asking.output("stderr"))


class Requests(DaemonTest):
    def error_of(self, line):
        answers = self.call(line)
        self.assertEqual(1, len(answers), answers)
        return answers[0]["error"]

    def test_malformed_lines_are_refused_one_by_one(self):
        self.daemon()
        for line, code in ((b"{", -32700), (b"\xff\xfe", -32700), (b"[" * 5, -32700), (b"[" * 50000, -32600),
                           (b"\0", -32700), (b"[]", -32600), (b"1", -32600), (b"{}", -32600),
                           (b'{"jsonrpc":"2.0","id":{},"method":"list"}', -32600),
                           (b'{"jsonrpc":"2.0","id":1,"method":"fly"}', -32601),
                           (b'{"jsonrpc":"2.0","id":1,"method":"list","params":[1]}', -32602)):
            self.assertEqual(code, self.error_of(line + b"\n")["code"], line[:80])
        self.assertIn("version", self.request("version")["result"])

    def test_parameters_are_checked_by_name_and_type(self):
        self.daemon()
        for params, words in (({"content": "x", "colour": "red"}, "colour"),
                              ({}, "content"), ({"content": 7}, "content"),
                              ({"content": "x", "delete_data": "yes"}, "delete_data"),
                              ({"content": "a\0b"}, "U+0000")):
            error = self.request("remove", **params)["error"]
            self.assertEqual(-32602, error["code"], error)
            self.assertIn(words, error["message"])
        failed = self.request("show", content="x")["error"]
        self.assertEqual((-32000, "not_found"), (failed["code"], failed["data"]["code"]))
        for source, folder in (("firn:x", "/"), ("relative.firn", "/"), ("/missing.firn", "/"),
                               ("firn:" + "a" * 52, "relative")):
            self.assertIn("error", self.request("add", source=source, folder=folder))
        self.assertEqual([], self.contents())

    def test_a_line_without_end_is_refused_and_others_go_on(self):
        self.daemon()
        answers = self.call_open(b"x" * ((64 << 10) + 2))
        self.assertEqual(-32600, answers[0]["error"]["code"])
        self.assertEqual([], self.contents())

    def call_open(self, line):
        """As call(), with a connection that stays open on this side."""
        with socket.socket(socket.AF_UNIX) as peer:
            peer.settimeout(20)
            peer.connect(str(self.socket))
            try:
                peer.sendall(line)
            except BrokenPipeError:
                pass
            answer = b""
            while chunk := peer.recv(1 << 16):
                answer += chunk
        return [json.loads(one) for one in answer.splitlines()]

    def test_requests_of_one_connection_are_answered_in_order(self):
        self.daemon()
        lines = b"".join(b'{"jsonrpc":"2.0","id":%d,"method":"version"}\n' % i for i in range(500))
        silent = b'{"jsonrpc":"2.0","method":"version"}\n\n'
        with socket.socket(socket.AF_UNIX) as peer:
            peer.settimeout(20)
            peer.connect(str(self.socket))
            peer.sendall(silent + lines)
            with peer.makefile("rb") as answers:
                ids = [json.loads(answers.readline())["id"] for _ in range(500)]
        self.assertEqual(list(range(500)), ids)

    def test_a_reader_that_does_not_read_stops_nobody(self):
        self.daemon()
        with socket.socket(socket.AF_UNIX) as slow:
            slow.setblocking(False)
            slow.connect(str(self.socket))
            line = b'{"jsonrpc":"2.0","id":1,"method":"%s"}\n' % (b"y" * 4000)
            sent = 0
            # Until the daemon reads no more of it: its answers, as long as the questions, wait.
            while sent < 64 << 20:
                try:
                    sent += slow.send(line * 100)
                except BlockingIOError:
                    if self.contents() == [] and not self.takes_more(slow):
                        break
            self.assertLess(sent, 64 << 20)
            self.assertEqual([], self.contents())

    @staticmethod
    def takes_more(peer):
        try:
            return peer.send(b"\n") > 0
        except BlockingIOError:
            return False

    def test_a_silent_connection_makes_room_for_one_past_the_bound(self):
        self.daemon()
        peers = []
        for _ in range(64):
            peers.append(socket.socket(socket.AF_UNIX))
            self.addCleanup(peers[-1].close)
            peers[-1].settimeout(20)
            peers[-1].connect(str(self.socket))
        # The first has said something since the second one was opened.
        self.assert_answered(peers[0])
        self.assertEqual([], self.contents())
        self.assertEqual(b"", peers[1].recv(1))
        for peer in (peers[0], *peers[2:]):
            self.assert_answered(peer)

    def assert_answered(self, peer):
        peer.sendall(b'{"jsonrpc":"2.0","id":1,"method":"version"}\n')
        self.assertIn(b"version", peer.recv(4096))


if __name__ == "__main__":
    harness.main()
