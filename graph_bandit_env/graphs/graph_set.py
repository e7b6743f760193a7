"""The set of K candidate graphs, checked once and read-only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, SupportsIndex, overload

import numpy as np
from gymnasium.spaces import GraphInstance
from numpy.typing import ArrayLike, NDArray

from graph_bandit_env.graphs.graph_checks import both_directions_once, check_features, check_links, check_same_width
from graph_bandit_env.graphs.readers import read_networkx, read_pyg

if TYPE_CHECKING:
    import networkx as nx
    from torch_geometric.data import Batch, Data

Floats = NDArray[np.float32]
Links = NDArray[np.int32]


class GraphSet(Sequence[GraphInstance]):
    """K undirected graphs with node features, each of any number of nodes.

    Each edge is stored once in each direction. The two directions may have different features; a missing direction is
    added with the features of the other. Self-loops are kept.

    Args:
        nodes: K arrays `(n_k, d)`, read as float32: the node features of each graph.
        edge_links: K integer arrays `(E_k, 2)`: the pairs of nodes that edges join.
        edge_features: None, or K arrays `(E_k, e)`, read as float32.

    Raises:
        ValueError: if there is no graph, a graph has no node or no feature, feature dimensions differ, a feature
            is not finite, an edge names a missing node, or an edge is given twice in one direction with different
            features.
    """

    never_changes: ClassVar[bool] = True
    """Its arrays cannot be written. Agents then read the graphs again instead of keeping a copy."""

    def __init__(
        self,
        nodes: Sequence[ArrayLike],
        edge_links: Sequence[ArrayLike],
        edge_features: Sequence[ArrayLike] | None = None,
    ) -> None:
        if len(nodes) == 0:
            raise ValueError("Expected at least one graph. Got none.")
        if len(edge_links) != len(nodes) or (edge_features is not None and len(edge_features) != len(nodes)):
            raise ValueError(f"Expected edges for each of {len(nodes)} graphs. Got {len(edge_links)}.")
        checked_nodes = tuple(check_features(k, "node", x) for k, x in enumerate(nodes))
        check_same_width("node", checked_nodes)
        links: list[Links] = []
        features: list[Floats] = []
        for k, edges in enumerate(edge_links):
            given = check_links(k, edges, len(checked_nodes[k]))
            values = None if edge_features is None else check_features(k, "edge", edge_features[k])
            if values is not None and len(values) != len(given):
                raise ValueError(f"Graph {k}: expected {len(given)} rows of edge features. Got {len(values)}.")
            pairs, means = both_directions_once(k, given, values, len(checked_nodes[k]))
            links.append(pairs)
            features += [] if means is None else [means]
        self._fill(checked_nodes, tuple(links), None if edge_features is None else tuple(features))
        if self._edge_features is not None:
            check_same_width("edge", self._edge_features)

    @staticmethod
    def from_symmetric(
        nodes: Sequence[Floats], edge_links: Sequence[Links], edge_features: Sequence[Floats] | None = None
    ) -> GraphSet:
        """Make a set of graphs without checks: each edge must be there once in each direction, sorted."""
        graph_set = GraphSet.__new__(GraphSet)
        graph_set._fill(tuple(nodes), tuple(edge_links), None if edge_features is None else tuple(edge_features))
        return graph_set

    def _fill(
        self, nodes: tuple[Floats, ...], edge_links: tuple[Links, ...], edge_features: tuple[Floats, ...] | None
    ) -> None:
        self._nodes, self._edge_links, self._edge_features = nodes, edge_links, edge_features
        for array in (*nodes, *edge_links, *(edge_features or ())):
            array.flags.writeable = False

    @staticmethod
    def from_pyg(graphs: Sequence[Data]) -> GraphSet:
        """Read PyG graphs: `x` `(n, d)`, `edge_index` `(2, E)`, and `edge_attr` `(E, e)` if all have it.

        Raises:
            ValueError: as in `GraphSet`; also if a graph has no `x`, or only some graphs have `edge_attr`.
        """
        return GraphSet(*read_pyg(graphs))

    @staticmethod
    def from_networkx(
        graphs: Sequence[nx.Graph], node_attribute: str = "x", edge_attribute: str | None = None
    ) -> GraphSet:
        """Read networkx graphs.

        Nodes are numbered in the order of `graph.nodes`. Parallel edges need equal features.

        Args:
            graphs: networkx graphs of any kind.
            node_attribute: attribute of every node that holds a vector or a number, read as node features.
            edge_attribute: attribute of every edge that holds a vector or a number, read as edge features; None: edges
                have no features.

        Raises:
            ValueError: as in `GraphSet`; also if a node or an edge has no such attribute.
        """
        return GraphSet(*read_networkx(graphs, node_attribute, edge_attribute))

    def __len__(self) -> int:
        return len(self._nodes)

    @overload
    def __getitem__(self, index: SupportsIndex) -> GraphInstance: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[GraphInstance, ...]: ...

    def __getitem__(self, index: SupportsIndex | slice) -> GraphInstance | tuple[GraphInstance, ...]:
        """Return a copy of a graph, or a tuple of copies for a slice."""
        if isinstance(index, slice):
            return tuple(self[k] for k in range(*index.indices(len(self))))
        links = self._edge_links[index].astype(np.int64)
        edges = np.ones((len(links), 1), np.float32)
        if self._edge_features is not None:
            edges = self._edge_features[index].copy()
        return GraphInstance(self._nodes[index].copy(), edges, links)

    def __iter__(self) -> Iterator[GraphInstance]:
        return (self[k] for k in range(len(self)))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self._notes())})"

    def _notes(self) -> list[str]:
        counts = self.num_nodes
        return [f"{len(self)} graphs", f"{counts.min()} to {counts.max()} nodes", f"{self.feature_dim} features"]

    def take(self, index: Sequence[int] | NDArray[np.integer]) -> GraphSet:
        """Return the graphs with these indices, in this order; their arrays are shared, not copied.

        Raises:
            ValueError: if `index` is empty, or is not all integers from 0 to K - 1.
        """
        given = np.asarray(index)
        if given.size == 0:
            raise ValueError("Expected at least one graph to take. Got none.")
        if given.ndim != 1 or given.dtype.kind not in "iu" or given.min() < 0 or given.max() >= len(self):
            raise ValueError(f"Expected indices that are integers from 0 to {len(self) - 1}. Got {index!r}.")
        features = self._edge_features
        return GraphSet.from_symmetric(
            [self._nodes[k] for k in index],
            [self._edge_links[k] for k in index],
            features and [features[k] for k in index],
        )

    @property
    def num_nodes(self) -> NDArray[np.int64]:
        """Return the node count of each graph, `(K,)`."""
        return np.array([len(x) for x in self._nodes])

    @property
    def largest_sizes(self) -> tuple[int, int]:
        """Return the largest node count and the largest edge count (both directions counted)."""
        return max(map(len, self._nodes)), max(map(len, self._edge_links))

    @property
    def feature_dim(self) -> int:
        """Return d, the number of features of a node."""
        return int(self._nodes[0].shape[1])

    @property
    def edge_feature_dim(self) -> int | None:
        """Return e, the number of features of an edge; None if edges have none."""
        return None if self._edge_features is None else int(self._edge_features[0].shape[1])

    @property
    def average_degrees(self) -> NDArray[np.float64]:
        """Return the mean number of neighbours per node of each graph, `(K,)`."""
        return np.array([len(e) / len(x) for x, e in zip(self._nodes, self._edge_links, strict=True)])

    def to_batch(self) -> Batch:
        """Return `Batch.from_data_list(self.to_pyg())`, without making K `Data` first."""
        import torch
        from torch_geometric.data import Batch

        edges, count = [len(links) for links in self._edge_links], len(self)
        node_starts, edge_starts = (np.concatenate([[0], np.cumsum(sizes)]) for sizes in (self.num_nodes, edges))
        links = np.concatenate(self._edge_links).T.astype(np.int64, order="C")
        links += np.repeat(node_starts[:-1], edges)
        tensors = {"x": torch.from_numpy(np.concatenate(self._nodes)), "edge_index": torch.from_numpy(links)}
        if self._edge_features is not None:
            tensors["edge_attr"] = torch.from_numpy(np.concatenate(self._edge_features))
        ptr, edge_ptr = torch.from_numpy(node_starts), torch.from_numpy(edge_starts)
        batch = Batch(**tensors, batch=torch.from_numpy(np.repeat(np.arange(count), self.num_nodes)), ptr=ptr)
        # What `collate` of PyG keeps, from which `get_example` and `to_data_list` take the graphs apart again:
        batch._num_graphs = count
        batch._slice_dict = {name: ptr if name == "x" else edge_ptr for name in tensors}
        batch._inc_dict = {name: torch.zeros(count, dtype=torch.int64) for name in tensors} | {"edge_index": ptr[:-1]}
        return batch

    def to_pyg(self) -> list[Data]:
        """Return the graphs as PyG `Data`: `x` float32, `edge_index` int64 and, with edge features, `edge_attr`."""
        import torch
        from torch_geometric.data import Data

        graphs = []
        for k in range(len(self)):
            graph = Data(
                x=torch.tensor(self._nodes[k]), edge_index=torch.tensor(self._edge_links[k].T.astype(np.int64))
            )
            if self._edge_features is not None:
                graph.edge_attr = torch.tensor(self._edge_features[k])
            graphs.append(graph)
        return graphs


def as_graph_set(graphs: GraphSet | Iterable[Data] | Iterable[nx.Graph]) -> GraphSet:
    """Read the argument `graphs`: a GraphSet, or a sequence of PyG `Data` or of networkx graphs.

    Raises:
        TypeError: if `graphs` is none of these.
        ValueError: if a graph is not valid.
    """
    if isinstance(graphs, GraphSet):
        return graphs
    single = hasattr(graphs, "edge_index") or hasattr(graphs, "adj")  # a single graph can be iterated over, too
    graphs = [graphs] if single or not hasattr(graphs, "__iter__") else list(graphs)
    if not graphs:
        raise ValueError("Expected at least one graph in `graphs`. Got none.")
    if all(hasattr(graph, "edge_index") and hasattr(graph, "x") for graph in graphs):
        return GraphSet.from_pyg(graphs)
    if all(hasattr(graph, "nodes") and hasattr(graph, "adj") for graph in graphs):
        return GraphSet.from_networkx(graphs)
    kinds = sorted({type(graph).__name__ for graph in graphs})
    raise TypeError(
        f"Expected `graphs` to be a GraphSet, or a list of PyG Data or of networkx graphs. Got {', '.join(kinds)}."
    )
