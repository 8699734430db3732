#!/usr/bin/python3
"""The commands of README.md work as they stand there, one after the other."""

import re
import shutil
import subprocess
import time

import harness

UNTIL_INTERRUPTED = "until Ctrl-C"


def commands(after="\n## Using it\n"):
    """(command, comment) of each line of the first block behind a text."""
    text = (harness.ROOT / "README.md").read_text().partition(after)[2]
    block = re.match(r"\n+((?: {4}.*\n)+)", text).group(1)
    return [tuple(part.strip() for part in line.partition(" #")[::2])
            for line in block.splitlines()]


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
        deadline = time.monotonic() + 60
        while words not in subprocess.run([harness.BUILD / "client/firn", "list"], cwd=machine[0], env=machine[1], text=True,
                                          capture_output=True, check=True).stdout:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)


if __name__ == "__main__":
    harness.main()
