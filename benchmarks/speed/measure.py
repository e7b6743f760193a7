"""Time two functions in turn, many times, and take the median ratio, which suits a noisy machine."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Row:
    """One line of the table. `asked` is the project's aim in words; None if there is no aim."""

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


def show(rows: Sequence[Row]) -> None:
    """Print some rows."""
    for row in rows:
        verdict = "" if row.asked is None else f"({row.asked}: {'met' if row.met else 'MISSED'}) "
        print(f"{row.value:8.3g} {row.unit:2} {row.name} {verdict}{row.detail}", flush=True)


def seconds(function: Callable[[], object], least: float = 0.03) -> float:
    """Return the seconds that a core works for a call, averaged over enough calls to take `least` seconds."""
    calls, elapsed = 1, 0.0
    while True:
        begin = time.process_time()
        for _ in range(calls):
            function()
        elapsed = time.process_time() - begin
        if elapsed >= least:
            return elapsed / calls
        calls = max(2 * calls, int(1.2 * calls * least / max(elapsed, 1e-9)))


def compare(slow: Callable[[], object], fast: Callable[[], object], pairs: int = 11) -> tuple[float, float, float]:
    """Return how many times longer `slow` takes than `fast` (median over pairs), and the median seconds of both."""
    slow(), fast()  # compile and warm up
    times = [(seconds(slow), seconds(fast)) for _ in range(pairs)]
    ratios = [time_slow / time_fast for time_slow, time_fast in times]
    return statistics.median(ratios), *(statistics.median(column) for column in zip(*times, strict=True))


def in_a_process_of_its_own(module: str, *arguments: Any, **variables: str) -> dict[str, Any]:
    """Run `python -m <module>` on one thread, with some environment variables, and return the JSON that it prints."""
    command = [sys.executable, "-W", "ignore", "-m", module, *map(str, arguments)]
    one_thread = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **one_thread, **variables}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def peak_bytes() -> int:
    """Return the peak resident memory of this process since its program began."""
    if sys.platform == "win32":
        import psutil

        return int(psutil.Process().memory_info().peak_wset)
    status = Path("/proc/self/status")
    if status.is_file():  # on Linux, getrusage includes the process that this one was forked from
        (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return 1024 * int(line.split()[1])
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # in bytes on macOS
