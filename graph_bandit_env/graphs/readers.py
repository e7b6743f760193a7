"""Read graphs of other libraries as arrays, and check nodes, edges and features."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graph_bandit_env.checks import check_flag

if TYPE_CHECKING:
    import networkx as nx
    from torch import Tensor
    from torch_geometric.data import Data

    from graph_bandit_env.graphs.graph_set import GraphSet

Set = TypeVar("Set", bound="GraphSet")
Edges = str | Literal[False] | None
"""Name of an attribute of edges; None: `edge_attr` and `weight`, if edges have them; False: none."""


HOW_TO_ONE_HOT = (
    "Give texts a column for each kind, 1 where a label is of this kind (one-hot): "
    "`(numpy.array(labels)[:, None] == kinds).astype(float)`, with `kinds` a list of the labels of all graphs."
)


def check_features(graph: int, kind: str, values: ArrayLike) -> NDArray[np.float32]:
    """Return features of nodes or edges as float32 `(n, d)`, or raise a ValueError that names the graph."""
    array = _to_numbers(graph, kind, values)
    if array.ndim != 2 or array.shape[1] == 0 or (kind == "node" and array.shape[0] == 0):
        rows = "n >= 1" if kind == "node" else "E >= 0"
        raise ValueError(f"Graph {graph}: expected {kind} features of shape `({rows}, d >= 1)`. Got `{array.shape}`.")
    with np.errstate(over="ignore"):
        checked = np.array(array, np.float32, order="C")
    if not np.isfinite(checked).all():
        bad = int((~np.isfinite(checked)).sum())
        raise ValueError(f"Graph {graph}: expected finite {kind} features. Got {bad} that are not.")
    return checked


def _to_numbers(graph: int, kind: str, values: Any, names: Sequence[object] | None = None) -> NDArray[Any]:
    """Return features as an array of numbers, or name the node or edge whose features are no numbers, or too many."""
    try:
        array = np.asarray(values)
    except ValueError:  # rows differ in length
        array = np.empty(0, object)
    if array.dtype.kind in "biuf":
        return array
    shapes: dict[tuple[int, ...], object] = {}
    rows = [values] if np.ndim(array) == 0 else list(values)
    for name, row in zip(range(len(rows)) if names is None else names, rows, strict=True):
        try:
            numbers = np.asarray(row)
        except ValueError:  # lists in a list, of different lengths
            numbers = np.empty(0, object)
        if numbers.dtype.kind not in "biuf":
            texts = [text for text in numbers.ravel().tolist() if isinstance(text, str)]
            how = f" {HOW_TO_ONE_HOT}" if texts else ""
            if texts and all(text.replace(".", "", 1).lstrip("+-").isdecimal() for text in texts):
                how = " Write numbers without quotation marks."
            raise ValueError(
                f"Graph {graph}: expected {kind} features that are real numbers. {kind.capitalize()} {name!r} has "
                f"{row!r}.{how}"
            )
        if shapes and numbers.shape not in shapes:
            ((shape, first),) = shapes.items()
            raise ValueError(
                f"Graph {graph}: expected the same number of features of each {kind}. {kind.capitalize()} {first!r} "
                f"has {np.prod(shape, dtype=int)}, {kind} {name!r} has {numbers.size}."
            )
        shapes[numbers.shape] = name
    raise ValueError(f"Graph {graph}: expected {kind} features that are real numbers. Got {array.dtype}.")


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
Rest = dict[str, Any]
"""What is not read of a graph, by names for people."""


class NotReadWarning(UserWarning):
    """Graphs have attributes or parallel edges that are not read."""


def _warn_of_rests(graphs: Set, rests: Sequence[Rest]) -> Set:
    """Name what was not read of some graphs, and how many of them have become equal to another one by that."""
    names = sorted({name for rest in rests for name in rest})
    if not names:
        return graphs
    merged, first = 0, dict[bytes, Rest]()
    for arrays, rest in zip(graphs._packed.read(0, len(graphs)), rests, strict=True):
        content = [array.tobytes() + str(array.shape).encode() for array in arrays if array is not None]
        other = first.setdefault(blake2b(b"".join(content)).digest(), rest)
        merged += other is not rest and repr(_to_plain(other)) != repr(_to_plain(rest))
    text = f"Not read: {', '.join(names)}."
    if merged:
        text += f" {merged} of {len(graphs)} graphs differ from another one in nothing else, and are now equal to it."
    warnings.warn(text, NotReadWarning, stacklevel=4)  # where the graphs are given
    return graphs


def _to_plain(value: Any) -> Any:
    """Return what `repr` shows as a whole: arrays and tensors as lists."""
    if isinstance(value, dict):
        return {name: _to_plain(part) for name, part in sorted(value.items())}
    if isinstance(value, list | tuple):
        return [_to_plain(part) for part in value]
    return _to_numpy(value).tolist() if hasattr(value, "tolist") else value


def _count_parallel(links: NDArray[Any]) -> Rest:
    """Return how often edges are there that are there more than once: each is read once."""
    if links.dtype.kind not in "iu" or len(links) < 2:
        return {}
    keys, counts = np.unique(links[:, 0] * (links.max() + 1) + links[:, 1], return_counts=True)
    several = counts > 1
    return {"parallel edges (each is read once)": [keys[several], counts[several]]} if several.any() else {}


def read_pyg(graphs: Sequence[Data], make: Callable[..., Set], used: Collection[str] = ("y",)) -> Set:
    """Read PyG graphs, as `GraphSet.from_pyg` describes.

    Args:
        graphs: PyG graphs.
        make: makes a graph set of the first three arguments of `GraphSet`.
        used: further attributes that somebody reads.

    Raises:
        ValueError: if a graph has no `x`, `edge_index` is not `(2, E)`, or only some have features of edges.
    """
    features = dict[str, dict[int, NDArray[Any]]]()  # by the name of the attribute, and by graph
    links, rests = list[NDArray[Any]](), list[Rest]()
    for k, graph in enumerate(graphs):
        if graph.x is None:
            raise ValueError(
                f"Graph {k}: expected node features `x`. Got none. Set `data.x`, or give the graphs to "
                "`graph_bandit_env.graphs.degree_features`. For a dataset, pass a `transform` such as "
                "`torch_geometric.transforms.OneHotDegree(10)`."
            )
        held = {name: value for name, value in graph if value is not None}
        read = {"x", "edge_index", "edge_attr", "edge_weight", "num_nodes", *used}
        edges = np.zeros((2, 0), np.int64)
        if "edge_index" in held:
            edges = _to_numpy(graph.edge_index)
        elif "adj_t" in held:
            edges, features.setdefault("adj_t", {})[k] = _read_transposed(k, graph.adj_t)
            read.add("adj_t")
        if edges.ndim != 2 or edges.shape[0] != 2:
            raise ValueError(f"Graph {k}: expected `edge_index` of shape `(2, E)`. Got `{edges.shape}`.")
        links.append(edges.T)
        for name in held.keys() & {"edge_attr", "edge_weight"}:
            values = features.setdefault(name, {})[k] = _to_columns(k, "edge", _to_numpy(held[name]))
            if values.ndim != 2:
                raise ValueError(f"Graph {k}: expected `{name}` of shape `(E, e)`. Got `{values.shape}`.")
        rests.append({f"`{name}`": value for name, value in held.items() if name not in read})
        rests[-1] |= _count_parallel(links[-1])
    if all((values == 1).all() for values in features.get("adj_t", {}).values()):  # there is an edge, and no more
        features.pop("adj_t", None)
    blocks = []
    for name, values in sorted(features.items()):
        without = [k for k, edges in enumerate(links) if k not in values and len(edges)]
        if without:
            raise ValueError(
                f"Expected `{name}` in all graphs with edges or in none. Graph {min(values)} has it, graph "
                f"{without[0]} does not."
            )
        none = np.zeros((0, next(iter(values.values())).shape[1]))
        blocks.append([values.get(k, none) for k in range(len(links))])
    for k, rows in enumerate(zip(*blocks, strict=True)):
        if {len(block) for block in rows} - {len(links[k])}:
            raise ValueError(f"Graph {k}: expected {len(links[k])} rows of `{'` and `'.join(sorted(features))}`.")
    attributes = [np.hstack(rows) for rows in zip(*blocks, strict=True)] if blocks else None
    return _warn_of_rests(make([_to_numpy(graph.x) for graph in graphs], links, attributes), rests)


def _read_transposed(graph: int, matrix: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Read `adj_t`, whose row i has the edges that lead to node i: links `(2, E)`, and values `(E, e)`."""
    if hasattr(matrix, "coo"):  # of torch_sparse
        row, column, values = matrix.coo()
    else:
        sparse = matrix.to_sparse_coo() if not matrix.is_sparse else matrix
        (row, column), values = sparse._indices(), sparse._values()  # not coalesced, which adds parallel edges up
    edges = np.stack([_to_numpy(column), _to_numpy(row)])
    return edges, np.ones((edges.shape[1], 1)) if values is None else _to_columns(graph, "edge", _to_numpy(values))


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
    graphs: Sequence[nx.Graph],
    make: Callable[..., Set],
    node_attribute: str | None,
    edge_attribute: Edges,
    directed: bool,
    used: Collection[str] | None = None,
) -> Set:
    """Read networkx graphs, as `GraphSet.from_networkx` describes.

    Args:
        graphs: networkx graphs.
        make: makes a graph set of the first three arguments of `GraphSet`.
        node_attribute: attribute of nodes; None: each node gets a 1.
        edge_attribute: attribute of edges, or None for the usual ones, or False for none.
        directed: whether the edges are read as directed ones; those of an undirected graph are then in both directions.
        used: attributes of graphs that somebody reads; None: it is not looked whether there are more.

    Raises:
        ValueError: if a node or an edge has no such attribute, vectors differ in length, or an edge attribute is asked
            for and no graph has an edge.
    """
    names = [edge_attribute] if isinstance(edge_attribute, str) else []
    if edge_attribute is None:
        held = {name for graph in graphs for *_, data in graph.edges(data=True) for name in data}
        names = [name for name in ("edge_attr", "weight") if name in held]
    nodes, links, features, rests = [], [], [], []
    for k, graph in enumerate(graphs):
        items: list[tuple[Any, Mapping[str, Any]]] = [*graph.nodes(data=True)]
        rest = _rest_of("nodes", (data for _, data in items), [node_attribute])
        nodes.append(
            np.ones((len(items), 1)) if node_attribute is None else _read_vectors(k, "node", items, node_attribute)
        )
        position = {node: i for i, (node, _) in enumerate(items)}
        both = graph.to_directed(as_view=True) if directed else graph
        edges = [((u, v), data) for u, v, data in both.edges(data=True)]
        links.append(np.array([(position[u], position[v]) for (u, v), _ in edges], np.int64).reshape(-1, 2))
        features.append([_read_vectors(k, "edge", edges, name) for name in names] if edges else [])
        if edge_attribute is not False:
            rest |= _rest_of("edges", (data for _, data in edges), names)
        rest |= {} if used is None else _rest_of("graphs", [graph.graph], ["name", *used])
        rests.append(rest | _count_parallel(links[-1]))
    width = next((sum(block.shape[1] for block in blocks) for blocks in features if blocks), 0)
    if names and not width:
        raise ValueError(f"Expected edges with the attribute `{names[0]}`. Got graphs without edges.")
    attributes = [np.hstack(blocks) if blocks else np.zeros((0, width)) for blocks in features]
    return _warn_of_rests(make(nodes, links, attributes if names else None), rests)


