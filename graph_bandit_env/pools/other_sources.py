"""Create pools from PyTorch Geometric datasets and networkx graphs."""

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
    ids: Sequence[str] | str | None = None,
    directed: bool | None = None,
) -> GraphPool:
    """Create a pool from a PyG dataset or any list of `Data`.

    `edge_weight` is an additional edge feature. Without `edge_index`, edges are read from the sparse matrix `adj_t`,
    and its values are features unless all are 1. A `NotReadWarning` names other attributes.

    Args:
        dataset: graphs with `x`, `edge_index` or `adj_t`, and optional `edge_attr` and `edge_weight`, all numeric.
        target: measured value, NaN if missing: a column of `y`, or the name of another attribute with one number. If
            None, `y`, which must be one number. There are no measured values if no graph has a `y`.
        ids: unique identifiers, or the name of an attribute with a text or integer. If None, "0", "1", and so on.
        directed: as in `GraphSet`.

    Returns:
        The graphs, in the given order.

    Raises:
        ValueError: as in `GraphPool`, or if a graph has no `x` or lacks the number of `target`.
        TypeError: if an item is not a PyG graph, or the target is not a number.
    """
    graphs = _graphs_of(dataset, "pyg", "PyG Data")
    if isinstance(target, bool) or not isinstance(target, int | str | None):
        raise TypeError(f"Expected `target` to be a column of `y`, a name or None. Got {target!r}.")
    name, column = (target, None) if isinstance(target, str) else ("y", target)
    has_values = target is not None or any(getattr(graph, "y", None) is not None for graph in graphs)
    targets = _values(graphs, name, column) if has_values else None
    used = [name, ids] if isinstance(ids, str) else [name]
    ids = _take_ids(graphs, ids) if isinstance(ids, str) else ids
    return GraphPool.from_graph_set(read_pyg(graphs, directed, used), ids, targets)


def from_networkx(
    graphs: Iterable[nx.Graph],
    target: str | None = None,
    node_attribute: str | None = "x",
    edge_attribute: Edges = None,
    ids: Sequence[str] | str | None = None,
    directed: bool | None = None,
) -> GraphPool:
    """Create a pool from networkx graphs.

    Nodes are numbered in the order of `graph.nodes`. Parallel edges need equal features and are read once. A
    `NotReadWarning` names them and other attributes, and counts graphs that differ only in these.

    Args:
        graphs: networkx graphs of any kind.
        target: key of `graph.graph` with one number, NaN if missing. If None, there are no measured values.
        node_attribute: attribute of every node with a vector or number, read as node features. If None, each node gets
            a constant feature 1.
        edge_attribute: attribute of every edge with a vector or number, read as edge features. If None, `edge_attr` and
            `weight` if edges have them. If False, edges have no features.
        ids: unique identifiers, or the key of `graph.graph` with a text or integer. If None, the names of the graphs.
            The number of the graph is appended to duplicate names and replaces missing names.
        directed: True keeps the directions of edges, and undirected edges get both. False drops them, as in `GraphSet`.
            If None, as in the graphs, which must be all directed (`DiGraph`, `MultiDiGraph`) or all undirected.

    Returns:
        The graphs, in the given order.

    Raises:
        ValueError: as in `GraphPool`, or if a node or edge lacks its attribute, a graph lacks its target, or only some
            graphs are directed and `directed` is None.
        TypeError: if an item is not a networkx graph, or a target is not a number.
    """
    given = _graphs_of(graphs, "networkx", "networkx graphs")
    attributes, used = [graph.graph for graph in given], [target or "", ids if isinstance(ids, str) else ""]
    targets = None if target is None else _values(attributes, target)
    counts = Counter(names := [str(graph.name) for graph in given])
    if isinstance(ids, str):
        ids = _take_ids(attributes, ids)
    elif ids is None and any(names):
        ids = [name if name and counts[name] == 1 else f"{name}-{k}".lstrip("-") for k, name in enumerate(names)]
        if doubled := [f"`{name}`" for name in counts if name and counts[name] > 1]:
            text = f"Graphs with equal names have their numbers behind them, as `{ids[names.index(doubled[0][1:-1])]}`"
            warnings.warn(f"{text}: {', '.join(doubled)}.", NotReadWarning, stacklevel=2)
    graph_set = read_networkx(given, node_attribute, edge_attribute, directed, used)
    return GraphPool.from_graph_set(graph_set, ids, targets)


def _graphs_of(given: Any, library: str, expected: str) -> list[Any]:
    found, graphs = list_graphs(given)
    if graphs and found != library:
        kinds = ", ".join(sorted({type(graph).__name__ for graph in graphs}))
        raise TypeError(f"Expected a list of {expected}. Got {kinds}.")
    return graphs


def _values(holders: Sequence[Any], name: str, column: int | None = None) -> list[float]:
    """Return the single number of an attribute of each graph, or one column of equally many numbers."""
    rows = list[NDArray[np.float64]]()
    for k, holder in enumerate(holders):
        if (value := {**holder}.get(name)) is None:
            names = ", ".join(sorted(map(str, holder.keys()))) or "nothing"
            raise ValueError(
                f"Graph {k}: expected a number in `{name}`, NaN where nothing was measured. It has {names}."
            )
        try:
            value = value.detach().cpu().double() if hasattr(value, "detach") else value
            rows.append(np.asarray(value, np.float64).ravel())
        except (TypeError, ValueError, OverflowError):
            raise TypeError(f"Graph {k}: expected a number in `{name}`. Got {value!r}.") from None
        last = len(rows[0]) - 1
        if len(rows[k]) != last + 1 or not 0 <= (column or 0) <= last or (column is None and last):
            raise ValueError(
                f"Graph {k}: expected one number in `{name}`, or several in all graphs and `target` to be a column of "
                f"them, from 0 to {last}. Got {len(rows[k])} numbers and the column {column}."
            )
    return [float(row[column or 0]) for row in rows]


def _take_ids(holders: Sequence[Any], name: str) -> list[str]:
    """Return the identifiers from an attribute of the graphs."""
    ids = []
    for k, holder in enumerate(holders):
        value: Any = {**holder}.get(name)
        value = value.item() if hasattr(value, "item") else value
        if not isinstance(value, str | int):
            raise ValueError(f"Graph {k}: expected a text or an integer in `{name}`. Got {value!r}.")
        ids.append(str(value))
    return ids
