"""Observation spaces of a graph bandit, and their observations."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.spaces import Box, Graph, GraphInstance, Sequence, Space, Tuple
from numpy.typing import NDArray

USED_UP = -1  # pads an observation of indices if fewer graphs are on offer than the maximum

Observation = tuple[GraphInstance, ...] | NDArray[np.int64]
"""The K graphs, or the indices of the graphs on offer."""
Info = dict[str, Any]
"""The type of Gymnasium's `info` and `options`."""


class _NoArrays:
    """A space without a shape, whose error message names the wrappers for arrays."""

    @property
    def shape(self) -> tuple[int, ...] | None:
        """Raise a TypeError, since graphs of different sizes have no common shape.

        Raises:
            TypeError: always. Stable-Baselines3 reads the shape and shows the message.
        """
        raise TypeError(
            "Expected observations that are arrays. Graphs have no common shape: wrap the environment in "
            "`graph_bandit_env.wrappers.PaddedGraphSet`, or make it with observe='indices' and wrap it in "
            "`GraphSetIndices`."
        )


class GraphSpace(_NoArrays, Graph):
    """Gymnasium's space of graphs with node and edge features, whose `contains` checks whole arrays."""

    def contains(self, x: object) -> bool:
        """Return True if Gymnasium's `contains`, which checks each node and edge separately, accepts a graph."""
        graph: Any = x
        if not (isinstance(x, GraphInstance) and all(map(_has_rows, x))):
            return super().contains(graph)
        nodes, edges, links = graph
        return bool(
            links.dtype.kind in "iu"
            and links.shape == (len(edges), 2)
            and ((links >= 0) & (links < len(nodes))).all()
            and _are_rows_of(self.node_space, nodes)
            and _are_rows_of(self.edge_space, edges)
        )


def _has_rows(values: object) -> bool:
    return type(values) is np.ndarray and values.ndim > 0 and values.dtype != object


def _are_rows_of(space: Any, rows: NDArray[Any]) -> bool:
    """Return True if each row of an array is a member of a `Box`, also if there are no rows."""
    fits = np.can_cast(rows.dtype, space.dtype) and rows.shape[1:] == space.shape
    return len(rows) == 0 or bool(fits and (rows >= space.low).all() and (rows <= space.high).all())


class GraphSequence(_NoArrays, Sequence):
    """Gymnasium's `Sequence` space of graphs."""


def graph_set_space(
    num_graphs: int, feature_dim: int, edge_feature_dim: int | None = None, varies: bool = False
) -> Space[tuple[GraphInstance, ...]]:
    """Return the space of K graphs, each a Gymnasium `GraphInstance`.

    Nodes are float32 `(n, d)`, `edge_links` integers `(E, 2)` with both directions of each undirected edge, and `edges`
    float32 `(E, e)`. Graphs without edge features get a constant feature 1 (e = 1), because a Gymnasium `Graph` space
    without an edge space rejects every graph that has edges.

    Args:
        num_graphs: K, or the maximum number of graphs.
        feature_dim: d.
        edge_feature_dim: e, or None for graphs without edge features.
        varies: True if K varies.

    Returns:
        A `Tuple` of K `Graph` spaces, or a `Sequence` of graphs if K varies.
    """
    nodes = Box(-np.inf, np.inf, (feature_dim,), np.float32)
    edges = Box(0, 1, (1,), np.float32)
    if edge_feature_dim is not None:
        edges = Box(-np.inf, np.inf, (edge_feature_dim,), np.float32)
    if varies:
        return GraphSequence(GraphSpace(nodes, edges))
    return Tuple([GraphSpace(nodes, edges) for _ in range(num_graphs)])


def indices_space(num_graphs: int, num_available: int, exhaustible: bool = False) -> Box[np.int64]:
    """Return the space of ascending indices of the graphs on offer: int64 `(k,)` in [0, K).

    If fewer graphs can be left, `USED_UP` pads the entries after the last graph on offer.
    """
    return Box(USED_UP if exhaustible else 0, num_graphs - 1, (num_available,), np.int64)
