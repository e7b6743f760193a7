"""Which features networks read of nodes, where the given ones say little."""

import numpy as np
import pytest
import torch
from support.graphs import ragged_graphs
from torch_geometric.data import Batch, Data

from agents.beliefs.structure import NodeFeatures
from gntk import aggregate_neighbours

GRAPHS = ragged_graphs(sizes=(5, 4, 7, 6))


def with_features(make):
    """The same graphs, with features that a function makes of each."""
    return [Data(x=make(graph).float(), edge_index=graph.edge_index) for graph in GRAPHS]


def degree(graph):
    return graph.edge_index[1].bincount(minlength=graph.num_nodes)


@pytest.mark.parametrize(
    ("make", "is_added"),
    [
        (lambda graph: graph.x, False),
        (lambda graph: torch.nn.functional.one_hot(degree(graph).clamp(max=4), 5), False),
        (lambda graph: 0.7 + torch.eye(7)[: graph.num_nodes], False),  # nearly one direction, as of atoms, but no plane
        (lambda graph: torch.ones(graph.num_nodes, 1), True),
        (lambda graph: degree(graph)[:, None], True),  # of one number only the sign is left
        (lambda graph: torch.zeros(graph.num_nodes, 2), True),
    ],
)
def test_structure_is_added_where_given_features_make_nodes_alike(make, is_added):
    batch = Batch.from_data_list(with_features(make))
    features = NodeFeatures.of(batch, "auto", "auto")
    assert bool(features.added) is bool(features.addition) is features.own_count is is_added
    assert not NodeFeatures.of(batch, "given", "auto").added


@pytest.mark.parametrize("choice", ["given", "auto"])
@pytest.mark.parametrize("reads_edges", [True, False])
@pytest.mark.parametrize("node_count", ["own", "largest"])
def test_later_graphs_are_read_as_those_of_reset(choice, reads_edges, node_count):
    graphs = [Data(x=3 * torch.ones(len(one.x), 1), edge_index=one.edge_index) for one in ragged_graphs((7, 1, 3, 5))]
    own_count = node_count == "own"
    features = NodeFeatures.of(Batch.from_data_list(graphs[:2]), choice, node_count, reads_edges)
    first = features.encode(Batch.from_data_list(graphs[:2]), own_count=own_count)
    for more in (graphs[2:], []):
        found = features.exchange(first, torch.tensor([0]), Batch.from_data_list(more) if more else None, own_count)
        whole = features.encode(Batch.from_data_list([graphs[0], *more]), own_count=own_count)
        for name in ("nodes", "offsets", "divisors"):
            assert torch.equal(getattr(found, name), getattr(whole, name))


def test_degrees_are_one_hot_beside_features_of_unit_length():
    path = Data(x=torch.full((3, 1), 7.0), edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]))
    pair = Data(x=torch.full((2, 1), 7.0), edge_index=torch.tensor([[0, 1], [1, 0]]))
    batch = Batch.from_data_list([path, pair])
    found = NodeFeatures.of(batch, "auto", "largest").encode(batch, own_count=False).nodes
    expected = np.array([[1, 0, 1, 0, 1], [2, 2, 0, 0, 2], [1, 0, 1, 0, 1], [1, 1, 0, 1, 0], [1, 1, 0, 1, 0]], float)
    np.testing.assert_allclose(found, expected / np.linalg.norm(expected, axis=1, keepdims=True), rtol=1e-6)


def test_a_node_without_neighbours_counts_as_its_own_unless_features_are_given():
    batch = Batch.from_data_list([Data(x=torch.tensor([[3.0, 4.0]]), edge_index=torch.zeros(2, 0, dtype=torch.int64))])
    kept = aggregate_neighbours(batch, keep_isolated=True).nodes
    np.testing.assert_allclose(kept, [[0.6, 0.8]])
    assert not NodeFeatures.of(batch, "given", "auto").encode(batch, own_count=True).nodes.any()
