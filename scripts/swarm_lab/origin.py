"""An ordinary web server in place of the seed: nginx on the seed's host, one process with its own configuration.

The scenario's `[seed]` has `origin = true`. Copies that left the origin are counted on its link, without headers of
frames, IP and TCP. nginx's log would also count what a client that cancels a request leaves in the kernel's buffers,
and would not count requests that a kill ends.
"""

import collections
import math
import shutil
import signal
import statistics
import time

from swarm_lab import content, wire
from swarm_lab.adapters.base import BadClient, Node

PORT = 80
STARTS_S = 10.0  # within this time it must listen
ENDS_S = 5.0     # and end, once its clients have gone
CONFIGURATION = """\
daemon off;
master_process off;
pid {folder}/nginx.pid;
events {{ worker_connections 1024; }}
http {{
  log_format status '$status';
  access_log {log} status;
  client_body_temp_path {folder}/nginx.body;
  proxy_temp_path {folder}/nginx.proxy;
  fastcgi_temp_path {folder}/nginx.fastcgi;
  uwsgi_temp_path {folder}/nginx.uwsgi;
  scgi_temp_path {folder}/nginx.scgi;
  default_type application/octet-stream;
  sendfile on;
  tcp_nopush on;
  server {{
    listen {port};
    location = /{name} {{ root {folder}; }}
    location / {{ return 404; }}
  }}
}}
"""


def check():
    """Raises BadClient if there is no nginx."""
    if shutil.which("nginx") is None:
        raise BadClient("a scenario with an origin needs `nginx`, which is missing; scripts/setup --all installs it "
                        "(package nginx-light)")


class Origin(Node):
    """The node of the seed. `periods`: (from, to), seconds of the race in which it is there."""

    def __init__(self, host, folder, periods):
        super().__init__(host, None)
        self.where = f"http://{host.address}:{PORT}/{content.NAME}"
        self.uploaded = None    # nginx does not tell
        self.ups = []           # [from, to] in which it was there, time.monotonic(); None: still there
        self.processes = []     # of all its lives
        self._folder = folder
        self._periods = periods
        self._log = folder / "nginx.access"
        self._configuration = folder / "nginx.conf"
        self._configuration.write_text(CONFIGURATION.format(folder=folder, log=self._log, port=PORT, name=content.NAME))

    def start(self):
        """Returns when it listens."""
        self._begin()
        deadline = time.monotonic() + STARTS_S
        while True:
            try:
                self.host.connect(PORT).close()
                return
            except OSError:
                if time.monotonic() > deadline or self.process.wait(0.02):
                    raise BadClient(f"nginx does not listen\n{self.process.story()}") from None

    def _begin(self):
        self.process = self.host.start(f"origin{len(self.processes) or ''}", [
            "nginx", "-p", self._folder, "-c", self._configuration, "-e", "stderr"], self._folder)
        self.processes.append(self.process)
        self.ups.append([self.process.started, None])

    def follow(self, now):
        """Kills it, or starts it again, at its time; `now`: seconds of the race. Returns what went wrong."""
        there = self.ups[-1][1] is None
        if there and not self.process.running:
            self.ups[-1][1] = self.process.ended
            return ["the origin ended by itself: " + self.process.story()]
        lives = len(self.ups)
        if there and now >= self._periods[lives - 1][1]:
            self.process.kill()
            self.ups[-1][1] = self.process.ended
        elif not there and lives < len(self._periods) and now >= self._periods[lives][0]:
            self._begin()
        return []

    def stop(self):
        """Once its clients have gone: it ends when it has logged their requests."""
        self.process.send(signal.SIGQUIT)
        self.process.wait(ENDS_S)
        self.process.kill()

    def statuses(self):
        """Of all requests that have ended."""
        return self._log.read_text(encoding="ascii").split() if self._log.exists() else []


# --- the record ---

def source_times(race):
    """(from, to), seconds of the race in which its seed or origin was there."""
    if race.origin:
        node = race.origin
        return [(max(0.0, begin - race.zero), math.inf if end is None else end - race.zero) for begin, end in node.ups]
    return [(0.0, math.inf if race.seed_left is None else race.seed_left)]


def record(race, counted):
    """{"origin": ...} of a race with an origin; {} of others. `counted`: by its host (hosts.py)."""
    node = race.origin
    if node is None:
        return {}
    segments = counted["data_segments"] + counted["again_segments"] + counted["pure_acks"]
    statuses = node.statuses()
    return {"origin": {
        "copies": round((counted["sent"] - wire.HEADER_BYTES * segments) / race.scenario.content_bytes, 4),
        "requests": len(statuses),
        "statuses": dict(collections.Counter(statuses)),
        "there_s": [[round(begin, 2), None if end == math.inf else round(end, 2)]
                    for begin, end in source_times(race)],
        "cpu_s": round(sum(process.cpu_seconds() or 0.0 for process in node.processes), 3)}}


# --- the table ---

COLUMNS = ["scenario", "client", "runs", "finished", "bound s", "last s", "ratio", "ratio of the median peer",
           "origin's copies", "on its link", "requests", "times curl", "CPU s"]
LEGEND = """\
All clients start in the same second: that they find the tracker and each other is part of the race. ratio: last
finisher over bound, median of runs (least..most); ratio of the median peer: the same of the median finisher;
origin's copies: bytes that left it, over content, without headers of frames, IP and TCP; on its link: the same with
them; requests: those that nginx has logged; times curl: last finisher over that of curl in the same scenario; CPU: mean of downloaders."""


def tables(groups):
    """Markdown: a row for each scenario and client with an origin, from summaries by scenario and client."""
    rows = []
    for name, by_client in groups.items():
        of_curl = _median([run["last_s"] for run in by_client.get("curl", []) if run["complete"]])
        for client, found in by_client.items():
            runs = [run for run in found if run.get("origin")]
            if runs:
                rows.append("| " + " | ".join([name, client, str(len(runs)), *_row(runs, of_curl)]) + " |")
    if not rows:
        return []
    return ["\n".join(["### From an origin", "", "| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS), *rows,
                       "", LEGEND])]


def _row(runs, of_curl):
    whole = [run for run in runs if run["complete"]]
    last = _median([run["last_s"] for run in whole])
    ratios = [run["ratio"] for run in whole]
    middle = [statistics.median(run["finished_s"]) / run["bound_s"] for run in whole]
    spread = f" ({min(ratios):.3f}..{max(ratios):.3f})" if len(ratios) > 1 else ""
    finished = [f"{run['finishers']}/{run['expected_finishers']}" for run in runs]
    return [" ".join(dict.fromkeys(finished)), _text(_median([run["bound_s"] for run in runs]), 2), _text(last, 2),
            _text(_median(ratios), 3) + spread, _text(_median(middle), 3),
            _text(_median([run["origin"]["copies"] for run in runs]), 3),
            _text(_median([run["seed_copies"] for run in runs]), 3),
            _text(_median([run["origin"]["requests"] for run in runs]), 0),
            _text(last and of_curl and last / of_curl, 3), _text(_median([run["cpu_s"] for run in runs]), 2)]


def _median(values):
    values = [value for value in values if value is not None]
    return statistics.median(values) if values else None


def _text(value, digits):
    return "-" if value is None else f"{value:.{digits}f}"
