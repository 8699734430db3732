#!/usr/bin/python3
"""The commands of README.md and of the tasks in docs/operations.md work as they stand there, one after the other."""

import hashlib
import re
import shutil
import subprocess
import time

import fake_ssh
import harness
from origin_server import OriginServer

UNTIL_INTERRUPTED = "until Ctrl-C"


def commands(after="\n## Using it\n"):
    """(command, comment) of each line of the first block behind a text of README.md."""
    text = (harness.ROOT / "README.md").read_text().partition(after)[2]
    return lines_of(re.match(r"\n+((?: {4}.*\n)+)", text).group(1))


def lines_of(block):
    return [tuple(part.strip() for part in line.partition(" #")[::2])
            for line in block.splitlines() if line.startswith(("    firn", "    rm ", "    python3 ", "    build/"))]


def tasks():
    """{title: [(command, comment)]} of docs/operations.md."""
    text = (harness.ROOT / "docs/operations.md").read_text()
    section = text.partition("\n## Tasks\n")[2].partition("\n## ")[0]
    return {page.partition("\n")[0]: lines_of(page) for page in section.split("\n### ")[1:]}


def wait_for(holds):
    deadline = time.monotonic() + 60
    while not holds():
        if time.monotonic() > deadline:
            raise AssertionError("it does not come to hold")
        time.sleep(0.05)


class Readme(harness.SwarmTest):
    def test_its_commands_work_in_order(self):
        (self.folder / "build").symlink_to(harness.BUILD.resolve())
        shutil.copytree(harness.ROOT / "docs", self.folder / "docs")
        # What must differ from what the README says. A loopback address stands for the host's name
        # and is listened at, as other trackers may run on this machine.
        host = harness.own_host()
        replacements = {"firn-tracker ": f"firn-tracker --listen {host} ", "localhost": host}
        running, words_seen = [], set()
        for command, comment in commands():
            for old, new in replacements.items():
                command = command.replace(old, new)
            words = command.split()
            name = " ".join(words[:2])
            words_seen.add(words[1] if words[0].endswith("/firn") else words[0].split("/")[-1])
            program = self.programs.start(name, ["bash", "-c", f"exec {command}"],
                                          cwd=self.folder)
            if comment.startswith(UNTIL_INTERRUPTED):
                program.endpoint()  # it is up
                running.append(program)
            else:
                self.assertEqual(0, program.wait_exit(), program.story())
            if "prints a link" in comment:
                replacements["firn:..."] = program.link()
        self.assert_same(self.folder / "docs", self.folder / "downloads" / "docs")
        for program in running:
            self.assertEqual(0, program.stop(), program.story())
        # The block still shows what a newcomer needs.
        self.assertLessEqual({"firn-tracker", "share", "get", "seed", "info", "verify"},
                             words_seen)

    def machine(self, name):
        """The environment of a user on a machine of its own, whose daemon runs."""
        home = self.folder / name
        (home / ".config/firn").mkdir(parents=True)
        config = home / ".config/firn/config.toml"
        config.write_text('listen = "127.0.0.1:0"\n')
        config.chmod(0o600)
        environment = {"HOME": str(home), "PATH": f"{harness.BUILD.resolve() / 'client'}:/usr/bin:/bin", "LANG": "C.UTF-8"}
        # In place of the unit, which does the same.
        self.programs.start(name, [harness.BUILD / "client/firn", "daemon", "--json"], cwd=home, env=environment).wait_event("daemon")
        return home, environment

    def test_its_every_day_works_between_two_machines(self):
        here, there = self.machine("here"), self.machine("there")
        shutil.copytree(harness.ROOT / "docs", here[0] / "docs")
        link, seen = "", []
        for command, comment in commands("all that you share and get, also after a restart:\n"):
            if command.startswith("systemctl"):
                continue
            home, environment = there if comment.startswith("on another machine") else here
            program = self.programs.start(command, ["bash", "-c", "exec " + command.replace("firn:...", link)], cwd=home,
                                          env=environment)
            status, said = program.wait_exit(), program.output("stdout")
            if "without libwebsockets" in program.output("stderr"):
                continue
            self.assertEqual(0, status, program.story())
            seen.append(command.split()[1])
            if command.startswith("firn share"):
                link = said.strip()
            if command.startswith("firn page"):
                self.assertRegex(said, r"^http://127\.0\.0\.1:\d+/#token=.+")
        self.assertLessEqual({"share", "add", "list"}, set(seen))
        self.wait_listed(there, "100%")
        self.assert_same(here[0] / "docs", there[0] / "Downloads/docs")

    def wait_listed(self, machine, words):
        wait_for(lambda: words in subprocess.run([harness.BUILD / "client/firn", "list"], cwd=machine[0], env=machine[1],
                                                 text=True, capture_output=True, check=True).stdout)



