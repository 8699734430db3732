"""One seed to one downloader by Firn."""

import subprocess

from transfer_bench.children import Child, transfer


def run_firn(build, file, work, dense):
    firn = build / "client" / "firn"
    argv = [firn, "share", file, "--listen", "127.0.0.1:0"] + (["--dense"] if dense else [])
    seed = Child(argv, stdout=subprocess.PIPE)
    link = seed.process.stdout.readline().decode().strip()
    manifest_cpu_s = seed.cpu_so_far()
    out = work / "out"
    return transfer(seed, [firn, "get", link, "-o", out], file, out / file.name) | {
        "manifest_cpu_s": manifest_cpu_s}
