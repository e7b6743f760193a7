"""Read graphs of other libraries as arrays, and report unread attributes."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import blake2b
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graph_bandit_env.checks import check_flag
from graph_bandit_env.graphs.checking import to_numbers
from graph_bandit_env.graphs.graph_set import GraphSet, NotReadWarning

if TYPE_CHECKING:
    import networkx as nx
    from torch import Tensor
    from torch_geometric.data import Data

Edges = str | Literal[False] | None
"""Name of an edge attribute. None for `edge_attr` and `weight` if edges have them, False for no attribute."""
Features = dict[str, NDArray[Any]]
"""Edge features of a graph, `(E, e)`, by attribute name."""
Rest = dict[str, Any]
"""Unread attributes of a graph, by display name."""
Read = tuple[NDArray[Any], NDArray[Any], Features, Rest]
"""Node features, links `(E, 2)`, edge features, and the unread rest of a graph."""

HOW_WITHOUT = " `graph_bandit_env.graphs.degree_features` makes features for graphs without any."
DIGITS, DIRECTIONS, NAMES, EDGES, PARALLEL = UNNAMED = (
    "digits that float32 does not keep",
    "directions",
    "names of nodes",
    "attributes of edges",
    "parallel edges",
)
"""Parts of a rest that are skipped on purpose or reported elsewhere. They still distinguish graphs."""


def list_graphs(graphs: Any) -> tuple[Literal["pyg", "networkx", ""], list[Any]]:
    """Return the common library of all graphs, if any, and the graphs as a list. A single graph is accepted."""
    graphs = graphs.to_data_list() if hasattr(graphs, "to_data_list") else graphs  # a PyG Batch
    single = hasattr(type(graphs), "edge_index") or hasattr(type(graphs), "adj")  # single graphs are also iterable
    given = [graphs] if single or not hasattr(graphs, "__iter__") else list(graphs)
    if given and all(hasattr(graph, "edge_index") and hasattr(graph, "x") for graph in given):
        return "pyg", given
    is_networkx = given and all(hasattr(graph, "nodes") and hasattr(graph, "adj") for graph in given)
    return "networkx" if is_networkx else "", given


def as_graph_set(graphs: GraphSet | Iterable[Data] | Iterable[nx.Graph], directed: bool | None = None) -> GraphSet:
    """Read the arguments `graphs` and `directed`.

    Args:
        graphs: a GraphSet, or PyG `Data` or networkx graphs, read as in `read_pyg` and `read_networkx`.
        directed: as in `GraphSet` and `read_networkx`. False drops the directions of a GraphSet.

    Raises:
        TypeError: if `graphs` is none of these.
        ValueError: if a graph is not valid, or `directed` is True and a GraphSet is undirected.
    """
    directed = None if directed is None else check_flag("directed", directed)
    if isinstance(graphs, GraphSet):
        if directed and not graphs.directed:
            raise ValueError(
                f"Expected directed graphs with `directed=True`. Got {graphs!r}, which is undirected. Make the set "
                "itself with `directed=True`, for its edges are in both directions already."
            )
        return graphs.without_directions() if directed is False else graphs
    library, given = list_graphs(graphs)
    if not given:
        raise ValueError("Expected at least one graph in `graphs`. Got none.")
    if library:
        return read_pyg(given, directed) if library == "pyg" else read_networkx(given, directed=directed)
    kinds = ", ".join(sorted({type(graph).__name__ for graph in given}))
    raise TypeError(f"Expected `graphs` to be a GraphSet, or a list of PyG Data or of networkx graphs. Got {kinds}.")


def _warn_of_rests(graphs: GraphSet, rests: Sequence[Rest]) -> None:
    """Warn of unread attributes, with the number of graphs that differ only in these."""
    names, merged, first = sorted({*chain(*rests)}.difference(UNNAMED)), list[set[str]](), dict[bytes, Rest]()
    for arrays, rest in zip(graphs._packed.read(0, len(rests)), rests, strict=True) if any(rests) else ():
        content = [array.tobytes() + str(array.shape).encode() for array in arrays if array is not None]
        other = first.setdefault(blake2b(b"".join(content)).digest(), rest)
        parts = {name for name in {*rest, *other} if _to_plain(rest.get(name)) != _to_plain(other.get(name))}
        merged += [parts] if parts else []
    texts = [f"Columns and attributes that are not used: {', '.join(names)}."] if names else []
    if merged:
        listed = ", ".join(sorted(set.union(*merged)))
        texts += [f"{len(merged)} of {len(rests)} graphs differ from another one only in {listed}."]
    if texts:
        warnings.warn(" ".join(texts), NotReadWarning, stacklevel=4)  # points to the caller's line


def _to_plain(value: Any) -> str:
    """Return a canonical text of a value, with arrays and tensors as lists."""
    if isinstance(value, dict):
        return str({name: _to_plain(part) for name, part in sorted(value.items())})
    if isinstance(value, list | tuple):
        return str([_to_plain(part) for part in value])
    return repr(_to_numpy(value).tolist() if hasattr(value, "tolist") else value)


def _make(graphs: Sequence[Read], directed: bool | None) -> GraphSet:
    """Create a graph set. Edge features come from the same attributes in all graphs with edges."""
    if all((held["adj_t"] == 1).all() for _, _, held, _ in graphs if "adj_t" in held):  # values only mark edges
        for _, _, held, _ in graphs:
            held.pop("adj_t", None)
    widths = {name: values.shape[1:] for _, _, held, _ in graphs for name, values in held.items()}
    attributes: list[Any] = []
    for k, (nodes, links, held, rest) in enumerate(graphs):
        keys, counts = np.unique(links @ (1 << 32, 1), return_counts=True)
        if (counts > 1).any():
            rest[PARALLEL] = [keys, counts]
        numbers = [nodes, *held.values()]
        with np.errstate(all="ignore"):
            if any((array != array.astype(np.float32)).any() for array in numbers):
                rest[DIGITS] = numbers
        missing = sorted(widths.keys() - held.keys())
        if missing and len(links):
            raise ValueError(f"Graph {k}: expected `{missing[0]}` of edges, which other graphs have. It has none.")
        blocks = [held.get(name, np.zeros((0, *width))) for name, width in sorted(widths.items())]
        if {len(block) for block in blocks} - {len(links)}:
            raise ValueError(f"Graph {k}: expected {len(links)} rows of `{'` and `'.join(sorted(widths))}`.")
        attributes.append(np.hstack(blocks) if blocks else None)
    nodes_of, links_of = [graph[0] for graph in graphs], [graph[1] for graph in graphs]
    graph_set = GraphSet(nodes_of, links_of, attributes if widths else None, directed)
    _warn_of_rests(graph_set, [graph[3] for graph in graphs])
    return graph_set


def read_pyg(graphs: Sequence[Data], directed: bool | None = None, used: Collection[str] = ("y",)) -> GraphSet:
    """Read PyG graphs: `x` `(n, d)`, `edge_index` `(2, E)`, and `edge_attr` `(E, e)` if all graphs have it.

    `edge_weight` is an additional edge feature. Without `edge_index`, edges are read from the sparse matrix `adj_t`,
    and its values are features unless all are 1. A `NotReadWarning` names other attributes, except those in `used`.

    Args:
        graphs: PyG graphs.
        directed: as in `GraphSet`.
        used: other attributes that are read elsewhere.

    Raises:
        ValueError: as in `GraphSet`, or if a graph has no `x`, `edge_index` is not `(2, E)`, or only some graphs have
            edge features.
    """
    return _make([_read_data(k, graph, directed, used) for k, graph in enumerate(graphs)], directed)


def _read_data(k: int, graph: Data, directed: bool | None, used: Collection[str]) -> Read:
    if graph.x is None:
        raise ValueError(
            f"Graph {k}: expected node features `x`. Got none. Set `data.x`, or give the graphs to "
            "`graph_bandit_env.graphs.degree_features`. For a dataset, pass a `transform` such as "
            "`torch_geometric.transforms.OneHotDegree(10)`."
        )
    held = {name: _to_numpy(value) for name, value in graph if value is not None}
    read = {"x", "edge_index", "edge_attr", "edge_weight", "num_nodes", *used}
    values = {name: _to_columns(k, "edge", held[name]) for name in ("edge_attr", "edge_weight") if name in held}
    links = held.get("edge_index", np.zeros((2, 0), np.int64))
    if "adj_t" in held and "edge_index" not in held:
        links, values["adj_t"] = _read_transposed(k, graph.adj_t)
        read.add("adj_t")
    if links.ndim != 2 or links.shape[0] != 2:
        raise ValueError(f"Graph {k}: expected `edge_index` of shape `(2, E)`. Got `{links.shape}`.")
    rest: Rest = {f"`{name}`": value for name, value in held.items() if name not in read}
    if directed is False:
        rest[DIRECTIONS] = sorted({*map(tuple, links.T.tolist())})
    return to_numbers(k, "node", held["x"]), links.T, values, rest


def _read_transposed(graph: int, matrix: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Read `adj_t`, with incoming edges of node i in row i, as links `(2, E)` and values `(E, e)`."""
    if hasattr(matrix, "coo"):  # of torch_sparse
        row, column, values = matrix.coo()
    else:
        sparse = matrix.to_sparse_coo()
        (row, column), values = sparse._indices(), sparse._values()  # not coalesced, which would sum parallel edges
    edges = np.stack([_to_numpy(column), _to_numpy(row)])
    return edges, np.ones((edges.shape[1], 1)) if values is None else _to_columns(graph, "edge", _to_numpy(values))


