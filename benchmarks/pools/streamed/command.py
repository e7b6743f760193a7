"""Run a command of the shell, and measure its time and the memory of all its processes."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

import psutil

EVERY = 0.2  # seconds between two looks at the memory


class Cost(NamedTuple):
    """What a command costs."""

    seconds: float
    """Wall time."""
    memory: int
    """Largest sum over its processes, in bytes: of the memory that is each one's own, where the system tells."""


def measure(arguments: Sequence[str]) -> Cost:
    """Run `graph-bandit` in a process of its own.

    Args:
        arguments: its arguments.

    Raises:
        RuntimeError: if it fails; its messages are in the text.
    """
    begin, most = time.perf_counter(), 0
    command = [sys.executable, "-m", "graph_bandit_cli", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        while process.poll() is None:
            most = max(most, _memory_of(psutil.Process(process.pid)))
            time.sleep(EVERY)
        told = process.stdout.read() if process.stdout else ""
    if process.returncode:
        raise RuntimeError(f"`graph-bandit {' '.join(arguments)}` failed:\n{told}")
    return Cost(time.perf_counter() - begin, most)


def _memory_of(parent: psutil.Process) -> int:
    """Return the memory of a process and its children; one that has just ended counts as nothing."""
    total = 0
    with suppress(psutil.Error):
        for process in (parent, *parent.children(recursive=True)):
            with suppress(psutil.Error):
                total += process.memory_full_info().uss
    return total
