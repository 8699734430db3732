"""The paper's figures and tables (Briffa 2014) on one core of today: throughput over N, q, n and p,
forms of lattices, storage. What a device does comes from tests/bench/gpu/bench_sync_gpu."""

import math
import pathlib
import subprocess

from figures import charts
from figures.markdown import made_on, mib, number, percent, table
from medium_lab import printed, programs

# The paper's codes have half the rate: n = 2 log2 q. P_s = 0 everywhere.
HALF_RATE = [(4, 4), (6, 8), (8, 16), (10, 32), (12, 64), (14, 128), (16, 256), (18, 512), (20, 1024)]
MODERATE, LARGE = 210, 840  # the paper's N
SWEEPS = {
    "N": [(10, 32, length, 1e-3) for length in (10, 21, 42, 105, 210, 420, 840, 1680)],
    "q": [(n, q, MODERATE, 1e-3) for n, q in HALF_RATE],
    "q_large": [(n, q, LARGE, 1e-3) for n, q in HALF_RATE],
    "p": [(10, 32, MODERATE, p) for p in (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 2e-1)],
    "n": [(n, 32, MODERATE, 1e-2) for n in (6, 8, 10, 12, 16, 20)],
    "poorer": [(10, 32, length, p) for p in (1e-2, 1e-1) for length in (10, 42)],
}
TITLES = {"N": "q = 32, n = 10, p = 0.001, over N", "q": "N = 210, n = 2 log2 q, p = 0.001, over q",
          "q_large": "N = 840, n = 2 log2 q, p = 0.001, over q",
          "p": "N = 210, q = 32, n = 10, over p", "n": "N = 210, q = 32, p = 0.01, over n"}
STORAGE_RATES = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 2e-1, 3e-1)
STORAGE_ALPHABETS = [one for one in HALF_RATE if one[1] in (4, 16, 32, 64, 256, 1024)]
LOCAL_EXAMPLE = (20, 1024, LARGE, 0.1)
REACH_STATES, REACH_RATES = 1024, (0.2, 0.4)
GIB = 2 ** 30
FORMS = {"batch": "batch, the paper's", "superposed": "superposed", "bridge": "superposed, bridge band"}


def options(command):
    command.add_argument("--seconds", type=float, default=3,
                         help="for each shape, and three rounds at least (default: 3)")
    command.add_argument("--device", metavar="FILE",
                         help="measure a GPU as well, if there is one, and write its figures there")
    command.add_argument("--out", required=True, metavar="FILE")


def shape_text(shape):
    return ",".join(f"{one:g}" for one in shape)


def measure(chosen):
    shapes = list(dict.fromkeys(shape for sweep in SWEEPS.values() for shape in sweep))
    name = "tests/bench/measure_sync"
    times = programs.measured(name, "times", chosen.seconds, *map(shape_text, shapes))
    storage = [(n, q, MODERATE, p) for n, q in STORAGE_ALPHABETS for p in STORAGE_RATES]
    storage = programs.measured(name, "storage", *map(shape_text, [*storage, LOCAL_EXAMPLE]))
    reach = programs.measured(name, "reach", REACH_STATES, *REACH_RATES)
    programs.save(chosen.out, {
        "kind": "paper", "machine": programs.machine(), "seconds": chosen.seconds,
        "cpu_kernels": times["cpu_kernels"], "times": times["rows"], "storage": storage["rows"], "reach": reach["rows"]})
    if chosen.device:
        measure_device(chosen.device)
    return 0


def measure_device(path):
    name = "tests/bench/gpu/bench_sync_gpu"
    try:
        program = programs.program(name)
    except programs.Failed:
        print("no device: this build has no CUDA")
        return
    done = subprocess.run([program, path], check=False)
    if done.returncode not in (0, 77):  # 77: it has said that there is none
        raise programs.Failed(f"{name} ended with {done.returncode}")


# --- figures of a result ---

def rows_of(result, sweep):
    by_shape = {(row["n"], row["q"], row["N"], row["p"]): row for row in result["times"]}
    return [by_shape[shape] for shape in SWEEPS[sweep] if shape in by_shape]


def information(row):
    return row["N"] * math.log2(row["q"])


def rate(row, form):
    """kbit/s, or None."""
    ms = row["ms"].get(form)
    return information(row) / ms if ms else None


def ratio(row, slower, faster):
    ms = row["ms"]
    return ms[slower] / ms[faster] if slower in ms and faster in ms else None


def gamma_share(row):
    """Local storage computes gamma twice and is otherwise the same: the difference is gamma's time."""
    ms = row["ms"]
    return ms["batch_local"] / ms["batch"] - 1 if "batch_local" in ms and "batch" in ms else None


