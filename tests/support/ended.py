"""Whether processes have ended, or are at work."""

import time

import psutil


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
