"""Processes with their use of processors and memory."""

import os
import pathlib
import signal
import socket
import subprocess
import time


class Child:
    """A process in a group of its own, whose resource use is read when it has ended."""

    def __init__(self, argv, stdout=subprocess.DEVNULL):
        self.argv = [str(word) for word in argv]
        self.process = subprocess.Popen(self.argv, stdout=stdout, stderr=subprocess.DEVNULL,
                                        start_new_session=True)
        self.usage = None

    def wait(self):
        _, status, self.usage = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        return self.process.returncode

    def cpu_so_far(self):
        """Processor seconds up to now, of a process that runs."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        if self.usage is None:
            os.kill(self.process.pid, signal.SIGINT)
            self.wait()

    def cpu_seconds(self):
        return self.usage.ru_utime + self.usage.ru_stime

    def peak_mib(self):
        return self.usage.ru_maxrss / 1024


def transfer(seed, download, file, target):
    """Times `download` (argv) while `seed` (a Child) serves; returns the measurements."""
    start = time.monotonic()
    getter = Child(download)
    code = getter.wait()
    seconds = time.monotonic() - start
    seed.stop()
    if code != 0:
        raise SystemExit(f"{download[0]} failed with exit code {code}")
    require_same(file, target)
    return {"seconds": seconds, "mb_per_s": os.path.getsize(file) / 1e6 / seconds,
            "seed_cpu_s": seed.cpu_seconds(), "get_cpu_s": getter.cpu_seconds(),
            "seed_peak_mib": seed.peak_mib(), "get_peak_mib": getter.peak_mib()}


def require_same(file, target):
    if subprocess.run(["cmp", "-s", file, target], check=False).returncode != 0:
        raise SystemExit(f"{target} differs from {file}")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def await_port(port, seconds=30):
    """Until somebody accepts connections there."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise SystemExit(f"nothing listens on port {port} after {seconds} s")
