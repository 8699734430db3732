"""How a script ends that is told to end."""

import signal

NUMBERS = (signal.SIGTERM, signal.SIGHUP)


def _end(number, _frame):
    raise SystemExit(128 + number)


def leave_blocks():
    """From now on these signals are exceptions: `with` blocks are left, and what they made is gone. What
    was to happen before, by number; SIGINT is an exception anyway."""
    return {number: signal.signal(number, _end) for number in NUMBERS}
