"""One run of a scenario with one client: hosts, processes, and when each comes and goes.

Everything happens on one thread in a loop with a tick; the clock starts when the first downloader is
started, with tracker and seed ready (but for a cold tracker).
"""

import concurrent.futures
import pathlib
import signal
import time

from swarm_lab import collect, hosts, origin, trust, viewing

TICK_S = 0.02
SAMPLE_S = 0.25     # bytes on the wire are noted so often
STOP_S = 5.0        # after an interrupt a client has so long to end
HASHED_AT_ONCE = 16  # files, each by its host
NEAR_END = 0.9      # clients that have to be asked are asked oftener from here on


class Downloader:
    """A member of the scenario, before, while and after it runs."""

    def __init__(self, name, group, index, host):
        self.name = name
        self.group = group
        self.host = host
        self.arrives = group.arrives_s + index * group.arrives_every_s
        self.node = None
        self.viewer = None      # where there is a film (viewing.py)
        self.firewall = None
        self.started = None     # seconds of the race's clock, as all below
        self.completed = None
        self.left = None
        self.crashed = False
        self.had = None         # the part of the content it had when it crashed
        self.accepted = 0       # connections it took although it should take none
        self.trouble = []


class Race:
    """`run` returns a record (collect.py); everything it started has ended then."""

    def __init__(self, scenario, adapter, folder, seed=1, network=None):
        """`network`: where the hosts are (hosts.py; members.py)."""
        self.network = network or hosts.Network(scenario.queue_ms, scenario.congestion,
                                                scenario.path(), scenario.bucket_bytes)
        self.scenario = scenario
        self.adapter = adapter
        self.folder = pathlib.Path(folder)
        self.seed = seed
        self.trouble = []
        self.downloaders = []
        self.saboteurs = []             # of hostile groups: Downloaders that need not finish
        self.seed_node = None
        self.origin = None              # the seed's node, if that is one
        self.seed_left = None           # when the seed's process had ended
        self.seed_asked = None          # when it was told to go
        self.seed_copies = None         # copies of payload it had sent when told to go
        self.tracker = None
        self.tracker_died = None
        self.wire = []                  # (time, {host: bytes sent})
        self.zero = None
        self.over = None                # when the race was over, as time.monotonic()
        self.processes = []

    def run(self):
        with self.network as network:
            try:
                self._set_up(network)
                self._loop()
                at_end = {host.name: host.counters() for host in network.hosts}
            finally:
                self._stop_all()
            self._verify()
        for peer in self.saboteurs:
            at_end.pop(peer.name)
        return collect.record(self, at_end) | trust.record(self) | viewing.record(self) | origin.record(self, at_end["seed"])

    # --- before the clock starts ---

    def _set_up(self, network):
        scenario = self.scenario
        self.tracker_host = network.add("tracker")
        self.seed_host = network.add("seed", scenario.seed.up_mbit)
        for name, group, index in scenario.members():
            host = network.add(name, group.up_mbit, group.down_mbit)
            self.downloaders.append(Downloader(name, group, index, host))
        for name, group, index in scenario.hostile_members():
            if self.adapter.deeds(group):
                host = network.add(name, group.up_mbit, group.down_mbit)
                self.saboteurs.append(Downloader(name, group, index, host))
        network.introduce()
        self.content = content = self.seed_host.make_content(
            self.folder, scenario.content_bytes, self.seed)
        self.adapter.prepare(self.folder, content, self.tracker_host)
        if scenario.tracker.starts_s == 0:
            self._start_tracker()
        if scenario.seed.origin:
            self.seed_node = self.origin = origin.Origin(self.seed_host, self.folder, scenario.seed_periods())
            self.origin.start()
            self.adapter.use_origin(self.folder, content, self.tracker_host, self.origin.where)
            return
        self.seed_node = self.adapter.start_seed(self.seed_host, self.folder, content,
                                                 self.tracker_host, scenario.seed.leaves_when_safe)
        self.processes.append(self.seed_node.process)

    def _start_tracker(self):
        self.tracker = self.adapter.start_tracker(self.tracker_host, self.folder)
        self.processes.append(self.tracker)

    # --- the race ---

    def _loop(self):
        self.zero = time.monotonic()
        next_sample = next_poll = 0.0
        while True:
            now = time.monotonic() - self.zero
            self._arrivals(now)
            self._players()
            if now >= next_sample:
                self._sample(now)
                next_sample += SAMPLE_S
            if self.adapter.poll_interval_s and now >= next_poll:
                next_poll = now + self._poll()
            self._tracker_events(now)
            self._completions(now)
            if self.origin:
                self.trouble += self.origin.follow(now)
            else:
                self._seed_leaves(now)
            self._crashes(now)
            if self._over(now):
                self.over = time.monotonic()
                self._sample(self.over - self.zero)
                return
            time.sleep(TICK_S)

    def _arrivals(self, now):
        for peer in self.saboteurs:
            if peer.node is None and now >= peer.arrives:
                peer.node = self.adapter.start_saboteur(peer.host, self.folder,
                                                        self.adapter.deeds(peer.group))
                self.processes.append(peer.node.process)
        for peer in self.downloaders:
            if peer.node is None and now >= peer.arrives:
                peer.started = now
                peer.node = self._start_client(peer)
                self.processes.append(peer.node.process)
                if not peer.group.reachable:
                    peer.firewall = peer.host.refuse_connections(peer.node.process,
                                                                 self.adapter.port)

    def _start_client(self, peer):
        how = (peer.host, self.folder, peer.group.upload_limit_kib * 1024)
        film = self.scenario.film
        return self.adapter.start_viewer(*how, film) if film else self.adapter.start_peer(*how)

    def _players(self):
        """Puts a player in front of each client that serves the film."""
        for peer in self.downloaders:
            if peer.node and peer.node.url and peer.viewer is None:
                peer.viewer = viewing.start(peer, self.scenario, self.folder)
                self.processes.append(peer.viewer.process)

    def _sample(self, now):
        sent = {}
        for name, process in self._running():
            count = process.bytes_sent()
            if count is not None:
                sent[name] = count
        self.wire.append((now, sent))

    def _running(self):
        yield "seed", self.seed_node.process
        for peer in self.downloaders:
            if peer.node:
                yield peer.name, peer.node.process

    def _poll(self):
        """Asks all that have something left to say; returns when to do so again."""
        nodes = [peer.node for peer in self.downloaders if peer.node]
        asked = [node for node in nodes if node.completed is None]
        if self.scenario.seed.leaves_after_copies is not None:
            asked.append(self.seed_node)  # it is complete, but what it has sent decides
        for node in asked:
            if node.process.running:
                node.poll(time.monotonic())
        quick = any(node.has > NEAR_END and node.completed is None for node in nodes)
        return self.adapter.poll_interval_s / (5 if quick else 1)

    def _tracker_events(self, now):
        cold = self.scenario.tracker
        if self.tracker is None and now >= cold.starts_s:
            self._start_tracker()
        if cold.dies_s is not None and self.tracker_died is None and now >= cold.dies_s:
            self.tracker.kill()
            self.tracker_died = now

    def _completions(self, now):
        for peer in self.downloaders:
            if peer.node is None or peer.crashed or peer.left is not None:
                continue
            if peer.completed is None and peer.node.completed is not None:
                peer.completed = peer.node.completed - self.zero
                if peer.group.leaves_on_finish:
                    peer.node.interrupt()
            if not peer.node.process.running:
                peer.left = peer.node.process.ended - self.zero
                if peer.completed is None or not peer.group.leaves_on_finish:
                    peer.trouble.append("ended by itself: " + peer.node.process.story())

        for peer in self.saboteurs:
            if peer.node and peer.left is None and not peer.node.process.running:
                peer.left = now
                self.trouble.append("ended by itself: " + peer.node.process.story())

    def _seed_leaves(self, now):
        plan = self.scenario.seed
        process = self.seed_node.process
        if self.seed_left is None and not process.running:
            self.seed_left = process.ended - self.zero
            if plan.leaves_when_safe:
                self.seed_asked = self.seed_left
                self.seed_copies = self._seed_copies()
            elif self.seed_asked is None:
                self.trouble.append("the seed ended by itself: " + process.story())
        if self.seed_left is not None or plan.leaves_after_copies is None:
            return
        if self.seed_asked is None:
            copies = self._seed_copies()
            if copies >= plan.leaves_after_copies:
                self.seed_node.interrupt()
                self.seed_asked = now
                self.seed_copies = copies
        elif now - self.seed_asked > STOP_S:
            process.kill()

    def _seed_copies(self):
        """Copies of payload that the seed has sent. It says so now and then; in between the bytes
        on its wire tell, at the ratio of payload to wire up to its last word."""
        node = self.seed_node
        if node.uploaded_at is None:
            return 0.0
        said_at = node.uploaded_at - self.zero
        counted = [(when, sent["seed"]) for when, sent in self.wire if "seed" in sent]
        before = [count for when, count in counted if when <= said_at]
        uploaded = node.uploaded
        if before and before[-1] > 0 and uploaded > 0:
            latest = node.process.bytes_sent()
            if latest is None:
                latest = counted[-1][1]
            share = min(1.0, uploaded / before[-1])
            uploaded = max(uploaded, share * latest)
        return uploaded / self.scenario.content_bytes

    def _crashes(self, now):
        for group in self.scenario.peers:
            if group.crashes_at is None:
                continue
            members = [peer for peer in self.downloaders if peer.group is group]
            if any(peer.node is None or peer.crashed for peer in members):
                continue
            if sum(peer.node.has for peer in members) / len(members) < group.crashes_at:
                continue
            for peer in members:
                peer.crashed = True
                peer.had = peer.node.has
                peer.node.process.send(signal.SIGKILL)
                peer.left = now

    def _over(self, now):
        if now > self.scenario.deadline_s:
            self.trouble.append(f"not over after {self.scenario.deadline_s:.0f} s")
            return True
        film = self.scenario.film
        if film and now < max(peer.arrives for peer in self.downloaders) + film.watched_s:
            return False
        return all(peer.completed is not None or peer.crashed or
                   (peer.node is not None and not peer.node.process.running)
                   for peer in self.downloaders)

    # --- afterwards ---

    def _stop_all(self):
        for peer in self.downloaders:
            if peer.firewall and peer.node.process.running:
                peer.accepted = peer.firewall.accepted()
            if peer.viewer and not peer.viewer.process.running:
                peer.trouble.append("its player ended: " + peer.viewer.process.story())
        for process in self.processes:
            process.send(signal.SIGINT)
        deadline = time.monotonic() + STOP_S
        for process in self.processes:
            process.wait(max(0.0, deadline - time.monotonic()))
            process.kill()
        if self.origin and self.origin.process:
            self.origin.stop()
        for peer in self.downloaders:
            if peer.node and peer.node.process.started is not None:  # as the host says it
                peer.started = peer.node.process.started - self.zero
        # Peers that were on their way out when the last one finished.
        for peer in self.downloaders:
            if peer.group.leaves_on_finish and peer.completed is not None and peer.left is None:
                peer.left = peer.node.process.ended - self.zero

    def _verify(self):
        name = pathlib.PurePath(self.content).name
        truth = self.seed_host.digest(self.folder, name)
        finished = [peer for peer in self.downloaders if peer.completed is not None]
        with concurrent.futures.ThreadPoolExecutor(HASHED_AT_ONCE) as threads:
            found = threads.map(lambda peer: peer.host.digest(self.folder, f"{peer.name}/{name}"),
                                finished)
            for peer, got in zip(finished, found):
                if truth is None or got != truth:
                    peer.trouble.append("its file differs from the seed's")
        for peer in self.downloaders:
            if peer.accepted:
                peer.trouble.append("a host that accepts no connections has accepted some")
