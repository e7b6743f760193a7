"""Look inside one episode of a neural agent: python -m benchmarks.sweeps.inside "gnn-ts:preset=paper" [--seed 0].

Each row is a round: how many graphs were played before it; the graph that the agent plays, by its rank among the means
mu, with mu and the prediction f of it and of the best graph; how far mu and f of all graphs spread, and how they
correlate; nu sigma, and sigma of the graph played against that of the best; the length of all weights against that at
the start.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import tyro
from numpy.typing import NDArray

import registry
from agents.neural import NeuralAgent
from benchmarks.sweeps.limit import register
from graph_bandit_lab import AgentSpec
from graph_bandit_lab.reports import print_columns

HEADER = (
    "t", "graphs played", "rank", "mu", "f", "best: mu", "f", "sd of mu", "sd of f", "correlation",
    "nu sigma", "sigma played / best", "|theta| / |theta_0|",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Command:
    """The episode, and the rounds to look at."""

    agent: tyro.conf.Positional[str]
    """A neural agent, with settings after a colon."""
    reward_model: str = "gp_gntk"
    """Reward function; the graphs are Erdos-Renyi graphs of p = 0.4."""
    num_graphs: int = 100
    """K."""
    num_nodes: int = 50
    """N."""
    reward_scale: str = "raw"
    """Scale of the rewards."""
    horizon: int = 300
    """Rounds."""
    seed: int = 0
    """Seed of the episode."""
    rounds: tuple[int, ...] = (1, 10, 30, 50, 100, 200, 300, 500, 700, 1000)
    """Rounds to look at."""
    markdown: bool = False
    """Print the table in Markdown."""

    def run(self) -> int:
        """Play, and print the table."""
        torch.set_num_threads(1)
        register()
        rows = self.look()
        print_columns(rows, markdown=self.markdown)
        return 0

    def look(self) -> list[tuple[str, ...]]:
        """Play the episode as `run_bandit` does; print what the penalty is up against, and return header and rows.

        Raises:
            TypeError: if the agent is not neural.
        """
        spec = AgentSpec.parse(self.agent)
        agent = registry.make_agent(spec.name, **spec.settings)
        if not isinstance(agent, NeuralAgent):
            raise TypeError(f"Expected a neural agent, gnn-* or nn-*. Got {spec.name}.")
        env: Any = registry.make_environment(
            reward_model=self.reward_model,
            reward_scale=self.reward_scale,
            num_graphs=self.num_graphs,
            num_nodes=self.num_nodes,
            horizon=self.horizon,
            observe="indices",
        )
        env_seed, agent_seed = np.random.SeedSequence(self.seed).generate_state(2).tolist()
        observation, info = env.reset(seed=env_seed)
        agent.reset(observation, seed=agent_seed, graph_set=env.unwrapped.graph_set)
        print(compare_with_penalty(agent, self.horizon))
        rows: list[tuple[str, ...]] = [HEADER]
        played = set[int]()
        for t in range(1, self.horizon + 1):
            action = agent.select_action(observation, info["action_mask"])
            if t in self.rounds:
                rows.append((str(t), str(len(played)), *describe(agent, env.unwrapped.mean_rewards, action)))
            played.add(action)
            observation, reward, _, _, info = env.step(action)
            agent.update(observation, action, float(reward))
        return rows


def describe(agent: NeuralAgent, means: NDArray[np.float64], action: int) -> tuple[str, ...]:
    """Return the other columns of a row, of an agent that has just chosen."""
    insight, best = agent.insight(), int(means.argmax())
    f, spread = insight.mean, insight.spread
    alike = f"{np.corrcoef(f, means)[0, 1]:.2f}" if f.std() > 0 else ""
    length = _length(agent.weights) / _length(agent.network.initial)
    numbers = (means[action], f[action], means[best], f[best], means.std(), f.std())
    return (
        str(int((means > means[action]).sum()) + 1),
        *(f"{number:.3f}" for number in numbers),
        alike,
        f"{spread.mean():.3f}",
        f"{spread[action] / spread[best]:.2f}",
        f"{length:.2f}",
    )


def compare_with_penalty(agent: NeuralAgent, horizon: int) -> str:
    """Return how the penalty compares with what it shrinks; the agent has not played yet.

    Where every graph is played equally often, gradient descent to the end shrinks the part of the prediction along an
    eigenvector of the kernel by e / (e + c), with its eigenvalue e over K and c the weight of the penalty. The kernel
    with the mean of its rows and columns taken away holds what tells graphs apart.
    """
    rows = agent.network.features(agent.network.initial, torch.arange(agent.network.num_graphs)).double()
    rows -= rows.mean(0)
    values = torch.linalg.svdvals(rows).square() / len(rows)
    settings = agent.settings
    weight = settings.ridge / (horizon if settings.penalty == "per_round" else 1)
    first, tenth = values[0], values[min(9, len(values) - 1)]
    return (
        f"Eigenvalues of the centred kernel over K: first {first:.4f}, tenth {tenth:.4f}. "
        f"Weight of the penalty at t = {horizon}: {weight:.2g}, of which {weight * settings.learning_rate:.2g} a step."
    )


def _length(weights: list[torch.Tensor]) -> float:
    return math.sqrt(sum(float(weight.double().square().sum()) for weight in weights))


if __name__ == "__main__":
    try:
        sys.exit(tyro.cli(Command, description=__doc__).run())
    except (TypeError, ValueError) as error:
        sys.exit(f"benchmarks.sweeps.inside: {error}")
