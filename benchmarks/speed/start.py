"""Time the start of `graph-bandit suggest` on a small table: python -m benchmarks.speed.start [REPETITIONS].

A terminal shows the first line before the model is loaded. To load torch takes most of the rest, so the whole is
compared with `import torch` alone, in turn, each in a process of its own.
"""

from __future__ import annotations

import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.speed.measure import Row, show
from graph_bandit_campaign import write_example_data

MOLECULES, RESULTS, FIRST, WHOLE = 100, 30, 1.5, 3.0  # the last two are the seconds that are asked for
COUNT = "import runpy, sys, atexit; atexit.register(lambda: print(len(sys.modules), file=sys.stderr)); "
COUNT += "runpy.run_module('graph_bandit_cli', run_name='__main__', alter_sys=True)"


def time_start(command: list[str]) -> tuple[float, float]:
    """Return the seconds of a command in a terminal until its first line, and until its end. Needs Linux or macOS.

    Raises:
        RuntimeError: if the command fails; it has what the command said.
    """
    import pty  # here, because Windows has none

    ours, terminal = pty.openpty()
    begin = time.perf_counter()
    with subprocess.Popen(command, stdout=terminal, stderr=terminal) as process, open(ours, "rb", 0) as screen:
        os.close(terminal)
        said = screen.read(1)
        first = time.perf_counter() - begin
        with contextlib.suppress(OSError):  # how Linux tells that the command has closed the terminal
            while more := screen.read(1 << 16):
                said += more
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{said.decode()}")
    return first, time.perf_counter() - begin


def rows(repetitions: int = 11) -> list[Row]:
    """Return seconds to the first line and to the end, as medians, and against `import torch` within this run."""
    with tempfile.TemporaryDirectory() as folder:
        pool, measured = write_example_data(Path(folder), "qed", RESULTS, 0)
        pool.write_text("".join(pool.read_text("utf-8").splitlines(keepends=True)[: MOLECULES + 1]), "utf-8")
        tables = [str(pool), "--measured", str(measured), "--out", f"{folder}/out.csv"]
        arguments = ["suggest", *tables, "--n", "8", "--maximize", "qed"]
        suggest = [sys.executable, "-m", "graph_bandit_cli", *arguments]
        torch = [sys.executable, "-c", "import torch; print('loaded')"]
        time_start(suggest)  # compiles, once for all later commands
        pairs = [(time_start(suggest), time_start(torch)) for _ in range(repetitions)]
        counted = subprocess.run([sys.executable, "-c", COUNT, *arguments], capture_output=True, text=True, check=True)
    first, whole = (statistics.median(own[k] for own, _ in pairs) for k in (0, 1))
    ratio = statistics.median(own[1] / other[1] for own, other in pairs)
    modules = int(counted.stderr.split()[-1])
    return [
        Row.at_most(f"suggest on {MOLECULES} molecules: the first line", first, "s", FIRST, "warm"),
        Row.at_most("the whole command", whole, "s", WHOLE, f"{modules:,} modules are imported"),
        Row("the same, times as long as `import torch` alone", ratio, "x"),
    ]


if __name__ == "__main__":
    show(rows(*map(int, sys.argv[1:])))
