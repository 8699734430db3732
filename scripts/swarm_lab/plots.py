"""Plots of many races, by matplotlib: arrivals, rank over time, seed copies, overhead."""

import math
import re
import statistics

from swarm_lab.report import grouped

WIDTH, HEIGHT = 7, 4.2
BUFFER_STEP_S = 3   # between points of a buffer's curve
BUFFERS_S = 150     # so much of a race is drawn of buffers,
BUFFER_TOP_S = 30   # and so much of a buffer: more is out of danger


class NoPlots(Exception):
    pass


def _pyplot(folder):
    """For drawing into `folder`."""
    try:
        import matplotlib
    except ImportError:
        raise NoPlots("plots need matplotlib; scripts/setup --all installs it "
                      "(package python3-matplotlib)") from None
    matplotlib.use("Agg")
    # The same records, the same small files: text stays text, and ids come from the drawing alone.
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "firn"})
    from matplotlib import pyplot
    folder.mkdir(parents=True, exist_ok=True)
    return pyplot


def draw(records, folder):
    """Draws into `folder`; yields the paths."""
    pyplot = _pyplot(folder)
    for name, by_client in grouped(records).items():
        tells = any(run.get("rank") for runs in by_client.values() for run in runs)
        for kind, painter in (("arrivals", arrivals), *([("rank", rank)] if tells else [])):
            figure, axes = pyplot.subplots(figsize=(WIDTH, HEIGHT))
            painter(axes, by_client)
            axes.set_title(next(iter(by_client.values()))[0]["scenario"]["title"])
            axes.legend(fontsize="small")
            yield save(pyplot, figure, folder / f"{name}-{kind}.svg")
    for kind, painter in (("seed-copies", seed_copies), ("overhead", overhead)):
        figure, axes = pyplot.subplots(figsize=(WIDTH, HEIGHT))
        painter(axes, records)
        yield save(pyplot, figure, folder / f"{kind}.svg")


def draw_buffers(records, folder):
    """Seconds of film that each viewer holds, over time, in the first run of each client; a picture for each scenario,
    a panel for each client. At 0 a viewer sees nothing. Yields the paths."""
    pyplot = _pyplot(folder)
    for name, by_client in grouped(records).items():
        runs = {client: found[0] for client, found in by_client.items() if found[0].get("buffers")}
        if not runs:
            continue
        figure, panels = pyplot.subplots(-(-len(runs) // 2), 2, figsize=(WIDTH * 1.3, HEIGHT * -(-len(runs) // 2) * 0.8),
                                         sharex=True, sharey=True, squeeze=False)
        for axes in panels.flat[len(runs):]:
            axes.set_axis_off()
        for axes, (client, run) in zip(panels.flat, runs.items()):
            for held in run["buffers"].values():
                drawn = held[:BUFFERS_S:BUFFER_STEP_S]
                axes.plot(range(0, BUFFER_STEP_S * len(drawn), BUFFER_STEP_S),
                          [math.nan if one is None else one for one in drawn], linewidth=0.9)
            axes.set_title(client, fontsize="small")
            axes.set_ylim(-1, BUFFER_TOP_S)
        figure.supxlabel("seconds", fontsize="medium")
        figure.supylabel("seconds of film that a viewer holds", fontsize="medium")
        figure.suptitle(run["scenario"]["title"])
        path = save(pyplot, figure, folder / f"{name}-buffer.svg")
        # Many points: a tenth of a pixel is exact enough.
        text = re.sub(r"(\d\.\d)\d+", r"\1", path.read_text(encoding="utf-8"))
        path.write_text(re.sub(r" *\n *", "\n", text), encoding="utf-8")
        yield path


def save(pyplot, figure, path):
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
    return path


def arrivals(axes, by_client):
    """How many have finished, over time; one line for each run."""
    limit = None
    for index, (client, runs) in enumerate(by_client.items()):
        for number, run in enumerate(runs):
            times = run["finished_s"]
            axes.step([0, *times], range(len(times) + 1), where="post", color=f"C{index}",
                      label=client if number == 0 else None)
            limit = run["bound_s"]
    if limit is not None:
        axes.axvline(limit, color="black", linestyle="--", linewidth=1, label="bound")
    axes.set_xlabel("seconds")
    axes.set_ylabel("downloaders that have finished")
    axes.yaxis.get_major_locator().set_params(integer=True)


def rank(axes, by_client):
    """What the peers have on average, over time; the band is from the least to the most."""
    for index, (client, runs) in enumerate(by_client.items()):
        curve = next((run["rank"] for run in runs if run.get("rank")), None)
        if not curve:
            continue
        steps = len(curve["mean"]) - 1
        times = [curve["end_s"] * step / steps for step in range(steps + 1)]
        mean, least, most = ([100 * held for held in curve[name]]
                             for name in ("mean", "least", "most"))
        axes.plot(times, mean, color=f"C{index}", label=client)
        axes.fill_between(times, least, most, color=f"C{index}", alpha=0.15)
    axes.set_xlabel("seconds")
    axes.set_ylabel("% of the content (rank) that peers hold")


def _bars(axes, records, value, label):
    groups = grouped(records)
    clients = list(dict.fromkeys(client for by in groups.values() for client in by))
    width = 0.8 / len(clients)
    for index, client in enumerate(clients):
        for place, by_client in enumerate(groups.values()):
            values = [value(record) for record in by_client.get(client, [])]
            values = [one for one in values if one is not None]
            if values:
                axes.bar(place + index * width, statistics.median(values), width,
                         color=f"C{index}", label=client)
    axes.set_xticks([place + 0.4 - width / 2 for place in range(len(groups))], list(groups),
                    rotation=30, ha="right", fontsize="small")
    seen = dict(zip(*reversed(axes.get_legend_handles_labels())))
    # Beside the bars, which may be high anywhere.
    axes.legend(seen.values(), seen.keys(), fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
    axes.set_ylabel(label)


def seed_copies(axes, records):
    _bars(axes, records, lambda run: run["seed_copies"],
          "bytes the seed sent, in copies of the content")


def overhead(axes, records):
    """Bytes on the wire beyond one copy for each finisher; what redundant blocks cost is in it."""
    def percent(run):
        return None if run["wire"] is None or not run["complete"] else 100 * (run["wire"] - 1)
    _bars(axes, records, percent, "bytes on the wire beyond the content, %")
    worst = [run["redundant"] for run in records if run["redundant"] is not None]
    if worst:
        axes.set_title(f"redundant blocks: {100 * statistics.median(worst):.2f} % (median)",
                       fontsize="small")
