"""What the end-to-end tests share: programs, contents, comparisons. Run by Debian's Python.

A test is a method of a subclass of `SwarmTest`. It starts programs with `self.firn`, `self.share`,
`self.get`, `self.tracker`; those that still run at its end are ended. Each wait is
for an event, a line or an exit, with a deadline (scripts/running/programs.py), or asks again until an answer holds.
"""

import hashlib
import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests")]
from counted_unittest import main  # noqa: F401 (for the tests)
from running.programs import BUILD, Failed, Programs, bare  # noqa: F401

# Also for programs that tests start otherwise, and before they begin.
os.environ.update(Programs.ENVIRONMENT)

# Exit codes, as in `firn --help`.
UNREACHABLE = 3
USAGE, DISK, VERIFY_FAILED, WRONG_IDENTITY, PORT_IN_USE = 2, 4, 5, 6, 7
ON_COMPLETE_FAILED, INTERRUPTED = 8, 130

LISTEN = ["--listen", "127.0.0.1:0", "--json"]
KIB = 1 << 10
MIB = 1 << 20


def content_bytes(size, seed=1):
    """Bytes without pattern, the same for the same arguments."""
    return random.Random(f"{seed} {size}").randbytes(size)


def write_tree(folder, files):
    """Makes {path: bytes or size}; a path ending in / is an empty folder. Returns the folder."""
    for path, data in files.items():
        target = folder / path
        if path.endswith("/"):
            target.mkdir(parents=True)
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content_bytes(data, path) if isinstance(data, int) else data)
    return folder


def tree_of(path):
    """What a file or folder is: {path: (mode, modified ns, sha256)}; folders have no time, links a
    target."""
    found = {}
    for entry in [path, *sorted(path.rglob("*"))]:
        name = str(entry.relative_to(path))
        status = entry.lstat()
        if entry.is_symlink():
            found[name] = ("link", os.readlink(entry))
        elif entry.is_dir():
            found[name] = "folder"
        else:
            digest = hashlib.sha256()
            with entry.open("rb") as file:
                while chunk := file.read(MIB):
                    digest.update(chunk)
            found[name] = (oct(status.st_mode & 0o777), status.st_mtime_ns, digest.hexdigest())
    return found


class SwarmTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="firn-e2e-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.programs = Programs()
        self.programs.__enter__()
        self.addCleanup(self.programs.__exit__, None, None, None)

    # --- programs ---

    def tracker(self, name="tracker", listen="127.0.0.1:0", *options):
        return self.programs.tracker(self.folder / name, name, listen, *options)

    def firn(self, name, *arguments, **popen):
        return self.programs.firn(name, *arguments, **popen)

    def share(self, path, *options, name="seed"):
        """A running `firn share` that listens on loopback and speaks JSON."""
        return self.firn(name, "share", path, *LISTEN, *options)

    def get(self, what, name="get", *options, into=None):
        """A running `firn get` into folder/NAME (or `into`)."""
        return self.firn(name, "get", what, "-o", into or self.folder / name, *LISTEN, *options)

    def run_firn(self, *arguments, timeout=60, **popen):
        """Runs to the end: (exit status, stdout, stderr)."""
        program = self.firn(str(arguments[0]), *arguments, **popen)
        status = program.wait_exit(timeout)
        return status, program.output("stdout"), program.output("stderr")

    def create(self, path, *options):
        """The manifest file of `firn create PATH`."""
        manifest = self.folder / f"{path.name}.firn"
        status, _, errors = self.run_firn("create", path, "-o", manifest, *options)
        self.assertEqual(0, status, errors)
        return manifest

    # --- contents ---

    def file(self, size, name="content.bin"):
        path = self.folder / "source" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content_bytes(size, name))
        return path

    def tree(self, files, name="holiday"):
        return write_tree(self.folder / "source" / name, files)

    # --- what must hold ---

    def assert_completes(self, program, timeout=60):
        """It ends with 0 after a `complete` event, which is returned."""
        complete = program.wait_event("complete", timeout)
        self.assertEqual(0, program.wait_exit(timeout), program.story())
        return complete

    def assert_same(self, source, copy):
        self.assertEqual(tree_of(source), tree_of(copy))

    def assert_downloaded(self, source, program, timeout=60, into=None):
        """The program completes and leaves the source's files, and nothing else, in its folder."""
        complete = self.assert_completes(program, timeout)
        folder = into or self.folder / program.name
        self.assert_same(source, folder / source.name)
        self.assertEqual([source.name], sorted(p.name for p in folder.iterdir()))
        return complete

    def assert_refused(self, result, expected, *words):
        """(status, stdout, stderr) of a run that failed with a clear error: with the expected
        status, and every one of `words` in what it said."""
        status, output, errors = result
        said = f"status {status}\n{output}\n{errors}"
        self.assertEqual(expected, status, said)
        for word in words:
            self.assertIn(word.lower(), (output + errors).lower(), said)
        self.assertNotIn("check failed", errors)
        self.assertNotIn("terminate called", errors)


def free_port():
    """A port that was free a moment ago: for programs that must be told one."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


def own_host():
    """A loopback address that no other process of these tests uses: for ports that are given."""
    own = os.getpid()
    return f"127.{1 + (own >> 16) % 254}.{own >> 8 & 255}.{1 + (own & 255) % 254}"


def is_root():
    return os.geteuid() == 0


def in_mount_namespace(prepare):
    """A command prefix that runs what follows in a mount namespace of its own, after the shell
    commands `prepare`. Needs root."""
    return ["unshare", "--mount", "--propagation", "private", "sh", "-ec",
            prepare + '\nexec "$@"', "sh"]


def can_mount():
    if not is_root() or not shutil.which("unshare"):
        return False
    test = in_mount_namespace("mount -t tmpfs none /mnt") + ["true"]
    return subprocess.run(test, capture_output=True).returncode == 0
