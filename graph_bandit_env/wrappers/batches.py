"""Several graphs a step, as in experiments that are made together."""

from __future__ import annotations

import math
from typing import SupportsFloat

import gymnasium as gym
import numpy as np
from gymnasium.error import InvalidAction
from gymnasium.spaces import Discrete, MultiDiscrete
from gymnasium.utils import RecordConstructorArgs
from numpy.typing import ArrayLike, NDArray

from graph_bandit_env.bandit.spaces import Info
from graph_bandit_env.checks import check_integer
from graph_bandit_env.env import GraphActionBandit


class BatchedActions(gym.Wrapper, RecordConstructorArgs):
    """Play q graphs a step, before any of their rewards is seen.

    An action is q indices, `MultiDiscrete([K, ..., K])`, which may repeat a graph. They are played as q rounds in their
    order. The observation is that after the last one, and the reward is the sum. If an episode ends within a step, the
    graphs after that are not played. Nothing is played if one of those that will be is not on offer, or is named twice
    without replacement.
    `run_bandit` plays batches by itself.

    `action_mask` in `info` is that of the next step. Every other key holds q rows, one for each round, with zeros for
    rounds that were not played, and these are added:

    | key of `info` | shape | meaning |
    |---|---|---|
    | `rewards` | `(q,)` float64 | the reward of each round |
    | `played` | `()` int64 | how many rounds were played |

    Args:
        env: `GraphActionBandit-v0`, also in `PaddedGraphSet`, `GraphSetIndices` or `DelayedRewards`; all rounds of an
            episode have the same graphs and offer all of them.
        size: q, from 1; without replacement, to the number of graphs.

    Raises:
        TypeError: if it is another environment.
        ValueError: if `size` is out of range, or rounds offer different graphs.
    """

    def __init__(self, env: gym.Env, size: int) -> None:
        RecordConstructorArgs.__init__(self, size=size)
        gym.Wrapper.__init__(self, env)
        if not isinstance(env.unwrapped, GraphActionBandit) or not isinstance(env.action_space, Discrete):
            raise TypeError(f"Expected `GraphActionBandit-v0`, one graph a step. Got {env}.")
        bandit = env.unwrapped.bandit
        if bandit.each_round or bandit.actions_per_round < bandit.num_graphs:
            raise ValueError(
                "Expected rounds that offer the same graphs, since those of a step are chosen together. Leave out "
                '`actions_per_round`, and resample graphs by "episode" if at all.'
            )
        self.size = check_integer("size", size, 1, math.inf if bandit.replacement else bandit.num_graphs)
        self._once = not bandit.replacement
        self.action_space = MultiDiscrete([env.action_space.n] * self.size)

    def step(self, action: ArrayLike) -> tuple[object, SupportsFloat, bool, bool, Info]:
        """Play the graphs of a step.

        Raises:
            InvalidAction: if these are not q integers, or one that will be played cannot be; nothing has changed then.
        """
        graphs = self._check(np.asarray(action))
        rewards, infos = np.zeros(self.size), []
        for k, graph in enumerate(graphs):
            observation, reward, terminated, truncated, info = self.env.step(graph)
            rewards[k] = float(reward)
            infos.append(info)
            if terminated or truncated:
                break
        together: Info = {"rewards": rewards, "played": np.int64(len(infos)), "action_mask": info["action_mask"]}
        for key in info.keys() - {"action_mask"}:
            rows = [np.asarray(each[key]) for each in infos]
            together[key] = np.zeros((self.size, *rows[0].shape), rows[0].dtype)
            together[key][: len(rows)] = rows
        return observation, float(rewards.sum()), terminated, truncated, together

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the masks of the q graphs one after the other, bool `(q K,)`, as sb3-contrib's MaskablePPO wants."""
        return np.tile(self.env.get_wrapper_attr("action_masks")(), self.size)

    def _check(self, given: NDArray[np.int64]) -> list[np.int64]:
        if given.shape != (self.size,) or given.dtype.kind not in "iu":
            raise InvalidAction(f"Expected {self.size} integers, the graphs of a step. Got {given!r}.")
        offered = np.flatnonzero(self.env.get_wrapper_attr("action_masks")())
        graphs = list(given[: len(offered)] if self._once else given)
        if not set(graphs) <= set(offered) or (self._once and len(set(graphs)) < len(graphs)):
            raise InvalidAction(
                f"Expected graphs where `action_mask` is 1, each once without replacement. Got {given}."
            )
        return graphs
