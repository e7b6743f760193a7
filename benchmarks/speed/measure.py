"""Timing on a noisy machine: two things in turn, many times, and the median of the ratios of neighbours."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Row:
    """One line of the table. `asked` is what the project set itself, in words; None where there is no such aim."""

    name: str
    value: float
    unit: str
    asked: str | None = None
    met: bool | None = None
    detail: str = ""

    @classmethod
    def at_least(cls, name: str, value: float, unit: str, least: float, detail: str = "") -> Row:
        """Make a row whose value should be large."""
        return cls(name, float(value), unit, f"at least {least:g}", bool(value >= least), detail)

    @classmethod
    def at_most(cls, name: str, value: float, unit: str, most: float, detail: str = "") -> Row:
        """Make a row whose value should be small."""
        return cls(name, float(value), unit, f"at most {most:g}", bool(value <= most), detail)


def seconds(function: Callable[[], object], least: float = 0.03) -> float:
    """Return the time of a call, from as many as take `least` seconds."""
    calls, elapsed = 1, 0.0
    while True:
        begin = time.perf_counter()
        for _ in range(calls):
            function()
        elapsed = time.perf_counter() - begin
        if elapsed >= least:
            return elapsed / calls
        calls = max(2 * calls, int(1.2 * calls * least / max(elapsed, 1e-9)))


def compare(slow: Callable[[], object], fast: Callable[[], object], pairs: int = 11) -> tuple[float, float, float]:
    """Return how many times longer `slow` takes (median over pairs), and the median seconds of both."""
    slow(), fast()  # compile and warm up
    times = [(seconds(slow), seconds(fast)) for _ in range(pairs)]
    ratios = [one / other for one, other in times]
    return statistics.median(ratios), *(statistics.median(column) for column in zip(*times, strict=True))


def in_a_process_of_its_own(module: str, *arguments: Any) -> dict[str, Any]:
    """Run `python -m benchmarks.<module>` on one thread; return the JSON that it prints."""
    command = [sys.executable, "-W", "ignore", "-m", f"benchmarks.{module}", *map(str, arguments)]
    one_thread = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **one_thread}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")
    return dict(json.loads(done.stdout.splitlines()[-1]))
