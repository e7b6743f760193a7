"""Play whole runs, and print JSON: python -m benchmarks.speed.whole_run AGENT K N T REPETITIONS [CHANGING].

With 1 for CHANGING, each round has new graphs.
"""

from __future__ import annotations

import json
import sys
import time
from functools import partial
from typing import Any

import registry
from benchmarks.speed.measure import peak_bytes
from graph_bandit_lab import AgentSpec, run_bandit
from graph_bandit_lab.episodes import RoundRecord


def play(
    agent: str, num_graphs: int, num_nodes: int, horizon: int, repetitions: int, changing: int = 0
) -> dict[str, Any]:
    """Play some repetitions.

    Returns:
        `clocks`, the CPU seconds after each round of each repetition, counted from the end of the first round, which
        compiles; `regret` of each repetition; and `peak_bytes` of the process.
    """
    spec = AgentSpec.parse(agent)
    env = registry.make_environment(
        num_graphs=num_graphs,
        num_nodes=num_nodes,
        horizon=horizon,
        reward_model="gp_gntk" if num_nodes <= 50 else "linear",
        reward_scale="unit",
        **({"resample_graphs": "round"} if changing else {"observe": "indices"}),
    )
    clocks, regret = [], []
    for seed in range(repetitions):
        times: list[float] = []
        learner = registry.make_agent(spec.name, **spec.settings)
        result = run_bandit(env, learner, seed, on_round=partial(_note, times))
        clocks.append([now - times[0] for now in times])
        regret.append(float(result.regret.sum()))
    return {"clocks": clocks, "regret": regret, "peak_bytes": peak_bytes()}


def _note(times: list[float], record: RoundRecord) -> None:
    times.append(time.process_time())


if __name__ == "__main__":
    name, *numbers = sys.argv[1:]
    print(json.dumps(play(name, *map(int, numbers))))
