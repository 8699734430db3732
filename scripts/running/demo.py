#!/usr/bin/python3
"""A swarm on this machine: a tracker, one seed and six downloaders move a folder of 64 MiB.

Three downloaders find the seed through the tracker. Three are told only the addresses of other
downloaders, so all they ever get was made by peers that were still downloading themselves or had
just finished. Every peer sends at most 16 MiB/s, so no peer can have everything before the seed has
sent everything once: the bound printed below the table.

Exits with 0 only if every downloader got every byte.
"""

import hashlib
import pathlib
import random
import sys
import tempfile
import time

from programs import Failed, Programs, bare

MIB = 1 << 20
CONTENT_BYTES = 64 * MIB
UP_LIMIT = 16 * MIB
DEADLINE = 55  # seconds, for everything
REDUNDANT_PERCENT_MAX = 3

# The peers that each downloader is told of: None is the tracker, names are downloaders that started before.
DOWNLOADERS = {
    "ada": None, "ben": None, "cleo": None,
    "dora": ["ada", "ben"], "emil": ["ben", "cleo"], "fritz": ["dora", "emil"],
}


def generate(folder):
    """Fills `folder` with files of odd sizes, nested folders and an empty file; always the same."""
    chance = random.Random(2026)
    sizes = {"letters/a.txt": 1, "letters/empty": 0, "photos/2026/may/river.raw": 23_456_789,
             "photos/2026/glacier.raw": 9_999_991, "video.mkv": 30 * MIB + 17,
             "ümläut/naïve café.txt": 4_097}
    sizes["rest.bin"] = CONTENT_BYTES - sum(sizes.values())
    for name, size in sizes.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            for offset in range(0, size, MIB):
                file.write(chance.randbytes(min(MIB, size - offset)))


def digests(folder):
    """{path: sha256} of all files below `folder`."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            with path.open("rb") as file:
                found[str(path.relative_to(folder))] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def percent(part, whole):
    return 100 * part / whole if whole else 0.0


class Row:
    """What one downloader did: a line of the table."""

    HEAD = (f"{'peer':6} {'knows':13} {'time':>7} {'rate':>11} {'blocks':>7} {'from seed':>9} "
            f"{'recoded':>8} {'redundant':>15}  sha256")

    def __init__(self, name, complete, seed_id, sha256_right):
        self.name = name
        self.knows = "the tracker" if DOWNLOADERS[name] is None else ", ".join(DOWNLOADERS[name])
        self.seconds = complete["seconds"]
        self.bytes = complete["bytes"]
        self.innovative = complete["blocks_innovative"]
        self.redundant = complete["blocks_redundant"]
        self.recoded = complete["blocks_recoded"]
        self.from_seed = sum(n["blocks"] for n in complete["blocks_from"] if n["peer"] == seed_id)
        self.sha256_right = sha256_right

    def __str__(self):
        blocks = self.innovative + self.redundant
        return (f"{self.name:6} {self.knows:13} {self.seconds:5.2f} s "
                f"{self.bytes / self.seconds / MIB:5.1f} MiB/s {blocks:7} {self.from_seed:9} "
                f"{self.recoded:8} {self.redundant:6} ({percent(self.redundant, blocks):4.2f} %)  "
                + ("right" if self.sha256_right else "WRONG"))

    def faults(self):
        if not self.sha256_right:
            yield f"{self.name}: the files differ from the source"
        if DOWNLOADERS[self.name] is not None and self.from_seed:
            yield f"{self.name}: has blocks from the seed, which it should never have met"


class Left:
    """What is left of the time for everything."""

    def __init__(self):
        self.until = time.monotonic() + DEADLINE

    def __call__(self):
        return max(0.1, self.until - time.monotonic())


def start_downloaders(programs, folder, link, common, left):
    """{name: program}: each is told the link, or the addresses of others alone."""
    bare_link = bare(link)
    downloaders = {}
    for name, known in DOWNLOADERS.items():
        if known is None:
            where = [link]
        else:
            where = [bare_link, "--no-tracker", "--no-pex"]
            for other in known:
                where += ["--peer", downloaders[other].endpoint(left())]
        downloaders[name] = programs.firn(name, "get", *where, "-o", folder / name, *common)
    return downloaders


def wait_for_all(downloaders, folder, truth, seed_id, left):
    """(rows, faults) once all have ended; prints the table on the way."""
    rows, faults = [], []
    print(Row.HEAD, flush=True)
    for name, downloader in downloaders.items():
        complete = downloader.wait_event("complete", left())
        status = downloader.wait_exit(left())
        if status != 0:
            faults.append(f"{name}: exit status {status}\n{downloader.story()}")
        row = Row(name, complete, seed_id, digests(folder / name / "holiday") == truth)
        print(row, flush=True)
        faults += row.faults()
        rows.append(row)
    return rows, faults


def redundancy(rows):
    """Prints the last line of the table; the fault, if too many blocks were redundant."""
    redundant = sum(row.redundant for row in rows)
    share = percent(redundant, redundant + sum(row.innovative for row in rows))
    print(f"\nall have everything after {max(row.seconds for row in rows):.2f} s; "
          f"the bound is {CONTENT_BYTES / UP_LIMIT:.2f} s; {share:.2f} % of all blocks were redundant")
    if share >= REDUNDANT_PERCENT_MAX:
        yield f"{share:.2f} % of the blocks were redundant, {REDUNDANT_PERCENT_MAX} % or more"


def stop(programs, seed, tracker):
    """Stops what still runs; the faults of doing so."""
    if seed.process.poll() is not None:
        yield f"the seed ended by itself\n{seed.story()}"
    elif seed.stop() != 0:
        yield f"the seed did not stop cleanly\n{seed.story()}"
    if tracker.stop() != 0:
        yield f"the tracker did not stop cleanly\n{tracker.story()}"
    for program in programs.started:
        if not program.is_gone():
            yield f"{program.name} is still running"


def run(programs, folder):
    """Runs the swarm; prints the table; returns a list of faults."""
    left = Left()
    source = folder / "source" / "holiday"
    source.mkdir(parents=True)
    generate(source)
    truth = digests(source)
    print(f"{len(truth)} files, {CONTENT_BYTES // MIB} MiB; every peer sends at most "
          f"{UP_LIMIT // MIB} MiB/s", flush=True)

    tracker = programs.tracker(folder / "tracker")
    common = ["--listen", "127.0.0.1:0", "--json", "--up-limit", UP_LIMIT]
    seed = programs.firn("seed", "share", source, "--tracker", tracker.endpoint(left()), *common)
    link = seed.link(left())
    seed_id = seed.endpoint(left()).split("@")[0]
    print(f"{link}\n", flush=True)

    downloaders = start_downloaders(programs, folder, link, common, left)
    rows, faults = wait_for_all(downloaders, folder, truth, seed_id, left)
    return faults + list(redundancy(rows)) + list(stop(programs, seed, tracker))


def main():
    if len(sys.argv) > 1:
        print(__doc__)
        return 0 if sys.argv[1] in ("-h", "--help") else 2
    with tempfile.TemporaryDirectory(prefix="firn-demo-") as folder, Programs() as programs:
        try:
            faults = run(programs, pathlib.Path(folder))
        except Failed as failure:
            faults = [str(failure)]
    for fault in faults:
        print(f"FAULT: {fault}", file=sys.stderr)
    print("demo failed" if faults else "demo passed")
    return 1 if faults else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
