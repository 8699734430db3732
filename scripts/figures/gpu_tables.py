#!/usr/bin/python3
"""Tables of GPU rates, as Markdown, from what the programs in tests/bench/gpu and `firn bench` wrote:

    scripts/figures/gpu_tables.py docs/results/gpu-h200.json          (bench_gpu)
    scripts/figures/gpu_tables.py docs/results/gpu-power-h200.json    (bench_power)
    scripts/figures/gpu_tables.py docs/results/gpu-stock-h200.json    (bench_stock)
    scripts/figures/gpu_tables.py docs/results/gpu-h200-x2.json       (bench_devices)
    scripts/figures/gpu_tables.py docs/results/gpu-peer-h200.json     (firn bench gpu)
    scripts/figures/gpu_tables.py docs/results/gpu-sync-h100.json     (bench_sync_gpu)
    scripts/figures/gpu_tables.py docs/results/gpu-hash-h100.json     (bench_tags)
"""

import json
import math
import sys

from markdown import table


def number(value):
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def of_rates(document):
    rates = {(r["what"], r["path"], r["n"], r["k"], r["generations"]): r["GB_per_s"]
             for r in document["rates"]}
    limits = {r["n"]: r["limit_GB_per_s"] for r in document["rates"] if "limit_GB_per_s" in r}

    def rate(what, path, n, k):
        found = [value for (w, p, size, block, _), value in rates.items()
                 if (w, p, size, block) == (what, path, n, k)]
        return number(found[0] if found else None)

    sizes = sorted(limits)
    table(["n", "limit", "k = 1 KiB", "4 KiB", "16 KiB", "64 KiB", "1 MiB", "for 3 s: best", "`wgmma`",
           "`tower`", "16 KiB: `mma`", "`tables`"],
          [[n, number(limits[n])] +
           [rate("product", "best", n, k) for k in (1024, 4096, 16384, 65536, 1 << 20)] +
           [rate("product, sustained", path, n, 16384) for path in ("best", "wgmma", "tower")] +
           [rate("product", path, n, 16384) for path in ("mma", "tables")] for n in sizes])
    inverses = {r["n"]: r["matrices_per_s"] for r in document["inverses"]}
    table(["n", "decode, k = 1 KiB", "4 KiB", "16 KiB", "inversions per second"],
          [[n] + [rate("decode", "best", n, k) for k in (1024, 4096, 16384)] + [number(inverses[n])]
           for n in sizes])
    host = [key for key in rates if key[0] == "product, host to host"]
    table(["n", "batch, MiB", "product, host to host", "decode, host to host"],
          [[n, g * n * k >> 20, f"{rates[(what, path, n, k, g)]:.1f}",
            f"{rates[('decode, host to host', path, n, k, g)]:.1f}"]
           for what, path, n, k, g in host])


def of_power(document):
    named = {}
    for row in document["rates"]:
        named.setdefault(row["what"], []).append(row)

    def mean(rows, key):
        return sum(row[key] for row in rows) / len(rows)

    table(["what", "burst, GB/s", "lasting, GB/s", "W", "MHz", "at the power limit", "nJ a byte"],
          [[what, number(mean(rows, "burst_GB_per_s")), number(mean(rows, "lasting_GB_per_s")),
            number(mean(rows, "watts")), f"{mean(rows, 'sm_MHz'):.0f}",
            f"{100 * mean(rows, 'share_at_power_limit'):.0f} %",
            f"{mean(rows, 'watts') / mean(rows, 'lasting_GB_per_s'):.3f}"]
           for what, rows in named.items()])


def of_stocks(document):
    table(["n", "blocks", "drawn by the CPU, us", "then encoded", "drawn by the device", "gain"],
          [[r["n"], r["rows"], f"{r['drawing_us']:.1f}", f"{r['encoding_us']:.1f}",
            f"{r['drawn_on_device_us']:.1f}",
            f"{(r['drawing_us'] + r['encoding_us']) / r['drawn_on_device_us']:.2f}"]
           for r in document["stocks"]])


