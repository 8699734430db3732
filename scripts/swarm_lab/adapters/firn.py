"""Firn itself. It tells all by events of --json, once a second and when it is complete."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import threading

from running.programs import BUILD
from swarm_lab.adapters.base import Adapter, BadClient, Node

TRACKER_PORT = 4711


INSTALLED = "installed"  # as setting `build`: the programs that PATH finds


def _installed(name):
    return pathlib.Path(shutil.which(name) or name)


def commit():
    """Of these sources; empty: not known."""
    try:
        return subprocess.run(["git", "-C", pathlib.Path(__file__).parent, "rev-parse", "--short",
                               "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        return ""


class FirnNode(Node):
    """Follows the events of one peer."""

    def __init__(self, host):
        super().__init__(host, None)
        self.link = None
        self.ids = set()  # peer ids: a saboteur may have several
        self.false_blocks = {}  # sent, by the id that a saboteur had
        self.block_bytes = 0
        self.content_bytes = 0
        self.unfinished_rows_max = 0.0  # part of the content
        self.spoken = threading.Event()  # it has said its link (seed) or that it has started

    def on_line(self, now, line):
        if self.link is None and line.startswith("firn:"):
            self.link = line
            self.spoken.set()
        if not line.startswith("{"):
            return
        event = json.loads(line)
        kind = event.get("event")
        if kind == "start":
            self.ids.add(event["listen"].partition("@")[0])
            self.block_bytes = event["block_bytes"]
            self.content_bytes = event["bytes"]
            self.facts["generation_size"] = event["generation_size"]
            self.facts["block_bytes"] = event["block_bytes"]
        elif kind == "play":
            self.url = f"{event['url']}?token={event['token']}"
        elif kind == "progress":
            self.on_progress(now, event)
        elif kind == "complete":
            self.saw(now, 1.0)
            self.completed = now
            for key in ("blocks_innovative", "blocks_redundant", "blocks_recoded"):
                self.facts[key] = event[key]
            stages = event["stages"]
            cpu = stages["cpu_user"] + stages["cpu_system"]
            if "proof" in stages and cpu > 0:  # a thread that waits for a core counts as working: so much at most
                self.facts["proof_share"] = round(stages["proof"] / cpu, 5)
        elif kind == "deeds":
            self.ids.add(event["peer"])
            self.false_blocks[event["peer"]] = event["false_blocks"]
        elif kind in ("notice", "error") and event.get("level") != "info":
            self.facts.setdefault("notices", []).append(event.get("message", ""))

    def on_progress(self, now, event):
        if event.get("rank_total") and self.completed is None:
            self.saw(now, event["rank"] / event["rank_total"])
        self.saw_uploaded(now, event["blocks_sent"] * self.block_bytes)
        if event["bytes_verified"] > 0 and "first_verified_s" not in self.facts:
            self.facts["first_verified_s"] = event["seconds"]
        if self.content_bytes and event.get("rank_total"):
            rows = event["rank"] / event["rank_total"] - event["bytes_verified"] / self.content_bytes
            self.unfinished_rows_max = max(self.unfinished_rows_max, rows)
            self.facts["unfinished_rows_max"] = round(self.unfinished_rows_max, 4)
        self.facts["neighbours_max"] = max(self.facts.get("neighbours_max", 0), event["peers"])
        self.facts["blocks_sent"] = event["blocks_sent"]
        self.facts["bytes_sent"] = event["bytes_sent"]
        for key in ("blocks_innovative", "blocks_redundant", "blocks_recoded"):
            self.facts[key] = event[key]


class Firn(Adapter):
    settings = {"n": "", "k": "", "io_threads": "1", "threads": "", "memory": "", "dense": "no",
                "deeds": "", "authority": "yes", "build": str(BUILD)}

    def __init__(self, name, settings):
        super().__init__(name, settings)
        # Runs go on in folders of their own.
        if settings["build"] == INSTALLED:
            self.firn, self.tracker, self.saboteur = map(_installed, (
                "firn", "firn-tracker", "firn-saboteur"))
        else:
            build = pathlib.Path(settings["build"]).absolute()
            self.firn = build / "client" / "firn"
            self.tracker = build / "tracker" / "firn-tracker"
            self.saboteur = build / "tests" / "hostile" / "firn-saboteur"
        self.link = None    # or a manifest file, where there is an origin
        self.origin = []    # options that name it
        self.commit = None  # of the sources, where they are not at hand
        self.rates = 1      # of the tracker: how many peers may share an address

    def check(self):
        for program in (self.firn, self.tracker):
            if not program.exists():
                raise BadClient(f"{program} is missing; run scripts/build")

    def check_hostile(self):
        if not self.saboteur.exists():
            raise BadClient(f"{self.saboteur} is missing; run scripts/build")

    def version(self):
        said = subprocess.run([self.firn, "--version"], capture_output=True, text=True, check=True)
        told = said.stdout.strip()
        return told if "(" in told else f"{told} ({self.commit or commit() or 'no git'})"

    def start_tracker(self, host, folder):
        listening = threading.Event()
        process = host.start("tracker", [
            self.tracker, "--listen", f"{host.address}:{host.port(TRACKER_PORT)}", "--data",
            "tracker", *(["--rates", self.rates] if self.rates > 1 else [])], folder,
            on_line=lambda now, line: listening.set())
        if not listening.wait(20):
            raise BadClient(f"the tracker does not listen\n{process.story()}")
        return process

    def start_seed(self, host, folder, content, tracker_host, leave_when_safe=False):
        node = FirnNode(host)
        node.process = host.start(host.name, [
            self.firn, "share", content, *self._common(host), *self._limits(host),
            "--tracker", f"{tracker_host.address}:{tracker_host.port(TRACKER_PORT)}",
            *self._made(),
            *(["--leave-when-safe"] if leave_when_safe else []),
            *(["--dense"] if self.settings["dense"] == "yes" else [])], folder,
            on_line=node.on_line)
        if not node.spoken.wait(30):
            raise BadClient(f"the seed prints no link\n{node.process.story()}")
        # Without the seed's address: peers learn of one another from the tracker, as those of other clients do. Older
        # builds write addresses into a query.
        self.link = re.sub(r"/peer=[^/?]*|&peer=[^&]*|(?<=\?)peer=[^&]*&?", "", node.link)
        return node

    def use_origin(self, folder, content, tracker_host, url):
        self.link, self.origin = folder / "content.firn", ["--origin", url]
        made = subprocess.run([
            self.firn, "create", content, "-o", self.link, *self._made(),
            "--tracker", f"{tracker_host.address}:{tracker_host.port(TRACKER_PORT)}"], check=False, capture_output=True,
            text=True, env=dict(os.environ, XDG_STATE_HOME=str(folder), FIRN_CONFIG=""))
        if made.returncode != 0:
            raise BadClient(f"firn makes no manifest: {made.stderr.strip()}")

    def _made(self):
        """Options for how the content is divided and who vouches for it."""
        return [*self._option("--generation-size", "n"), *self._option("--block-size", "k"),
                *(["--no-authority"] if self.settings["authority"] == "no" else [])]

    def start_peer(self, host, folder, upload_limit_bytes):
        return self._start_getting(host, folder, upload_limit_bytes, "get", "--seed", "forever")

    def start_viewer(self, host, folder, upload_limit_bytes, film):
        return self._start_getting(host, folder, upload_limit_bytes, "play")

    def _start_getting(self, host, folder, upload_limit_bytes, command, *options):
        node = FirnNode(host)
        node.process = host.start(host.name, [
            self.firn, command, self.link, "-o", host.name, *self.origin, *options,
            *self._common(host), *self._limits(host, upload_limit_bytes)], folder,
            on_line=node.on_line)
        return node

    def deeds(self, group):
        return {"": group.hostile, "none": ""}.get(self.settings["deeds"], self.settings["deeds"])

    def start_saboteur(self, host, folder, deeds):
        node = FirnNode(host)
        node.process = host.start(host.name, [
            self.saboteur, self.link, "-o", host.name, "--deeds", deeds,
            *self._common(host), *self._limits(host)], folder, on_line=node.on_line)
        return node

    def _common(self, host):
        return ["--listen", host.listen_at(self.port), "--json",
                "--io-threads", self.settings["io_threads"], *self._option("--threads", "threads"),
                *self._option("--memory", "memory")]

    @staticmethod
    def _limits(host, upload_limit_bytes=0):
        """Options for what the scenario tells the client, and for the link if the host has none."""
        up, down = host.left_to_client(upload_limit_bytes)
        return [*(["--up-limit", up] if up else []), *(["--down-limit", down] if down else [])]

    def _option(self, flag, key):
        return [flag, self.settings[key]] if self.settings[key] else []
