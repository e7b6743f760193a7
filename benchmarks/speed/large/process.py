"""Run Python in a process of its own, and measure its time and memory."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

import psutil

EVERY = 0.2  # seconds between two looks at the memory
KILL = getattr(signal, "SIGKILL", signal.SIGTERM)


class Cost(NamedTuple):
    """What a process and its children cost."""

    seconds: float
    """By the clock."""
    cpu: float
    """Seconds of all cores."""
    peak: float
    """Bytes of memory of the largest process."""
    memory: float
    """Largest sum over its processes, in bytes: of the memory that is each one's own, where the system tells."""


def measure(*arguments: str, stop: Callable[[], bool] = lambda: False) -> Cost:
    """Run Python, and return what it cost; what it prints goes to stderr.

    Args:
        arguments: of Python, such as `-m graph_bandit_cli suggest ...`.
        stop: whether it should be killed; asked again and again.

    Raises:
        RuntimeError: if it fails.
    """
    begin, most, killed = time.perf_counter(), 0.0, False
    command, actions = [sys.executable, *arguments], [(os.POSIX_SPAWN_DUP2, 2, 1)]
    pid, done = os.posix_spawn(sys.executable, command, os.environ, file_actions=actions), 0
    while not done:
        most = max(most, _memory_of(pid))
        if not killed and stop():
            os.kill(pid, KILL)
            killed = True
        time.sleep(EVERY)
        done, status, usage = os.wait4(pid, os.WNOHANG)
    if os.waitstatus_to_exitcode(status) and not killed:
        raise RuntimeError(f"`python {' '.join(arguments)}` failed.")
    return Cost(time.perf_counter() - begin, usage.ru_utime + usage.ru_stime, 1024.0 * usage.ru_maxrss, most)


def _memory_of(pid: int) -> float:
    """Return the memory of a process and its children; one that has just ended counts as nothing."""
    total = 0.0
    with suppress(psutil.Error):
        process = psutil.Process(pid)
        for part in (process, *process.children(recursive=True)):
            with suppress(psutil.Error):
                total += part.memory_full_info().uss
    return total
