"""A task: `python3 swarm.pyz PLAN`. Its rank is that of the job's. The first conducts the race and is
the tracker's host; each other one calls at the meeting and is one host, which does as it is told.

A task that loses the conductor kills what it started and fails.
"""

import functools
import json
import os
import pathlib
import resource
import signal
import socket
import sys
import tempfile
import threading
import time

from swarm_lab import adapters, hosts, scenario
from swarm_lab.cluster import (addresses, clock, meeting, members, overlay, plan, results,
                               task_host)

RANKS = ("SLURM_PROCID", "JOB_COMPLETION_INDEX")
MACHINES = ("SLURMD_NODENAME", "FIRN_SWARM_NODE")
RETRY_S, RETRY_MAX_S = 0.1, 3.0  # how often a thousand tasks look into one folder


def machine():
    """The name of the host that this task is on, as the cluster calls it."""
    return next((os.environ[name] for name in MACHINES if name in os.environ), socket.gethostname())


def main(path):
    told = plan.read(path)
    rank = next((int(os.environ[name]) for name in RANKS if name in os.environ), None)
    if rank is None:
        print(f"swarm: a task needs its rank in {' or '.join(RANKS)}", file=sys.stderr)
        return 2
    # A job that is cancelled leaves neither processes nor contents on its hosts.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with tempfile.TemporaryDirectory(prefix="firn-swarm-task-") as folder:
        try:
            if rank == 0:
                return conduct(told, pathlib.Path(folder))
            return Follower(told, rank, pathlib.Path(folder)).run()
        except (addresses.NoAddress, meeting.Lost, adapters.BadClient, hosts.NoNetwork,
                scenario.BadScenario) as problem:
            print(f"swarm: task {rank} on {machine()}: {problem}", file=sys.stderr)
            if rank == 0:
                results.write({"failed": str(problem)}, told.record)
            return 1


# --- the first task ---

def conduct(told, folder):
    from swarm_lab.race import Race
    one = scenario.from_table(dict(told.scenario), told.scenario["name"])
    adapter = adapters.make(told.client, build=told.build)
    if any(one.hostile_members()):
        adapter.check_hostile()
    adapter.commit, adapter.rates = told.commit, plan.tasks(one)
    address = addresses.own(told.network)
    # A socket for each task.
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    door = meeting.Meeting(address, told.meet_port, told.token)
    try:
        if told.meet_file:
            _publish(pathlib.Path(told.meet_file), f"{address} {door.port}\n")
        present = door.wait_for(plan.tasks(one) - 1, told.start_within_s)
        host = _host(told, 0, address, folder)
        host.machine = machine()
        network = members.Members(host, present, told.links,
                                  {"queue_ms": one.queue_ms, "congestion": one.congestion,
                                   "bucket_bytes": one.bucket_bytes})
        try:
            record = Race(one, adapter, folder, told.content_seed, network).run()
        finally:
            host.close()
        record["segments"] = None  # wire.py knows frames of 1,514 bytes; tunnels have smaller ones
        record["placement"] = {"on": told.on, **network.placement()}
        results.write(record, told.record)
    finally:
        door.close()
    return 0


def _host(told, rank, address, folder):
    if told.links == "namespaces":
        return overlay.NamespaceHost(rank, address, folder)
    return task_host.TaskHost(f"task-{rank}", address, folder)


def _publish(path, text):
    """The file appears whole."""
    part = path.with_suffix(".part")
    part.write_text(text, encoding="ascii")
    os.replace(part, path)


# --- every other task ---

