"""Read pools of networkx graphs: node-link JSON or JSON lines, GraphML, GEXF, GML, and folders of these.

Node features are a vector or number `x`. If no node has it, the attributes that all nodes have are its columns, sorted
by name: numbers unchanged, texts of a few kinds one-hot. The same applies to edges without `edge_attr` and `weight`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from graph_bandit_env.files.slot_lines import holds_slots, make_actions
from graph_bandit_env.pools.graph_pool import GraphPool
from graph_bandit_env.pools.other_sources import from_networkx
from graph_bandit_env.tables.damage import refuse_damage
from graph_bandit_env.tables.text import open_text

if TYPE_CHECKING:
    import networkx as nx

MARKUP = (".graphml", ".gexf", ".gml")
MOST_KINDS = 32  # of a one-hot text
LARGEST = 3e38  # of float32
HOW_TO_WRITE = "`json.dumps(networkx.node_link_data(graph))` writes such a graph."


def read_networkx_file(
    path: Path, target: str | None, identifier: str | None, directed: bool | None = None
) -> GraphPool:
    """Read the graphs of a file, or of all files of a folder that end in .graphml, .gexf or .gml.

    Args:
        path: path of the file. Its name determines the format. JSON may be packed by gzip.
        target: attribute of graphs with the measured value, `NaN` or `null` if missing.
        identifier: attribute of graphs with the identifier. If None, `id` or, if no graph has it, the names of the
            graphs as in `from_networkx`. In a folder, a graph without `id` has the name of its file.
        directed: as in `from_networkx`. If None, it is read from the file.

    Returns:
        The graphs, as a `SlotSet` if each line of a `.jsonl` file has several, by slot name.

    Raises:
        ValueError: if a file is damaged or has no graph, or a graph is not valid. The message contains the location.
    """
    if rows := _read_slot_lines(path):
        try:
            return make_actions(rows, target, identifier, partial(_to_pool, directed=directed), _to_graph)
        except Exception as error:  # networkx validates little
            raise ValueError(f"{path.name}: {error}") from error
    given = dict(_read_folder(path) if path.is_dir() else _read_file(path))
    if not given:
        raise ValueError(f"Expected a graph in {path}. It is empty. {HOW_TO_WRITE}")
    try:
        return _to_pool(list(given.values()), target, identifier, directed)
    except (ValueError, TypeError) as error:
        named = re.fullmatch(r"Graph (\d+): (.*)", str(error), re.DOTALL)
        place, problem = (
            (f", {[*given][int(named[1])]}", named[2]) if named else ("", f"{error} (Graph 0 is the first.)")
        )
        raise ValueError(f"{path.name}{place}: {problem}") from error


def _to_pool(
    graphs: Sequence[nx.Graph], target: str | None = None, identifier: str | None = None, directed: bool | None = None
) -> GraphPool:
    if identifier is None and any("id" in graph.graph for graph in graphs):
        identifier = "id"
    _join_attributes(graphs, "edges", "edge_attr", "weight")
    node_attribute = "x" if _join_attributes(graphs, "nodes", "x") else None
    return from_networkx(graphs, target, node_attribute, ids=identifier, directed=directed)


def _read_slot_lines(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a file if they are actions of several slots, or an empty list."""
    if ".jsonl" not in path.name.lower() or path.is_dir():
        return []
    rows = list[dict[str, Any]]()
    with open_text(path, packed=path.name.lower().endswith(".gz")) as file:
        for number, line in enumerate(file, 1):
            try:
                rows += [json.loads(line)] if line.strip() else []
            except (ValueError, RecursionError) as error:
                if not rows:
                    return []  # reported when graphs are read
                raise ValueError(f"Expected JSON in {path}, line {number}. Got: {error}.") from error
            if rows and not holds_slots(rows[0]):
                return []
    return rows


def _read_folder(folder: Path) -> Iterator[tuple[str, nx.Graph]]:
    for path in sorted(folder.iterdir()):
        found = [graph for _, graph in _read_file(path)] if path.suffix.lower() in MARKUP else []
        for k, graph in enumerate(found):
            graph.graph.setdefault("id", f"{path.stem}-{k}" if len(found) > 1 else path.stem)
            yield f"{path.name}, graph {k}", graph


