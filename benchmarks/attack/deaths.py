"""Run work in a process of its own, and kill it at a moment.

`python -m benchmarks.attack.deaths FOLDER EVENT DELAY COMMAND ...` is such a process for `graph-bandit`.
"""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.speed.measure import ROOT

LONGEST = 1200  # seconds after which work hangs
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
KILL = getattr(signal, "SIGKILL", signal.SIGTERM)


class Moment(NamedTuple):
    """When to kill."""

    event: int
    """The how manieth time that a file of the folder is opened for writing, replaced or removed; 0: at the start."""
    delay: float
    """Seconds from then to the kill."""


class End(NamedTuple):
    """How work ended."""

    code: int | None
    """Exit code; another than 0 if it was killed."""
    said: str
    """What it printed; empty if it was killed in `run`."""

    @property
    def events(self) -> int:
        """Return how often it changed files of the folder, which is the last line of what it printed."""
        return int(self.said.strip().rsplit("\n", 1)[-1])


def draw_moment(generator: np.random.Generator, events: int, seconds: float = 0.0) -> Moment:
    """Draw a moment at which work changes files or, where its time is given, as often any moment of it.

    Args:
        generator: draws it.
        events: how often the work changes files.
        seconds: how long it takes.
    """
    if seconds and generator.random() < 0.5:
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


def run_command_until(arguments: Sequence[str], folder: Path, moment: Moment | None = None) -> End:
    """Run `graph-bandit` in a new program, on any system, and kill it after an event in a folder.

    Args:
        arguments: of the command.
        folder: events are those of files in it.
        moment: when to kill it; None: not at all.
    """
    killer = [sys.executable, "-W", "ignore", "-m", "benchmarks.attack.deaths", folder, *(moment or (0, 0.0))]
    done = subprocess.run(
        [str(part) for part in (*killer, *arguments)], cwd=ROOT, capture_output=True, check=False, timeout=LONGEST
    )
    return End(done.returncode, (done.stderr + done.stdout).decode(errors="replace"))


def die_at(folder: Path, moment: Moment | None) -> Callable[[], int]:
    """Kill this process after an event of a moment; return a function that counts the events so far.

    SQLite's own writes raise no events: they follow `sqlite3.connect` within milliseconds.
    """
    count = 0

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal count
        if event not in ("open", "os.rename", "os.remove", "sqlite3.connect") or str(folder) not in _text(arguments[0]):
            return
        if event == "open" and not (isinstance(arguments[2], int) and arguments[2] & WRITES):
            return
        count += 1
        if moment and count == moment.event:
            if moment.delay:
                threading.Timer(moment.delay, os.kill, (os.getpid(), KILL)).start()
            else:
                os.kill(os.getpid(), KILL)

    sys.addaudithook(hook)
    return lambda: count


def _text(path: object) -> str:
    return os.fsdecode(path) if isinstance(path, bytes) else str(path)


def _work(work: Callable[[], int], folder: Path, said: Path, moment: Moment | None) -> None:
    count, out = die_at(folder, moment), io.StringIO()
    with redirect_stdout(out), redirect_stderr(out):
        code = work()
    said.write_text(f"{out.getvalue()}\n{count()}", encoding="utf-8")
    os._exit(code)


def _run_here(folder: str, event: str, delay: str, *arguments: str) -> int:
    count = die_at(Path(folder), Moment(int(event), float(delay)))
    from graph_bandit_cli import main  # what it does at its import counts too

    code = main([*arguments])
    print(count())
    return code


if __name__ == "__main__":
    sys.exit(_run_here(*sys.argv[1:]))
