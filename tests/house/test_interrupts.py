#!/usr/bin/python3
"""Scripts that are told to end leave nothing behind."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import counted_unittest

SCRIPT = """
import pathlib, sys, tempfile, time
sys.path.insert(0, sys.argv[1])
from running import interrupts
interrupts.leave_blocks()
with tempfile.TemporaryDirectory() as folder:
    pathlib.Path(folder, "content").touch()
    print(folder, flush=True)
    time.sleep(600)
"""


# In mounts of its own. What the first sleep has open holds up its part of the root for a while.
MOUNTS = """
. "$1/scripts/packages/chroots.sh"
mount_root "$2"
exec 9<"$2/dev/null"
sleep 1 &
exec 9<&-
unmount_roots
grep "$2" /proc/self/mounts || echo all unmounted
"""


def hear_all():
    """For preexec_fn: what runs these tests may ignore them (`nohup`), which a child would inherit."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


class Interrupts(unittest.TestCase):
    def test_what_a_block_made_is_gone(self):
        for number in (signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number), tempfile.TemporaryDirectory() as folder:
                script = subprocess.Popen([sys.executable, "-c", SCRIPT, ROOT / "scripts"], stdout=subprocess.PIPE,
                                          text=True, env={**os.environ, "TMPDIR": folder}, preexec_fn=hear_all)
                with script:
                    made = pathlib.Path(script.stdout.readline().strip())
                    self.assertTrue((made / "content").exists())
                    script.send_signal(number)
                    self.assertEqual(128 + number, script.wait(60))
                self.assertEqual([], os.listdir(folder))

    def test_what_was_ignored_stays_ignored(self):
        script = "import signal, sys; sys.path.insert(0, sys.argv[1]); from running import interrupts; " \
                 "interrupts.leave_blocks(); print(signal.getsignal(signal.SIGHUP) is signal.SIG_IGN)"
        done = subprocess.run(["nohup", sys.executable, "-c", script, ROOT / "scripts"], capture_output=True, text=True)
        self.assertEqual("True", done.stdout.strip(), done.stderr)

    def test_a_bare_system_waits_for_what_is_still_open_in_it(self):
        unshare = ["unshare", "--mount", "--propagation", "private"]
        if os.geteuid() != 0 or subprocess.run([*unshare, "true"], capture_output=True).returncode != 0:
            self.skipTest("may not mount here")
        with tempfile.TemporaryDirectory() as folder:
            ran = subprocess.run([*unshare, "bash", "-c", MOUNTS, "mounts", ROOT, folder], capture_output=True, text=True)
            self.assertEqual(("all unmounted\n", ""), (ran.stdout, ran.stderr))


if __name__ == "__main__":
    counted_unittest.main()
