"""A program on a host: its lines with the time at which they came, and what it cost when it ended.
"""

import ctypes
import os
import pathlib
import signal
import subprocess
import threading
import time

_libc = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG = 1


AUTOGROUP = pathlib.Path("/proc/self/autogroup")


def _own_priority():
    """The nice value of our scheduling group (sched(7), autogroup); None where there is none."""
    try:
        return AUTOGROUP.read_text(encoding="ascii").split()[-1]
    except OSError:
        return None


def _prepare(priority, parent):
    """In the child. A session of its own is a scheduling group of its own, which would forget the
    priority that the whole race was given."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)  # it was killed in between
    if priority not in (None, "0"):
        try:
            AUTOGROUP.write_text(priority, encoding="ascii")
        except OSError:
            pass


class Process:
    """Started in a group of its own, so that the terminal's Ctrl-C reaches only this tool, which
    then ends all in order. `on_line(time, text)` is called on a thread of this object for each
    line of stdout; stderr goes to a file. Must be made on the main thread: children die with the
    thread that made them."""

    def __init__(self, name, command, folder, on_line=None):
        self.name = name
        self.started = time.monotonic()
        self.ended = None   # when, and
        self.status = None  # exit status; negative: minus the signal
        self.usage = None   # struct rusage
        self._on_line = on_line
        self._over = threading.Event()
        self.log = pathlib.Path(folder) / f"{name}.log"
        priority, parent = _own_priority(), os.getpid()
        with self.log.open("wb") as log:
            self._popen = subprocess.Popen(
                list(map(str, command)), stdin=subprocess.DEVNULL, stderr=log,
                stdout=subprocess.PIPE if on_line else log, cwd=folder,
                # No keys in the user's home, and no configuration from there.
                env=dict(os.environ, XDG_STATE_HOME=str(folder), FIRN_CONFIG="", FIRN_TRACKER_CONFIG=""),
                start_new_session=True, preexec_fn=lambda: _prepare(priority, parent))
        self.pid = self._popen.pid
        self._reader = None
        if on_line:
            self._reader = threading.Thread(target=self._read, daemon=True)
            self._reader.start()
        threading.Thread(target=self._reap, daemon=True).start()

    def _read(self):
        with self._popen.stdout as pipe:
            for raw in pipe:
                self._on_line(time.monotonic(), raw.decode("utf-8", "replace").rstrip("\n"))

    def _reap(self):
        _, status, self.usage = os.wait4(self.pid, 0)
        self.ended = time.monotonic()
        self.status = self._popen.returncode = os.waitstatus_to_exitcode(status)
        if self._reader:
            self._reader.join(5)
        self._over.set()

    @property
    def running(self):
        return self.status is None

    def send(self, number):
        if self.running:
            try:
                os.kill(self.pid, number)
            except ProcessLookupError:
                pass

    def kill(self):
        """As kill -9, of the program and what it started."""
        if self.running:
            try:
                os.killpg(self.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self._over.wait(10)

    def wait(self, seconds):
        """Whether it has ended, after waiting so long at most."""
        return self._over.wait(seconds)

    def cpu_seconds(self):
        return self.usage.ru_utime + self.usage.ru_stime if self.usage else None

    def peak_mib(self):
        return self.usage.ru_maxrss / 1024 if self.usage else None

    def bytes_sent(self):
        """Bytes that left eth0 of its host so far (batches of segments count one header); None if
        it has ended."""
        return interface_bytes(self.pid)[1] if self.running else None

    def story(self, lines=8):
        tail = self.log.read_text(errors="replace").splitlines()[-lines:]
        return "\n".join([f"{self.name}: status {self.status}", *(f"  {line}" for line in tail)])


def interface_bytes(pid, device="eth0"):
    """(received, sent) of the network namespace that process is in; zeros if it is gone."""
    try:
        with open(f"/proc/{pid}/net/dev", encoding="ascii") as table:
            for line in table:
                name, _, counts = line.partition(":")
                if name.strip() == device:
                    fields = counts.split()
                    return int(fields[0]), int(fields[8])
    except OSError:
        pass
    return 0, 0
