"""Time many bandits at once, and measure their observations: python -m benchmarks.speed.vector."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import torch

import graph_bandit_env  # noqa: F401 - the import registers the environment
from benchmarks.speed.measure import Row, compare, show
from graph_bandit_env import wrappers
from graph_bandit_env.wrappers import vector

NUM_BANDITS = 256
SMALL: dict[str, Any] = {"num_graphs": 100, "num_nodes": 10, "observe": "indices", "horizon": 1_000_000}
CASES: dict[str, dict[str, Any]] = {
    "K=100": {},
    "K=100, 10 offered a round": {"actions_per_round": 10},
    "K=100, noise drawn for each graph": {"noise_draws": "graph"},
    "K=20, N=20, new graphs in each round": {
        "num_graphs": 20,
        "num_nodes": 20,
        "resample_graphs": True,
        "horizon": 1,
    },
}


def rows() -> list[Row]:
    """Time a step of many bandits against Gymnasium's `SyncVectorEnv`, and measure the size of observations."""
    measured = [compare_steps(name, **settings) for name, settings in CASES.items()]
    measured.append(compare_padded_steps())
    measured.extend(sizes())
    return measured


def compare_steps(name: str, **settings: Any) -> Row:
    """Compare steps of unwrapped bandits."""
    sync, native = (
        stepper(gym.make_vec("GraphActionBandit-v0", NUM_BANDITS, mode, **{**SMALL, **settings}))
        for mode in ("sync", None)
    )
    ratio, slow, fast = compare(sync, native)
    detail = f"{1e6 * fast / NUM_BANDITS:.1f} us a bandit, {1e6 * slow / NUM_BANDITS:.1f} in sync"
    return Row(f"a step of {NUM_BANDITS} bandits, native against sync: {name}", ratio, "x", detail=detail)


def compare_padded_steps(count: int = 16) -> Row:
    """Compare steps with padded observations: wrapped together or one by one."""
    settings = {**SMALL, "num_graphs": 20, "num_nodes": 20}
    together = vector.PaddedGraphSet(gym.make_vec("GraphActionBandit-v0", count, **settings))
    one_by_one = gym.make_vec(
        "GraphActionBandit-v0",
        count,
        "sync",
        wrappers=[wrappers.PaddedGraphSet],
        **{**settings, "observe": "graphs"},
    )
    ratio, slow, fast = compare(stepper(one_by_one), stepper(together))
    detail = f"{1e6 * fast / count:.0f} us a bandit, {1e6 * slow / count:.0f} one by one"
    return Row(f"a step of {count} bandits with padded observations, K=20, N=20", ratio, "x", detail=detail)


def stepper(envs: Any) -> Callable[[], object]:
    """Reset environments, and return a function that steps them by the first action on offer."""
    _, info = envs.reset(seed=list(range(envs.num_envs)))
    actions = info["action_mask"].argmax(axis=1)

    def step() -> None:
        nonlocal actions
        actions = envs.step(actions)[-1]["action_mask"].argmax(axis=1)

    return step


def sizes() -> list[Row]:
    """Measure the size of an observation of 100 graphs of 20 nodes."""
    settings: dict[str, Any] = {"num_graphs": 100, "num_nodes": 20, "horizon": 2}
    padded = wrappers.PaddedGraphSet(gym.make("GraphActionBandit-v0", **settings)).reset(seed=0)[0]
    bandit: Any = gym.make("GraphActionBandit-v0", **settings).unwrapped
    bandit.reset(seed=0)
    same = gym.make(
        "GraphActionBandit-v0", graphs=bandit.graph_set, reward_model=bandit.mean_rewards, observe="indices"
    )
    indices = wrappers.GraphSetIndices(same).reset()[0]
    measured = []
    for name, observation in (("padded arrays", padded), ("indices and mask", indices)):
        size = int(np.sum([array.nbytes for array in observation.values()]))
        buffer = f"{2 * 1e6 * size / 1e9:,.1f} GB in a replay buffer of a million steps"
        measured.append(Row(f"an observation of 100 graphs, N=20, as {name}", size / 1000, "kB", detail=buffer))
    return measured


if __name__ == "__main__":
    torch.set_num_threads(1)
    show(rows())
