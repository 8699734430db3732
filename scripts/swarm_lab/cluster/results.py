"""The record of a run, on its way from the first task to the command that asked for it: a file that
both see, or lines of the task's output. There a runtime may cut long lines and drop old ones, so
the record goes compressed, in short numbered lines, with a digest at the end."""

import base64
import hashlib
import json
import os
import pathlib
import zlib

MARK = "firn-record"
CHUNK = 3000  # bytes of Base64 in a line


class NoRecord(Exception):
    """There is none, or it is damaged; the text says which."""


def write(record, path=None):
    """To the file, which appears whole; without one to standard output."""
    if path:
        part = pathlib.Path(f"{path}.part")
        part.write_text(json.dumps(record), encoding="utf-8")
        os.replace(part, path)
    else:
        print("\n".join(lines(record)), flush=True)


def lines(record):
    packed = zlib.compress(json.dumps(record, separators=(",", ":")).encode(), 9)
    text = base64.b64encode(packed).decode()
    chunks = [text[at:at + CHUNK] for at in range(0, len(text), CHUNK)]
    found = [f"{MARK} {number}/{len(chunks)} {chunk}" for number, chunk in enumerate(chunks, 1)]
    return [*found, f"{MARK} sha256 {hashlib.sha256(packed).hexdigest()}"]


def from_log(log):
    """The record among the lines of a task's output; raises NoRecord."""
    chunks, count, digest = {}, None, None
    for line in log.splitlines():
        words = line.split()
        if len(words) != 3 or words[0] != MARK:
            continue
        if words[1] == "sha256":
            digest = words[2]
        else:
            number, _, count = words[1].partition("/")
            chunks[int(number)] = words[2]
    if count is None or digest is None:
        raise NoRecord("the first task's output has no whole record")
    missing = [number for number in range(1, int(count) + 1) if number not in chunks]
    if missing:
        raise NoRecord(f"the first task's output lacks line {missing[0]} of {count} of its record")
    packed = base64.b64decode("".join(chunks[number] for number in sorted(chunks)))
    if hashlib.sha256(packed).hexdigest() != digest:
        raise NoRecord("the record in the first task's output is damaged")
    return json.loads(zlib.decompress(packed))


def from_file(path):
    try:
        return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise NoRecord(f"the first task wrote no record ({path})") from None
