"""What every client looks like to a race.

An adapter starts a tracker, a seed and downloaders on hosts; each start gives a node. A node says
how much of the content it has, when it had everything, and how many bytes of payload it has sent.
Clients that speak of themselves fill in a node as they go; others are asked by `Node.poll`.
"""

import signal


class BadClient(Exception):
    pass


class Node:
    """One client on one host. Times are time.monotonic()."""

    def __init__(self, host, process):
        self.host = host
        self.process = process
        self.has = 0.0          # part of the content it has, 0..1
        self.completed = None   # when it had all of it, verified
        self.uploaded = 0       # bytes of payload sent, as it last said
        self.uploaded_at = None
        self.samples = []       # (time, part it has)
        self.facts = {}         # what only this client tells
        self.url = None         # a viewer's: where it serves the film, once it says so

    def saw(self, now, has):
        self.has = has
        self.samples.append((now, has))

    def saw_uploaded(self, now, bytes_sent):
        self.uploaded = bytes_sent
        self.uploaded_at = now

    def poll(self, now):
        """Asks the client; only for those that do not speak by themselves."""

    def interrupt(self):
        """Tells it to end in order."""
        self.process.send(signal.SIGINT)


class Adapter:
    """One kind of client with its settings. `settings` names them with their defaults, `programs`
    what it needs with the Debian packages that hold it."""

    settings = {}
    programs = {}
    port = 6881
    poll_interval_s = 0.0  # 0: nodes speak by themselves

    def __init__(self, name, settings):
        self.name = name
        self.settings = settings

    def check(self):
        """Raises BadClient if something other than a program is missing."""

    def check_hostile(self):
        """Raises BadClient if it has no peers that spoil a swarm."""
        raise BadClient(f"{self.name} has no hostile peers")

    def version(self):
        raise NotImplementedError

    def prepare(self, folder, content, tracker_host):
        """Before anything starts."""

    def start_tracker(self, host, folder):
        """Returns the process. Called before or, with a cold tracker, after the seed."""
        raise NotImplementedError

    def use_origin(self, folder, content, tracker_host, url):
        """In place of `start_seed`: downloaders started from now on may take the content from a web server, too."""
        raise BadClient(f"{self.name} takes nothing from a web server")

    def start_seed(self, host, folder, content, tracker_host, leave_when_safe=False):
        """Starts it and waits until it serves; returns the node. `leave_when_safe`: it ends by
        itself when the others can do without it."""
        raise NotImplementedError

    def start_peer(self, host, folder, upload_limit_bytes):
        """Starts a downloader that puts the content into folder/NAME; returns the node."""
        raise NotImplementedError

    def start_viewer(self, host, folder, upload_limit_bytes, film):
        """As `start_peer`, of a client that serves the content at the node's `url` while it comes."""
        raise BadClient(f"{self.name} serves no film while it comes")

    def deeds(self, group):
        """What the peers of a hostile group do; empty: they stay away."""
        return group.hostile

    def start_saboteur(self, host, folder, deeds):
        """Starts a peer that spoils the swarm; returns the node. After check_hostile()."""
        raise NotImplementedError
