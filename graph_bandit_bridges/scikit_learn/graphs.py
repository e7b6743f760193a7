"""Read graphs passed by scikit-learn: lists and arrays of SMILES, PyG Data, networkx graphs or instances."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
from gymnasium.spaces import GraphInstance
from numpy.typing import NDArray

from graph_bandit_env import GraphSet, MoleculeSet, from_smiles
from graph_bandit_env.graphs import Edges, as_graph_set, read_networkx

if TYPE_CHECKING:
    import networkx as nx
    from torch_geometric.data import Data

HOW = "Give a list of SMILES, of PyG Data or of networkx graphs, or a GraphSet."


class Form(NamedTuple):
    """Kind and numbers of features of graphs. Those of `predict` must match those of `fit`."""

    molecules: bool
    """True for molecules."""
    nodes: int | None
    """Number of features of a node. None if nodes have no features."""
    edges: int | None
    """Number of features of an edge. None if edges have no features."""

    def __str__(self) -> str:
        if self.molecules:
            return "molecules"
        nodes, edges = ("no" if count is None else str(count) for count in (self.nodes, self.edges))
        return f"graphs with {nodes} features of nodes and {edges} of edges"


@dataclass(frozen=True, eq=False)
class Graphs:
    """n graphs, with duplicates stored once."""

    distinct: GraphSet
    """The distinct graphs. Molecules are a `MoleculeSet`."""
    index: NDArray[np.int64]
    """`(n,)`. Index in `distinct` of each of the n graphs."""
    form: Form
    """Form of the graphs."""

    def __len__(self) -> int:
        return len(self.index)


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """Options for reading graphs of other libraries."""

    node_attribute: str | None = "x"
    """Attribute of nodes of networkx graphs, read if any node has it. If None, nodes have no features."""
    edge_attribute: Edges = None
    """Attribute of edges, as in `graph_bandit_env.from_networkx`."""
    directed: bool | None = None
    """True if edges have directions, as in `GraphSet`. None: as in each networkx graph, others are undirected."""


def read(graphs: object, how: ReadOptions, like: Form | None = None) -> Graphs:
    """Read graphs.

    Args:
        graphs: a sequence, or an array or table of one column, with graphs of one kind: SMILES or RDKit molecules, PyG
            `Data`, networkx graphs, or `GraphInstance`s of a `GraphSet`.
        how: options for reading.
        like: form of the graphs of `fit`, which these must match. None if these are the graphs of `fit`.

    Raises:
        TypeError: if an entry is not such a graph, or kinds are mixed.
        ValueError: if there are no graphs, a graph is not valid, or its form differs from that of `fit`.
    """
    if isinstance(graphs, MoleculeSet):
        raise TypeError("Expected a list of molecules, of which parts can be taken. Got a MoleculeSet: give `.smiles`.")
    entries = _entries(graphs)
    if all(isinstance(entry, str) or hasattr(entry, "GetAtoms") for entry in entries):
        given = _read_molecules(entries)
    else:
        directed = graphs.directed if isinstance(graphs, GraphSet) and how.directed is None else how.directed
        given = _read_graphs(entries, replace(how, directed=directed), like)
    if like is not None and given.form != like:
        without_edges = not like.molecules and given.distinct.largest_sizes[1] == 0
        if not (without_edges and given.form._replace(edges=like.edges) == like):
            raise ValueError(f"Expected {like}, as at `fit`. Got {given.form}.")
    return given


def _entries(graphs: object) -> list[object]:
    """Return the entries of a sequence, or of the only column of an array or table."""
    shape = getattr(graphs, "shape", None)
    if shape is not None:
        array = np.asarray(graphs, dtype=object)
        if array.ndim == 2 and array.shape[1] == 1:
            array = array[:, 0]
        if array.ndim != 1:
            raise TypeError(f"Expected a list of graphs. Got an array of shape `{shape}`. {HOW}")
        graphs = list(array)
    if isinstance(graphs, str) or hasattr(graphs, "edge_index") or hasattr(graphs, "adj"):
        raise TypeError(f"Expected a list of graphs. Got a single one, of type {type(graphs).__name__}. {HOW}")
    if not isinstance(graphs, Iterable):
        raise TypeError(f"Expected a list of graphs. Got {type(graphs).__name__}. {HOW}")
    entries = list(graphs)
    if not entries:
        raise ValueError("Expected at least one graph. Got none.")
    return entries


def _read_molecules(entries: list[object]) -> Graphs:
    names = [str(k) for k in range(len(entries))]
    molecules = from_smiles(cast("Sequence[str]", entries), ids=names)
    place = {name: k for k, name in enumerate(molecules.ids)}
    index = [place[molecules.aliases.get(name, name)] for name in names]
    return Graphs(molecules, np.array(index, np.int64), Form(True, None, None))


def _read_graphs(entries: list[object], how: ReadOptions, like: Form | None) -> Graphs:
    has_nodes = True
    if all(isinstance(entry, GraphInstance) for entry in entries):
        graphs = _of_instances(cast("list[GraphInstance]", entries), how.directed, like)
    elif all(hasattr(entry, "edge_index") and hasattr(entry, "x") for entry in entries):
        graphs, has_nodes = _of_pyg(cast("list[Data]", entries), how.directed)
    elif all(hasattr(entry, "nodes") and hasattr(entry, "adj") for entry in entries):
        graphs, has_nodes = _of_networkx(cast("list[nx.Graph]", entries), how)
    else:
        kinds = ", ".join(sorted({type(entry).__name__ for entry in entries}))
        raise TypeError(f"Expected graphs of one kind. Got {kinds}. {HOW}")
    place: dict[tuple[bytes, ...], int] = {}
    rows = ((graph.nodes, graph.edge_links, graph.edges) for graph in graphs)  # identify a graph, in this order
    keys = [tuple(np.asarray(array).tobytes() for array in row) for row in rows]
    index = np.array([place.setdefault(key, len(place)) for key in keys], np.int64)
    first = np.unique(index, return_index=True)[1]
    form = Form(False, graphs.feature_dim if has_nodes else None, graphs.edge_feature_dim)
    return Graphs(graphs.take(first), index, form)


def _of_instances(entries: list[GraphInstance], directed: bool | None, like: Form | None) -> GraphSet:
    """Return a graph set of instances. Their constant edge feature 1 is dropped if edges have no features."""
    nodes, edges = [np.asarray(graph.nodes) for graph in entries], [graph.edges for graph in entries]
    links = [np.zeros((0, 2), np.int64) if graph.edge_links is None else graph.edge_links for graph in entries]
    features = [np.asarray(values) for values in edges if values is not None]
    left_out = like is not None and like.edges is None and all((values == 1).all() for values in features)
    return GraphSet(nodes, links, features if len(features) == len(entries) and not left_out else None, directed)


def _of_pyg(entries: list[Data], directed: bool | None) -> tuple[GraphSet, bool]:
    """Return PyG graphs, and False if nodes have no features and get a constant 1."""
    import torch

    bare = all(graph.x is None for graph in entries)
    if bare:
        entries = [graph.clone() for graph in entries]
        for graph in entries:
            graph.x = torch.ones(graph.num_nodes, 1)
    return as_graph_set(entries, directed), not bare


def _of_networkx(entries: list[nx.Graph], how: ReadOptions) -> tuple[GraphSet, bool]:
    """Return networkx graphs, and False if nodes have no features and get a constant 1."""
    node = how.node_attribute
    has_nodes = node is not None and any(node in data for graph in entries for _, data in graph.nodes(data=True))
    return read_networkx(entries, node if has_nodes else None, how.edge_attribute, how.directed), has_nodes
