"""Profile a round of `gnn-ts`: python -m benchmarks.speed.round_profile [AGENT]."""

from __future__ import annotations

import cProfile
import pstats
import sys
from pathlib import Path
from typing import Any

import registry
from benchmarks.speed.measure import ROOT
from graph_bandit_lab import AgentSpec, run_bandit
from graph_bandit_lab.episodes import RoundRecord

ROUNDS, SHOWN = 400, 10


def main(agent: str = "gnn-ts") -> None:
    """Print the functions that take most of the time of 400 rounds (K=100, N=50), each with its share."""
    spec = AgentSpec.parse(agent)
    env = registry.make_environment(
        horizon=ROUNDS, reward_model="gp_gntk", reward_scale="unit", observe="indices", num_graphs=100, num_nodes=50
    )
    profile = cProfile.Profile()

    def begin_after_the_first(record: RoundRecord) -> None:
        if record.round == 1:  # it compiles
            profile.enable()

    run_bandit(env, registry.make_agent(spec.name, **spec.settings), 0, on_round=begin_after_the_first)
    profile.disable()
    entries: dict[Any, Any] = vars(pstats.Stats(profile))["stats"]  # (file, line, name): calls, ..., own time, ...
    total = sum(entry[2] for entry in entries.values())
    print(f"{agent}: {1e3 * total / (ROUNDS - 1):.2f} ms a round")
    for (file, _, name), entry in sorted(entries.items(), key=lambda item: -item[1][2])[:SHOWN]:
        where = Path(file).relative_to(ROOT) if Path(file).is_relative_to(ROOT) else "torch"
        print(f"{entry[2] / total:6.1%} {1e3 * entry[2] / (ROUNDS - 1):6.2f} ms  {name}  {where}")


if __name__ == "__main__":
    main(*sys.argv[1:])
