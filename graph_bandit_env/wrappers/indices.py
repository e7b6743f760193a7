"""Observe a fixed graph set as indices and a mask; the learner keeps the graphs."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Dict
from gymnasium.utils import RecordConstructorArgs
from numpy.typing import NDArray

from graph_bandit_env.bandit.bandit_model import BanditModel
from graph_bandit_env.bandit.spaces import USED_UP
from graph_bandit_env.env import GraphActionBandit
from graph_bandit_env.wrappers.padded import Padded


class GraphSetIndices(gym.ObservationWrapper, RecordConstructorArgs):
    """Observe which graphs are on offer, as a Dict of Boxes; the graphs themselves are at `env.unwrapped.graph_set`.

    | key | shape | meaning |
    |---|---|---|
    | `indices` | `(k,)` int64 | graphs on offer, ascending; -1 in the entries of graphs that are used up |
    | `mask` | `(K,)` int8 | 1 if the next round offers the graph |

    An observation takes 8 k + K bytes, whatever the size of the graphs, which keeps replay buffers small.

    Args:
        env: `GraphActionBandit-v0` with `graphs=...` and `observe="indices"`.

    Raises:
        TypeError: if the environment does not observe indices.
        ValueError: if its graph set is not a fixed one given as `graphs`.
    """

    def __init__(self, env: gym.Env) -> None:
        RecordConstructorArgs.__init__(self)
        gym.ObservationWrapper.__init__(self, env)
        if not isinstance(env.unwrapped, GraphActionBandit):
            raise TypeError(f'Expected `GraphActionBandit-v0` with observe="indices". Got {env}.')
        self._bandit = env.unwrapped
        self.observation_space = indices_and_mask_space(self._bandit.bandit)

    def observation(self, observation: NDArray[np.int64]) -> Padded:
        """Return the indices, and the mask of these graphs."""
        mask = np.zeros(self._bandit.num_graphs, np.int8)
        mask[observation[observation != USED_UP]] = 1
        return {"indices": observation, "mask": mask}

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the mask of the graphs that the next round offers; sb3-contrib's MaskablePPO calls it."""
        return self._bandit.action_masks()


def indices_and_mask_space(bandit: BanditModel) -> Dict:
    """Return the space of indices and mask.

    Raises:
        TypeError: if the bandit does not observe indices.
        ValueError: if its graphs are not fixed: an index would mean another graph after a `reset`.
    """
    if bandit.observes_graphs:
        raise TypeError(
            'Expected observe="indices". Got an environment that observes graphs, which `PaddedGraphSet` takes.'
        )
    if bandit.resample_graphs or bandit.own_graphs is None:
        raise ValueError(
            "Expected a fixed graph set, given as `graphs`. Got a random one, where an index means another graph after "
            "a `reset`. `PaddedGraphSet` shows the graphs themselves."
        )
    return Dict({"indices": bandit.observation_space, "mask": Box(0, 1, (bandit.num_graphs,), np.int8)})
