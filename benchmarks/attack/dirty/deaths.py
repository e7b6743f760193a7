"""Run work in a process of its own, and kill it at a moment."""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np

LONGEST = 600  # seconds after which work hangs
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class Moment(NamedTuple):
    """When to kill."""

    event: int
    """The how manieth time that a file of the folder is opened for writing, replaced or removed; 0: at the start."""
    delay: float
    """Seconds from then to the kill."""


class End(NamedTuple):
    """How work ended."""

    code: int | None
    """Exit code; negative if it was killed."""
    said: str
    """What it printed; empty if it was killed."""


def draw_moment(generator: np.random.Generator, seconds: float, events: int) -> Moment:
    """Draw any moment of work that takes so long or, as often, one of those at which it changes files.

    Args:
        generator: draws it.
        seconds: how long the work takes.
        events: how often it changes files.
    """
    if generator.random() < 0.5:
        return Moment(0, float(generator.uniform(0, seconds)))
    return Moment(int(generator.integers(1, events + 1)), float(generator.choice([0, generator.uniform(1e-4, 1e-2)])))


def run(work: Callable[[], int], folder: Path, said: Path, moment: Moment | None = None) -> End:
    """Run work in a process that starts with the libraries that are loaded here.

    Args:
        work: returns an exit code.
        folder: where it changes files.
        said: file for what it prints, and how often it changed files of the folder, as the last line.
        moment: when to kill it; None: not at all.
    """
    said.unlink(missing_ok=True)
    process = get_context("fork").Process(target=_work, args=(work, folder, said, moment))
    process.start()
    process.join(moment.delay if moment and not moment.event else LONGEST)
    if process.is_alive():
        process.kill()
        process.join()
    return End(process.exitcode, said.read_text(encoding="utf-8") if said.exists() else "")


def _work(work: Callable[[], int], folder: Path, said: Path, moment: Moment | None) -> None:
    count, out = 0, io.StringIO()

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal count
        if event not in ("open", "os.rename", "os.remove") or str(folder) not in str(arguments[0]):
            return
        if event == "open" and not (isinstance(arguments[2], int) and arguments[2] & WRITES):
            return
        count += 1
        if moment and count == moment.event:
            if moment.delay:
                threading.Timer(moment.delay, os.kill, (os.getpid(), signal.SIGKILL)).start()
            else:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)
    with redirect_stdout(out), redirect_stderr(out):
        code = work()
    said.write_text(f"{out.getvalue()}\n{count}", encoding="utf-8")
    os._exit(code)
