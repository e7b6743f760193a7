"""Time many bandits at once, and measure their observations: python -m benchmarks.speed.vector."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import torch

import graph_bandit_env  # noqa: F401 - the import registers the environment
from benchmarks.speed.measure import Row, compare, show
from graph_bandit_env import GraphActionBanditVector, wrappers

SETS: dict[str, Any] = {"num_graphs": 20, "num_nodes": 20, "horizon": 1_000_000}


def rows() -> list[Row]:
    """Time a step of many bandits, and measure the size of observations."""
    return [compare_padded_steps(), *sizes()]


def compare_padded_steps(count: int = 16) -> Row:
    """Compare padded observations of a set that is read once, and of the graphs of each observation."""
    graphs, indices = (
        stepper(GraphActionBanditVector(count, make=partial(padded, observe), **SETS))
        for observe in ("graphs", "indices")
    )
    ratio, slow, fast = compare(graphs, indices)
    detail = f"{1e6 * fast / count:.0f} us a bandit with observe='indices', {1e6 * slow / count:.0f} with 'graphs'"
    return Row(f"a step of {count} bandits with padded observations, K=20, N=20", ratio, "x", detail=detail)


def padded(observe: Any, **settings: Any) -> gym.Env:
    """Make a bandit whose observations are padded."""
    return wrappers.PaddedGraphSet(gym.make("GraphActionBandit-v0", observe=observe, **settings))


def stepper(envs: Any) -> Callable[[], object]:
    """Reset environments, and return a function that steps them by the first action on offer."""
    _, info = envs.reset(seed=0)
    actions = info["action_mask"].argmax(axis=1)

    def step() -> None:
        nonlocal actions
        actions = envs.step(actions)[-1]["action_mask"].argmax(axis=1)

    return step


def sizes() -> list[Row]:
    """Measure the size of an observation of 100 graphs of 20 nodes."""
    settings: dict[str, Any] = {"num_graphs": 100, "num_nodes": 20, "horizon": 2}
    as_arrays = padded("indices", **settings).reset(seed=0)[0]
    bandit: Any = gym.make("GraphActionBandit-v0", **settings).unwrapped
    bandit.reset(seed=0)
    same = gym.make(
        "GraphActionBandit-v0", graphs=bandit.graph_set, reward_model=bandit.mean_rewards, observe="indices"
    )
    indices = wrappers.GraphSetIndices(same).reset()[0]
    measured = []
    for name, observation in (("padded arrays", as_arrays), ("indices and mask", indices)):
        size = int(np.sum([array.nbytes for array in observation.values()]))
        buffer = f"{2 * 1e6 * size / 1e9:,.1f} GB in a replay buffer of a million steps"
        measured.append(Row(f"an observation of 100 graphs, N=20, as {name}", size / 1000, "kB", detail=buffer))
    return measured


if __name__ == "__main__":
    torch.set_num_threads(1)
    show(rows())
