"""How far two clocks are apart. Each host's monotonic clock began at another moment; the race has one
clock, that of the task that conducts it.

A task asks for the conductor's time. The answer was given at some moment between question and
answer, so the middle of that interval is wrong by half of it at most. Of several exchanges the one
with the shortest interval counts.
"""

import dataclasses

EXCHANGES = 9


@dataclasses.dataclass(frozen=True)
class Offset:
    """`seconds` to add to the own clock; wrong by `error` seconds at most."""

    seconds: float
    error: float

    def moved(self, later):
        """How much further apart the clocks may be in the end than `later` measured: drift."""
        return abs(later.seconds - self.seconds)


def measure(exchange, count=EXCHANGES):
    """`exchange` asks once: (own time before, the other's time, own time after)."""
    found = []
    for _ in range(count):
        before, other, after = exchange()
        found.append(Offset(other - (before + after) / 2, (after - before) / 2))
    return min(found, key=lambda offset: offset.error)
