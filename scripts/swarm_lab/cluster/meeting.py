"""The conductor's door. Every other task of a run calls once and stays connected; both sides send
lines of JSON. A caller that does not know the run's token is turned away.

    task -> conductor   {"hello": TOKEN, "rank": 3, "host": "node7", "address": "10.1.0.7"}
                        {"ping": own time}
                        {"ready": error of its clock in seconds}
                        {"answer": number, "value": ...}  or  {"answer": number, "failed": text}
                        {"of": process, "started": time}
                        {"of": process, "at": time, "line": text}
                        {"of": process, "ended": time, "status": -9, "cpu_s": 1.2, "peak_mib": 40,
                         "story": text}
    conductor -> task   {"pong": that time, "at": conductor's time}
                        {"do": what, "ask": number, ...}   `ask` where an answer is wanted

Times that a task tells are the conductor's (clock.py).
"""

import hmac
import itertools
import json
import selectors
import socket
import threading
import time
import traceback

LINE_MAX = 1 << 20
HELLO_MAX = 4096    # of a caller that has not said the token
ANSWER_S = 120.0    # a task that hashes its content takes long
KEEPALIVE = ((socket.TCP_KEEPIDLE, 20), (socket.TCP_KEEPINTVL, 10), (socket.TCP_KEEPCNT, 3))


class Lost(Exception):
    """A task is gone, or says that it could not do something."""


def tune(link):
    """A host that vanishes is noticed; small lines leave at once."""
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    link.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in KEEPALIVE:
        link.setsockopt(socket.IPPROTO_TCP, option, value)


class Member:
    """A task as the conductor sees it. Its processes register in `processes`: objects with `told`,
    called with each line about them, and `lost`."""

    def __init__(self, link):
        self.link = link
        self.rank = self.host = self.address = None
        self.clock_error = None
        self.ready = False
        self.gone = False
        self.processes = {}
        self.buffer = b""
        self._numbers = itertools.count(1)
        self._answers = {}  # number: [event, answer]
        self._lock = threading.Lock()

    def name(self):
        return f"task {self.rank} on {self.host}"

    def send(self, what):
        """Dropped if the task is gone: that it is gone is told by `lost`."""
        line = json.dumps(what, separators=(",", ":")).encode() + b"\n"
        try:
            with self._lock:
                self.link.sendall(line)
        except OSError:
            pass

    def ask(self, do, seconds=ANSWER_S, **details):
        """What the task answers; raises Lost."""
        return self.answer(self.begin(do, **details), seconds)

    def begin(self, do, **details):
        """Asks; the number is for `answer`."""
        number = next(self._numbers)
        self._answers[number] = [threading.Event(), None]
        self.send({"do": do, "ask": number, **details})
        return number

    def answer(self, number, seconds=ANSWER_S):
        done, _ = self._answers[number]
        if self.gone:
            done.set()
        arrived = done.wait(seconds)
        answer = self._answers.pop(number)[1]
        if not arrived or answer is None:
            raise Lost(f"{self.name()} {'is gone' if self.gone else 'does not answer'}")
        if "failed" in answer:
            raise Lost(f"{self.name()}: {answer['failed']}")
        return answer.get("value")

    def heard(self, what):
        if "answer" in what:
            waiting = self._answers.get(what["answer"])
            if waiting:
                waiting[1] = what
                waiting[0].set()
        elif "of" in what and what["of"] in self.processes:
            self.processes[what["of"]].told(what)

    def left(self):
        self.gone = True
        for waiting in list(self._answers.values()):
            waiting[0].set()
        for process in list(self.processes.values()):
            process.lost(f"{self.name()} is gone")


class Meeting:
    """Listens from its making until `close`. One thread hears all members."""

    def __init__(self, address, port, token):
        self._token = token
        self._door = socket.create_server((address, port), backlog=1024)
        self.port = self._door.getsockname()[1]
        self.members = {}  # by rank
        self._changed = threading.Condition()
        self._over = False
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._door, selectors.EVENT_READ, None)
        self._thread = threading.Thread(target=self._hear, daemon=True)
        self._thread.start()

    def wait_for(self, count, seconds):
        """{rank: member} once `count` tasks are ready; raises Lost with those that are missing."""
        def arrived():
            return [m for m in self.members.values() if m.ready and not m.gone]
        with self._changed:
            if not self._changed.wait_for(lambda: len(arrived()) >= count, seconds):
                here = {member.rank for member in arrived()}
                missing = [str(rank) for rank in range(1, count + 1) if rank not in here]
                raise Lost(f"{len(missing)} of {count} tasks did not come within {seconds:.0f} s: "
                           f"{', '.join(missing[:10])}{', ...' if len(missing) > 10 else ''}")
            return dict(self.members)

    def close(self):
        self._over = True
        self._door.close()
        for member in self.members.values():
            try:
                member.link.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        self._thread.join(5)

    def _hear(self):
        while not self._over:
            for key, _ in self._selector.select(0.5):
                if key.data is None:
                    self._accept()
                elif not self._read(key.data):
                    self._selector.unregister(key.data.link)
                    key.data.link.close()
                    key.data.left()
                    with self._changed:
                        self._changed.notify_all()

    def _accept(self):
        try:
            link, _ = self._door.accept()
        except OSError:
            return
        tune(link)
        self._selector.register(link, selectors.EVENT_READ, Member(link))

    def _read(self, member):
        """Whether the member is to be heard further."""
        try:
            got = member.link.recv(1 << 16)
        except OSError:
            return False
        now = time.monotonic()
        *lines, member.buffer = (member.buffer + got).split(b"\n")
        if not got or len(member.buffer) > (HELLO_MAX if member.rank is None else LINE_MAX):
            return False
        return all(self._take(member, line, now) for line in lines)

    def _take(self, member, line, now):
        try:
            what = json.loads(line)
            if member.rank is None:
                return self._welcome(member, what)
        except (ValueError, KeyError, TypeError):
            return member.rank is not None
        if "ping" in what:
            member.send({"pong": what["ping"], "at": now})
        elif "ready" in what:
            with self._changed:
                member.clock_error = what["ready"]
                member.ready = True
                self._changed.notify_all()
        else:
            try:
                member.heard(what)
            except Exception:  # of one client's words; the others are heard all the same
                traceback.print_exc()
        return True

    def _welcome(self, member, what):
        if not hmac.compare_digest(str(what["hello"]), self._token):
            return False
        rank = int(what["rank"])
        if rank in self.members and not self.members[rank].gone:
            return False
        member.host, member.address = str(what["host"]), str(what["address"])
        member.rank = rank
        self.members[rank] = member
        return True
