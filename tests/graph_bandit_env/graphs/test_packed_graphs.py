"""Graphs in shared arrays are those that were packed, whatever is taken or joined. No array is shared with a caller."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_bandit_env.graphs import GraphSet
from graph_bandit_env.graphs import packed_graphs as module
from graph_bandit_env.graphs.packed_graphs import PackedGraphs


def some_graphs(count, seed=0, features=3):
    """Make graphs of 1 to 5 nodes, some of them without edges."""
    rng = np.random.default_rng(seed)
    nodes = [rng.normal(size=(rng.integers(1, 6), 2)).astype(np.float32) for _ in range(count)]
    links = [np.argwhere(rng.random((len(x), len(x))) < 0.3).astype(np.int32) for x in nodes]
    return nodes, links, [rng.normal(size=(len(pairs), features)).astype(np.float32) for pairs in links]


def same(packed, nodes, links, edges):
    read = list(packed.read(0, len(packed)))
    assert len(read) == len(packed) == len(nodes)
    for found, *expected in zip(read, nodes, links, edges, strict=True):
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)


@given(st.integers(1, 12), st.lists(st.integers(0, 11), max_size=20), st.integers(1, 4))
def test_what_is_taken_is_what_lists_would_have(count, index, at_once):
    nodes, links, edges = some_graphs(count)
    packed, index = PackedGraphs.of(nodes, links, edges), [k % count for k in index]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "GRAPHS_AT_ONCE", at_once)
        same(packed, nodes, links, edges)
        taken = [[rows[k] for k in index] for rows in (nodes, links, edges)]
        same(packed.take(index), *taken)


def test_arrays_cannot_be_written_to_here_and_in_another_process():
    packed = PackedGraphs.of(*some_graphs(3))
    for one in (packed, packed.take([1]), pickle.loads(pickle.dumps(packed))):
        for array in (one.nodes, one.links, one.edges, one.node_offsets, one.edge_offsets):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0


def test_what_a_set_gives_away_is_a_copy():
    nodes, links, edges = some_graphs(3, seed=1)
    graph_set, before = GraphSet.from_packed(PackedGraphs.of(nodes, links, edges)), nodes[0].copy()
    nodes[0][:] = 7
    batch, (graph, *_), instance = graph_set.to_batch(), graph_set.to_pyg(), graph_set[0]
    for tensor in (batch.x, batch.edge_attr, batch.edge_index, batch.ptr, graph.x, graph.edge_index, graph.edge_attr):
        tensor.zero_()
    for array in (instance.nodes, instance.edges, instance.edge_links):
        array[:] = 7
    np.testing.assert_array_equal(graph_set[0].nodes, before)
    np.testing.assert_array_equal(graph_set[0].edges, edges[0])
