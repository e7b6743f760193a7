"""Any number of graphs in a few shared arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Array = NDArray[np.generic]
Links = NDArray[np.integer]
Offsets = NDArray[np.int64]

GRAPHS_AT_ONCE = 1000  # batch size for computing features
EVERY = slice(None)


@dataclass(frozen=True, eq=False)
class PackedGraphs:
    """K graphs in read-only arrays: graph k has the rows from offset k to offset k + 1.

    Subclasses may store a smaller form and compute features on request.
    """

    nodes: Array
    """`(sum n, d)`: node features."""
    node_offsets: Offsets
    """`(K + 1,)`."""
    links: Links
    """`(sum E, 2)`: sorted pairs of joined nodes, numbered per graph. Undirected edges appear once each way."""
    edges: Array | None
    """`(sum E, e)`: edge features, or None."""
    edge_offsets: Offsets
    """`(K + 1,)`."""
    directed: bool = field(default=False, kw_only=True)
    """True if edges lead from the first node to the second. Otherwise, each is stored in both directions."""

    def __post_init__(self) -> None:
        for array in (self.nodes, self.node_offsets, self.links, self.edges, self.edge_offsets):
            if array is not None:
                array.flags.writeable = False

    def __setstate__(self, state: dict[str, object]) -> None:
        """Restore the state from pickle, and make the arrays read-only."""
        self.__dict__.update(state)
        self.__post_init__()

    @staticmethod
    def of(
        nodes: Sequence[Floats], links: Sequence[Links], edges: Sequence[Floats] | None = None, directed: bool = False
    ) -> PackedGraphs:
        """Pack the arrays of at least one graph."""
        return PackedGraphs(
            np.concatenate(nodes),
            _offsets([len(rows) for rows in nodes]),
            np.concatenate(links),
            None if edges is None else np.concatenate(edges),
            _offsets([len(rows) for rows in links]),
            directed=directed,
        )

    def __len__(self) -> int:
        return len(self.node_offsets) - 1

    @property
    def feature_dim(self) -> int:
        """Return d, the number of features of a node."""
        return int(self.nodes.shape[1])

    @property
    def edge_feature_dim(self) -> int | None:
        """Return e, the number of features of an edge, or None if edges have no features."""
        return None if self.edges is None else int(self.edges.shape[1])

    def node_features(self, rows: slice = EVERY) -> Floats:
        """Return the node features."""
        return self.nodes[rows].astype(np.float32, copy=False)

    def edge_features(self, rows: slice = EVERY) -> Floats | None:
        """Return the edge features, or None if there are none."""
        return None if self.edges is None else self.edges[rows].astype(np.float32, copy=False)

    def read(self, start: int, stop: int) -> Iterator[tuple[Floats, Links, Floats | None]]:
        """Yield node features, links and edge features of graphs, as views that must not be modified.

        Args:
            start: index of the first graph.
            stop: index after the last graph. Features are computed in batches, so any number of graphs is fine.
        """
        for first in range(start, stop, GRAPHS_AT_ONCE):
            last = min(first + GRAPHS_AT_ONCE, stop)
            node_at = self.node_offsets[first : last + 1].tolist()
            edge_at = self.edge_offsets[first : last + 1].tolist()
            nodes = self.node_features(slice(node_at[0], node_at[-1]))
            edges = self.edge_features(slice(edge_at[0], edge_at[-1]))
            for k in range(last - first):
                rows = slice(edge_at[k] - edge_at[0], edge_at[k + 1] - edge_at[0])
                yield (
                    nodes[node_at[k] - node_at[0] : node_at[k + 1] - node_at[0]],
                    self.links[edge_at[k] : edge_at[k + 1]],
                    None if edges is None else edges[rows],
                )

    def take(self, index: Sequence[int] | NDArray[np.integer]) -> Self:
        """Return a copy of the graphs with these indices, in this order. The result may be empty."""
        chosen = np.asarray(index, np.int64)
        nodes, node_offsets = rows_of(self.node_offsets, chosen)
        edges, edge_offsets = rows_of(self.edge_offsets, chosen)
        features = None if self.edges is None else self.edges[edges]
        return replace(
            self,
            nodes=self.nodes[nodes],
            node_offsets=node_offsets,
            links=self.links[edges],
            edges=features,
            edge_offsets=edge_offsets,
        )


def _offsets(counts: Sequence[int] | NDArray[np.int64]) -> Offsets:
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64)


def rows_of(offsets: Offsets, chosen: NDArray[np.int64]) -> tuple[NDArray[np.int64], Offsets]:
    """Return the rows of the chosen graphs, and their new offsets."""
    counts = offsets[chosen + 1] - offsets[chosen]
    taken = _offsets(counts)
    return np.repeat(offsets[chosen] - taken[:-1], counts) + np.arange(taken[-1]), taken
