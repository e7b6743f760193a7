"""Make attempts on the product in a given time, and count them."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from pathlib import Path
from types import FrameType
from typing import NamedTuple, NoReturn

import numpy as np

from benchmarks.speed.measure import ROOT


class Attempt(NamedTuple):
    """One attempt on the product."""

    kind: str
    """What was tried, without its random part: "one bit of a cache flipped"."""
    fault: str = ""
    """What went wrong, in one line; empty if the product did the right thing."""


Area = Callable[..., Iterator[Attempt]]
"""An area's `attack`, which takes random numbers, a folder, and the table `--data` if it needs one."""


@dataclass(frozen=True)
class Score:
    """The attempts on one area."""

    area: str
    """Name of its module."""
    tried: Counter[str]
    """Number of attempts of each kind."""
    faults: dict[str, list[str]]
    """The faults of each kind that was not always survived."""


def attack_area(area: str, seed: int, seconds: float, attempts: int | None = None, *given: object) -> Score:
    """Attack one area until it has nothing left to try, or the time is over, or it has made so many attempts.

    Args:
        area: name of a module of this folder with a function `attack`, an `Area`.
        seed: equal seeds make the same attempts, as many as the time allows.
        seconds: no attempt starts later.
        attempts: the most that are made; None: as many as the time allows.
        given: what the area takes besides.
    """
    attack: Area = import_module(f"benchmarks.attack.{area}").attack
    generator = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(zlib.crc32(area.encode()),)))
    score = Score(area, Counter(), {})
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder:
        for attempt in islice(attack(generator, Path(folder), *given), attempts):
            score.tried[attempt.kind] += 1
            if attempt.fault:
                score.faults.setdefault(attempt.kind, []).append(attempt.fault)
            if time.monotonic() > end:
                break
    return score


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Interrupt what takes longer, with a TimeoutError; on Windows, which has no such timer, let it go on."""

    def give_up(number: int, frame: FrameType | None) -> NoReturn:
        raise TimeoutError(f"It did not end within {seconds:.0f} s.")

    if not hasattr(signal, "setitimer"):
        yield
        return
    earlier = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, earlier)


def run_command(arguments: Sequence[str | Path], seconds: float = 120) -> tuple[int | None, str]:
    """Run `graph-bandit` in a process of its own.

    Returns:
        Its exit code, None if it had to be killed after `seconds`; and all that it printed.
    """
    command = [sys.executable, "-W", "ignore", "-m", "graph_bandit_cli", *map(str, arguments)]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return None, ""
    return done.returncode, (done.stdout + done.stderr).decode(errors="replace")
