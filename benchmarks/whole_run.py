"""One run in a process of its own: python -m benchmarks.whole_run AGENT K N T SEED. Prints JSON."""

from __future__ import annotations

import json
import resource
import sys
import time
from typing import Any

import registry
from graph_bandit_lab import run_bandit
from graph_bandit_lab.settings import AgentSpec


def play(agent: str, num_graphs: int, num_nodes: int, horizon: int, seed: int) -> dict[str, Any]:
    """Play one repetition; return CPU seconds after each round (from the end of the first), regret and peak memory."""
    spec = AgentSpec.parse(agent)
    env = registry.make_environment(
        num_graphs=num_graphs,
        num_nodes=num_nodes,
        horizon=horizon,
        reward_model="gp_gntk" if num_nodes <= 50 else "linear",
        reward_scale="unit",
        observe="indices",
    )
    clock: list[float] = []
    learner = registry.make_agent(spec.name, **spec.settings)
    result = run_bandit(env, learner, seed, on_round=lambda: clock.append(time.process_time()))
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = [now - clock[0] for now in clock]
    return {"seconds": seconds, "regret": float(result.regret.sum()), "peak_bytes": peak}


if __name__ == "__main__":
    name, *numbers = sys.argv[1:]
    print(json.dumps(play(name, *map(int, numbers))))
