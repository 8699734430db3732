"""What hostile peers did in a race, and what honest ones made of it."""

import re
import statistics

# Of a notice: the id of a peer that its teller banned.
BANNED = re.compile(r"^peer ([a-z2-7]{52})\b.*; banned for ")


def record(race):
    """{"trust": ...} of a race with hostile groups, present or left out; {} of others. A false file
    is one that a program called complete, and that differs from the seed's."""
    if not any(group.hostile for group in race.scenario.peers):
        return {}
    seed, peers = race.seed_node, [peer.node for peer in race.downloaders if peer.node]
    honest = set().union(*(node.ids for node in [seed, *peers]))
    banned = [(teller, accused) for teller in [seed, *peers] for accused in bans(teller)]
    saboteurs = [peer.node for peer in race.saboteurs if peer.node]
    return {"trust": {
        "deeds": sorted({race.adapter.deeds(group) for group in race.scenario.peers
                         if group.hostile} - {""}),
        "hostile": len(race.saboteurs),
        "false_blocks": sum(sum(node.false_blocks.values()) for node in saboteurs),
        "bans": sum(accused not in honest for _, accused in banned),
        "honest_banned": sum(accused in honest for _, accused in banned),
        "false_files": sum(any("differs" in line for line in peer.trouble)
                           for peer in race.downloaders),
    }}


def bans(node):
    """The ids of peers that a node said it had banned."""
    found = [BANNED.match(text) for text in node.facts.get("notices", [])]
    return [match.group(1) for match in found if match]


def words(trust):
    """A race's, in one line."""
    if not trust["hostile"]:
        return "no hostile peers"
    return (f"{trust['hostile']} hostile ({', '.join(trust['deeds'])}): {trust['false_blocks']} "
            f"false blocks, {trust['bans']} bans, honest banned {trust['honest_banned']}, false "
            f"files {trust['false_files']}")


def tables(groups):
    """Markdown: what hostile peers cost, a row for each client of each scenario that has them, from
    summaries by scenario and client; beside the runs in which they stayed away."""
    rows = []
    for name, by_client in groups.items():
        runs = [run for found in by_client.values() for run in found if run.get("trust")]
        calm = _last([run for run in runs if not run["trust"]["hostile"]])
        for client, found in by_client.items():
            told = [run["trust"] for run in found if run.get("trust")]
            if not told or not told[0]["hostile"]:
                continue
            last = _last(found)
            cells = [name, client, ", ".join(told[0]["deeds"]), str(told[0]["hostile"]),
                     str(len(told)), _number(last, 2), _number(calm, 2),
                     _number(last and calm and last / calm, 3)]
            cells += [_number(statistics.median(one[key] for one in told), 0)
                      for key in ("false_blocks", "bans")]
            cells += [str(sum(one[key] for one in told))
                      for key in ("honest_banned", "false_files")]
            rows.append("| " + " | ".join(cells) + " |")
    if not rows:
        return []
    head = ["scenario", "client", "deeds", "hostile", "runs", "last honest s", "without them s",
            "times", "false blocks", "bans", "honest banned", "false files"]
    return ["\n".join(["### Hostile peers", "", "| " + " | ".join(head) + " |",
                       "|" + "---|" * len(head), *rows])]


def _last(runs):
    """The median of the last finish of those that completed; None: none did."""
    return statistics.median([run["last_s"] for run in runs if run["complete"]] or [0]) or None


def _number(value, digits):
    return "-" if value is None else f"{value:.{digits}f}"