def _rest_of(kind: str, items: Iterable[Mapping[str, Any]], read: Sequence[str | None]) -> Rest:
    """Return the attributes that are not read, each with its values and where they are."""
    rest: Rest = {}
    for place, data in enumerate(items):
        for name in data.keys() - {"id", *read}:
            rest.setdefault(f"`{name}` of {kind}", []).append((place, data[name]))
    return rest


def _read_vectors(
    graph: int, kind: str, items: Sequence[tuple[object, Mapping[str, Any]]], attribute: str
) -> NDArray[Any]:
    """Read an attribute of all nodes or edges, each given with its dictionary."""
    missing = [item for item, data in items if attribute not in data]
    if missing:
        raise ValueError(
            f"Graph {graph}: expected the attribute `{attribute}` on every {kind}. {kind.capitalize()} {missing[0]!r} "
            f"has none.{HOW_WITHOUT if kind == 'node' else ''}"
        )
    return _to_columns(graph, kind, [data[attribute] for _, data in items], [item for item, _ in items])


def _to_numpy(array: Tensor | ArrayLike) -> Any:
    """Return a tensor as an array; anything else as it is."""
    if not hasattr(array, "detach"):
        return array
    tensor: Tensor = array.detach().cpu()
    return (tensor.float() if tensor.is_floating_point() else tensor).numpy()  # NumPy has no bfloat16


def _to_columns(graph: int, kind: str, values: Any, names: Sequence[object] | None = None) -> NDArray[Any]:
    array = _to_numbers(graph, kind, values, names)
    return array[:, None] if array.ndim == 1 else array
