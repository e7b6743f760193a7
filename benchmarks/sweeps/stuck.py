"""Show the fits of upper confidence bounds that get stuck on one graph: python -m benchmarks.sweeps.stuck [--seeds 10].

A Gaussian process fits the scale of its kernel and the noise to few rewards in the first rounds. The table shows the
regret, that of the worst tenth of the repetitions, and the fits of those that get stuck and of the others; with
`--given`, scale and noise are given to an agent of one kernel as rewards were made.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import gymnasium as gym
import numpy as np
import torch
import tyro

import registry
from agents.process import MixtureSettings, ProcessAgent
from graph_bandit_lab import run_bandit
from graph_bandit_lab.analysis import mean_interval
from graph_bandit_lab.design import derive_seeds
from graph_bandit_lab.episodes import RoundRecord
from graph_bandit_lab.reports import print_columns

EARLY = 16  # the round whose fit is shown: the next one is at round 32
NOISE = 0.1  # standard deviation of the rewards; their means have 1


@dataclass(frozen=True)
class Play:
    """One repetition."""

    regret: float
    stuck: bool
    """Whether it plays one graph in the second half, and not the best."""
    scale: float
    """Variance of the rewards over the set, on average over the prior with the weights of round `EARLY`."""
    noise: float
    """Variance of the noise at that round, in squared units of rewards."""


@dataclass(frozen=True, kw_only=True)
class Command:
    """What to play."""

    agent: str = "gntk-ucb"
    """An agent with a Gaussian process."""
    rewards: tuple[str, ...] = ("linear", "gp_gntk")
    """Reward functions."""
    scales: tuple[float, ...] = (1.0, 2.0)
    """Exploration scales."""
    graphs: int = 100
    """Number of graphs."""
    horizon: int = 128
    """Rounds, of the same graphs."""
    seeds: int = 10
    """Repetitions."""
    seed: int = 9022
    """Seed from which theirs are derived."""
    given: bool = False
    """Give scale and noise to the agent: it fits neither."""
    markdown: bool = False
    """Print the table in Markdown."""

    def run(self) -> int:
        """Print the table."""
        torch.set_num_threads(1)
        rows = self.compare()
        print_columns(rows, markdown=self.markdown)
        return 0

    def compare(self) -> list[tuple[str, ...]]:
        """Return header and rows, one for each reward and exploration scale."""
        fit = f"scale; noise variance at round {EARLY}"
        rows: list[tuple[str, ...]] = [
            ("reward", "nu", "R_T [95 %]", "worst tenth from", "stuck", f"their {fit}", "the others'")
        ]
        for reward in self.rewards:
            for exploration in self.scales:
                plays = [self.play(reward, exploration, seed) for seed in derive_seeds(self.seed, self.seeds)]
                totals = np.array([play.regret for play in plays])
                stuck, others = ([play for play in plays if play.stuck is which] for which in (True, False))
                regret = "{:.0f} [{:.0f}, {:.0f}]".format(totals.mean(), *mean_interval(totals))
                count = f"{len(stuck)} of {len(plays)}"
                worst = f"{np.quantile(totals, 0.9):.0f}"
                rows.append((reward, f"{exploration:g}", regret, worst, count, _ranges(stuck), _ranges(others)))
        return rows

    def play(self, reward: str, exploration: float, seed: int) -> Play:
        """Play one repetition."""
        known = {}
        if self.given:
            known = {"output_scale": self._typical_scale(reward, seed), "noise_variance": NOISE**2}
        agent = self._make_agent(exploration_scale=exploration, **known)
        early: list[float] = []

        def look(record: RoundRecord) -> None:
            if record.round == EARLY:
                terms = zip(agent.described.parts, agent.learnt.weights, strict=True)
                scale = sum(part.typical * weight for part, weight in terms)
                early.extend((scale, agent.learnt.noise * agent.targets.unit**2))

        result = run_bandit(self._make_environment(reward, self.horizon), agent, seed, on_round=look)
        late = result.actions[self.horizon // 2 :]
        stuck = len(np.unique(late)) == 1 and bool(result.regret[-1] > 0)
        return Play(float(result.regret.sum()), stuck, *early)

    def _typical_scale(self, reward: str, seed: int) -> float:
        """Return the output scale at which rewards drawn from the prior have unit variance over the set, on average."""
        agent = self._make_agent()
        run_bandit(self._make_environment(reward, 1), agent, seed)
        return 1 / agent.described.parts[0].typical

    def _make_agent(self, **settings: float) -> ProcessAgent[MixtureSettings]:
        if not isinstance(registry.make_agent(self.agent), ProcessAgent):
            raise ValueError(f"Expected an agent with a Gaussian process. Got `{self.agent}`. Try `gntk-ucb`.")
        return cast(ProcessAgent[MixtureSettings], registry.make_agent(self.agent, **settings))

    def _make_environment(self, reward: str, horizon: int) -> gym.Env[Any, Any]:
        return registry.make_environment(
            graph_model="er",
            edge_prob=0.4,
            num_nodes=20,
            num_graphs=self.graphs,
            reward_model=reward,
            reward_scale="unit",
            noise_std=NOISE,
            horizon=horizon,
        )


def _ranges(plays: Sequence[Play]) -> str:
    if not plays:
        return ""
    scales, noises = [play.scale for play in plays], [play.noise for play in plays]
    return f"{min(scales):.2g} to {max(scales):.2g}; {min(noises):.1g} to {max(noises):.1g}"


if __name__ == "__main__":
    try:
        sys.exit(tyro.cli(Command, description=__doc__).run())
    except ValueError as error:
        sys.exit(f"benchmarks.sweeps.stuck: {error}")
