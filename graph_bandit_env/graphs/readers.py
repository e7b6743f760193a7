"""Read graphs of other libraries as arrays, and check nodes, edges and features."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graph_bandit_env.checks import check_flag

if TYPE_CHECKING:
    import networkx as nx
    from torch import Tensor
    from torch_geometric.data import Data


HOW_TO_ONE_HOT = (
    "Give texts a column for each kind, 1 where a label is of this kind (one-hot): "
    "`(numpy.array(labels)[:, None] == kinds).astype(float)`, with `kinds` a list of the labels of all graphs."
)


def check_features(graph: int, kind: str, values: ArrayLike) -> NDArray[np.float32]:
    """Return features of nodes or edges as float32 `(n, d)`, or raise a ValueError that names the graph."""
    array = np.asarray(values)
    if array.ndim != 2 or array.shape[1] == 0 or (kind == "node" and array.shape[0] == 0):
        rows = "n >= 1" if kind == "node" else "E >= 0"
        raise ValueError(f"Graph {graph}: expected {kind} features of shape `({rows}, d >= 1)`. Got `{array.shape}`.")
    if array.dtype.kind not in "biuf":
        one_hot = " " + HOW_TO_ONE_HOT if array.dtype.kind in "USOT" else ""
        raise ValueError(f"Graph {graph}: expected {kind} features that are real numbers. Got {array.dtype}.{one_hot}")
    with np.errstate(over="ignore"):
        checked = np.array(array, np.float32, order="C")
    if not np.isfinite(checked).all():
        bad = int((~np.isfinite(checked)).sum())
        raise ValueError(f"Graph {graph}: expected finite {kind} features. Got {bad} that are not.")
    return checked


def check_same_width(kind: str, features: Sequence[NDArray[np.float32]]) -> None:
    """Raise a ValueError if graphs have different numbers of features."""
    for k, array in enumerate(features):
        if array.shape[1] != features[0].shape[1]:
            raise ValueError(
                f"Expected the same number of {kind} features in all graphs. Graph 0 has {features[0].shape[1]}, "
                f"graph {k} has {array.shape[1]}."
            )


def check_links(graph: int, edges: ArrayLike, num_nodes: int) -> NDArray[np.int64]:
    """Return edges as int64 `(E, 2)`, or raise a ValueError that names the graph."""
    links = np.asarray(edges)
    if links.size == 0:
        return np.zeros((0, 2), np.int64)
    if links.ndim != 2 or links.shape[1] != 2 or links.dtype.kind not in "iu":
        raise ValueError(
            f"Graph {graph}: expected integer edges of shape `(E, 2)`. Got {links.dtype} of shape `{links.shape}`."
        )
    if links.min() < 0 or links.max() >= num_nodes:
        bad = links.max() if links.max() >= num_nodes else links.min()
        raise ValueError(f"Graph {graph}: expected edges between nodes 0 to {num_nodes - 1}. Got node {bad}.")
    return links.astype(np.int64)


def each_edge_once(
    graph: int,
    links: NDArray[np.int64],
    features: NDArray[np.float32] | None,
    num_nodes: int,
    directed: bool | None,
) -> tuple[NDArray[np.int32], NDArray[np.float32] | None]:
    """Return each edge once, sorted, with its features; refuse rows that contradict each other.

    Args:
        graph: its number, for messages.
        links: `(E, 2)`.
        features: None, or `(E, e)`.
        num_nodes: n.
        directed: True keeps edges as they are. Otherwise each is returned once in each direction: False adds a missing
            direction, with the features of the other; None refuses it.

    Raises:
        ValueError: if equal edges have different features, or a direction is missing and `directed` is None.
    """
    both = links if directed else np.concatenate([links, links[:, ::-1]])
    keys, first, row_of = np.unique(both[:, 0] * num_nodes + both[:, 1], return_index=True, return_inverse=True)
    unique = np.stack([keys // num_nodes, keys % num_nodes], axis=1).astype(np.int32)
    added = np.flatnonzero(first >= len(links))  # the first row of an edge is one that was given, if there is any
    if directed is None and len(added):
        end, start = unique[added[0]].tolist()
        raise ValueError(
            f"Graph {graph}: expected each edge in both directions. Got {(start, end)} without {(end, start)}. "
            "`directed=True` keeps the directions as they are, `directed=False` adds those that are missing."
        )
    if features is None:
        return unique, None
    kept = (features if directed else np.concatenate([features, features]))[first]
    differ = np.flatnonzero((kept[row_of[: len(links)]] != features).any(axis=1))
    if len(differ):
        row = differ[0]
        raise ValueError(
            f"Graph {graph}: expected equal features for the edge {tuple(links[row].tolist())}. Got "
            f"{kept[row_of[row]].tolist()} and {features[row].tolist()}. Merge parallel edges first, for example by "
            '`torch_geometric.utils.coalesce(..., reduce="mean")`; the two directions of an edge may differ.'
        )
    return unique, kept


Arrays = list[NDArray[Any]]
HOW_WITHOUT = " `graph_bandit_env.graphs.degree_features` makes features for graphs without any."


def read_pyg(graphs: Sequence[Data]) -> tuple[Arrays, Arrays, Arrays | None]:
    """Read PyG graphs, as `GraphSet.from_pyg` describes.

    Returns:
        The first three arguments of `GraphSet`, which checks them.

    Raises:
        ValueError: if a graph has no `x`, `edge_index` is not `(2, E)`, or only some have `edge_attr`.
    """
    for k, graph in enumerate(graphs):
        if graph.x is None:
            raise ValueError(
                f"Graph {k}: expected node features `x`. Got none. Set `data.x`, or give the graphs to "
                "`graph_bandit_env.graphs.degree_features`. For a dataset, pass a `transform` such as "
                "`torch_geometric.transforms.OneHotDegree(10)`."
            )
    with_attributes = [graph.edge_attr is not None for graph in graphs]
    if any(with_attributes) and not all(with_attributes):
        raise ValueError(f"Expected `edge_attr` in all graphs or in none. Got it in {sum(with_attributes)}.")
    links = []
    for k, graph in enumerate(graphs):
        edges = np.zeros((2, 0), np.int64) if graph.edge_index is None else _to_numpy(graph.edge_index)
        if edges.ndim != 2 or edges.shape[0] != 2:
            raise ValueError(f"Graph {k}: expected `edge_index` of shape `(2, E)`. Got `{edges.shape}`.")
        links.append(edges.T)
    attributes = [_as_columns(_to_numpy(graph.edge_attr)) for graph in graphs] if any(with_attributes) else None
    return [_to_numpy(graph.x) for graph in graphs], links, attributes


def are_directed(graphs: Sequence[nx.Graph], directed: bool | None) -> bool:
    """Return whether a set of networkx graphs is directed, as `GraphSet.from_networkx` describes.

    Raises:
        ValueError: if only some graphs are, and `directed` is None.
    """
    if directed is not None:
        return check_flag("directed", directed)
    kinds = [graph.is_directed() for graph in graphs]
    if any(kinds) and not all(kinds):
        raise ValueError(
            f"Expected graphs that are all directed, or all undirected. Graph {kinds.index(True)} is directed, graph "
            f"{kinds.index(False)} is not. `directed=True` gives undirected edges both directions, `directed=False` "
            "adds those that are missing."
        )
    return any(kinds)


def read_networkx(
    graphs: Sequence[nx.Graph], node_attribute: str | None, edge_attribute: str | None, directed: bool
) -> tuple[Arrays, Arrays, Arrays | None]:
    """Read networkx graphs, as `GraphSet.from_networkx` describes.

    Args:
        graphs: networkx graphs.
        node_attribute: attribute of nodes; None: each node gets a 1.
        edge_attribute: attribute of edges, or None.
        directed: whether the edges are read as directed ones; those of an undirected graph are then in both directions.

    Returns:
        The first three arguments of `GraphSet`, which checks them.

    Raises:
        ValueError: if a node or an edge has no such attribute, vectors differ in length, or an edge attribute is asked
            for and no graph has an edge.
    """
    nodes, links, features = [], [], []
    for k, graph in enumerate(graphs):
        if node_attribute is None:
            nodes.append(np.ones((len(graph), 1), np.float32))
        else:
            nodes.append(_read_vectors(k, "node", graph.nodes(data=True), node_attribute))
        position = {node: i for i, node in enumerate(graph.nodes)}
        graph = graph.to_directed(as_view=True) if directed else graph
        pairs = [(position[u], position[v]) for u, v in graph.edges()]
        links.append(np.array(pairs, np.int64).reshape(-1, 2))
        if edge_attribute is not None:
            edges = [((u, v), data) for u, v, data in graph.edges(data=True)]
            features.append(_read_vectors(k, "edge", edges, edge_attribute))
    if edge_attribute is None:
        return nodes, links, None
    width = next((values.shape[1] for values in features if len(values)), None)
    if width is None:
        raise ValueError(f"Expected edges with the attribute `{edge_attribute}`. Got graphs without edges.")
    return nodes, links, [values if len(values) else np.zeros((0, width), np.float32) for values in features]


def _read_vectors(
    graph: int, kind: str, items: Iterable[tuple[object, Mapping[str, ArrayLike]]], attribute: str
) -> NDArray[Any]:
    """Read an attribute of all nodes or edges, each given with its dictionary."""
    pairs = list(items)
    missing = [item for item, data in pairs if attribute not in data]
    if missing:
        raise ValueError(
            f"Graph {graph}: expected the attribute `{attribute}` on every {kind}. {kind.capitalize()} {missing[0]!r} "
            f"has none.{HOW_WITHOUT if kind == 'node' else ''}"
        )
    try:
        return _as_columns(np.array([data[attribute] for _, data in pairs]))
    except ValueError as error:
        raise ValueError(f"Graph {graph}: expected vectors of equal length in `{attribute}`. Got: {error}.") from None


def _to_numpy(array: Tensor | ArrayLike) -> NDArray[Any]:
    if hasattr(array, "detach"):
        tensor: Tensor = array.detach().cpu()
        array = (tensor.float() if tensor.is_floating_point() else tensor).numpy()  # NumPy has no bfloat16
    return np.asarray(array)


def _as_columns(array: NDArray[Any]) -> NDArray[Any]:
    return array[:, None] if array.ndim == 1 else array
