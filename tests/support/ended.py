"""Whether processes have ended, or are at work."""

import contextlib
import time

import psutil

A_MOMENT = 0.03  # seconds of a core, which a process that waits does not use, and one that computes gets under any load


def have_ended(pids, seconds=10):
    """Return whether processes end, which takes the system a moment. What nobody has asked after counts as ended."""
    until = time.monotonic() + seconds
    while any(map(_runs, pids)):
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def _runs(pid):
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def at_work(parent, seconds=0.5):
    """Return the numbers of the processes below another that compute now.

    Args:
        parent: number of the process above them.
        seconds: how long they are watched.
    """
    below = psutil.Process(parent).children(recursive=True)
    before = [_seconds(process) for process in below]
    time.sleep(seconds)
    return [process.pid for process, used in zip(below, before, strict=True) if _seconds(process) > used + A_MOMENT]


def _seconds(process):
    with contextlib.suppress(psutil.Error):  # it has ended meanwhile
        return sum(process.cpu_times()[:2])
    return 0.0
