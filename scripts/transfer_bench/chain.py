"""Seed -> relay -> downloader on loopback, each a process with its profile. The relay knows the
seed, the downloader the relay alone: no tracker, and nobody tells of others (--no-pex)."""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import time

from transfer_bench.children import (LONGEST_S, Child, await_line, die_with_parent, environment_in,
                                     require_same)

ENDS = ("seed", "relay", "get")
COMMON = ["--json", "--profile", "--no-tracker", "--no-pex", "--no-config"]


def listen_of(line):
    """The address that a program says it listens at, or None."""
    return json.loads(line).get("listen") if line.startswith("{") else None


class Chain:
    """Runs over one content in a folder of its own, where the programs keep their state too."""

    def __init__(self, build, file, folder):
        self.firn = build / "client" / "firn"
        self.file = file
        self.folder = folder
        self.environment = environment_in(folder)
        self.manifest = folder / "content.firn"
        subprocess.run([self.firn, "create", file, "-o", self.manifest, "--no-config"], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=self.environment,
                       preexec_fn=die_with_parent, timeout=LONGEST_S)

    def run(self, dense, longest=LONGEST_S):
        """{"seconds": from the relay's start to the downloader's end, "seed": {...}, ...}"""
        logs = {end: self.folder / f"{end}.log" for end in ENDS}
        how = COMMON + ["--listen", "127.0.0.1:0"] + (["--dense"] if dense else [])

        def start(end, *words):
            # A pipe that nobody reads would hold it up.
            with open(logs[end], "wb") as out:
                return kept.enter_context(Child([self.firn, *words, *how], out, self.environment))

        def fetch(end, source, *more):
            address = await_line(running[source], logs[source], listen_of)
            return start(end, "get", self.manifest, "--peer", address, "-o", self.folder / end, *more)

        with contextlib.ExitStack() as kept:
            running = {"seed": start("seed", "seed", self.manifest, self.file.parent, "--trust")}
            await_line(running["seed"], logs["seed"], listen_of)
            begin = time.monotonic()
            running["relay"] = fetch("relay", "seed", "--seed", "forever")
            running["get"] = fetch("get", "relay")
            code = running["get"].wait(longest)
            seconds = time.monotonic() - begin
            for end in ("relay", "seed"):
                running[end].stop()
        if code != 0:
            raise SystemExit(f"the downloader failed with exit code {code}")
        for end in ("relay", "get"):
            require_same(self.file, self.folder / end / self.file.name)
            shutil.rmtree(self.folder / end)
        gib = os.path.getsize(self.file) / 2**30
        return {"seconds": seconds} | {
            end: profile_of(running[end], logs[end], gib) for end in ENDS}


def profile_of(child, log, gib):
    """All for each GiB of content. "start_and_end" is what the process took before and after."""
    events = [json.loads(line) for line in pathlib.Path(log).read_text(encoding="utf-8").splitlines()
              if line.startswith("{")]
    told = next(event for event in events if event["event"] == "profile")
    during = told["cpu_user"] + told["cpu_system"]
    stages = {stage: seconds / gib for stage, seconds in told["seconds"].items()}
    stages["start_and_end"] = max(0, child.cpu_seconds() - during) / gib
    blocks = [event for event in events if "blocks_sent" in event]
    return {
        "cpu_s": child.cpu_seconds() / gib, "cpu_system_s": child.usage.ru_stime / gib,
        "stages": {stage: round(seconds, 5) for stage, seconds in stages.items()},
        "samples": told["samples"],
        "entered": {stage: round(times / gib) for stage, times in told["entered"].items()},
        **{count: round(told[count] / gib)
           for count in ("page_faults", "switches_waiting", "switches_interrupted")},
        "blocks_sent": round(blocks[-1]["blocks_sent"] / gib) if blocks else 0,
        "threads": {name: {what: round(value / gib, 4) if what != "threads" else value
                           for what, value in times.items()}
                    for name, times in told["threads"].items()},
        "peak_mib": round(child.peak_mib(), 1)}
