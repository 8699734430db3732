#!/usr/bin/python3
"""The commands of README.md work as they stand there, one after the other."""

import re
import shutil

import harness

UNTIL_INTERRUPTED = "until Ctrl-C"


def commands():
    """(command, comment) of each line of the block below "Using it"."""
    text = (harness.ROOT / "README.md").read_text().partition("\n## Using it\n")[2]
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


if __name__ == "__main__":
    harness.main()
