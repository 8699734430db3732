"""Runs Firn's programs and listens to what they say: for scripts/demo and tests/e2e.

Every wait is for a line of output, an event of `--json` or the end of the process, and has a
deadline. Programs run in process groups of their own; `Programs`, a context manager, ends all it
started, whatever happens, by their ids.
"""

import ctypes
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import threading
import time

BUILD = pathlib.Path(os.environ.get("FIRN_BUILD", pathlib.Path(__file__).parents[2] / "build"))
LINK = re.compile(r"\bfirn:[a-z2-7]{52}\b")
ENDPOINT = re.compile(r"\b([a-z2-7]{52})@(\[[0-9a-fA-F:.%\w]+\]|[\w.-]+):(\d+)")

_libc = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG = 1


def _die_with_parent():
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def bare(link):
    """What of a link is about the content alone: its id, and the secret of a private one."""
    return re.match(r"[^/?]+", link).group()


class Failed(Exception):
    """A program did not do what was waited for; the text holds what it last said."""


class Program:
    """A running program. Threads collect its output; all waits look at what is collected."""

    def __init__(self, name, command, **popen):
        self.name = name
        self.command = [str(word) for word in command]
        self.lines = {"stdout": [], "stderr": []}
        self.events = []
        self._changed = threading.Condition()
        self._open = 2
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            start_new_session=True, preexec_fn=_die_with_parent, **popen)
        for stream in ("stdout", "stderr"):
            threading.Thread(target=self._collect, args=(stream,), daemon=True).start()

    def _collect(self, stream):
        with getattr(self.process, stream) as pipe:
            for raw in pipe:
                line = raw.decode("utf-8", "replace").rstrip("\n")
                event = None
                if stream == "stdout" and line.startswith("{"):
                    try:
                        event = json.loads(line)
                    except ValueError:
                        pass  # a test that minds looks at the lines
                with self._changed:
                    self.lines[stream].append(line)
                    if event is not None:
                        self.events.append(event)
                    self._changed.notify_all()
        with self._changed:
            self._open -= 1
            self._changed.notify_all()

    def _wait(self, find, what, timeout):
        deadline = time.monotonic() + timeout
        with self._changed:
            while True:
                found = find()
                if found is not None:
                    return found
                left = deadline - time.monotonic()
                if self._open == 0:
                    raise Failed(f"{self.name} ended before {what}\n{self.story()}")
                if left <= 0:
                    raise Failed(f"{self.name}: no {what} within {timeout} s\n{self.story()}")
                self._changed.wait(left)

    def wait_line(self, pattern, timeout=20, stream="stdout"):
        """The match of the first line, past or future, in which `pattern` is found."""
        compiled = re.compile(pattern)

        def find():
            for line in self.lines[stream]:
                match = compiled.search(line)
                if match:
                    return match
            return None

        return self._wait(find, f"line with `{pattern}` on {stream}", timeout)

    def wait_event(self, name, timeout=60, where=lambda event: True):
        """The first event of that name, past or future, for which `where` holds."""

        def find():
            for event in self.events:
                if event.get("event") == name and where(event):
                    return event
            return None

        return self._wait(find, f"event `{name}`", timeout)

    def wait_exit(self, timeout=60):
        """The exit status (negative: minus the signal that ended it); all output is there then."""
        try:
            status = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise Failed(f"{self.name} still runs after {timeout} s\n{self.story()}") from None
        with self._changed:
            # A program's own child (--on-complete) may hold the pipes a little longer.
            self._changed.wait_for(lambda: self._open == 0, 5)
        return status

    def last_event(self, name):
        """The latest event of that name so far, or None."""
        with self._changed:
            return next((e for e in reversed(self.events) if e.get("event") == name), None)

    def output(self, stream="stdout"):
        with self._changed:
            return "\n".join(self.lines[stream])

    def story(self):
        """Command, status and last words: for failures."""
        said = [f"  {stream}: {line}" for stream, count in (("stdout", 4), ("stderr", 12))
                for line in self.lines[stream][-count:]]
        return "\n".join([f"  command: {' '.join(self.command)}",
                          f"  status: {self.process.poll()}", *said])

    def send(self, number):
        if self.process.poll() is None:
            self.process.send_signal(number)

    def kill(self):
        """As `kill -9`, of the program and of what it started."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def is_gone(self):
        """Whether nothing is left of the program and of what it started."""
        if self.process.poll() is None:
            return False
        try:
            os.killpg(self.process.pid, 0)
        except ProcessLookupError:
            return True
        return False

    def stop(self, timeout=15):
        """Interrupts the program and returns its exit status; kills it after `timeout`."""
        self.send(signal.SIGINT)
        try:
            return self.wait_exit(timeout)
        finally:
            self.kill()

    # What Firn's programs say of themselves.

    def endpoint(self, timeout=20):
        """ID@HOST:PORT, the address that this peer or tracker said it listens at."""

        def find():
            for event in self.events:
                if event.get("listen"):
                    return event["listen"]
            for line in self.lines["stdout"] + self.lines["stderr"]:
                match = None if LINK.search(line) else ENDPOINT.search(line)
                if match:
                    return match.group()
            return None

        return self._wait(find, "address that it listens at", timeout)

    def id(self):
        return self.endpoint().split("@")[0]

    def port(self):
        return int(self.endpoint().rpartition(":")[2])

    def link(self, timeout=60):
        """The link that `firn share` prints first."""
        first = self._wait(lambda: self.lines["stdout"][0] if self.lines["stdout"] else None,
                           "line on stdout", timeout)
        if not first.startswith("firn:"):
            raise Failed(f"{self.name}: the first line is no link\n{self.story()}")
        return first

    def links(self, count, timeout=60):
        """The links that `firn share` prints for `count` contents."""
        def find():
            links = [line for line in self.lines["stdout"] if line.startswith("firn:")]
            return links if len(links) >= count else None
        return self._wait(find, f"{count} links", timeout)


class Programs:
    """Starts programs and, when the `with` block is left, ends those that still run. Their keys
    (docs/operations.md, "Publishing") are kept in a folder that is gone then, not in the user's,
    and they read no configuration."""

    ENVIRONMENT = {"FIRN_CONFIG": "", "FIRN_TRACKER_CONFIG": ""}

    def __init__(self):
        self.started = []

    def __enter__(self):
        self._state = tempfile.TemporaryDirectory(prefix="firn-state-")
        environment = {"XDG_STATE_HOME": self._state.name, **self.ENVIRONMENT}
        self._before = {name: os.environ.get(name) for name in environment}
        os.environ.update(environment)
        # Also when this script is told to end: `with` blocks are left by exceptions only.
        self._handlers = {number: signal.signal(number, self._interrupted)
                          for number in (signal.SIGTERM, signal.SIGHUP)}
        return self

    @staticmethod
    def _interrupted(number, _frame):
        raise SystemExit(128 + number)

    def __exit__(self, *_):
        # A second interrupt waits these few seconds too: nothing may be left behind.
        impatient = signal.signal(signal.SIGINT, signal.SIG_IGN)
        for program in self.started:
            program.send(signal.SIGINT)
        deadline = time.monotonic() + 5
        for program in self.started:
            try:
                program.process.wait(max(0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                pass
            program.kill()
        signal.signal(signal.SIGINT, impatient)
        for name, value in self._before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        self._state.cleanup()
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    def start(self, name, command, **popen):
        program = Program(name, command, **popen)
        self.started.append(program)
        return program

    def firn(self, name, *arguments, **popen):
        return self.start(name, [BUILD / "client" / "firn", *arguments], **popen)

    def tracker(self, data, name="tracker", listen="127.0.0.1:0", *options, **popen):
        return self.start(name, [BUILD / "tracker" / "firn-tracker", "--listen", listen,
                                 "--data", data, *options], **popen)
