"""Pad graph sets of any sizes to arrays of one size, and read the graphs back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

import numpy as np
from gymnasium.spaces import Box, Dict
from numpy.typing import NDArray

from graph_bandit_env.bandit.bandit_model import BanditModel
from graph_bandit_env.checks import check_choice, check_integer

if TYPE_CHECKING:
    from torch_geometric.data import Data

Padded = dict[str, NDArray[Any]]  # float32, int64, and int8 or bool
Mask = TypeVar("Mask", np.bool_, np.int8)
MaskType = Literal["int8", "bool"]
MASK_TYPES: tuple[MaskType, ...] = get_args(MaskType)


@dataclass(frozen=True)
class Padding:
    """The sizes of padded arrays, and how graphs fill them."""

    graphs: int
    """K of the arrays; entries after the last graph are empty."""
    nodes: int
    """N, most nodes of a graph."""
    edges: int
    """E, most edges of a graph, both directions counted."""
    feature_dim: int
    """d, the number of features of a node."""
    edge_feature_dim: int
    """e, the number of features of an edge; edges without features get a single 1."""
    mask_dtype: MaskType = "int8"
    """The type of masks: "int8" as Gymnasium samples by them, or "bool" as TorchRL indexes by them."""

    @staticmethod
    def for_bandit(
        bandit: BanditModel,
        max_nodes: int | None,
        max_edges: int | None,
        max_graphs: int | None,
        mask_dtype: MaskType = "int8",
    ) -> Padding:
        """Return the given sizes; for those that are None, sizes that fit the graphs of a bandit.

        Raises:
            ValueError: if a size is not an integer >= 1, `max_graphs` is less than K, or the type is unknown.
        """
        nodes, edges = bandit.largest_sizes
        count = bandit.num_graphs
        return Padding(
            graphs=count if max_graphs is None else check_integer("max_graphs", max_graphs, count),
            nodes=nodes if max_nodes is None else check_integer("max_nodes", max_nodes, 1),
            edges=max(1, edges if max_edges is None else check_integer("max_edges", max_edges, 1)),
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

    def zeros(self, *batch: int) -> Padded:
        """Return an observation without graphs, all zeros; `batch` gives leading dimensions for many of them."""
        spaces = self.space().spaces
        return {key: np.zeros((*batch, *(box.shape or ())), box.dtype) for key, box in spaces.items()}

    def fill(self, padded: Padded, graphs: Iterable[Any]) -> None:
        """Write graphs into an observation of zeros, each with mask 1.

        Args:
            padded: arrays from `zeros()`.
            graphs: each a `GraphInstance`: `nodes` `(n, d)`, `edge_links` `(E, 2)` with both directions of an
                undirected edge, `edges` `(E, e)` or None for ones.

        Raises:
            ValueError: if there are too many graphs, a graph does not fit or has another number of features, or an edge
                names a missing node.
        """
        for k, graph in enumerate(graphs):
            nodes, edges = len(graph.nodes), len(graph.edge_links)
            if k >= self.graphs:
                raise ValueError(f"Expected at most {self.graphs} graphs. Got more. Raise `max_graphs`.")
            if np.shape(graph.nodes) != (nodes, self.feature_dim) or np.shape(graph.edge_links) != (edges, 2):
                raise ValueError(
                    f"Graph {k}: expected nodes of shape `(n, {self.feature_dim})` and edges of shape `(E, 2)`. Got "
                    f"`{np.shape(graph.nodes)}` and `{np.shape(graph.edge_links)}`."
                )
            if nodes > self.nodes or edges > self.edges:
                raise ValueError(
                    f"Expected graphs of at most {self.nodes} nodes and {self.edges} edges (both directions). "
                    f"Graph {k} has {nodes} and {edges}. Raise `max_nodes` or `max_edges`."
                )
            if edges and not 0 <= graph.edge_links.min() <= graph.edge_links.max() < nodes:
                raise ValueError(f"Graph {k}: expected edges between nodes 0 to {nodes - 1}. Got {graph.edge_links}.")
            padded["x"][k, :nodes] = graph.nodes
            padded["edge_index"][k, :, :edges] = graph.edge_links.T
            padded["edge_attr"][k, :edges] = 1.0 if graph.edges is None else graph.edges
            padded["n_node"][k], padded["n_edge"][k], padded["mask"][k] = nodes, edges, 1

    def pad_mask(self, mask: NDArray[Mask]) -> NDArray[Mask]:
        """Return a mask `(..., K)`, with zeros added for the entries without a graph."""
        missing = self.graphs - mask.shape[-1]
        return np.pad(mask, [(0, 0)] * (mask.ndim - 1) + [(0, missing)])

    def show_mask(self, mask: NDArray[Mask]) -> NDArray[np.bool_] | NDArray[np.int8]:
        """Return a padded mask in the type that is observed, `mask_dtype`."""
        return self.pad_mask(mask).astype(self.mask_dtype)


def unpad(observation: Padded) -> list[Data]:
    """Return the graphs of a padded observation as PyG `Data`, exactly as they were.

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