def of_devices(document):
    table(["", "one, GB/s", "all together", "times"],
          [[f"{r['what']}, n = {r['n']}", number(sum(r["alone_GB_per_s"]) / len(r["alone_GB_per_s"])),
            number(r["together_GB_per_s"]), f"{r['times_one']:.2f}"] for r in document["rates"]])


def of_backends(document):
    names = list(dict.fromkeys(r["backend"] for r in document["rates"]))
    found = {}
    for r in document["rates"]:
        found.setdefault((r["n"], r["k"]), {})[(r["what"], r["count"], r["backend"])] = r["MB_per_s"]
    # Decoding many is decoding as many generations as make a batch, whatever n is.
    kinds = [("encode", lambda count: True, "encode 64 blocks"),
             ("decode", lambda count: count == 1, "decode one"),
             ("decode", lambda count: count > 1, "decode a batch")]
    rows = []
    for (n, k), rates in found.items():
        cells = []
        for what, fits, _ in kinds:
            for name in names:
                values = [rate for (w, count, b), rate in rates.items()
                          if (w, b) == (what, name) and fits(count)]
                cells.append(f"{values[0]:.0f}" if values else "-")
        rows.append([n, k, *cells])
    table(["n", "k", *(f"{title}: {name}" for _, _, title in kinds for name in names)], rows)


def of_sync(document):
    rows = []
    for shape in document["shapes"]:
        information = shape["N"] * math.log2(shape["q"])  # bits a frame
        best = max(shape["device"], key=lambda batch: batch["info_Mbit_per_s"])
        papers = {paper["storage"]: paper["times_one_core"] for paper in shape["paper"]}
        rows.append([shape["n"], shape["q"], shape["N"], shape["p"],
                     number(information / shape["one_core_ms"] / 1e3), number(best["info_Mbit_per_s"]),
                     number(best["times_one_core"]), number(best["frames"]),
                     number(max(batch["host_to_host_Mbit_per_s"] for batch in shape["device"])),
                     f"{100 * best['share_of_fma_ceiling']:.0f} %",
                     *(number(papers.get(storage)) for storage in ("global", "local"))])
    table(["n", "q", "N", "p", "one core, Mbit/s", "device, Mbit/s", "times a core", "frames of that batch",
           "from and to the host, Mbit/s", "share of multiply-adds", "paper's kernels, global: times its form on a core",
           "local"], rows)


def of_hash(document):
    rates = {(r["t"], r["n"], r["k"]): r["GB_per_s"] for r in document["rates"]}
    copied = document["device_copy_GB_per_s_read_and_written"]
    columns = [(t, k) for t in (4, 8, 16) for k in (4096, 16384, 32768)]
    table(["n", *(f"t = {t}, k = {k >> 10} KiB" for t, k in columns), "of the copy's: t = 4", "8", "16"],
          [[n, *(number(rates[(t, n, k)]) for t, k in columns),
            *(f"{rates[(t, n, 16384)] / copied:.2f}" for t in (4, 8, 16))]
           for n in sorted({n for _, n, _ in rates})])
    calls = {(r["n"], r["generations"]): r["us"] for r in document["peer"]}
    cpu = {r["kernels"]: r for r in document["cpu"]}
    table(["n", "generations", "device, us", *(f"{name}, in cache" for name in cpu),
           *(f"{name}, from memory" for name in cpu)],
          [[n, generations, number(us), *(number(r["set_us"] * n / 64 * generations) for r in cpu.values()),
            *(number(n * generations * 16384 / r["memory_GB_per_s"] / 1e3) for r in cpu.values())]
           for (n, generations), us in calls.items()])


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        document = json.load(file)
    if "stocks" in document:
        of_stocks(document)
    elif "calls" in document:
        of_hash(document)
    elif "shapes" in document:
        of_sync(document)
    elif "seconds_each" in document:
        of_devices(document)
    elif "backend" in document["rates"][0]:
        of_backends(document)
    elif "sm_MHz_max" in document:
        of_power(document)
    else:
        of_rates(document)


if __name__ == "__main__":
    main()