class Tasks(harness.SwarmTest):
    """Each test runs one task; what a task says of names and hosts is replaced by what there is here."""

    def setUp(self):
        super().setUp()
        builds = harness.BUILD.resolve()
        self.environment = {"HOME": str(self.folder), "LANG": "C.UTF-8", "XDG_RUNTIME_DIR": str(self.folder),
                            "PATH": f"{builds / 'client'}:{builds / 'tracker'}:/usr/bin:/bin"}
        self.host = harness.own_host()
        self.replaced = {"firn-tracker ": f"firn-tracker --listen {self.host} ", "tracker.example": self.host,
                         "'*:4712'": self.host}
        for name in ("holiday", "plans", "release-1.2"):
            harness.write_tree(self.folder / name, {"a.bin": 300_000, "b/c.bin": 5})
        (self.folder / "docs").symlink_to(harness.ROOT / "docs")

    def start(self, command):
        for old, new in self.replaced.items():
            command = command.replace(old, new)
        return self.programs.start(command, ["bash", "-c", f"exec {command}"], cwd=self.folder, env=self.environment)

    def needs_tracker(self):
        self.start("firn-tracker --data tracker-data").endpoint()

    def do(self, title):
        """Runs the task's commands; what the last one wrote to standard output."""
        said = ""
        for command, comment in tasks()[title]:
            program = self.start(command)
            if comment.startswith(UNTIL_INTERRUPTED):
                program.endpoint()
            else:
                self.assertEqual(0, program.wait_exit(), program.story())
                said = program.output("stdout")
            if "prints a link" in comment:
                self.replaced["firn:..."] = program.link()
            if "prints KEY" in comment:
                self.replaced["KEY"] = said.split()[-1]
        return said

    def test_share_with_the_world(self):
        self.do("Share with the world")
        self.assert_same(self.folder / "holiday", self.folder / "downloads/holiday")

    def test_share_privately(self):
        self.needs_tracker()
        self.do("Share privately")
        self.assert_same(self.folder / "plans", self.folder / "downloads/plans")

    def test_publish_releases_with_a_key(self):
        self.needs_tracker()
        self.do("Publish releases with a key")
        self.assert_same(self.folder / "release-1.2", self.folder / "downloads/release-1.2")

    def test_take_some_of_the_files(self):
        self.replaced["firn:..."] = self.start(f"firn share holiday/ --no-tracker --listen {self.host}").link()
        self.start("firn daemon --listen 127.0.0.1:0 --json").wait_event("daemon")
        self.do("Take some of the files")
        self.assert_same(self.folder / "holiday", self.folder / "downloads/holiday")
        wait_for(lambda: (self.folder / "films/holiday/b/c.bin").exists())
        self.assertFalse((self.folder / "films/holiday/a.bin").exists())

    def test_pipe_a_file_into_another_program(self):
        self.part_of_a_download("true").wait_exit()
        digest = hashlib.sha256((self.folder / "holiday/a.bin").read_bytes()).hexdigest()
        self.assertIn(digest, self.do("Pipe a file into another program"))

    def test_watch_it_while_it_comes(self):
        (self.folder / "holiday/b/film.mkv").write_bytes(b"film" * 1000)
        self.part_of_a_download("true").wait_exit()
        self.start("firn daemon").endpoint()
        self.assertEqual(0, self.start("firn add firn:... -o elsewhere/").wait_exit())
        self.replaced |= {"'mpv --ytdl=no'": "true", "vlc": "true"}
        self.do("Watch it while it comes")

    def part_of_a_download(self, get):
        self.replaced["firn:..."] = self.start(f"firn share holiday/ --no-tracker --listen {self.host} --up-limit 100K").link()
        return self.start(get)

    def test_fetch_from_a_web_server_or_bucket_with_many_machines(self):
        self.needs_tracker()
        (self.folder / "big.bin").write_bytes(b"big" * 100_000)
        server = OriginServer(self.folder)
        self.addCleanup(server.stop)
        url = f"http://127.0.0.1:{server.port}"
        # A server on this machine is asked only by hand.
        self.replaced |= {"https://files.example": url,
                          "get holiday.firn": f"get holiday.firn --origin {url}/holiday/",
                          "get big.firn": f"get big.firn --origin {url}/big.bin"}
        self.do("Fetch from a web server or bucket with many machines")
        self.assert_same(self.folder / "holiday", self.folder / "downloads/holiday")
        self.assertEqual((self.folder / "big.bin").read_bytes(), (self.folder / "downloads/big.bin").read_bytes())

    def test_ship_a_file_to_fifty_machines_over_ssh(self):
        ssh = fake_ssh.make(self.folder / "ssh", self.folder / "machines")
        self.replaced |= {"[01-50]": "[01-03]", "/srv/data": "data", "--hosts failed.txt": f"node01:data --repair --ssh {ssh}",
                          "firn push holiday/ 'node": f"firn push holiday/ --ssh {ssh} 'node"}
        self.do("Ship a file to fifty machines over ssh")
        for name in ("node01", "node02", "node03"):
            self.assert_same(self.folder / "holiday", self.folder / "machines" / name / "data/holiday")

    def test_throw_away_a_download_that_is_not_complete(self):
        get = self.part_of_a_download("firn get firn:... -o downloads/ --json")
        get.wait_event("progress", where=lambda event: event["rank"] > 0)
        get.stop()
        self.replaced["CONTENT_ID"] = self.replaced["firn:..."].removeprefix("firn:").partition("/")[0]
        self.start("firn daemon").endpoint()
        self.assertEqual(0, self.start("firn add firn:... -o elsewhere/").wait_exit())
        self.do("Throw away a download that is not complete")
        self.assertEqual([str(path) for path in (self.folder / "downloads").rglob("*") if path.name != ".firn"], [])
        wait_for(lambda: not (self.folder / "elsewhere/holiday").exists())

    def test_download_without_uploading(self):
        self.part_of_a_download("true").wait_exit()
        self.do("Download without uploading")
        self.assert_same(self.folder / "holiday", self.folder / "downloads/holiday")

    def test_use_firn_from_python(self):
        self.start("firn daemon").endpoint()
        self.assertIn("contents", self.do("Use Firn from Python"))

    def test_every_task_with_commands_is_run_here(self):
        run = {name.removeprefix("test_") for name in dir(self)}
        for title, lines in tasks().items():
            if lines:
                self.assertIn(title.lower().replace(" ", "_"), run)



if __name__ == "__main__":
    harness.main()