def gamma_ns_per_node(row):
    share = gamma_share(row)
    return None if share is None else 1e6 * share * row["ms"]["batch"] / row["corridor_nodes"]


def known(values):
    return [value for value in values if value is not None]


def span(values, shown=number):
    values = known(values)
    if not values:
        return "-"
    low, high = shown(min(values)), shown(max(values))
    return low if low == high else f"{low} to {high}"


def storage_row(result, n, q, length, p):
    return next((row for row in result["storage"]
                 if (row["n"], row["q"], row["N"], row["p"]) == (n, q, length, p)), None)


def first_over(result, q, limit):
    """The lowest measured p at which global storage of N = 210 takes more."""
    return next((row["p"] for row in result["storage"]
                 if row["q"] == q and row["N"] == MODERATE and row["global_bytes"] > limit), None)


def kernels_of(devices, storage):
    """(shape, the paper's kernels with that storage) of each device's file."""
    return [(shape, one) for device in devices for shape in device["shapes"]
            for one in shape.get("paper", []) if one["storage"] == storage]


def ours(result, devices):
    """What this repository measures beside each statement of printed.PAPER."""
    moderate = [row for sweep in ("N", "q") for row in rows_of(result, sweep)]
    poorer = rows_of(result, "poorer")
    example = storage_row(result, *LOCAL_EXAMPLE)
    reach = {row["p"]: row["bits"] for row in result["reach"]}
    at_large = next(row for row in rows_of(result, "N") if row["N"] == LARGE)
    over = {q: first_over(result, q, GIB) for _, q in STORAGE_ALPHABETS}
    said = {
        "batch_over_individual":
            f"{span(ratio(row, 'individual', 'batch') for row in moderate)} times at p = {moderate[0]['p']:g}; " +
            "; ".join(f"{span(ratio(row, 'individual', 'batch') for row in poorer if row['p'] == p)} "
                      f"at p = {p:g}" for p in (1e-2, 1e-1)),
        "gamma_share": ", ".join(f"{percent(gamma_share(row))} at N = {row['N']}"
                                 for row in rows_of(result, "N") if row["N"] in (42, 210, 840)),
        "gamma_share_q": ", ".join(f"{percent(gamma_share(row))} at q = {row['q']}"
                                   for row in rows_of(result, "q") if row["q"] in (4, 32, 256)),
        "gamma_per_node": f"{span(gamma_ns_per_node(row) for row in rows_of(result, 'N'))} ns",
        "storage_1gib": "; ".join(f"q = {q}: " + (f"at p = {p:g}" if p else f"never, up to {max(STORAGE_RATES):g}")
                                  for q, p in over.items()),
        "storage_local": f"{mib(example['local_bytes'])} in double precision (global: "
                         f"{mib(example['global_bytes'])}), M_tau = {example['M_tau']}",
        "reach_02": f"{reach[0.2]:,} bits", "reach_04": f"{reach[0.4]:,} bits",
        "cpu_throughput": f"batch {number(rate(at_large, 'batch'))} kbit/s, superposed "
                          f"{number(rate(at_large, 'superposed'))}, with the bridge band "
                          f"{number(rate(at_large, 'bridge'))}",
    }
    best = kernels_of(devices, "global")
    if best:
        mild = [(shape, one) for shape, one in best if shape["p"] == 1e-3]
        alphabets = ", ".join(f"q = {q}" for q in sorted({shape["q"] for shape, _ in mild}))
        name, top = max(((shape, one) for shape, one in best), key=lambda pair: pair[1]["times_one_core"])
        said["gpu_speedup"] = (
            f"{span(one['times_one_core'] for _, one in mild)} times at p = 0.001, {alphabets}; "
            f"{number(top['times_one_core'])} at q = {name['q']}, N = {name['N']}, p = {name['p']:g}")
        local = {tuple(shape[key] for key in "nqNp"): one["ms"] for shape, one
                 in kernels_of(devices, "local")}
        pairs = [(shape["q"], local[tuple(shape[key] for key in "nqNp")] / one["ms"])
                 for shape, one in best]
        said["gpu_local"] = "; ".join(
            f"q = {q}: {span(value for of, value in pairs if of == q)} times as long"
            for q in sorted({q for q, _ in pairs}))
        said["gpu_throughput"] = "; ".join(
            f"the paper's kernels {number(one['info_kbit_per_s'])} kbit/s at q = {shape['q']}, ours in batches "
            f"{number(max(batch['info_Mbit_per_s'] for batch in shape['device']))} Mbit/s"
            for shape, one in mild if shape["N"] == LARGE)
    return said


