"""Graph sets of any sizes as arrays of one size, with masks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Dict, Space
from gymnasium.utils import RecordConstructorArgs
from numpy.typing import NDArray

from graph_bandit_env.checks import check_integer
from graph_bandit_env.env import GraphActionBandit

if TYPE_CHECKING:
    from torch_geometric.data import Data

Padded = dict[str, NDArray[Any]]


class PaddedGraphSet(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Observe the K graphs as a Dict of Boxes, padded with zeros; nothing is lost, `unpad` gives the graphs back.

    | key | shape | meaning |
    |---|---|---|
    | `x` | `(K, N, d)` float32 | features of nodes |
    | `edge_index` | `(K, 2, E)` int64 | nodes of each edge, both directions, as PyG has them |
    | `edge_attr` | `(K, E, e)` float32 | features of edges |
    | `n_node`, `n_edge` | `(K,)` int64 | how many of these are real |
    | `mask` | `(K,)` int8 | 1 where the graph is on offer in the coming round |

    Args:
        env: `GraphActionBandit-v0` with `observe="graphs"`.
        max_nodes: N; None: the largest graph, or `num_nodes` of random graphs.
        max_edges: E, both directions counted; None: the largest number, or N (N - 1) of random graphs.

    Raises:
        TypeError: if the environment does not observe graphs.
        ValueError: if a graph does not fit; of random graphs at the reset that draws it.
    """

    def __init__(self, env: gym.Env[Any, Any], max_nodes: int | None = None, max_edges: int | None = None) -> None:
        RecordConstructorArgs.__init__(self, max_nodes=max_nodes, max_edges=max_edges)
        gym.Wrapper.__init__(self, env)
        bandit: Any = env.unwrapped
        if not isinstance(env.unwrapped, GraphActionBandit) or not bandit.observes_graphs:
            raise TypeError(
                f'Expected `GraphActionBandit-v0` with observe="graphs". Got {env}. '
                '`GraphSetIndices` takes one with observe="indices".'
            )
        nodes, edges = bandit.largest_sizes
        self.max_nodes = nodes if max_nodes is None else check_integer("max_nodes", max_nodes, 1)
        self.max_edges = max(1, edges if max_edges is None else check_integer("max_edges", max_edges, 1))
        graph: Any = bandit.observation_space[0]
        count, width, edge_width = bandit.num_graphs, graph.node_space.shape[0], graph.edge_space.shape[0]
        self._bandit = bandit
        self._boxes: dict[str, Space[Any]] = {
            "x": Box(-np.inf, np.inf, (count, self.max_nodes, width), np.float32),
            "edge_index": Box(0, self.max_nodes - 1, (count, 2, self.max_edges), np.int64),
            "edge_attr": Box(-np.inf, np.inf, (count, self.max_edges, edge_width), np.float32),
            "n_node": Box(1, self.max_nodes, (count,), np.int64),
            "n_edge": Box(0, self.max_edges, (count,), np.int64),
            "mask": Box(0, 1, (count,), np.int8),
        }
        self.observation_space = Dict(self._boxes)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Padded, dict[str, Any]]:
        """Begin an episode."""
        observation, info = self.env.reset(seed=seed, options=options)
        return self._pad(observation, info["action_mask"]), info

    def step(self, action: Any) -> tuple[Padded, Any, bool, bool, dict[str, Any]]:
        """Play a graph."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self._pad(observation, info["action_mask"]), reward, terminated, truncated, info

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the graphs that the coming round offers, as MaskablePPO of sb3-contrib asks for it."""
        masks: NDArray[np.bool_] = self._bandit.action_masks()
        return masks

    def _pad(self, graphs: tuple[Any, ...], mask: NDArray[np.int8]) -> Padded:
        padded: Padded = {key: np.zeros(box.shape or (), box.dtype) for key, box in self._boxes.items()}
        for k, graph in enumerate(graphs):
            nodes, edges = len(graph.nodes), len(graph.edge_links)
            if nodes > self.max_nodes or edges > self.max_edges:
                raise ValueError(
                    f"Expected graphs of at most {self.max_nodes} nodes and {self.max_edges} edges (both directions). "
                    f"Graph {k} has {nodes} and {edges}. Raise `max_nodes` or `max_edges`."
                )
            padded["x"][k, :nodes] = graph.nodes
            padded["edge_index"][k, :, :edges] = graph.edge_links.T
            padded["edge_attr"][k, :edges] = graph.edges
            padded["n_node"][k], padded["n_edge"][k] = nodes, edges
        padded["mask"][:] = mask
        return padded


def unpad(observation: Padded) -> list[Data]:
    """Return the graphs of a padded observation as PyG `Data`, exactly as they were.

    Args:
        observation: of `PaddedGraphSet`.

    Returns:
        K graphs with `x`, `edge_index` and `edge_attr`.
    """
    import torch
    from torch_geometric.data import Data

    graphs = []
    for k, (nodes, edges) in enumerate(zip(observation["n_node"], observation["n_edge"], strict=True)):
        graphs.append(
            Data(
                x=torch.tensor(observation["x"][k, :nodes]),
                edge_index=torch.tensor(observation["edge_index"][k, :, :edges]),
                edge_attr=torch.tensor(observation["edge_attr"][k, :edges]),
            )
        )
    return graphs
