"""How a script ends that is told to end."""

import signal


def _end(number, _frame):
    # What it made is removed in peace.
    for other in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(other, signal.SIG_IGN)
    raise SystemExit(128 + number)


def leave_blocks():
    """From now on SIGTERM and SIGHUP are exceptions, as SIGINT is anyway: `with` blocks are left, and what they
    made is gone. One that is ignored (`nohup`) stays ignored."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _end)