# --- tables and plots ---

def tables(result, devices=()):
    print(f"{made_on(result)}, one core, kernels `{result['cpu_kernels']}`." +
          "".join(f" Device: {one['device']}, {one['date']}." for one in devices) + "\n")
    said = ours(result, devices)
    table(["where", "the paper", "here"],
          [[where, text, said.get(key, "no device measured")] for key, where, text in printed.PAPER])
    for sweep, title in TITLES.items():
        key = sweep[0]
        print(f"{title}:\n")
        table([key, "M_tau", "M_n", "batch, ms", "kbit/s", "local storage, times as long",
               "individual, times as long", "superposed, kbit/s", "times batch", "bridge band, kbit/s"],
              [[f"{row[key]:g}", row["M_tau"], row["M_n"], number(row["ms"].get("batch")),
                number(rate(row, "batch")), number(ratio(row, "batch_local", "batch")),
                number(ratio(row, "individual", "batch")), number(rate(row, "superposed")),
                number(ratio(row, "batch", "superposed")), number(rate(row, "bridge"))]
               for row in rows_of(result, sweep)])


def lines_of(result, sweep, devices):
    key, rows = sweep[0], rows_of(result, sweep)
    lines = {name: [(row[key], rate(row, form)) for row in rows if rate(row, form)]
             for form, name in FORMS.items()}
    shapes = {(row["n"], row["q"], row["N"], row["p"]) for row in rows}
    for storage in ("global", "local"):
        points = [(shape[key], one["info_kbit_per_s"]) for shape, one in kernels_of(devices, storage)
                  if tuple(shape[part] for part in ("n", "q", "N", "p")) in shapes]
        lines[f"the paper's kernels on a device, {storage}"] = points
    points = [(shape[key], 1e3 * max(one["info_Mbit_per_s"] for one in shape["device"]))
              for device in devices for shape in device["shapes"]
              if tuple(shape[part] for part in ("n", "q", "N", "p")) in shapes]
    lines["superposed on a device, many frames"] = points
    return {name: points for name, points in lines.items() if points}


def throughput(result, devices):
    panels = [{"title": TITLES[sweep], "x": sweep[0], "y": "kbit/s of information",
               "lines": lines_of(result, sweep, devices),
               "marks": [(100, "the paper's devices")] if sweep == "q_large" else []}
              for sweep in ("N", "q", "q_large", "p", "n")]
    return charts.chart("Decoder throughput, one core" + (" and one device" if devices else ""), panels)


def speedup(result):
    pairs = {"batch over individual lattices": ("individual", "batch"),
             "superposed over batch": ("batch", "superposed"),
             "bridge band over batch": ("batch", "bridge")}
    panels = []
    for sweep in ("N", "q", "p"):
        rows = rows_of(result, sweep)
        lines = {name: [(row[sweep], ratio(row, *pair)) for row in rows if ratio(row, *pair)]
                 for name, pair in pairs.items()}
        panels.append({"title": TITLES[sweep], "x": sweep, "y": "times as fast", "lines": lines,
                       "marks": [(10, "the paper, batch over individual: more than")]})
    return charts.chart("Speed-up on one core", panels)


def memory(result):
    lines = {f"q = {q}, n = {n}": [(row["p"], row["global_bytes"] / 2**20) for row in result["storage"]
                                   if row["q"] == q and row["N"] == MODERATE]
             for n, q in STORAGE_ALPHABETS}
    local = {f"q = {q}, n = {n}": [(row["p"], row["local_bytes"] / 2**20) for row in result["storage"]
                                   if row["q"] == q and row["N"] == MODERATE]
             for n, q in STORAGE_ALPHABETS}
    marks = [(1024, "1 GiB"), (2048, "2 GiB")]
    return charts.chart("Metrics in double precision, N = 210 (the paper's figure 2)", [
        {"title": "global storage", "x": "p", "y": "MiB", "lines": lines, "marks": marks},
        {"title": "local storage, four streams", "x": "p", "y": "MiB", "lines": local, "marks": marks}])


def draw(path, folder, device=None):
    result = programs.read(path)
    devices = [programs.read(device)] if device else []
    folder = pathlib.Path(folder)
    for name, svg in (("throughput", throughput(result, devices)), ("speedup", speedup(result)),
                      ("memory", memory(result))):
        (folder / f"medium-paper-{name}.svg").write_text(svg, encoding="utf-8")
        print(folder / f"medium-paper-{name}.svg")
