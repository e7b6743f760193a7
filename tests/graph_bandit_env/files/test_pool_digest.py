"""Two pools have one digest if and only if they have the same content."""

import hashlib
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.pools import ragged_pools

from graph_bandit_env import GraphPool, GraphSet, from_smiles
from graph_bandit_env.files import digest


def parts_of(pool):
    features = None if pool.edge_feature_dim is None else [graph.edges for graph in pool]
    return {
        "nodes": [graph.nodes for graph in pool],
        "edge_links": [graph.edge_links for graph in pool],
        "edge_features": features,
        "targets": pool.targets.copy(),
        "directed": pool.directed,
    }


@given(ragged_pools(), st.data())
def test_each_changed_value_changes_the_digest(pool, data):
    parts = parts_of(pool)
    kind = data.draw(st.sampled_from(["nodes", "targets", *["edge_features"] * (pool.edge_feature_dim is not None)]))
    array = parts[kind] if kind == "targets" else max(parts[kind], key=len)
    position = data.draw(st.integers(0, array.size - 1))
    array.flat[position] = 0.5 if array.flat[position] != 0.5 else np.pi
    assert digest(GraphPool(**parts)) != digest(pool)


def two_graphs(**changes):
    parts = {"nodes": [np.ones((3, 2)), np.zeros((2, 2))], "edge_links": [[[0, 1]], [[0, 1]]], "targets": [1.0, 2.0]}
    return GraphPool(**({"directed": False} | parts | changes))


@pytest.mark.parametrize(
    "other",
    [
        two_graphs(edge_links=[[[0, 2]], [[0, 1]]]),
        two_graphs(edge_links=[[], [[0, 1]]]),
        two_graphs(edge_features=[[[1.0]], [[1.0]]]),
        two_graphs(targets=[2.0, 1.0]),
        two_graphs(targets=None),
        two_graphs().take([1, 0]),
        two_graphs().take([0]),
        two_graphs(nodes=[np.ones((2, 2)), np.array([[1, 1], [0, 0], [0, 0]])]),  # as many numbers, cut elsewhere
        GraphSet([np.ones((3, 2)), np.zeros((2, 2))], [[[0, 1]], [[0, 1]]], directed=False),
        two_graphs(directed=True),
        two_graphs(edge_links=[[[0, 1], [1, 0]]] * 2, directed=True),
    ],
)
def test_other_edges_targets_order_and_sizes_change_the_digest(other):
    assert digest(other) != digest(two_graphs())


def test_other_smiles_of_the_same_graphs_change_the_digest():
    pytest.importorskip("rdkit")
    alike = ["C[C@H](N)O", "C[C@@H](N)O"]
    one, other = (from_smiles([text]) for text in alike)
    plain = [GraphPool([pool[0].nodes * 0], [pool[0].edge_links]) for pool in (one, other)]
    assert digest(plain[0]) == digest(plain[1])
    assert digest(one) != digest(other)


def test_a_zero_has_one_digest_whatever_its_sign():
    assert digest(two_graphs(targets=[-0.0, np.nan])) == digest(two_graphs(targets=[0.0, -np.nan]))


def test_it_is_made_of_little_endian_bytes_on_every_cpu():
    """Stored results have it in their keys: raise `FORMAT` when it must change."""
    pool = GraphPool([[[1.5, 2.0], [0.0, -1.0]]], [[[0, 1]]], targets=[0.25], directed=False)
    header = b"[2, 1, 2, null, [2], [2], false, null, []]\0"
    content = struct.pack("<4f", 1.5, 2.0, 0.0, -1.0) + struct.pack("<4i", 0, 1, 1, 0) + struct.pack("<d", 0.25)
    assert digest(pool) == hashlib.sha256(header + content).hexdigest()[:32]