class Follower:
    def __init__(self, told, rank, folder):
        self.told = told
        self.rank = rank
        self.processes = {}
        self.host = None
        self.firewall = None
        self._lock = threading.Lock()
        self._watches = []
        self._waiting = []  # lines that came while a pong was waited for
        self._link = self._call()
        self._lines = self._link.makefile("rb")
        told_it = told.network or addresses.GIVEN in os.environ
        address = addresses.own(told.network) if told_it else self._link.getsockname()[0]
        self.host = _host(told, rank, address, folder)
        self._say(hello=told.token, rank=rank, host=machine(), address=address)
        self.clock = self._compare_clocks()
        self._say(ready=self.clock.error)

    def run(self):
        """Does what it is told until the race is over."""
        try:
            for what in self._heard():
                if what["do"] == "over":
                    return 0
                self._do(what)
            raise meeting.Lost("the first task is gone")
        finally:
            for process in self.processes.values():
                process.kill()
            for watch in self._watches:
                watch.join(5)  # they read in the folder, which goes now
            self.host.close()

    def _call(self):
        deadline = time.monotonic() + self.told.start_within_s
        trouble, pause = "nothing was there", RETRY_S
        while time.monotonic() < deadline:
            try:
                where = self._conductor()
                if where:
                    link = socket.create_connection(where, timeout=10)
                    link.settimeout(None)
                    meeting.tune(link)
                    return link
            except OSError as error:
                trouble = str(error)
            time.sleep(pause)
            pause = min(1.5 * pause, RETRY_MAX_S)
        raise meeting.Lost(f"the first task did not appear within {self.told.start_within_s:.0f} s "
                           f"({trouble})")

    def _conductor(self):
        """(host, port), or None as long as it has not said."""
        if self.told.meet_host:
            return self.told.meet_host, self.told.meet_port
        path = pathlib.Path(self.told.meet_file)
        # Reading the folder makes a network file system forget that the file was not there.
        if path.name not in os.listdir(path.parent):
            return None
        host, port = path.read_text(encoding="ascii").split()
        return host, int(port)

    def _say(self, **what):
        line = json.dumps(what, separators=(",", ":")).encode() + b"\n"
        try:
            with self._lock:
                self._link.sendall(line)
        except OSError:
            pass  # the reading side notices

    def _heard(self):
        while True:
            while self._waiting:
                yield self._waiting.pop(0)
            line = self._next_line()
            if not line:
                return
            yield json.loads(line)

    def _next_line(self):
        """Empty: the first task is gone."""
        try:
            return self._lines.readline()
        except OSError:
            return b""

    def _compare_clocks(self):
        return clock.measure(self._exchange)

    def _exchange(self):
        before = time.monotonic()
        self._say(ping=before)
        while line := self._next_line():
            now = time.monotonic()
            what = json.loads(line)
            if what.get("pong") == before:
                return before, what["at"], now
            self._waiting.append(what)
        raise meeting.Lost("the first task is gone, or turned this one away")

    def _conductors_time(self, own):
        return own + self.clock.seconds

    def _do(self, what):
        number = what.get("ask")
        try:
            value = getattr(self, "_do_" + what["do"])(what)
        except Exception as problem:  # told to the conductor, which decides
            if number is None:
                raise
            self._say(answer=number, failed=f"{type(problem).__name__}: {problem}")
        else:
            if number is not None:
                self._say(answer=number, value=value)

    def _do_be(self, what):
        self.host.be(what["name"], what["up_mbit"], what["down_mbit"],
                     queue_ms=what["queue_ms"], congestion=what["congestion"],
                     bucket_bytes=what["bucket_bytes"])

    def _do_tunnel(self, _what):
        return self.host.tunnel()

    def _do_join(self, what):
        self.host.join(what["tunnels"])

    def _do_counters(self, _what):
        return self.host.counters()

    def _do_refuse(self, what):
        self.firewall = self.host.refuse_connections(self.processes[what["name"]], what["port"])

    def _do_accepted(self, _what):
        return self.firewall.accepted()

    def _do_start(self, what):
        name = what["name"]
        on_line = functools.partial(self._line, name) if what["lines"] else None
        try:
            process = self.host.start(name, what["command"], on_line=on_line)
        except OSError as problem:
            now = self._conductors_time(time.monotonic())
            self._say(of=name, started=now)
            self._say(of=name, ended=now, status=127, cpu_s=0, peak_mib=0,
                      story=f"{name}: cannot start on {machine()}: {problem}")
            return
        self.processes[name] = process
        print(f"task {self.rank} on {machine()}: {name} starts", file=sys.stderr, flush=True)
        self._say(of=name, started=self._conductors_time(process.started))
        self._watches.append(threading.Thread(target=self._watch, args=(name, process), daemon=True))
        self._watches[-1].start()

    def _line(self, name, now, line):
        self._say(of=name, at=self._conductors_time(now), line=line)

    def _watch(self, name, process):
        while not process.wait(3600):
            pass
        self._say(of=name, ended=self._conductors_time(process.ended), status=process.status,
                  cpu_s=process.cpu_seconds(), peak_mib=process.peak_mib(), story=process.story())

    def _do_signal(self, what):
        if what["name"] in self.processes:
            self.processes[what["name"]].send(what["number"])

    def _do_kill(self, what):
        if what["name"] in self.processes:
            self.processes[what["name"]].kill()

    def _do_port(self, what):
        return self.host.port(what["usual"])

    def _do_content(self, what):
        return self.host.make_content(None, what["size"], what["seed"])

    def _do_digest(self, what):
        return self.host.digest(None, what["name"])

    def _do_clock(self, _what):
        """By how much the clocks have moved apart since the start."""
        return self.clock.moved(self._compare_clocks())
