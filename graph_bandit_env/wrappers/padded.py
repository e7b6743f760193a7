"""Observe graph sets of any sizes as arrays of one size, with masks."""

from __future__ import annotations

from typing import SupportsFloat

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Discrete, GraphInstance, Sequence, Tuple
from gymnasium.utils import RecordConstructorArgs
from numpy.typing import NDArray

from graph_bandit_env.bandit.spaces import Info
from graph_bandit_env.env import GraphActionBandit
from graph_bandit_env.wrappers.padding import MaskType, Padded, Padding


class PaddedGraphSet(gym.Wrapper, RecordConstructorArgs):
    """Observe the K graphs as a Dict of Boxes, padded with zeros; `unpad` returns exactly the same graphs.

    | key | shape | meaning |
    |---|---|---|
    | `x` | `(K, N, d)` float32 | node features |
    | `edge_index` | `(K, 2, E)` int64 | the two nodes of each edge, an undirected one in both directions, as in PyG |
    | `edge_attr` | `(K, E, e)` float32 | edge features |
    | `n_node`, `n_edge` | `(K,)` int64 | how many nodes and edges are real |
    | `mask` | `(K,)` int8 | 1 if the next round offers the graph |

    `info["action_mask"]` is the same mask. `GraphActionBanditPadded-v0` is the environment with this wrapper, for
    libraries that make environments by name. `graph_bandit_env.wrappers.vector.PaddedGraphSet` does the same for the
    native vector environment.

    Args:
        env: `GraphActionBandit-v0` with `observe="graphs"`.
        max_nodes: N; None: the largest graph, or `num_nodes` of random graphs.
        max_edges: E, both directions counted; None: the largest number, or N (N - 1) of random graphs.
        max_graphs: K of the arrays and of the action space; None: the number of graphs. The extra graphs have no nodes
            and are never on offer, so that one policy can play sets of different sizes.
        mask_dtype: type of the masks, "int8" or "bool".

    Raises:
        TypeError: if the environment does not observe graphs, or plays several a step.
        ValueError: if a size is out of range, or a graph does not fit (for random graphs, at the reset that draws it).
    """

    def __init__(
        self,
        env: gym.Env,
        max_nodes: int | None = None,
        max_edges: int | None = None,
        max_graphs: int | None = None,
        mask_dtype: MaskType = "int8",
    ) -> None:
        RecordConstructorArgs.__init__(
            self, max_nodes=max_nodes, max_edges=max_edges, max_graphs=max_graphs, mask_dtype=mask_dtype
        )
        gym.Wrapper.__init__(self, env)
        if not isinstance(env.unwrapped, GraphActionBandit) or not isinstance(env.observation_space, (Sequence, Tuple)):
            raise TypeError(
                f'Expected `GraphActionBandit-v0` that observes graphs (observe="graphs", the default). Got {env}. Use '
                '`GraphSetIndices` with observe="indices".'
            )
        if not isinstance(env.action_space, Discrete):
            raise TypeError(f"Expected one graph a step. Got {env}. Put `BatchedActions` around `PaddedGraphSet`.")
        self._bandit = env.unwrapped
        self.padding = Padding.for_bandit(self._bandit.bandit, max_nodes, max_edges, max_graphs, mask_dtype)
        self.observation_space = self.padding.space()
        self.action_space = Discrete(self.padding.graphs)

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Padded, Info]:
        """Begin an episode."""
        observation, info = self.env.reset(seed=seed, options=options)
        return self._pad(observation, info), info

    def step(self, action: np.int64) -> tuple[Padded, SupportsFloat, bool, bool, Info]:
        """Play a graph."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self._pad(observation, info), reward, terminated, truncated, info

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the mask of the graphs that the next round offers; sb3-contrib's MaskablePPO calls it."""
        return self.padding.pad_mask(self._bandit.action_masks())

    def _pad(self, graphs: tuple[GraphInstance, ...], info: Info) -> Padded:
        """Return the graphs as arrays, and give `info` the mask that they have."""
        padded = self.padding.zeros()
        self.padding.fill(padded, graphs)
        padded["mask"] = self.padding.show_mask(info["action_mask"])
        info["action_mask"] = padded["mask"].copy()
        return padded


def padded_bandit(
    *,
    max_nodes: int | None = None,
    max_edges: int | None = None,
    max_graphs: int | None = None,
    mask_dtype: MaskType = "int8",
    **arguments: object,
) -> PaddedGraphSet:
    """Make `GraphActionBanditPadded-v0`, a `GraphActionBandit` in `PaddedGraphSet`.

    Args:
        max_nodes: as in `PaddedGraphSet`.
        max_edges: as in `PaddedGraphSet`.
        max_graphs: as in `PaddedGraphSet`.
        mask_dtype: as in `PaddedGraphSet`.
        **arguments: those of `GraphActionBandit`.

    Raises:
        TypeError: as in both of them.
        ValueError: as in both of them.
    """
    bandit = GraphActionBandit(**arguments)  # type: ignore[arg-type]
    return PaddedGraphSet(bandit, max_nodes, max_edges, max_graphs, mask_dtype)
