"""Viewers: what the model player (player.py) in front of each client of a race saw.

Start and seek are the seconds from the viewer's join, or its seek, to the first second of film there. A stall counts
if it begins within the `watched_s` seconds of the scenario after the join; `seen_s` is how much of these the viewer saw
film. A wait that had not ended when the race was over counts as long as it had lasted.
"""

import json
import pathlib
import statistics
import sys

PLAYER = pathlib.Path(__file__).with_name("player.py")


class Viewer:
    """The player of one downloader. Times are time.monotonic()."""

    def __init__(self, joined):
        self.joined = joined
        self.process = None
        self.waits = []     # (kind, from, to)
        self.waiting = ("start", joined)  # the wait that goes on; None: the film runs
        self.samples = []   # (time, seconds of film it holds)

    def on_line(self, _, line):
        said = json.loads(line)
        if "wait" in said:
            self.waits.append((said["wait"], said["from"], said["to"]))
            self.waiting = None
        else:
            self.samples.append((said["at"], said["buffer"]))
            self.waiting = said["waiting"]


def start(peer, scenario, folder):
    """Starts the player of a downloader whose client serves the film; returns the viewer."""
    film, group = scenario.film, peer.group
    viewer = Viewer(peer.node.process.started)
    viewer.process = peer.host.start(f"{peer.name}-player", [
        sys.executable, PLAYER, peer.node.url, "--rate", int(film.mbit * 1e6 / 8), "--bytes", scenario.content_bytes,
        "--joined", viewer.joined, "--from", group.watches_from, "--ahead", film.ahead_s,
        *(word for after, part in group.seeks for word in ("--seek", f"{after}:{part}"))],
        folder, on_line=viewer.on_line)
    return viewer


# --- the record ---

def record(race):
    """{"viewers": what each saw, "buffers": seconds of film that each held, second by second of the race}; empty
    where nobody watches."""
    if race.scenario.film is None:
        return {}
    seen = {peer.name: peer.viewer or Viewer(peer.node.process.started) for peer in race.downloaders}
    return {"viewers": [_saw(name, viewer, race.scenario.film.watched_s, race.over) for name, viewer in seen.items()],
            "buffers": {name: _by_second(viewer.samples, race.zero) for name, viewer in seen.items()}}


def _saw(name, viewer, watched_s, over):
    waits = [*viewer.waits, *([(*viewer.waiting, over)] if viewer.waiting else [])]
    lasted = {kind: [round(until - since, 3) for found, since, until in waits if found == kind]
              for kind in ("start", "seek")}
    end = viewer.joined + watched_s
    stalls = [[round(since - viewer.joined, 2), round(until - since, 2)] for kind, since, until in waits
              if kind == "stall" and since < end]
    seen = watched_s - sum(max(0.0, min(until, end) - since) for _, since, until in waits)
    return {"name": name, "start_s": lasted["start"][0], "seeks_s": lasted["seek"], "stalls": stalls,
            "seen_s": round(seen, 2)}


def _by_second(samples, zero):
    held = {}
    for when, buffer in samples:
        held.setdefault(int(when - zero), round(buffer, 1))
    return [held.get(second) for second in range(max(held, default=-1) + 1)]


# --- the table ---

def rows(runs):
    """Of the summaries of one client in one scenario: text for each column."""
    seen = [viewer for run in runs for viewer in run["viewers"]]
    starts = [max(viewer["start_s"] for viewer in run["viewers"]) for run in runs]
    seeks = [seconds for viewer in seen for seconds in viewer["seeks_s"]]
    stalls = [[seconds for viewer in run["viewers"] for _, seconds in viewer["stalls"]] for run in runs]
    return [_spread(starts), f"{statistics.median(viewer['start_s'] for viewer in seen):.2f}", _spread(seeks),
            _spread([sum(bool(viewer["stalls"]) for viewer in run["viewers"]) for run in runs], 0),
            _spread([len(found) for found in stalls], 0), _spread([sum(found) for found in stalls], 1),
            f"{statistics.mean(viewer['seen_s'] for viewer in seen):.1f}",
            _spread([run["ratio"] for run in runs if run["ratio"] is not None], 3)]


def _spread(values, digits=2):
    if not values:
        return "-"
    text = f"{statistics.median(values):.{digits}f}"
    return text if len(values) == 1 else f"{text} ({min(values):.{digits}f}..{max(values):.{digits}f})"


def table(groups):
    """Markdown, a row for each scenario and client with viewers; empty: there is none."""
    found = [(name, client, [run for run in runs if run.get("viewers")])
             for name, by_client in groups.items() for client, runs in by_client.items()]
    found = [one for one in found if one[2]]
    if not found:
        return ""
    columns = ["scenario", "client", "runs", "start s, last viewer", "start s, median", "seek s", "viewers that stalled",
               "stalls", "stalled s", "film seen s", "ratio"]
    lines = [f"| {' | '.join(columns)} |", "|" + "---|" * len(columns)]
    lines += [f"| {name} | {client} | {len(runs)} | {' | '.join(rows(runs))} |" for name, client, runs in found]
    watched = {f"{run['scenario']['film']['watched_s']:.0f}" for *_, runs in found for run in runs}
    lines += ["", "start: from a viewer's join to its first second of film; seek: the same from a seek on; stalls: of all "
              "viewers together,", f"in the first {' or '.join(sorted(watched))} s of each; film seen: in these, mean of "
              "viewers; ratio: last finisher over bound.", "Medians of runs (least..most)."]
    return "\n".join(lines)
