"""Time whole runs: the growth of their cost, and the cost of the paper's mode, an exact covariance and a large pool."""

from __future__ import annotations

import math
import subprocess
import sys
from typing import Any

import numpy as np

from benchmarks.speed import whole_run
from benchmarks.speed.kernels import step_seconds
from benchmarks.speed.large import score
from benchmarks.speed.measure import ROOT, Row, in_a_process_of_its_own
from graph_bandit_lab.analysis import mean_interval

GRAPHS, NODES = 100, 50
GIGABYTE = 1 << 30


def rows(repetitions: int) -> list[Row]:
    """Return the rows for whole runs; regret is compared over `repetitions`."""
    before = step_seconds()
    ours = _run("gnn-ts", 2000)
    step = (before + step_seconds()) / 2  # the machine's speed changes from minute to minute
    diagonal = _run("gnn-ts:covariance=diagonal", 2000)
    return [
        *_fits(repetitions, step, ours["clocks"][0][999]),
        *_covariances(ours, diagonal),
        *_growth(ours),
        *_kernel_agents(),
        _changing("gntk-ucb:memory=100"),
        *_pool(),
        _import(),
    ]


def _run(
    agent: str, horizon: int, num_graphs: int = GRAPHS, num_nodes: int = NODES, repetitions: int = 1, changing: int = 0
) -> dict[str, Any]:
    return in_a_process_of_its_own(whole_run.__name__, agent, num_graphs, num_nodes, horizon, repetitions, changing)


def _fits(repetitions: int, step: float, steps: float) -> list[Row]:
    ours, theirs = (_run(agent, 200, repetitions=repetitions) for agent in ("gnn-ts", "gnn-ts:fit=epochs"))
    epochs = _run("gnn-ts:fit=epochs", 1000)["clocks"][0][999]
    one_by_one = steps + step * sum(30 * math.ceil(t / 5) for t in range(1, 1001))
    difference = np.subtract(ours["regret"], theirs["regret"])
    low, high = mean_interval(difference, "any")
    name = f"gnn-ts, K={GRAPHS}, N={NODES}, T=1000: `steps` against `epochs`"
    return [
        Row.at_least(
            f"{name}, which merges repeated graphs too",
            epochs / steps,
            "x",
            40,
            f"{steps:.1f} s against {epochs:.1f} s",
        ),
        Row.at_least(
            f"{name} that takes every observation by itself",
            one_by_one / steps,
            "x",
            40,
            f"{one_by_one:.0f} s: 3 million steps of {step * 1e6:.0f} us, and the scores",
        ),
        Row(
            f"mean R_T at T=200, `steps` minus `epochs`, {repetitions} seeds",
            float(difference.mean()),
            "",
            "no worse",
            bool(low <= 0),
            f"paired difference, 95 % interval [{low:.1f}, {high:.1f}]",
        ),
    ]


def _covariances(ours: dict[str, Any], diagonal: dict[str, Any]) -> list[Row]:
    runs = {
        "diagonal": diagonal,
        "refreshed": ours,
        "theta_0": _run("gnn-ts:gradients_at=initial", 1000),
        "frozen": _run("gnn-ts:history=frozen", 1000),
    }
    late = {name: (run["clocks"][0][999] - run["clocks"][0][899]) / 100 for name, run in runs.items()}
    cost = {name: late[name] / late["diagonal"] for name in late}
    ms = {name: f"{1e3 * value:.1f} ms" for name, value in late.items()}
    twice = diagonal["clocks"][0]
    return [
        Row.at_most("T=2000 against T=1000, `steps`, diagonal", twice[1999] / twice[999], "x", 2.1),
        Row.at_most("a round at t=1000, exact refreshed against diagonal", cost["refreshed"], "x", 2, ms["refreshed"]),
        Row.at_most("a round at t=1000, exact at theta_0 against diagonal", cost["theta_0"], "x", 2, ms["theta_0"]),
        Row("a round at t=1000, exact frozen against diagonal", cost["frozen"], "x", detail=ms["frozen"]),
    ]


def _growth(ours: dict[str, Any]) -> list[Row]:
    marks = (250, 500, 1000, 2000)
    seconds = [ours["clocks"][0][mark - 1] for mark in marks]
    exponent = np.polyfit(np.log(marks), np.log(seconds), 1)[0]
    listed = ", ".join(f"T={mark}: {value:.1f} s" for mark, value in zip(marks, seconds, strict=True))
    growth = [Row("gnn-ts: growth of a run with T, exponent", float(exponent), "", detail=listed)]
    pairs = {(GRAPHS, 10), (GRAPHS, NODES), (GRAPHS, 500), (10, NODES), (200, NODES)}
    runs = {pair: _run("gnn-ts", 250, *pair) for pair in sorted(pairs)}
    for letter, sizes in {"N": (10, 50, 500), "K": (10, 100, 200)}.items():
        chosen = [runs[GRAPHS, size] if letter == "N" else runs[size, NODES] for size in sizes]
        times = [run["clocks"][0][-1] / 249 for run in chosen]
        exponent = np.polyfit(np.log(sizes), np.log(times), 1)[0]
        listed = ", ".join(
            f"{letter}={size}: {1e3 * value:.1f} ms a round, {run['peak_bytes'] / GIGABYTE:.2f} GB"
            for size, value, run in zip(sizes, times, chosen, strict=True)
        )
        growth.append(Row(f"gnn-ts, T=250: growth with {letter}, exponent", float(exponent), "", detail=listed))
    return growth


def _kernel_agents() -> list[Row]:
    run = _run("gntk-ts", 10_000, num_graphs=200)
    rows = [Row.at_most("gntk-ts, K=200, T=10,000", run["clocks"][0][-1], "s", 15)]
    for count, horizon, most in ((100, 300, 2), (2000, 60, 3)):
        sums, single = (
            _run(agent, horizon, count, 20)["clocks"][0][-1] / (horizon - 1) for agent in ("gp-ucb", "gntk-ucb")
        )
        rows.append(
            Row.at_most(
                f"a round of {horizon} on {count:,} graphs: gp-ucb, a sum of parts, against gntk-ucb, one of them",
                sums / single,
                "x",
                most,
                f"{1e3 * sums:.2f} ms against {1e3 * single:.2f} ms",
            )
        )
    return rows


def _changing(agent: str) -> Row:
    times = np.diff(_run(agent, 650, 20, 20, changing=1)["clocks"][0])
    early, late = (float(np.median(times[t - 50 : t + 50])) for t in (150, 600))
    name = f"{agent}, 20 new graphs a round: a round at t=600 against t=150"
    return Row.at_most(name, late / early, "x", 1.3, f"{1e3 * late:.1f} ms against {1e3 * early:.1f} ms")


def _pool() -> list[Row]:
    scored = in_a_process_of_its_own(score.__name__, 50_000, 25, 30)
    name = "one scoring round of 50,000 graphs (25 nodes, 30 features), diagonal"
    return [
        Row.at_most(name, scored["choice"], "s", 6, f"{scored['reset']:.1f} s once, to read the pool"),
        Row.at_most("its peak memory", scored["peak_bytes"] / GIGABYTE, "GB", 2),
    ]


def _import() -> Row:
    code = (
        "import sys, time; t = time.perf_counter(); import graph_bandit_env;"
        "print(time.perf_counter() - t, 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    elapsed, has_torch = done.stdout.split()
    return Row(
        "import of graph_bandit_env",
        float(elapsed),
        "s",
        "under 1, without torch",
        float(elapsed) < 1 and has_torch == "False",
    )