def read_networkx(
    graphs: Sequence[nx.Graph],
    node_attribute: str | None = "x",
    edge_attribute: Edges = None,
    directed: bool | None = None,
    used: Collection[str] = (),
) -> GraphSet:
    """Read networkx graphs.

    Nodes are numbered in the order of `graph.nodes`. Parallel edges need equal features and are read once. A
    `NotReadWarning` names them and other attributes, and counts graphs that differ only in these.

    Args:
        graphs: networkx graphs of any kind.
        node_attribute: attribute of every node with a vector or number, read as node features. If None, each node gets
            a constant feature 1.
        edge_attribute: attribute of every edge with a vector or number, read as edge features. If None, `edge_attr` and
            `weight` if edges have them. If False, edges have no features.
        directed: True keeps the directions of edges, and undirected edges get both. False drops them, as in `GraphSet`.
            If None, as in the graphs, which must be all directed (`DiGraph`, `MultiDiGraph`) or all undirected.
        used: attributes of graphs that are read elsewhere.

    Raises:
        ValueError: as in `GraphSet`, or if a node or an edge has no such attribute, or only some graphs are directed
            and `directed` is None.
    """
    kinds = {graph.is_directed() for graph in graphs}
    if directed is None and len(kinds) > 1:
        raise ValueError(
            "Expected graphs that are all directed, or all undirected. Got both. `directed=True` gives undirected "
            "edges both directions, `directed=False` adds those that are missing."
        )
    directed = kinds == {True} if directed is None else directed
    usual = [edge_attribute] if edge_attribute else [] if edge_attribute is False else ["edge_attr", "weight"]
    read = []
    for k, graph in enumerate(graphs):
        items, ones = [data for _, data in graph.nodes(data=True)], np.ones((len(graph), 1))
        nodes = ones if node_attribute is None else _read_vectors(k, "node", items, node_attribute)
        position = {node: i for i, node in enumerate(graph)}
        both = graph.to_directed(as_view=True) if directed else graph
        ends, held = [(position[u], position[v]) for u, v in both.edges()], [data for *_, data in both.edges(data=True)]
        there = [name for name in usual if name in {*chain(*held)} or (edge_attribute and held)]
        features = {name: _read_vectors(k, "edge", held, name) for name in there}
        rest: Rest = {NAMES: [*graph]} | _rest_of("graphs", [graph.graph], ["name", *used])
        left = _rest_of("edges", held, there)
        rest |= _rest_of("nodes", items, [node_attribute]) | ({EDGES: left} if edge_attribute is False else left)
        if graph.is_directed() and not directed:
            rest[DIRECTIONS] = sorted({*ends})
        keys = [key for *_, key in graph.edges(keys=True)] if graph.is_multigraph() else []
        counts = all(isinstance(key, int) for key in keys)  # keys only count parallel edges
        if len(set(keys)) < len(keys) and not counts:
            rest["keys of edges"] = keys
        read.append((nodes, np.array(ends, np.int64).reshape(-1, 2), features, rest))
    return _make(read, directed)


