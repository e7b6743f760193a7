"""Observe graph sets as padded arrays with masks, and convert them back, or as indices and masks of a fixed set."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, SupportsFloat, TypeVar, get_args

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete
from gymnasium.utils import RecordConstructorArgs
from numpy.typing import NDArray

from graph_bandit_env.bandit.bandit_model import BanditModel
from graph_bandit_env.bandit.spaces import USED_UP, Info
from graph_bandit_env.checks import check_choice, check_integer
from graph_bandit_env.env import GraphActionBandit, GraphActionBanditVector

if TYPE_CHECKING:
    from torch_geometric.data import Data

Padded = dict[str, NDArray[Any]]  # float32, int64, and int8 or bool
Mask = TypeVar("Mask", np.bool_, np.int8)
MaskType = Literal["int8", "bool"]
MASK_TYPES: tuple[MaskType, ...] = get_args(MaskType)


ROOM = ("max_nodes", "max_edges", "max_graphs", "mask_dtype")
"""Keywords of `PaddedGraphSet`."""


@dataclass(frozen=True)
class Padding:
    """The sizes of padded arrays, and functions to fill them."""

    graphs: int
    """K of the arrays. Entries after the last graph are empty."""
    nodes: int
    """N, the maximum number of nodes of a graph."""
    edges: int
    """E, the maximum number of edges of a graph, both directions counted."""
    feature_dim: int
    """d, the number of features of a node."""
    edge_feature_dim: int
    """e, the number of features of an edge. Edges without features get a single 1."""
    mask_dtype: MaskType = "int8"
    """Type of masks: "int8" for sampling in Gymnasium, or "bool" for indexing in TorchRL."""

    @staticmethod
    def for_bandit(
        bandit: BanditModel,
        max_nodes: int | None = None,
        max_edges: int | None = None,
        max_graphs: int | None = None,
        mask_dtype: MaskType = "int8",
    ) -> Padding:
        """Return the given sizes, with sizes that are None fitted to the graphs of a bandit.

        Raises:
            ValueError: if a size is not an integer >= 1, `max_graphs` is less than K, or the type is unknown.
        """
        most_nodes, most_edges = bandit.largest_sizes
        return Padding(
            graphs=check_integer(
                "max_graphs", bandit.num_graphs if max_graphs is None else max_graphs, bandit.num_graphs
            ),
            nodes=check_integer("max_nodes", most_nodes if max_nodes is None else max_nodes, 1),
            edges=check_integer("max_edges", max(1, most_edges) if max_edges is None else max_edges, 1),
            feature_dim=bandit.feature_dim,
            edge_feature_dim=bandit.edge_feature_dim or 1,
            mask_dtype=check_choice("mask_dtype", mask_dtype, MASK_TYPES),
        )

    def space(self) -> Dict:
        """Return the space of an observation."""
        count, infinity = self.graphs, np.inf
        return Dict(
            {
                "x": Box(-infinity, infinity, (count, self.nodes, self.feature_dim), np.float32),
                "edge_index": Box(0, self.nodes - 1, (count, 2, self.edges), np.int64),
                "edge_attr": Box(-infinity, infinity, (count, self.edges, self.edge_feature_dim), np.float32),
                "n_node": Box(0, self.nodes, (count,), np.int64),
                "n_edge": Box(0, self.edges, (count,), np.int64),
                "mask": Box(0, 1, (count,), np.bool_ if self.mask_dtype == "bool" else np.int8),
            }
        )

    def zeros(self) -> Padded:
        """Return an observation of zeros, without graphs."""
        return {key: np.zeros(box.shape or (), box.dtype) for key, box in self.space().spaces.items()}

    def fill(self, padded: Padded, graphs: Iterable[Any]) -> None:
        """Write graphs to an observation of zeros, each with mask 1.

        Args:
            padded: arrays from `zeros()`.
            graphs: each a `GraphInstance`: `nodes` `(n, d)`, `edge_links` `(E, 2)` with both directions of an
                undirected edge, `edges` `(E, e)` or None for ones.

        Raises:
            ValueError: if there are too many graphs, or a graph does not fit.
        """
        for k, graph in enumerate(graphs):
            nodes, edges = len(graph.nodes), len(graph.edge_links)
            if k >= self.graphs or nodes > self.nodes or edges > self.edges:
                raise ValueError(
                    f"Expected {self.graphs} graphs of at most {self.nodes} nodes and {self.edges} edges (both "
                    f"directions). Graph {k} has {nodes} and {edges}. Raise `max_graphs`, `max_nodes` or `max_edges`."
                )
            if graph.nodes.shape[1] != self.feature_dim:  # NumPy would broadcast a single feature
                raise ValueError(
                    f"Expected {self.feature_dim} features of a node. Graph {k} has {graph.nodes.shape[1]}."
                )
            padded["x"][k, :nodes] = graph.nodes
            padded["edge_index"][k, :, :edges] = graph.edge_links.T
            padded["edge_attr"][k, :edges] = 1.0 if graph.edges is None else graph.edges
            padded["n_node"][k], padded["n_edge"][k], padded["mask"][k] = nodes, edges, 1

    def pad_mask(self, mask: NDArray[Mask]) -> NDArray[Mask]:
        """Pad a mask `(..., K)` with zeros for the entries without a graph."""
        missing = self.graphs - mask.shape[-1]
        return np.pad(mask, [(0, 0)] * (mask.ndim - 1) + [(0, missing)])


def unpad(observation: Padded) -> list[Data]:
    """Convert a padded observation back to exactly the original graphs as PyG `Data`.

    Args:
        observation: an observation of `PaddedGraphSet`.

    Returns:
        The graphs with `x`, `edge_index` and `edge_attr`, without the padding.
    """
    import torch
    from torch_geometric.data import Data

    graphs = []
    for k, (nodes, edges) in enumerate(zip(observation["n_node"], observation["n_edge"], strict=True)):
        if nodes == 0:
            break
        graphs.append(
            Data(
                x=torch.tensor(observation["x"][k, :nodes]),
                edge_index=torch.tensor(observation["edge_index"][k, :, :edges]),
                edge_attr=torch.tensor(observation["edge_attr"][k, :edges]),
            )
        )
    return graphs


class PaddedGraphSet(gym.Wrapper, RecordConstructorArgs):
    """Observe the K graphs as a Dict of Boxes, padded with zeros. `unpad` restores exactly the same graphs.

    | key | shape | meaning |
    |---|---|---|
    | `x` | `(K, N, d)` float32 | node features |
    | `edge_index` | `(K, 2, E)` int64 | the two nodes of each edge, an undirected one in both directions, as in PyG |
    | `edge_attr` | `(K, E, e)` float32 | edge features |
    | `n_node`, `n_edge` | `(K,)` int64 | numbers of real nodes and edges |
    | `mask` | `(K,)` int8 | 1 if the next round offers the graph |

    `info["action_mask"]` is the same mask. With `observe="indices"`, the graphs are read from the environment, and
    padded once per set instead of in each round. `GraphActionBanditPadded-v0` is this environment in this wrapper, for
    libraries that create environments by name.

    Args:
        env: `GraphActionBandit-v0`.
        max_nodes: N. If None, the size of the largest graph, or `num_nodes` for random graphs.
        max_edges: E, both directions counted. If None, the largest number, or N (N - 1) for random graphs.
        max_graphs: K of the arrays and the action space. If None, the number of graphs. Extra graphs have no nodes and
            are never on offer, so that one policy can play sets of different sizes.
        mask_dtype: type of the masks, "int8" or "bool".

    Raises:
        TypeError: if it is another environment, or already observes arrays.
        ValueError: if a size is out of range, or a graph does not fit (for random graphs, at the reset that draws it).
    """

    def __init__(self, env: gym.Env, **room: Any) -> None:
        RecordConstructorArgs.__init__(self, **room)
        gym.Wrapper.__init__(self, env)
        if not isinstance(env.unwrapped, GraphActionBandit) or isinstance(env.observation_space, Dict):
            raise TypeError(f"Expected `GraphActionBandit-v0` that observes graphs or indices. Got {env}.")
        self._bandit = env.unwrapped
        self.padding = Padding.for_bandit(self._bandit.bandit, **room)
        self.observation_space = self.padding.space()
        self.action_space = Discrete(self.padding.graphs)
        self._padded = self.padding.zeros()
        self._shown: object = None  # the graphs in these arrays

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Padded, Info]:
        """Start an episode."""
        observation, info = self.env.reset(seed=seed, options=options)
        return self._pad(observation, info), info

    def step(self, action: np.int64) -> tuple[Padded, SupportsFloat, bool, bool, Info]:
        """Play a graph."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self._pad(observation, info), reward, terminated, truncated, info

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the mask of the graphs on offer in the next round, for sb3-contrib's MaskablePPO."""
        return self.padding.pad_mask(self._bandit.action_masks())

    def _pad(self, observation: Any, info: Info) -> Padded:
        """Return the graphs as arrays, and write their mask to `info`."""
        graphs = observation if self._bandit.bandit.observes_graphs else self._bandit.graph_set
        if graphs is not self._shown:
            self._shown = None
            for array in self._padded.values():
                array[...] = 0
            self.padding.fill(self._padded, graphs)
            self._shown = graphs
        self._padded["mask"] = self.padding.pad_mask(info["action_mask"]).astype(self.padding.mask_dtype)
        info["action_mask"] = self._padded["mask"].copy()
        return {key: array.copy() for key, array in self._padded.items()}


