"""Processes with their use of processors and memory. None outlives its `with` block, nor this
process; each wait has a deadline, which only ends a hang."""

import ctypes
import os
import pathlib
import select
import signal
import socket
import subprocess
import time

START_S = 60  # until a program does what comes before it serves
LONGEST_S = 3600  # a transfer, or the hashing before it
LOOK_S = 0.01

_libc = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG = 1


def die_with_parent():
    """For preexec_fn: also where this process is killed and leaves no `with` block."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def environment_in(folder):
    """Keys and other state in `folder`, not in the user's home, and no configuration from there."""
    return os.environ | {"XDG_STATE_HOME": str(folder), "FIRN_CONFIG": ""}


class Child:
    """A process in a group of its own, whose resource use is read when it has ended. A context
    manager: what still runs at its end is killed with its group."""

    def __init__(self, argv, stdout=subprocess.DEVNULL, environment=None):
        self.argv = [str(word) for word in argv]
        self.usage = None
        self.process = subprocess.Popen(self.argv, stdout=stdout, stderr=subprocess.DEVNULL,
                                        env=environment, start_new_session=True,
                                        preexec_fn=die_with_parent)
        self._end = os.pidfd_open(self.process.pid)  # readable once it has ended

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.usage is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self._reap()

    def _reap(self):
        _, status, self.usage = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        os.close(self._end)

    def has_ended(self, within=0):
        """Whether it has ended, or does within `within` seconds."""
        if self.usage is not None:
            return True
        poll = select.poll()
        poll.register(self._end, select.POLLIN)
        return bool(poll.poll(1000 * within))

    def wait(self, longest=LONGEST_S):
        """The exit code."""
        if self.usage is None:
            if not self.has_ended(longest):
                raise SystemExit(f"{self.argv[0]} still runs after {longest} s")
            self._reap()
        return self.process.returncode

    def cpu_so_far(self):
        """Processor seconds up to now, of a process that runs."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        if self.usage is None:
            os.kill(self.process.pid, signal.SIGINT)
            self.wait(START_S)

    def cpu_seconds(self):
        return self.usage.ru_utime + self.usage.ru_stime

    def peak_mib(self):
        return self.usage.ru_maxrss / 1024


def transfer(seed, download, file, target, environment=None):
    """Times `download` (argv) while `seed` (a Child) serves; returns the measurements."""
    start = time.monotonic()
    with Child(download, environment=environment) as getter:
        code = getter.wait()
        seconds = time.monotonic() - start
    seed.stop()
    if code != 0:
        raise SystemExit(f"{download[0]} failed with exit code {code}")
    require_same(file, target)
    return {"seconds": seconds, "mb_per_s": os.path.getsize(file) / 1e6 / seconds,
            "seed_cpu_s": seed.cpu_seconds(), "get_cpu_s": getter.cpu_seconds(),
            "seed_peak_mib": seed.peak_mib(), "get_peak_mib": getter.peak_mib()}


def require_same(file, target):
    if subprocess.run(["cmp", "-s", file, target], check=False).returncode != 0:
        raise SystemExit(f"{target} differs from {file}")


def await_line(child, log, find, longest=START_S):
    """What `find` makes of the first whole line in the file `log`, where `child` writes, of which
    it makes something."""
    deadline = time.monotonic() + longest
    while True:
        ended = child.has_ended(LOOK_S)
        for line in pathlib.Path(log).read_text(encoding="utf-8").splitlines(keepends=True):
            found = find(line.rstrip("\n")) if line.endswith("\n") else None
            if found:
                return found
        if ended:
            raise SystemExit(f"{child.argv[0]} ended with exit code {child.wait()} before it served")
        if time.monotonic() > deadline:
            raise SystemExit(f"{child.argv[0]} does not serve after {longest} s")


def free_port():
    """A port that was free a moment ago: for programs that cannot tell which one they took."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def await_port(port, seconds=30):
    """Until somebody accepts connections there."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise SystemExit(f"nothing listens on port {port} after {seconds} s")
