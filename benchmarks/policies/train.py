"""Train a policy on graph sets that change every round, and test it on unseen sets."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from numpy.typing import NDArray
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback

import graph_bandit_env  # noqa: F401 - the import registers the environment
import registry
from agents.sb3 import SB3VecEnv
from benchmarks.kept_rows import Row
from benchmarks.policies.learners import LEARNERS
from graph_bandit_env.wrappers import vector

KEY = ("learner", "seed", "actions_per_round", "rounds", "test_sets")  # identifies a training
COLUMNS = (*KEY, "steps", "relative_regret", "masked", "seconds")
NUM_BANDITS = 32
TEST_SEED = 1 << 40  # far above the seeds of training, so that `spread_seeds` gives other bandits
GROWTH = 1.5  # ratio of the numbers of steps of successive tests
MAX_EDGES = 300  # of 380 possible: 12 standard deviations above the mean at p = 0.4


@dataclass(frozen=True, kw_only=True)
class Task:
    """Linear reward on random graphs that are new in each round; each seed has another reward function."""

    actions_per_round: int = 20
    """How many of the 20 graphs a round offers."""
    seed: int = 0
    """Seed of the reward function, the graphs and the learner."""

    @property
    def first_seed(self) -> int:
        """Return the seed of the first bandit in training; SB3 gives the other bandits the seeds that follow."""
        return self.seed * NUM_BANDITS

    @property
    def settings(self) -> dict[str, Any]:
        """Return the settings of the environment."""
        return {
            "num_graphs": 20,
            "num_nodes": 20,
            "reward_model": "linear",
            "reward_seed": self.seed,
            "actions_per_round": self.actions_per_round,
        }

    def bandits(self, count: int) -> vector.PaddedGraphSet:
        """Make bandits with episodes of one round, for a policy."""
        envs = gym.make_vec(
            "GraphActionBandit-v0",
            num_envs=count,
            autoreset_mode="SameStep",
            resample_graphs=True,
            horizon=1,
            observe="indices",
            **self.settings,
        )
        return vector.PaddedGraphSet(envs, max_edges=MAX_EDGES)

    def bandit(self) -> gym.Env[Any, Any]:
        """Make one bandit with new graphs in every round of an episode without end, for an agent."""
        return registry.make_environment(resample_graphs="round", horizon=10**9, **self.settings)


class UnseenSets:
    """Graph sets for tests, and the mean regret of choices on them.

    Args:
        task: the task that the sets belong to.
        count: how many sets to draw.

    Attributes:
        graph_sets: the sets.
        masks: bool `(count, K)`. The graphs on offer.
    """

    def __init__(self, task: Task, count: int) -> None:
        bandits = task.bandits(count)
        self._observation, _ = bandits.reset(seed=TEST_SEED + task.seed)
        native: Any = bandits.unwrapped
        self.graph_sets, self.masks, self._means = native.graph_sets, native.action_masks(), native.mean_rewards
        self._best = np.where(self.masks, self._means, -np.inf).max(axis=1)
        random = np.where(self.masks, self._means, 0.0).sum(axis=1) / self.masks.sum(axis=1)
        self._random_regret = float((self._best - random).mean())

    def test(self, model: BaseAlgorithm) -> tuple[float, int]:
        """Return the mean regret of a policy's choices relative to random play, and how many of them were masked."""
        actions, _ = model.predict(self._observation, deterministic=True)
        return self.score(actions)

    def score(self, actions: NDArray[np.int64]) -> tuple[float, int]:
        """Return mean regret relative to random play, and how many are masked, of the choices `(count,)`."""
        rows = np.arange(len(actions))
        regret = float((self._best - self._means[rows, actions]).mean())
        return regret / self._random_regret, int((~self.masks[rows, actions]).sum())


class Tests(BaseCallback):
    """Test the policy while it learns, each time after `GROWTH` times as many steps."""

    def __init__(self, sets: UnseenSets, first: int) -> None:
        super().__init__()
        self._sets, self._due = sets, first
        self.results: list[tuple[int, float, int]] = []

    def test(self) -> None:
        """Test the policy now."""
        self.results.append((self.num_timesteps, *self._sets.test(self.model)))

    def _on_step(self) -> bool:
        if self.num_timesteps >= self._due:
            self.test()
            self._due = int(self.num_timesteps * GROWTH)
        return True


def train(learner: str, seed: int, actions_per_round: int, steps: int, test_sets: int) -> list[Row]:
    """Train one learner on one thread.

    The environment raises an error at a masked action, so a training that finishes has played none.

    Args:
        learner: a name of `LEARNERS`.
        seed: seed of the `Task`.
        actions_per_round: how many graphs a round of the task offers.
        steps: rounds of training, at least.
        test_sets: how many graph sets a test has.

    Returns:
        A row of `COLUMNS` for each test, before, during and after training; the seconds are those of the whole
        training.
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
    head = tuple(map(str, (learner, seed, actions_per_round, steps, test_sets)))
    return [(*head, taken, round(regret, 5), masked, seconds) for taken, regret, masked in tests.results]
