"""Firn's programs, as the experiments run them: built where they are missing, timed by the kernel."""

import json
import os
import pathlib
import subprocess
import tempfile
import time

from running.building import Failed, machine, program


def measured(name, *arguments):
    """The JSON that a measuring program prints; what it says on the way is shown."""
    command = [program(name), *map(str, arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise Failed(f"{name} ended with {done.returncode}")
    return json.loads(done.stdout)


def timed(*command, allowed=(0,)):
    """Runs a command: its exit code, events of `--json`, and seconds and memory that it took."""
    command = [str(word) for word in command]
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as errors:
        begin = time.monotonic()
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=errors)
        _, status, used = os.wait4(child.pid, 0)
        wall = time.monotonic() - begin
        child.returncode = os.waitstatus_to_exitcode(status)
        for stream in (said, errors):
            stream.seek(0)
        out, err = (stream.read().decode("utf-8", "replace") for stream in (said, errors))
    if child.returncode not in allowed:
        raise Failed(f"{' '.join(command)}: {child.returncode}\n{err}")
    return {"code": child.returncode, "wall_s": wall, "cpu_s": used.ru_utime + used.ru_stime,
            "mib": used.ru_maxrss / 1024,
            "events": [json.loads(line) for line in out.splitlines() if line.startswith("{")],
            "errors": err}


def save(path, result):
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(rounded(result), indent=1) + "\n", encoding="utf-8")
    print(path)


def read(path):
    return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))


def rounded(value):
    """Floats to four significant digits: more say nothing of a measurement."""
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value
