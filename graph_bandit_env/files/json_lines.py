"""Read a pool of graphs from JSON Lines: in each line a networkx graph in node-link form."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from graph_bandit_env.pools.graph_pool import GraphPool
from graph_bandit_env.pools.other_sources import from_networkx
from graph_bandit_env.tables.text import open_text

if TYPE_CHECKING:
    import networkx as nx

EDGE_ATTRIBUTE = "edge_attr"
HOW_TO_WRITE = "`json.dumps(networkx.node_link_data(graph))` writes such a line."


def read_json_lines(path: Path, target: str | None, identifier: str | None, directed: bool | None = None) -> GraphPool:
    """Read networkx graphs as `networkx.node_link_data` writes them, one in each line.

    Nodes have a vector or a number `x`, and edges may have one `edge_attr`: all edges of all graphs, or none. Edges are
    in the list `edges` or `links`. Empty lines are left out.

    Args:
        path: text in UTF-8 or UTF-16; packed by gzip if its name ends in `.gz`.
        target: key of the dictionary `graph` that holds the measured value, `NaN` or `null` where there is none.
        identifier: key of the dictionary `graph` that holds the identifier; None: `id`, or where no graph has one, the
            names of the graphs as in `from_networkx`.
        directed: as in `from_networkx`: None takes it from the key `directed` of each line.

    Raises:
        ValueError: if the file is damaged or holds no graph, or a graph is not valid; the message has the number of the
            line.
    """
    with open_text(path, packed=path.name.lower().endswith(".gz")) as text:
        graph_of = {number: _read_graph(path, number, line) for number, line in enumerate(text, 1) if line.strip()}
    if not graph_of:
        raise ValueError(f"Expected a graph in each line of {path}. It is empty. {HOW_TO_WRITE}")
    graphs = list(graph_of.values())
    if identifier is None and any("id" in graph.graph for graph in graphs):
        identifier = "id"
    with_features = any(EDGE_ATTRIBUTE in data for graph in graphs for *_, data in graph.edges(data=True))
    try:
        return _make_pool(graphs, target, identifier, with_features, directed)
    except (ValueError, TypeError) as error:
        for number, graph in graph_of.items():  # one by one, to name the line
            try:
                _make_pool([graph], target, identifier, with_features and graph.number_of_edges() > 0, directed)
            except (ValueError, TypeError) as problem:
                message = str(problem).removeprefix("Graph 0: ")
                raise ValueError(f"{path.name}, line {number}: {message}") from error
        raise ValueError(f"{path.name}: {error} (Graph 0 is in the first line.)") from error


def _read_graph(path: Path, number: int, line: str) -> nx.Graph:
    import networkx as nx

    try:
        data = json.loads(line) | {"multigraph": True}  # else the later one of two parallel edges would win unseen
        graph = nx.node_link_graph(data, edges="edges" if "edges" in data else "links")
        if len(graph) != len(data["nodes"]):
            raise ValueError("nodes must be all different, and edges join these nodes only")
        graph.graph = {key: math.nan if value is None else value for key, value in graph.graph.items()}
    except Exception as error:  # networkx checks little, so that a damaged line leads it to any error
        raise ValueError(
            f"Expected a networkx graph in node-link form in {path}, line {number}. Got: {error!r}. {HOW_TO_WRITE}"
        ) from error
    return graph


def _make_pool(
    graphs: Sequence[nx.Graph],
    target: str | None,
    identifier: str | None,
    with_features: bool,
    directed: bool | None,
) -> GraphPool:
    ids = None
    if identifier is not None:
        ids = [_identifier_of(k, graph, identifier) for k, graph in enumerate(graphs)]
    edge_attribute = EDGE_ATTRIBUTE if with_features else None
    return from_networkx(graphs, target, edge_attribute=edge_attribute, ids=ids, directed=directed)


def _identifier_of(number: int, graph: nx.Graph, key: str) -> str:
    value = graph.graph.get(key)
    if not isinstance(value, str | int):
        raise ValueError(f"Graph {number}: expected a text or an integer in `{key}` of `graph`. Got {value!r}.")
    return str(value)
