"""Networkx graphs come back from JSON Lines as they were written, and a bad line is named."""

import gzip
import json

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.pools import assert_equal_pools, ragged_pools

from graph_bandit_env.files import read_pool

pytestmark = pytest.mark.filterwarnings("ignore::graph_bandit_env.graphs.NotReadWarning")


def to_networkx(pool):
    """Write each direction of each edge, so that both keep their features."""
    for k, (graph, identifier, target) in enumerate(zip(pool, pool.ids, pool.targets.tolist(), strict=True)):
        written = nx.DiGraph(id=identifier, score=target)
        written.add_nodes_from((i, {"x": x}) for i, x in enumerate(graph.nodes.tolist()))
        written.add_edges_from(graph.edge_links.tolist())
        if pool.edge_feature_dim is not None:
            features = dict(zip(map(tuple, graph.edge_links.tolist()), graph.edges.tolist(), strict=True))
            nx.set_edge_attributes(written, features, "edge_attr")
        yield k, written


def ring(size=3, **keys):
    graph = nx.cycle_graph(size)
    graph.graph.update(keys)
    nx.set_node_attributes(graph, 1.0, "x")
    return graph


def write(path, *graphs, edges="edges"):
    lines = [graph if isinstance(graph, str) else json.dumps(nx.node_link_data(graph, edges=edges)) for graph in graphs]
    content = "\n".join(lines).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("lines")


@given(ragged_pools(), st.sampled_from(["edges", "links"]), st.sampled_from(["pool.jsonl", "pool.jsonl.gz"]))
def test_any_pool_comes_back_as_it_was_written(folder, pool, edges, name):
    path = write(folder / name, *(graph for _, graph in to_networkx(pool)), edges=edges)
    directed = None if pool.directed else False
    assert_equal_pools(read_pool(path, "score" if pool.known.any() else None, directed=directed), pool)


def test_nodes_may_have_any_names_and_graphs_any_kind(tmp_path):
    grid = nx.grid_2d_graph(2, 2)  # nodes are pairs, which JSON holds as lists
    nx.set_node_attributes(grid, 1.0, "x")
    path = write(tmp_path / "a.jsonl", grid, nx.MultiDiGraph(ring(4)))
    for directed in (False, True):
        assert [len(graph.edge_links) for graph in read_pool(path, directed=directed)] == [8, 8]


@pytest.mark.parametrize(
    ("key", "identifier", "ids"), [("id", None, ("7",)), ("code", "code", ("7",)), ("a", None, ("0",))]
)
def test_identifiers_are_those_of_a_key_or_numbers(tmp_path, key, identifier, ids):
    assert read_pool(write(tmp_path / "a.jsonl", ring(**{key: 7})), identifier=identifier).ids == ids


def test_null_means_that_nothing_was_measured(tmp_path):
    path = write(tmp_path / "a.jsonl", ring(score=None), ring(score=1.5))
    np.testing.assert_array_equal(read_pool(path, "score").targets, [np.nan, 1.5])


TWICE = '{"nodes": [{"id": 0, "x": 1}, {"id": 0, "x": 2}], "edges": []}'
NOWHERE = '{"nodes": [{"id": 0, "x": 1}], "edges": [{"source": 0, "target": 1}]}'
NO_DICT = '{"graph": [], "nodes": [{"id": 0, "x": 1}], "edges": []}'
NO_LIST = '{"nodes": 3, "edges": []}'
DEEP = "[" * 100_000


@pytest.mark.parametrize("line", ["{", "7", "null", "[]", "{}", TWICE, NOWHERE, NO_DICT, NO_LIST, DEEP])
def test_a_line_that_is_not_a_graph_is_named(tmp_path, line):
    with pytest.raises(ValueError, match="line 2"):
        read_pool(write(tmp_path / "a.jsonl", ring(), line))


def with_edge_features(width=1):
    graph = ring()
    nx.set_edge_attributes(graph, [1.0] * width, "edge_attr")
    return graph


def parallel_edges(*features):
    """Write a line that has an edge twice, though it says that its graph has no parallel edges."""
    edges = [{"source": 0, "target": 1, "edge_attr": feature} for feature in features]
    return json.dumps({"multigraph": False, "nodes": [{"id": 0, "x": 1}, {"id": 1, "x": 2}], "edges": edges})


@pytest.mark.parametrize(
    ("graphs", "field"),
    [
        ([ring(), nx.path_graph(2)], "line 2: .*`x`"),
        ([with_edge_features(), ring()], "line 2: .*`edge_attr`"),
        ([with_edge_features(), with_edge_features(2)], "edge features"),
        ([ring(id="a"), ring()], "line 2: .*`id`"),
        ([ring(id="a"), ring(id="a")], "`ids`"),
        ([with_edge_features(), parallel_edges(1.0, 2.0)], "line 2: .*features"),
    ],
)
def test_a_graph_that_is_not_valid_is_named(tmp_path, graphs, field):
    with pytest.raises(ValueError, match=field):
        read_pool(write(tmp_path / "a.jsonl", *graphs))
