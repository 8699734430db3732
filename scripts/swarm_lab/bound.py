"""The fluid lower bound of a swarm: no schedule, whatever the protocol, ends earlier.

With F bytes of content, a source of rate u_s and N downloaders with uplinks u_i and downlinks d_i,
the last downloader cannot end before

    max( F / u_s,  F / min d_i,  N F / (u_s + sum u_i) )

(Mundinger, Weber, Weiss 2008; Kumar, Ross 2006): the source must send everything once, a downlink
must take everything once, and all uplinks together must send N copies. Protocol overhead and the
time to relay are not in it. Here each condition is piecewise in time, as hosts come and go:

  first copy   sources have sent F bytes; never, if they leave before
  downlinks    arrival + F / d_i of each downloader that stays
  capacity     for each moment a: what those who arrive at a or later need must pass the uplinks of
               those present after a, because nothing can be sent to a host that is not there

An origin (a web server) is a source; one that dies and comes back is two. A host that leaves or crashes brings its
uplink until then. What a downloader had received when it crashed counts as needed, for no schedule knows beforehand
which hosts will crash; a bound that forgot it would ask for clairvoyance. Rates are bytes per second, times seconds
since the start.
"""

import dataclasses
import math


@dataclasses.dataclass
class Link:
    """A host as the bound sees it."""

    up: float
    down: float = math.inf
    source: bool = False     # has everything from the start
    arrives: float = 0.0
    leaves: float = math.inf
    needs: float = 0.0       # bytes it has to receive; a peer that crashed: what it had received


@dataclasses.dataclass
class Bound:
    seconds: float
    first_copy: float
    downlinks: float
    capacity: float

    def as_record(self):
        return {key: None if math.isinf(value) else round(value, 4)
                for key, value in dataclasses.asdict(self).items()}

    def limited_by(self):
        return max(("first_copy", "downlinks", "capacity"), key=lambda name: getattr(self, name))


def time_to_send(amount, links, start):
    """When the uplinks of `links` together have sent `amount` bytes from `start` on; inf: never."""
    if amount <= 0:
        return start
    moments = {start}
    for link in links:
        moments |= {moment for moment in (link.arrives, link.leaves)
                    if start < moment < math.inf}
    moments = sorted(moments)
    left = amount
    for begin, end in zip(moments, moments[1:] + [math.inf]):
        rate = sum(link.up for link in links if link.arrives <= begin < link.leaves)
        if rate > 0 and left <= rate * (end - begin):
            return begin + left / rate
        left -= rate * (end - begin) if rate > 0 else 0
    return math.inf


def lower_bound(links, content_bytes, start=0.0):
    """The bound for the last downloader that stays; `start`: before then no host knows another."""
    links = [dataclasses.replace(link, arrives=max(link.arrives, start)) for link in links]
    takers = [link for link in links if link.needs > 0]
    if not takers:
        return Bound(start, start, start, start)
    first_copy = time_to_send(content_bytes, [link for link in links if link.source], start)
    downlinks = max(link.arrives + link.needs / link.down for link in takers)
    capacity = max(
        time_to_send(sum(link.needs for link in takers if link.arrives >= moment), links, moment)
        for moment in {link.arrives for link in takers})
    return Bound(max(first_copy, downlinks, capacity), first_copy, downlinks, capacity)
