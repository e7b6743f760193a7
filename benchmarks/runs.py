"""Whole runs: how their cost grows, and what the paper's mode, an exact covariance and a large pool cost beside it."""

from __future__ import annotations

import math
import statistics
import subprocess
import sys
from typing import Any

import numpy as np

from benchmarks.measure import ROOT, Row, in_a_process_of_its_own
from graph_bandit_lab.statistics import confidence_interval

GRAPHS, NODES = 100, 50
GIGABYTE = 1 << 30


def rows(repetitions: int) -> list[Row]:
    """Return the rows of whole runs; `repetitions` of the comparison of regret."""
    return [*_fits(repetitions), *_covariances(), *_growth(), _kernel_agent(), *_pool(), _import()]


def _run(agent: str, horizon: int, num_graphs: int = GRAPHS, num_nodes: int = NODES, seed: int = 0) -> dict[str, Any]:
    return in_a_process_of_its_own("whole_run", agent, num_graphs, num_nodes, horizon, seed)


def _fits(repetitions: int) -> list[Row]:
    ours = [_run("gnn-ts", 1000 if seed == 0 else 200, seed=seed) for seed in range(repetitions)]
    theirs = [_run("gnn-ts:fit=epochs", 200, seed=seed) for seed in range(repetitions)]
    clock = theirs[0]["seconds"]
    exponent = min(2.0, math.log2(clock[-1] / clock[len(clock) // 2 - 1]))
    epochs = statistics.median(run["seconds"][-1] for run in theirs) * (1000 / 200) ** exponent
    steps = ours[0]["seconds"][-1]
    short = [_run("gnn-ts", 200, seed=0), *ours[1:]]
    difference = np.array([a["regret"] - b["regret"] for a, b in zip(short, theirs, strict=True)])
    low, high = confidence_interval(difference)
    return [
        Row.at_least(
            f"gnn-ts, K={GRAPHS}, N={NODES}, T=1000: `steps` against `epochs`",
            epochs / steps,
            "x",
            40,
            f"{steps:.1f} s against {epochs:.0f} s, from T=200 by t^{exponent:.2f} (repeated graphs merged in both)",
        ),
        Row(
            f"mean R_T at T=200, `steps` less `epochs`, {repetitions} seeds",
            float(difference.mean()),
            "",
            "no worse",
            bool(low <= 0),
            f"paired difference, 95 % interval [{low:.1f}, {high:.1f}]",
        ),
    ]


def _covariances() -> list[Row]:
    late = {}
    forms = {
        "diagonal": "gnn-ts:covariance=diagonal",
        "refreshed": "gnn-ts",
        "theta_0": "gnn-ts:gradients_at=initial",
        "frozen": "gnn-ts:history=frozen",
    }
    for name, agent in forms.items():
        clock = _run(agent, 1000)["seconds"]
        late[name] = (clock[-1] - clock[-101]) / 100
    twice = _run(forms["diagonal"], 2000)["seconds"]
    cost = {name: late[name] / late["diagonal"] for name in late}
    ms = {name: f"{1e3 * value:.1f} ms" for name, value in late.items()}
    return [
        Row.at_most("T=2000 against T=1000, `steps`, diagonal", twice[-1] / twice[999], "x", 2.1),
        Row.at_most("a round at t=1000, exact refreshed against diagonal", cost["refreshed"], "x", 2, ms["refreshed"]),
        Row.at_most("a round at t=1000, exact at theta_0 against diagonal", cost["theta_0"], "x", 2, ms["theta_0"]),
        Row("a round at t=1000, exact frozen against diagonal", cost["frozen"], "x", detail=ms["frozen"]),
    ]


def _growth() -> list[Row]:
    long = _run("gnn-ts", 2000)
    marks = (250, 500, 1000, 2000)
    seconds = [long["seconds"][mark - 1] for mark in marks]
    exponent = np.polyfit(np.log(marks), np.log(seconds), 1)[0]
    listed = ", ".join(f"T={mark}: {value:.1f} s" for mark, value in zip(marks, seconds, strict=True))
    found = [Row("gnn-ts: growth of a run with T, exponent", float(exponent), "", detail=listed)]
    shapes = {"N": [(GRAPHS, nodes) for nodes in (10, 50, 500)], "K": [(graphs, NODES) for graphs in (10, 100, 200)]}
    for letter, pairs in shapes.items():
        runs = [_run("gnn-ts", 250, *pair) for pair in pairs]
        sizes = [pair[1] if letter == "N" else pair[0] for pair in pairs]
        times = [run["seconds"][-1] for run in runs]
        exponent = np.polyfit(np.log(sizes), np.log(times), 1)[0]
        listed = ", ".join(
            f"{letter}={size}: {1e3 * value / 250:.1f} ms a round, {run['peak_bytes'] / GIGABYTE:.2f} GB"
            for size, value, run in zip(sizes, times, runs, strict=True)
        )
        found.append(Row(f"gnn-ts, T=250: growth with {letter}, exponent", float(exponent), "", detail=listed))
    return found


def _kernel_agent() -> Row:
    run = _run("gntk-ts", 10_000, num_graphs=200)
    return Row.at_most("gntk-ts, K=200, T=10,000", run["seconds"][-1], "s", 15)


def _pool() -> list[Row]:
    found = in_a_process_of_its_own("pool", 50_000, 25, 30)
    name = "one scoring round of 50,000 graphs (25 nodes, 30 features), diagonal"
    return [
        Row.at_most(name, found["choice"], "s", 6, f"{found['reset']:.1f} s once, to read the pool"),
        Row.at_most("its peak memory", found["peak_bytes"] / GIGABYTE, "GB", 2),
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
