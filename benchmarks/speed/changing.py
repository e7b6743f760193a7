"""Measure play on graphs that change: python -m benchmarks.speed.changing [--rounds 2000] [--memory 500].

It prints what it costs to recognise the graphs of an observation, and for each agent the CPU time of a round and the
resident memory, early and late, with a memory that is full long before. (Minutes lie between early and late, in which
other work may have come or gone: CPU time feels less of it.)
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass

import numpy as np
import psutil
import torch
import tyro

import registry
from benchmarks.speed.measure import Row, compare, show

GRAPHS, NODES = 20, 20  # of a round
BLOCK = 50  # rounds whose median is taken


@dataclass(frozen=True, kw_only=True)
class Command:
    """Settings of the measurement."""

    agents: tuple[str, ...] = ("gntk-ucb", "gnn-ucb", "lin-ucb")
    """Agents to play."""
    rounds: int = 2000
    """The late round; the early one is a quarter of it."""
    memory: int = 500
    """Graphs that the agents remember, if they have such a setting."""
    seed: int = 0
    """Seed of graphs and play."""

    def run(self) -> int:
        """Print a row for each measurement."""
        torch.set_num_threads(1)
        show([recognition()])
        for name in self.agents:
            show([late_against_early(name, self.rounds, self.memory, self.seed)])
        return 0


def late_against_early(name: str, rounds: int, memory: int, seed: int) -> Row:
    """Play an agent on new graphs each round, and compare rounds late and early."""
    agent = registry.make_agent(name, **({} if name.startswith(("lin", "random")) else {"memory": memory}))
    env = registry.make_environment(
        num_graphs=GRAPHS, num_nodes=NODES, resample_graphs="round", reward_scale="unit", horizon=10**9
    )
    observation, _ = env.reset(seed=seed)
    agent.reset(observation, seed=seed)
    block = min(BLOCK, rounds // 4)
    times, resident = np.zeros(rounds + block), []
    for t in range(len(times)):
        begin = time.process_time()
        action = agent.select_action(observation)
        times[t] = time.process_time() - begin
        played = observation
        observation, reward, *_ = env.step(action)
        begin = time.process_time()
        agent.update(played, action, float(reward))
        times[t] += time.process_time() - begin
        if (t + 1) % (rounds // 4) == 0:
            resident.append(f"{psutil.Process().memory_info().rss / 1e6:.0f}")
    early, late = (statistics.median(times[t : t + block]) for t in (rounds // 4, rounds))
    detail = f"{late * 1e3:.1f} ms against {early * 1e3:.1f} ms; {', '.join(resident)} MB at each quarter"
    what = f"{name}, memory {memory}: a round at t={rounds} against t={rounds // 4}"
    return Row.at_most(what, late / early, "x", 1.3, detail)


def recognition(num_graphs: int = 100, num_nodes: int = 50) -> Row:
    """Compare the check of an observation with the copy of the graphs that the environment makes for it."""
    env = registry.make_environment(num_graphs=num_graphs, num_nodes=num_nodes)
    observation, _ = env.reset(seed=0)
    agent = registry.make_agent("random")
    agent.reset(observation, seed=0)
    graph_set = env.get_wrapper_attr("graph_set")
    ratio, check, copy = compare(lambda: agent.select_action(observation), lambda: tuple(graph_set), pairs=5)
    detail = f"{check * 1e3:.2f} ms a round against {copy * 1e3:.2f} ms"
    return Row(f"recognising {num_graphs} graphs of {num_nodes} nodes against copying them", ratio, "x", detail=detail)


if __name__ == "__main__":
    raise SystemExit(tyro.cli(Command, description=__doc__).run())
