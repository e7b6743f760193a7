"""The validated, read-only set of K candidate graphs."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, SupportsIndex, overload

import numpy as np
from gymnasium.spaces import GraphInstance
from numpy.typing import ArrayLike, NDArray

from graph_bandit_env.checks import check_flag
from graph_bandit_env.graphs.checking import check_features, check_links, check_same_width, each_edge_once
from graph_bandit_env.graphs.packed_graphs import Floats, PackedGraphs

if TYPE_CHECKING:
    from torch import Tensor
    from torch_geometric.data import Batch, Data

Links = NDArray[np.int32]


class NotReadWarning(UserWarning):
    """Graphs have attributes or parallel edges that are not read."""


class GraphSet(Sequence[GraphInstance]):
    """K graphs with node features and any numbers of nodes, either all undirected or all directed.

    Undirected edges are stored once in each direction, and the two directions may have different features. Directed
    edges are stored once, unchanged. Self-loops are kept. A `NotReadWarning` counts graphs with parallel edges.

    Args:
        nodes: K arrays `(n_k, d)`, read as float32: node features of each graph.
        edge_links: K integer arrays `(E_k, 2)`: pairs of nodes joined by edges, from the first to the second.
        edge_features: None, or K arrays `(E_k, e)`, read as float32.
        directed: True keeps the directions of edges. False makes graphs undirected and adds a missing direction with
            the features of the other. None means undirected, with an error for a missing direction.

    Raises:
        ValueError: if there is no graph, a graph has no node or no feature, feature dimensions differ, a feature
            is not finite, an edge names a missing node, an edge is given twice in one direction with different
            features, or a direction is missing and `directed` is None.
    """

    never_changes: ClassVar[bool] = True
    """True if the arrays are read-only. Agents then read the graphs again instead of keeping a copy."""

    def __init__(
        self,
        nodes: Sequence[ArrayLike],
        edge_links: Sequence[ArrayLike],
        edge_features: Sequence[ArrayLike] | None = None,
        directed: bool | None = None,
    ) -> None:
        directed = None if directed is None else check_flag("directed", directed)
        if len(nodes) == 0:
            raise ValueError("Expected at least one graph. Got none.")
        if len(edge_links) != len(nodes) or (edge_features is not None and len(edge_features) != len(nodes)):
            raise ValueError(f"Expected edges for each of {len(nodes)} graphs. Got {len(edge_links)}.")
        checked_nodes = tuple(check_features(k, "node", x) for k, x in enumerate(nodes))
        check_same_width("node", checked_nodes)
        links: list[Links] = []
        features: list[Floats] = []
        parallel = 0
        for k, edges in enumerate(edge_links):
            given = check_links(k, edges, len(checked_nodes[k]))
            values = None if edge_features is None else check_features(k, "edge", edge_features[k])
            if values is not None and len(values) != len(given):
                raise ValueError(f"Graph {k}: expected {len(given)} rows of edge features. Got {len(values)}.")
            pairs, kept, again = each_edge_once(k, given, values, len(checked_nodes[k]), directed)
            parallel += again > 0
            links.append(pairs)
            features += [] if kept is None else [kept]
        if parallel:
            text = f"{parallel} of {len(nodes)} graphs have parallel edges. Each is read once."
            warnings.warn(text, NotReadWarning, stacklevel=2)
        if edge_features is not None:
            check_same_width("edge", features)
        attributes = None if edge_features is None else features
        self._packed = PackedGraphs.of(checked_nodes, links, attributes, bool(directed))

    @staticmethod
    def from_packed(packed: PackedGraphs) -> GraphSet:
        """Create a set from packed graphs without checks or copies."""
        graph_set = GraphSet.__new__(GraphSet)
        graph_set._packed = packed
        return graph_set

    def __len__(self) -> int:
        return len(self._packed)

    @overload
    def __getitem__(self, index: SupportsIndex) -> GraphInstance: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[GraphInstance, ...]: ...

    def __getitem__(self, index: SupportsIndex | slice) -> GraphInstance | tuple[GraphInstance, ...]:
        """Return a copy of a graph, or a tuple of copies for a slice. Edges without features get a read-only 1."""
        if isinstance(index, slice):
            return tuple(self[k] for k in range(*index.indices(len(self))))
        k = range(len(self))[index]
        return next(self._copies(k, k + 1))

    def __iter__(self) -> Iterator[GraphInstance]:
        return self._copies(0, len(self))

    def _copies(self, start: int, stop: int) -> Iterator[GraphInstance]:
        for nodes, links, edges in self._packed.read(start, stop):
            ones = np.broadcast_to(np.ones(1, np.float32), (len(links), 1))  # read-only, without memory
            copied = ones if edges is None else edges.copy()
            yield GraphInstance(nodes.copy(), copied, links.astype(np.int64))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self._notes())})"

    def _notes(self) -> list[str]:
        counts = self.num_nodes
        count = f"{len(self)} directed graphs" if self.directed else f"{len(self)} graphs"
        return [count, f"{counts.min()} to {counts.max()} nodes", f"{self.feature_dim} features"]

    def take(self, index: Sequence[int] | NDArray[np.integer]) -> GraphSet:
        """Return a copy of the graphs with these indices, in this order.

        Raises:
            ValueError: if `index` is empty, or is not all integers from 0 to K - 1.
        """
        given = np.asarray(index)
        if given.size == 0:
            raise ValueError("Expected at least one graph to take. Got none.")
        if given.ndim != 1 or given.dtype.kind not in "iu" or given.min() < 0 or given.max() >= len(self):
            raise ValueError(f"Expected indices that are integers from 0 to {len(self) - 1}. Got {index!r}.")
        return GraphSet.from_packed(self._packed.take(given))

    def without_directions(self) -> Self:
        """Return the graphs as undirected. A missing direction gets the features of the other."""
        if not self.directed:
            return self
        nodes, links, edges = map(list, zip(*self._packed.read(0, len(self)), strict=True))
        undirected = copy.copy(self)
        undirected._packed = GraphSet(nodes, links, None if self.edge_feature_dim is None else edges, False)._packed
        return undirected

    def with_nodes(self, nodes: Sequence[ArrayLike]) -> Self:
        """Return the graphs with other node features.

        Args:
            nodes: K arrays `(n_k, d)`, read as float32, for the same numbers of nodes.

        Raises:
            ValueError: if shapes do not fit, or a feature is not finite.
        """
        checked = [check_features(k, "node", x) for k, x in enumerate(nodes)]
        if [len(x) for x in checked] != self.num_nodes.tolist():
            raise ValueError(f"Expected features of each node of {len(self)} graphs. Got other numbers of rows.")
        check_same_width("node", checked)
        changed = copy.copy(self)
        changed._packed = replace(self._packed, nodes=np.concatenate(checked))
        return changed

    @property
    def directed(self) -> bool:
        """Return True if edges have a direction. Otherwise, each is stored in both."""
        return self._packed.directed

    @property
    def num_nodes(self) -> NDArray[np.int64]:
        """Return the node count of each graph, `(K,)`."""
        return np.diff(self._packed.node_offsets)

    @property
    def largest_sizes(self) -> tuple[int, int]:
        """Return the largest node count and the largest edge count (both directions of an undirected edge counted)."""
        return int(self.num_nodes.max()), int(np.diff(self._packed.edge_offsets).max())

    @property
    def feature_dim(self) -> int:
        """Return d, the number of features of a node."""
        return self._packed.feature_dim

    @property
    def edge_feature_dim(self) -> int | None:
        """Return e, the number of features of an edge, or None if edges have no features."""
        return self._packed.edge_feature_dim

    @property
    def average_degrees(self) -> NDArray[np.float64]:
        """Return the mean number of neighbours per node of each graph, or of incoming edges if directed, `(K,)`."""
        degrees: NDArray[np.float64] = np.diff(self._packed.edge_offsets) / self.num_nodes
        return degrees

    def to_batch(self) -> Batch:
        """Return `Batch.from_data_list(self.to_pyg())` without creating K `Data`."""
        import torch

        packed, count = self._packed, len(self)
        links = packed.links.T.astype(np.int64, order="C")
        links += np.repeat(packed.node_offsets[:-1], np.diff(packed.edge_offsets))
        edges = packed.edge_features()
        tensors = {"x": _own_tensor(packed.node_features()), "edge_index": torch.from_numpy(links)}
        if edges is not None:
            tensors["edge_attr"] = _own_tensor(edges)
        ptr, edge_ptr = torch.tensor(packed.node_offsets), torch.tensor(packed.edge_offsets)
        batch = _import_pyg().Batch(
            **tensors, batch=torch.from_numpy(np.repeat(np.arange(count), self.num_nodes)), ptr=ptr
        )
        # Attributes of PyG's `collate`, from which `get_example` and `to_data_list` restore the graphs:
        batch._num_graphs = count
        batch._slice_dict = {name: ptr if name == "x" else edge_ptr for name in tensors}
        batch._inc_dict = {name: torch.zeros(count, dtype=torch.int64) for name in tensors} | {"edge_index": ptr[:-1]}
        return batch

    def to_pyg(self) -> list[Data]:
        """Return the graphs as PyG `Data`: `x` float32, `edge_index` int64 and, with edge features, `edge_attr`."""
        import torch

        graphs, make = [], _import_pyg().Data
        for nodes, links, edges in self._packed.read(0, len(self)):
            graph = make(x=torch.tensor(nodes), edge_index=torch.tensor(links.T.astype(np.int64)))
            if edges is not None:
                graph.edge_attr = torch.tensor(edges)
            graphs.append(graph)
        return graphs


def _import_pyg() -> Any:
    """Import PyG's graphs without the deprecation warning of torch at the first import."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "`torch.jit.script` is deprecated", DeprecationWarning)
        import torch_geometric.data
    return torch_geometric.data


def _own_tensor(features: Floats) -> Tensor:
    """Return a writable tensor, with a copy only of a read-only array."""
    import torch

    return torch.from_numpy(features if features.flags.writeable else features.copy())
