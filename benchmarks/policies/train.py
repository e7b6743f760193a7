"""Train a policy on graph sets that change every round, and test it on sets that it has not seen."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback

import graph_bandit_env  # noqa: F401 - the import registers the environment
from agents.sb3 import SB3VecEnv
from benchmarks.kept_rows import Row
from benchmarks.policies.learners import LEARNERS
from graph_bandit_env.wrappers import vector

KEY = ("learner", "seed", "actions_per_round", "rounds", "test_sets")  # what tells trainings apart
COLUMNS = (*KEY, "steps", "relative_regret", "masked", "seconds")
NUM_BANDITS = 32
TEST_SEED = 1 << 40  # `spread_seeds` of it and of a seed below have nothing in common
GROWTH = 1.5  # of the number of steps from one test to the next
MAX_EDGES = 300  # of 380 that could be: 12 standard deviations above what p = 0.4 expects


@dataclass(frozen=True, kw_only=True)
class Task:
    """Linear reward on random graphs, one round an episode; each seed is another reward function."""

    actions_per_round: int = 20
    """How many of the 20 graphs a round offers."""
    seed: int = 0
    """Of the reward function, the graphs and the learner."""

    @property
    def first_seed(self) -> int:
        """Return the seed of the first bandit in training; the others have those that follow, as SB3 counts them."""
        return self.seed * NUM_BANDITS

    def bandits(self, count: int) -> vector.PaddedGraphSet:
        """Make bandits that share the reward function."""
        envs = gym.make_vec(
            "GraphActionBandit-v0",
            num_envs=count,
            autoreset_mode="SameStep",
            num_graphs=20,
            num_nodes=20,
            reward_model="linear",
            reward_seed=self.seed,
            resample_graphs=True,
            actions_per_round=self.actions_per_round,
            horizon=1,
            observe="indices",
        )
        return vector.PaddedGraphSet(envs, max_edges=MAX_EDGES)


class UnseenSets:
    """Graph sets for tests, and the mean regret of a policy on them.

    Args:
        task: says which.
        count: how many.
    """

    def __init__(self, task: Task, count: int) -> None:
        bandits = task.bandits(count)
        self._observation, _ = bandits.reset(seed=TEST_SEED + task.seed)
        native: Any = bandits.unwrapped
        self._means, self._masks = native.mean_rewards, native.action_masks()
        self._best = np.where(self._masks, self._means, -np.inf).max(axis=1)
        random = np.where(self._masks, self._means, 0.0).sum(axis=1) / self._masks.sum(axis=1)
        self._random_regret = float((self._best - random).mean())

    def test(self, model: BaseAlgorithm) -> tuple[float, int]:
        """Return mean regret of the graphs a policy likes best, relative to random play, and how many are masked."""
        actions, _ = model.predict(self._observation, deterministic=True)
        rows = np.arange(len(actions))
        regret = float((self._best - self._means[rows, actions]).mean())
        return regret / self._random_regret, int((~self._masks[rows, actions]).sum())


class Tests(BaseCallback):
    """Test the policy as it learns, at numbers of steps that grow by `GROWTH`."""

    def __init__(self, sets: UnseenSets, first: int) -> None:
        super().__init__()
        self._sets, self._due = sets, first
        self.found: list[tuple[int, float, int]] = []

    def test(self) -> None:
        """Test now."""
        self.found.append((self.num_timesteps, *self._sets.test(self.model)))

    def _on_step(self) -> bool:
        if self.num_timesteps >= self._due:
            self.test()
            self._due = int(self.num_timesteps * GROWTH)
        return True


def train(learner: str, seed: int, actions_per_round: int, steps: int, test_sets: int) -> list[Row]:
    """Train one learner on one thread.

    The environment raises at a masked action, so that a training which ends has played none.

    Args:
        learner: a name of `LEARNERS`.
        seed: of the `Task` that it learns.
        actions_per_round: of that task.
        steps: rounds that it plays, at least.
        test_sets: graph sets of a test.

    Returns:
        A row of `COLUMNS` for each test: before, during and after training; seconds are those of the whole training.
    """
    torch.set_num_threads(1)
    task = Task(seed=seed, actions_per_round=actions_per_round)
    venv = SB3VecEnv(task.bandits(NUM_BANDITS))
    venv.seed(task.first_seed)
    model = LEARNERS[learner](venv, task.seed)
    tests = Tests(UnseenSets(task, test_sets), first=2 * NUM_BANDITS)
    tests.init_callback(model)
    tests.test()
    start = time.perf_counter()
    model.learn(steps, callback=tests)
    seconds = round(time.perf_counter() - start, 1)
    tests.test()
    head = learner, seed, actions_per_round, steps, test_sets
    return [(*head, taken, round(regret, 5), masked, seconds) for taken, regret, masked in tests.found]
