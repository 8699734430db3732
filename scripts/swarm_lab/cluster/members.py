"""The hosts of a race as its conductor sees them: what hosts.py is for network namespaces, this is
for tasks that have come to the meeting."""

import threading
import time

from swarm_lab import hosts
from swarm_lab.cluster.meeting import Lost
from swarm_lab.cluster.task_host import left_to_client

KILL_S = 10.0


class RemoteProcess:
    """What processes.Process is for a program of this machine. Times are the conductor's."""

    def __init__(self, member, name, command, on_line):
        self.name = name
        self.started = None  # the task tells
        self.ended = None
        self.status = None
        self._member = member
        self._on_line = on_line
        self._end = {}
        self._over = threading.Event()
        member.processes[name] = self
        member.send({"do": "start", "name": name, "command": [str(word) for word in command],
                     "lines": on_line is not None})
        if member.gone:
            self.lost(f"{member.name()} is gone")

    def told(self, what):
        if "line" in what:
            self._on_line(what["at"], what["line"])
        elif "started" in what:
            self.started = what["started"]
        elif "ended" in what:
            self._finish(what)

    def lost(self, why):
        """Its task is gone, and with it the process."""
        if self.running:
            self._finish({"ended": time.monotonic(), "status": -9, "story": f"{self.name}: {why}"})

    def _finish(self, what):
        self._end = what
        self.ended = what["ended"]
        self.status = what["status"]
        self._over.set()

    @property
    def running(self):
        return self.status is None

    def send(self, number):
        if self.running:
            self._member.send({"do": "signal", "name": self.name, "number": int(number)})

    def kill(self):
        if self.running:
            self._member.send({"do": "kill", "name": self.name})
        self._over.wait(KILL_S)

    def wait(self, seconds):
        return self._over.wait(seconds)

    def cpu_seconds(self):
        return self._end.get("cpu_s")

    def peak_mib(self):
        return self._end.get("peak_mib")

    def bytes_sent(self):
        """None: its interface carries what other tasks send too."""
        return None

    def story(self):
        return self._end.get("story", f"{self.name}: still running on {self._member.host}")


class RemoteHost:
    """A task at the meeting, as a host of the scenario."""

    def __init__(self, member, name, up_mbit, down_mbit, link):
        self.member = member
        self.name = name
        self.address = member.address
        self.up_mbit = up_mbit
        self.down_mbit = down_mbit
        member.ask("be", name=name, up_mbit=up_mbit, down_mbit=down_mbit, **link)

    def start(self, name, command, _folder=None, on_line=None):
        return RemoteProcess(self.member, name, command, on_line)

    def port(self, usual):
        return self.member.ask("port", usual=usual)

    def listen_at(self, _usual_port):
        return f"{self.address}:0"

    def left_to_client(self, upload_limit_bytes):
        return left_to_client(self.up_mbit, self.down_mbit, upload_limit_bytes)

    def counters(self):
        return None

    def make_content(self, _folder, size, seed):
        return self.member.ask("content", size=size, seed=seed)

    def digest(self, _folder, name):
        """None also if the task is gone: what it had cannot be looked at."""
        try:
            return self.member.ask("digest", name=name)
        except Lost:
            return None


class RemoteNamespace(RemoteHost):
    """The same, where the task has network namespaces (overlay.py)."""

    def __init__(self, member, name, up_mbit, down_mbit, link):
        super().__init__(member, name, up_mbit, down_mbit, link)
        self.address = hosts.address(member.rank)

    def listen_at(self, usual_port):
        return f"{self.address}:{usual_port}"

    def left_to_client(self, upload_limit_bytes):
        return upload_limit_bytes, 0

    def counters(self):
        try:
            return self.member.ask("counters")
        except Lost:
            return None

    def refuse_connections(self, process, port):
        self.member.ask("refuse", name=process.name, port=port)
        return RemoteFirewall(self.member)


class RemoteFirewall:
    def __init__(self, member):
        self._member = member

    def accepted(self):
        try:
            return self._member.ask("accepted")
        except Lost:
            return 0


class Members:
    """All hosts, for a Race. The tracker is on the conductor's own host, `tracker_host`; the tasks
    become the others in the order of their rank, the seed first. `link`: queue_ms, congestion and bucket_bytes,
    for tasks with namespaces."""

    def __init__(self, tracker_host, members, links, link):
        self.hosts = []
        self.clocks = {}
        self._kind = RemoteNamespace if links == "namespaces" else RemoteHost
        self._links, self._link = links, link
        self._tracker_host = tracker_host
        self._free = [members[rank] for rank in sorted(members)]
        self._all = list(self._free)

    def __enter__(self):
        if self._links == "namespaces":
            tunnels = [self._tracker_host.tunnel(), *(m.ask("tunnel") for m in self._all)]
            self._tracker_host.join(tunnels)
            for member in self._all:
                member.ask("join", tunnels=tunnels)
        return self

    def __exit__(self, *_):
        """Clocks are compared again, and the tasks end."""
        asked = [(member, member.begin("clock")) for member in self._all]
        for member, number in asked:
            try:
                self.clocks[member.rank] = member.answer(number)
            except Lost:
                pass  # its processes have told
        for member in self._all:
            member.send({"do": "over"})

    def add(self, name, up_mbit=0.0, down_mbit=0.0):
        if name == "tracker":
            host = self._tracker_host
            host.be(name, up_mbit, down_mbit, **self._link)
        else:
            host = self._kind(self._free.pop(0), name, up_mbit, down_mbit, self._link)
        self.hosts.append(host)
        return host

    def introduce(self):
        """Tasks have been told of all hosts already (overlay.py), or are joined by a real network."""

    def placement(self):
        """For the record: where the tasks were, and how exact their times are."""
        tasks = {}
        for name in [self._tracker_host.machine, *(member.host for member in self._all)]:
            tasks[name] = tasks.get(name, 0) + 1
        errors = [member.clock_error for member in self._all]
        return {"links": self._links, "hosts": tasks, "tasks": 1 + len(self._all),
                "clock_error_ms": _ms(max(errors, default=0.0)),
                "clock_drift_ms": _ms(max(self.clocks.values(), default=0.0))}


def _ms(seconds):
    return round(1000 * seconds, 3)
