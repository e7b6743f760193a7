"""Play for very long: python -m benchmarks.attack.soak [--rounds-gntk 2000000] [--rounds-gnn 0] [--steps-vector 0].

It prints what a long run could ruin: the posterior against one computed from all rewards at once, the resident memory
at each quarter, and the open descriptors. A part with 0 rounds is left out, so that the parts can run separately.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import cast

import numpy as np
import psutil
import torch
import tyro
from numpy.typing import NDArray

import registry
from agents.contract import BatchAgent
from agents.kernel import KernelAgent, KernelSettings
from graph_bandit_env import GraphActionBandit, GraphActionBanditVector, GraphSet
from graph_bandit_lab.reports import print_columns

Floats = NDArray[np.float64]
GRAPHS, NODES, BANDITS = 20, 10, 64
NOISE_STD = 0.3
BLOCK = 1000  # rounds whose noise is drawn at once
QUARTERS = 4


@dataclass(frozen=True, kw_only=True)
class Command:
    """Settings of the soak."""

    rounds_gntk: int = 2_000_000
    """Rounds of `gntk-ts`, which updates its posterior reward by reward."""
    rounds_gnn: int = 20_000
    """Rounds of `gnn-ts`."""
    steps_vector: int = 10_000_000
    """Steps of the native vector environment, all its bandits together."""
    seed: int = 0
    """Seed of graphs, play and noise."""
    markdown: bool = False
    """Print the table in Markdown."""

    def run(self) -> int:
        """Print a row for each part."""
        torch.set_num_threads(1)
        rows: list[tuple[str, ...]] = [("soak", "rounds", "drift", "MB at each quarter", "descriptors", "minutes")]
        parts: tuple[tuple[str, int, Callable[[int, int], Iterator[str]]], ...] = (
            ("gntk-ts", self.rounds_gntk, soak_gntk),
            ("gnn-ts", self.rounds_gnn, soak_gnn),
            ("vector", self.steps_vector, soak_vector),
        )
        for name, rounds, soak in parts:
            if rounds:
                rows.append((name, f"{rounds:,}", *_watch(soak(rounds, self.seed), name)))
        print_columns(rows, markdown=self.markdown)
        return 0


def soak_gntk(rounds: int, seed: int) -> Iterator[str]:
    """Compare the posterior of `gntk-ts` with the one that all rewards give at once."""
    for agent, counts, sums in play("gntk-ts", rounds, seed):
        every, process = torch.arange(len(counts)), cast(KernelAgent[KernelSettings], agent)
        location, unit, seen = *process.history.location_and_scale(), counts > 0
        prior = process.posterior.kernel.columns(every, every).numpy()
        noise = np.diag(process.learnt.noise / counts[seen])
        gain = np.linalg.solve(prior[np.ix_(seen, seen)] + noise, prior[seen]).T
        mean = location + gain @ (sums[seen] / counts[seen] - location)
        std = unit * np.sqrt(np.diag(prior) - np.einsum("ij,ij->i", gain, prior[:, seen]))
        prediction = agent.predict()
        yield f"mean {_drift(prediction.mean, mean):.1e}, std {_drift(prediction.std, std):.1e}"


def soak_gnn(rounds: int, seed: int) -> Iterator[str]:
    """Compare `gnn-ts` with an agent that computes covariance and features from its state, and means with sums."""
    for agent, counts, sums in play("gnn-ts", rounds, seed):
        state = agent.state_dict()
        prediction, twin = agent.predict(), cast(BatchAgent, registry.make_agent("gnn-ts"))
        twin.reset(None, seed=seed + 1, graph_set=graph_set(seed))
        twin.load_state_dict(state)
        fresh = twin.predict()
        seen = counts > 0
        yield (
            f"mean {_drift(prediction.mean, fresh.mean):.1e}, std {_drift(prediction.std, fresh.std):.1e}, "
            f"history {_drift(state['history']['means'].numpy()[seen], sums[seen] / counts[seen]):.1e}"
        )


def soak_vector(steps: int, seed: int) -> Iterator[str]:
    """Compare the mean noise of each quarter with 0, in standard errors, and mean rewards with those of the start."""
    bandits = GraphActionBanditVector(
        BANDITS, num_graphs=GRAPHS, num_nodes=NODES, noise_std=NOISE_STD, observe="indices"
    )
    bandits.reset(seed=seed)
    means, rng = bandits.mean_rewards, np.random.default_rng(seed)
    for _ in range(QUARTERS):
        noise, played, drift = 0.0, 0, 0.0
        for _ in range(-(-steps // QUARTERS // BANDITS)):
            actions = rng.integers(GRAPHS, size=BANDITS)
            _, rewards, _, _, info = bandits.step(actions)
            playing = info.get("_mean_reward", np.zeros(BANDITS, np.bool_))
            expected = means[np.arange(BANDITS), actions][playing]
            drift = max(drift, _drift(info["mean_reward"][playing], expected)) if playing.any() else drift
            noise, played = noise + (rewards[playing] - expected).sum(), played + playing.sum()
        yield f"means {drift:.1e}, noise {noise / NOISE_STD / np.sqrt(played):+.1f} standard errors"
    bandits.close()


def graph_set(seed: int) -> GraphSet:
    """Return the graphs that the agents play on."""
    env = GraphActionBandit(num_graphs=GRAPHS, num_nodes=NODES)
    env.reset(seed=seed)
    return env.graph_set


def play(name: str, rounds: int, seed: int) -> Iterator[tuple[BatchAgent, Floats, Floats]]:
    """Play an agent; yield it after each quarter, with the count and the sum of the rewards of each graph.

    The sums are exact to the last digits, because each graph's rewards are summed around its mean reward.
    """
    agent = cast(BatchAgent, registry.make_agent(name))
    agent.reset(None, seed=seed, graph_set=graph_set(seed))
    rng = np.random.default_rng(seed)
    means = rng.normal(size=GRAPHS)
    counts, noises = np.zeros(GRAPHS), np.zeros(GRAPHS)
    for t in range(rounds):
        if t % BLOCK == 0:
            noise = rng.normal(0, NOISE_STD, BLOCK)
        action = agent.select_action(None)
        agent.update(None, action, means[action] + noise[t % BLOCK])
        counts[action] += 1
        noises[action] += noise[t % BLOCK]
        if (t + 1) * QUARTERS // rounds > t * QUARTERS // rounds:
            yield agent, counts, counts * means + noises


def _watch(quarters: Iterator[str], name: str) -> tuple[str, str, str, str]:
    """Return the last comparison, the memory at each quarter, the descriptors before and after, and the minutes."""
    process = psutil.Process()
    begin, before = time.perf_counter(), _descriptors(process)
    compared, memory = "", [f"{process.memory_info().rss / 1e6:.0f}"]
    for compared in quarters:
        memory.append(f"{process.memory_info().rss / 1e6:.0f}")
        print(f"{name}: {compared}; {memory[-1]} MB; {(time.perf_counter() - begin) / 60:.1f} minutes", flush=True)
    minutes = (time.perf_counter() - begin) / 60
    return compared, " ".join(memory), f"{before} → {_descriptors(process)}", f"{minutes:.1f}"


def _descriptors(process: psutil.Process) -> int:
    return int(process.num_fds() if psutil.POSIX else process.num_handles())


def _drift(long: Floats, fresh: Floats) -> float:
    """Return the largest difference, relative to the largest value."""
    return float(np.abs(long - fresh).max() / np.abs(fresh).max())


if __name__ == "__main__":
    raise SystemExit(tyro.cli(Command, description=__doc__).run())
