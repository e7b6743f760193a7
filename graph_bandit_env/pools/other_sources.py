"""Make pools from datasets of PyTorch Geometric and from networkx graphs."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graph_bandit_env.graphs.graph_set import NotReadWarning
from graph_bandit_env.graphs.readers import Edges, list_graphs, read_networkx, read_pyg
from graph_bandit_env.pools.graph_pool import GraphPool

if TYPE_CHECKING:
    import networkx as nx
    from torch_geometric.data import Data


def from_pyg_dataset(
    dataset: Iterable[Data],
    target: int | str | None = None,
    ids: Sequence[str] | None = None,
    directed: bool | None = None,
) -> GraphPool:
    """Make a pool of a PyG dataset, or of any list of `Data`.

    `edge_weight` is a further feature of edges. Without `edge_index`, the sparse matrix `adj_t` has the edges, and its
    values are features unless all are 1. A `NotReadWarning` names other attributes.

    Args:
        dataset: graphs with `x`, `edge_index` or `adj_t`, and perhaps `edge_attr` and `edge_weight`, all numeric.
        target: the measured value, NaN where nothing was measured: a column of `y`, or the name of another attribute
            that holds one number. None: `y`, which must be one number; nothing was measured if no graph has a `y`.
        ids: identifiers, all different; None: "0", "1", and so on.
        directed: as in `GraphSet`.

    Returns:
        The graphs, in the given order.

    Raises:
        ValueError: as in `GraphPool`; also if a graph has no `x`, or lacks the number that `target` names.
        TypeError: if an item is not a PyG graph, or the target is not a number.
    """
    library, graphs = list_graphs(dataset)
    if graphs and library != "pyg":
        kinds = ", ".join(sorted({type(graph).__name__ for graph in graphs}))
        raise TypeError(f"Expected a list of PyG Data, or a dataset of them. Got {kinds}.")
    if isinstance(target, bool) or not isinstance(target, int | str | None):
        raise TypeError(f"Expected `target` to be a column of `y`, a name or None. Got {target!r}.")
    name, column = (target, None) if isinstance(target, str) else ("y", target)
    has_values = target is not None or any(getattr(graph, "y", None) is not None for graph in graphs)
    targets = _values(graphs, name, column) if has_values else None
    return GraphPool.from_graph_set(read_pyg(graphs, directed, [name]), ids, targets)


def from_networkx(
    graphs: Iterable[nx.Graph],
    target: str | None = None,
    node_attribute: str | None = "x",
    edge_attribute: Edges = None,
    ids: Sequence[str] | None = None,
    directed: bool | None = None,
) -> GraphPool:
    """Make a pool of networkx graphs.

    Nodes are numbered in the order of `graph.nodes`. Parallel edges need equal features, and are read once. A
    `NotReadWarning` names them and other attributes, and counts graphs that differ in these alone.

    Args:
        graphs: networkx graphs of any kind.
        target: key of `graph.graph` that holds one number, NaN where nothing was measured; None: nothing was measured.
        node_attribute: attribute of every node that holds a vector or a number, read as node features; None: nodes have
            no features, and each gets a 1.
        edge_attribute: attribute of every edge that holds a vector or a number, read as edge features; None:
            `edge_attr` and `weight`, if edges have them; False: edges have no features.
        ids: identifiers, all different; None: the names of the graphs. Equal names have the number of the graph behind
            them, and a graph without a name has its number alone.
        directed: True keeps the directions of edges; undirected edges get both. False drops them, as in `GraphSet`.
            None: as the graphs are, which must then be all directed (`DiGraph`, `MultiDiGraph`), or none.

    Returns:
        The graphs, in the given order.

    Raises:
        ValueError: as in `GraphPool`; also if a node or an edge lacks its attribute, or a graph its target, or only
            some graphs are directed and `directed` is None.
        TypeError: if an item is not a networkx graph, or a target is not a number.
    """
    library, given = list_graphs(graphs)
    if given and library != "networkx":
        kinds = ", ".join(sorted({type(graph).__name__ for graph in given}))
        raise TypeError(f"Expected a list of networkx graphs. Got {kinds}.")
    targets = None if target is None else _values([graph.graph for graph in given], target)
    counts = Counter(names := [str(graph.name) for graph in given])
    if ids is None and any(names):
        ids = [name if name and counts[name] == 1 else f"{name}-{k}".lstrip("-") for k, name in enumerate(names)]
        if doubled := [f"`{name}`" for name in counts if name and counts[name] > 1]:
            text = f"Graphs with equal names have their numbers behind them, as `{ids[names.index(doubled[0][1:-1])]}`"
            warnings.warn(f"{text}: {', '.join(doubled)}.", NotReadWarning, stacklevel=2)
    graph_set = read_networkx(given, node_attribute, edge_attribute, directed, [target or ""])
    return GraphPool.from_graph_set(graph_set, ids, targets)


def _values(holders: Sequence[Any], name: str, column: int | None = None) -> list[float]:
    """Return the only number of an attribute of each graph, or one of as many in each."""
    rows = [_numbers_of(k, holder, name) for k, holder in enumerate(holders)]
    for k, row in enumerate(rows):
        if len(row) != (1 if column is None else len(rows[0])):
            expected = "one number" if column is None else f"{len(rows[0])} numbers, as graph 0 has,"
            raise ValueError(
                f"Graph {k}: expected {expected} in `{name}`. Got {len(row)}. If "
                "these are columns, choose one, `target=0`; if values of nodes, set one number for each graph."
            )
        if column is not None and not 0 <= column < len(row):
            raise ValueError(f"Expected `target` to be a column of `y`, from 0 to {len(row) - 1}. Got {column}.")
    return [float(row[column or 0]) for row in rows]


def _numbers_of(graph: int, holder: Any, name: str) -> NDArray[np.float64]:
    """Return all numbers of an attribute, in one row."""
    value = holder.get(name) if isinstance(holder, dict) else getattr(holder, name, None)
    if value is None:
        names = ", ".join(sorted(map(str, holder.keys()))) or "nothing"
        raise ValueError(
            f"Graph {graph}: expected a number in `{name}`, NaN where nothing was measured. It has {names}."
        )
    try:
        return np.asarray(value.detach().cpu().double() if hasattr(value, "detach") else value, np.float64).ravel()
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"Graph {graph}: expected a number in `{name}`. Got {value!r}.") from None


def take_ids(holders: Sequence[Any], name: str) -> list[str]:
    """Take the identifiers out of the attributes of graphs.

    Args:
        holders: PyG `Data`, or the dictionaries `graph.graph` of networkx.
        name: the attribute; each holds a text or a whole number.

    Raises:
        ValueError: if a graph has no such attribute, or something else in it.
    """
    ids = []
    for k, holder in enumerate(holders):
        value: Any = {**holder}.get(name)
        value = value.tolist() if hasattr(value, "tolist") else value
        value = value[0] if isinstance(value, list) and len(value) == 1 else value
        if not isinstance(value, str | int):
            raise ValueError(f"Graph {k}: expected a text or an integer in `{name}`. Got {value!r}.")
        ids.append(str(value))
        del holder[name]  # else it would be named as not read
    return ids
