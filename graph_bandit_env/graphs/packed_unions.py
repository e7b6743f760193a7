"""Disjoint unions of shared graphs, in a few shared arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from graph_bandit_env.graphs.packed_graphs import EVERY, Floats, PackedGraphs, rows_of


@dataclass(frozen=True, eq=False)
class PackedUnions(PackedGraphs):
    """K disjoint unions, whose nodes and edges are rows of their component graphs."""

    components: PackedGraphs = field(kw_only=True)
    """The component graphs."""

    @staticmethod
    def of_components(components: PackedGraphs, chosen: NDArray[np.int64]) -> PackedUnions:
        """Join the graphs of each row.

        Args:
            components: the graphs, undirected.
            chosen: `(K, S)`, indices of the graphs in each union.
        """
        size, every = chosen.shape[1], chosen.reshape(-1)
        nodes, node_offsets = rows_of(components.node_offsets, every)
        edges, edge_offsets = rows_of(components.edge_offsets, every)
        shifts = node_offsets[:-1] - np.repeat(node_offsets[:-1:size], size)
        links = components.links[edges] + np.repeat(shifts, np.diff(edge_offsets))[:, None]
        return PackedUnions(
            nodes[:, None],
            node_offsets[::size],
            links,
            None if components.edges is None else edges[:, None],
            edge_offsets[::size],
            components=components,
        )

    @property
    def feature_dim(self) -> int:
        """Return the number of features of a node."""
        return self.components.feature_dim

    @property
    def edge_feature_dim(self) -> int | None:
        """Return the number of features of an edge, or None if edges have no features."""
        return self.components.edge_feature_dim

    def node_features(self, rows: slice = EVERY) -> Floats:
        """Return the node features."""
        features: Floats = self.components.node_features()[self.nodes[rows, 0]]
        return features

    def edge_features(self, rows: slice = EVERY) -> Floats | None:
        """Return the edge features, or None if there are none."""
        features = self.components.edge_features()
        return None if features is None or self.edges is None else features[self.edges[rows, 0]]


def joined(parts: Sequence[PackedGraphs]) -> PackedGraphs:
    """Concatenate graphs, with features as numbers and zeros for missing edge features.

    Args:
        parts: packed graphs with the same number of node features.
    """
    widths = [part.edge_feature_dim or 0 for part in parts]
    nodes, links, edges = list[Floats](), list[NDArray[np.integer]](), list[Floats]()
    for part in parts:
        for of_nodes, of_links, of_edges in part.read(0, len(part)):
            nodes.append(of_nodes)
            links.append(of_links)
            given = np.zeros((len(of_links), 0), np.float32) if of_edges is None else of_edges
            edges.append(np.pad(given, ((0, 0), (0, max(widths) - given.shape[1]))))
    return PackedGraphs.of(nodes, links, edges if max(widths) else None)
