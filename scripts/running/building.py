"""Programs of the build folder, and the machine that they run on: for experiments."""

import functools
import os
import pathlib
import platform
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("FIRN_BUILD", "build")


class Failed(Exception):
    """A program could not be built, or ended with an error; the text holds what it said."""


@functools.cache
def program(name):
    """The path of a program of the build folder, built anew if a source has changed. Not where
    FIRN_AS_BUILT is set: by programs that run several of us at a time."""
    if os.environ.get("FIRN_AS_BUILT"):
        return BUILD / name
    command = ([ROOT / "scripts/build", name] if BUILD.name == "build" else
               ["ninja", "-C", BUILD, "--quiet", name])
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    if done.returncode != 0:
        raise Failed(f"cannot build {name}:\n{done.stdout}")
    return BUILD / name


def processor():
    """Its name."""
    try:
        for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def cores():
    """Those that this process may use."""
    return len(os.sched_getaffinity(0))


def machine():
    return {"cpu": processor(), "cores": cores(), "date": time.strftime("%Y-%m-%d")}