def _read_file(path: Path) -> Iterator[tuple[str, nx.Graph]]:
    """Yield the graphs of a file, each with its location."""
    if path.suffix.lower() in MARKUP:
        with refuse_damage(path):
            yield from ((f"graph {k}", graph) for k, graph in enumerate(_read_markup(path)))
        return
    with open_text(path, packed=path.name.lower().endswith(".gz")) as file:
        lines = list(file)
    if ".jsonl" in path.name.lower() and "".join(lines).lstrip()[:1] != "[":
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield f"line {number}", _read_json(f"{path}, line {number}", line, many=False)[0]
    else:
        yield from ((f"graph {k}", graph) for k, graph in enumerate(_read_json(str(path), "".join(lines))))


def _read_markup(path: Path) -> list[nx.Graph]:
    """Read a file with the parsers of networkx, which run no code."""
    import networkx as nx
    from networkx.readwrite.graphml import GraphMLReader

    if path.suffix.lower() == ".gml":
        with open_text(path, packed=False) as text:
            return [nx.parse_gml("".join(text), label="id")]
    if path.suffix.lower() == ".gexf":
        graphs = [nx.read_gexf(path)]
    else:
        reader, content = GraphMLReader(force_multigraph=True), path.read_bytes()
        if reader.NS_GRAPHML.encode() not in content:
            content = content.replace(b"<graphml", f'<graphml xmlns="{reader.NS_GRAPHML}"'.encode(), 1)
        graphs = list(reader(string=content))
        for graph, element in zip(graphs, reader.xml.findall(f"{{{reader.NS_GRAPHML}}}graph"), strict=False):
            graph.graph |= {"id": name} if (name := element.get("id")) else {}
    for graph in graphs:
        for kind in ("node", "edge"):
            defaults = graph.graph.pop(f"{kind}_default", {})
            for *_, data in getattr(graph, f"{kind}s")(data=True):
                data.update({name: value for name, value in defaults.items() if name not in data})
        if graph.graph.get("mode") == "static":
            del graph.graph["mode"]
    return graphs


def _read_json(place: str, text: str, many: bool = True) -> list[nx.Graph]:
    """Read JSON text: node-link data of a graph, or a list of graphs if `many`."""
    try:
        content = json.loads(text)
        return [_to_graph(data) for data in (content if many and isinstance(content, list) else [content])]
    except Exception as error:  # networkx validates little, so a damaged line can raise any error
        raise ValueError(
            f"Expected a networkx graph in node-link form in {place}. Got: {error!r}. {HOW_TO_WRITE}"
        ) from error


def _to_graph(data: dict[str, Any]) -> nx.Graph:
    import networkx as nx

    key = "key" if data.get("multigraph", True) else "\0"  # of parallel edges, otherwise an attribute
    edges = "edges" if "edges" in data else "links"
    # A multigraph, since otherwise the later of two parallel edges would silently replace the first:
    graph = nx.node_link_graph(data | {"multigraph": True}, edges=edges, key=key)
    if len(graph) != len(data["nodes"]):
        raise ValueError("nodes must be all different, and edges join these nodes only")
    beside = {name: data[name] for name in data.keys() - {"directed", "multigraph", "graph", "nodes", edges}}
    graph.graph = {name: math.nan if value is None else value for name, value in (beside | graph.graph).items()}
    return graph


def _join_attributes(graphs: Sequence[nx.Graph], kind: Literal["nodes", "edges"], name: str, *others: str) -> bool:
    """Join the attributes of nodes or edges into one unless it exists, and return True if it exists then."""
    held = [[data for *_, data in getattr(graph, kind)(data=True)] for graph in graphs]
    every = [*chain(*held)]
    if not every or any(key in data for data in every for key in (name, *others)):
        return bool(every)
    columns = list[Any]()
    for key in sorted(set.intersection(*map(set, every)) - {"id"}, key=str):
        values = [data[key] for data in every]
        try:
            numbers = np.array(values, np.float64).reshape(len(values), -1)  # numbers may be stored as text
        except (TypeError, ValueError):
            numbers = np.full((1, 1), math.inf)
        if (abs(numbers) < LARGEST).all():
            columns += [*numbers.T]
        elif all(isinstance(value, str) for value in values) and len(kinds := sorted(set(values))) <= MOST_KINDS:
            if all(len({data[key] for data in group}) == len(group) for group in held):
                continue  # unique names of nodes
            columns += [[value == kind for value in values] for kind in kinds]
        else:
            continue
        for data in every:
            del data[key]
    for data, row in zip(every, np.array(columns, np.float64).T.tolist(), strict=False):
        data[name] = row
    return bool(columns)
