"""Read graphs of other libraries as arrays: nodes, edges, and edge features if there are any."""

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
