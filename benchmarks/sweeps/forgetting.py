"""Compare two ways to forget graphs where they change: python -m benchmarks.sweeps.forgetting [--seeds 5].

Agents with a memory that is soon full forget the graphs whose rewards tell least, as they are shipped, or the oldest.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import pandas as pd
import torch
import tyro
from torch import Tensor

import registry
from agents import zoo
from agents.beliefs import AcquisitionRule, compose, remember
from agents.beliefs.rules import ThompsonSampling, UpperConfidenceBound
from agents.contract import Agent
from agents.kernel import KernelAgent, KernelSettings, read_network
from graph_bandit_lab import run_bandit
from graph_bandit_lab.analysis import paired_interval
from graph_bandit_lab.reports import print_columns

AGENTS = {"gntk-ucb": (zoo.gntk_ucb, UpperConfidenceBound), "gntk-ts": (zoo.gntk_ts, ThompsonSampling)}


class ForgetsTheOldest(KernelAgent[KernelSettings]):
    """The kernel agent, but for what it forgets."""

    def worth_keeping(self) -> Tensor:
        """Return the slots of the graphs played last, up to `memory` of them."""
        return remember(self.history.seen, self.settings.memory, torch.arange)


def forgets_the_oldest(settings: KernelSettings, make_rule: Callable[[], AcquisitionRule]) -> ForgetsTheOldest:
    """The exact Gaussian process that forgets the oldest graphs."""
    return ForgetsTheOldest(settings, make_rule, partial(read_network, settings))


@dataclass(frozen=True, kw_only=True)
class Command:
    """Settings of the comparison."""

    rewards: tuple[str, ...] = ("linear", "gp_gntk")
    """Reward functions."""
    memory: int = 50
    """Graphs that the agents remember."""
    horizon: int = 300
    """Rounds, of 20 new graphs each."""
    seeds: int = 5
    """Seeds from 0 on."""
    markdown: bool = False
    """Print the table in Markdown."""

    def run(self) -> int:
        """Print the table."""
        torch.set_num_threads(1)
        rows = self.compare()
        print_columns(rows, markdown=self.markdown)
        return 0

    def compare(self) -> list[tuple[str, ...]]:
        """Return header and rows: mean R_T of both ways, and the paired difference."""
        rows: list[tuple[str, ...]] = [
            ("agent", "reward", "least information", "the oldest", "difference [95 % interval]", "less regret in")
        ]
        for name, (shipped, rule) in AGENTS.items():
            oldest = compose(f"{name}-oldest", forgets_the_oldest, type(shipped().settings), rule)
            for reward in self.rewards:
                ways: dict[str, Callable[..., Agent]] = {"shipped": partial(registry.make_agent, name), "other": oldest}
                table = pd.DataFrame(
                    {
                        way: [self.regret(make(memory=self.memory), reward, seed) for seed in range(self.seeds)]
                        for way, make in ways.items()
                    }
                )
                pairs = pd.concat({"": table["shipped"] - table["other"]}, names=["environment"])
                rows.append(
                    (
                        name,
                        reward,
                        f"{table['shipped'].mean():.1f}",
                        f"{table['other'].mean():.1f}",
                        "{:+.1f} [{:+.1f}, {:+.1f}]".format(*paired_interval(pairs)),
                        f"{int((pairs < 0).sum())} of {self.seeds}",
                    )
                )
        return rows

    def regret(self, agent: Agent, reward: str, seed: int) -> float:
        """Play one episode and return R_T."""
        env = registry.make_environment(
            num_graphs=20,
            num_nodes=20,
            reward_model=reward,
            reward_scale="unit",
            resample_graphs="round",
            horizon=self.horizon,
        )
        return float(run_bandit(env, agent, seed=seed).regret.sum())


if __name__ == "__main__":
    sys.exit(tyro.cli(Command, description=__doc__).run())