def padded_bandit(**arguments: Any) -> PaddedGraphSet:
    """Create `GraphActionBanditPadded-v0`, a `GraphActionBandit` in `PaddedGraphSet`.

    Args:
        **arguments: those of `PaddedGraphSet`, and those of `GraphActionBandit` except `observe`.

    Raises:
        TypeError, ValueError: as in these classes.
    """
    room = {name: arguments.pop(name) for name in ROOM if name in arguments}
    observe = "graphs" if arguments.get("resample_graphs") == "round" else "indices"
    return PaddedGraphSet(GraphActionBandit(observe=observe, **arguments), **room)


vars(padded_bandit).update(metadata=GraphActionBandit.metadata)  # `gymnasium.make` reads the render modes
padded_bandits = partial(GraphActionBanditVector, make=padded_bandit)
"""Creates a vector environment of padded bandits."""


class GraphSetIndices(gym.ObservationWrapper, RecordConstructorArgs):
    """Observe the indices of the graphs on offer, as a Dict of Boxes. The graphs are at `env.unwrapped.graph_set`.

    | key | shape | meaning |
    |---|---|---|
    | `indices` | `(k,)` int64 | graphs on offer, ascending, padded with -1 for used-up graphs |
    | `mask` | `(K,)` int8 | 1 if the next round offers the graph |

    An observation takes 8 k + K bytes, regardless of the size of the graphs, which keeps replay buffers small.

    Args:
        env: `GraphActionBandit-v0` with `graphs=...` and `observe="indices"`.

    Raises:
        TypeError: if it is another environment.
        ValueError: if it does not observe indices of a fixed graph set given as `graphs`.
    """

    def __init__(self, env: gym.Env) -> None:
        RecordConstructorArgs.__init__(self)
        gym.ObservationWrapper.__init__(self, env)
        if not isinstance(env.unwrapped, GraphActionBandit):
            raise TypeError(f'Expected `GraphActionBandit-v0` with observe="indices". Got {env}.')
        self._bandit, bandit = env.unwrapped, env.unwrapped.bandit
        if bandit.observes_graphs or bandit.resample_graphs or bandit.own_graphs is None:  # indices would change
            raise ValueError(
                'Expected observe="indices" and a fixed graph set, given as `graphs`. `PaddedGraphSet` shows the '
                "graphs themselves."
            )
        mask = Box(0, 1, (bandit.num_graphs,), np.int8)
        self.observation_space = Dict({"indices": bandit.observation_space, "mask": mask})

    def observation(self, observation: NDArray[np.int64]) -> Padded:
        """Return the indices and the mask of these graphs."""
        mask = np.zeros(self._bandit.num_graphs, np.int8)
        mask[observation[observation != USED_UP]] = 1
        return {"indices": observation, "mask": mask}

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the mask of the graphs on offer in the next round, for sb3-contrib's MaskablePPO."""
        return self._bandit.action_masks()
