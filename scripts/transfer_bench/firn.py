"""One seed to one downloader by Firn."""

from transfer_bench.children import LONGEST_S, Child, await_line, environment_in, transfer


def run_firn(firn, file, work, dense=False):
    environment = environment_in(work)
    argv = [firn, "share", file, "--listen", "127.0.0.1:0"] + (["--dense"] if dense else [])
    log = work / "share.log"
    with open(log, "wb") as said, Child(argv, said, environment) as seed:
        link = await_line(seed, log, lambda line: line if line.startswith("firn:") else None,
                          LONGEST_S)
        manifest_cpu_s = seed.cpu_so_far()
        out = work / "out"
        return transfer(seed, [firn, "get", link, "-o", out], file, out / file.name, environment) | {
            "manifest_cpu_s": manifest_cpu_s}