def _rest_of(kind: str, items: Sequence[Mapping[str, Any]], read: Sequence[str | None]) -> Rest:
    """Return the unread attributes, each with its values and their positions."""
    return {
        f"`{name}` of {kind}": [(place, data[name]) for place, data in enumerate(items) if name in data]
        for name in {*chain(*items)} - {"id", *read}
    }


def _read_vectors(graph: int, kind: str, items: Sequence[Mapping[str, Any]], attribute: str) -> NDArray[Any]:
    """Read an attribute of all nodes or edges, each given with its dictionary."""
    if not all(attribute in data for data in items):
        how = HOW_WITHOUT if kind == "node" else ""
        raise ValueError(f"Graph {graph}: expected the attribute `{attribute}` on every {kind}.{how}")
    return _to_columns(graph, kind, [data[attribute] for data in items])


def _to_numpy(array: Tensor | ArrayLike) -> Any:
    """Convert a tensor to an array, and return other values unchanged."""
    if not hasattr(array, "detach") or getattr(array, "is_sparse", False):
        return array
    tensor: Tensor = array.detach().cpu()
    return (tensor.double() if tensor.is_floating_point() else tensor).numpy()  # NumPy has no bfloat16


def _to_columns(graph: int, kind: str, values: Any) -> NDArray[Any]:
    array = to_numbers(graph, kind, values)
    return array[:, None] if array.ndim == 1 else array
