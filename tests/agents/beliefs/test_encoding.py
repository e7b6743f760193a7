"""Graphs that are encoded later are those that are encoded all at once."""

import pytest
import torch
from support.graphs import ragged_graphs
from torch_geometric.data import Batch

from agents.beliefs.encoding import encode_more
from gntk import aggregate_neighbours, keep_nodes

FIRST, LATER = ragged_graphs(sizes=(5, 1, 7, 3)), ragged_graphs(sizes=(2, 6, 1), seed=1)

pytestmark = [
    pytest.mark.parametrize("encode", [aggregate_neighbours, keep_nodes]),
    pytest.mark.parametrize("own_count", [True, False]),
]


def encode_at_once(encode, graphs, own_count):
    return encode(Batch.from_data_list(graphs), num_nodes=7, own_count=own_count)


def assert_same(graphs, expected):
    assert torch.equal(graphs.nodes, expected.nodes)
    assert torch.equal(graphs.offsets, expected.offsets)
    assert torch.equal(graphs.divisors, expected.divisors)


@pytest.mark.parametrize("kept", [[0, 1, 2, 3], [3, 1], [1], []])
def test_graphs_that_stay_and_then_new_ones_are_as_if_encoded_together(encode, own_count, kept):
    first = encode_at_once(encode, FIRST, own_count)
    more = encode_more(encode, first, torch.tensor(kept, dtype=torch.int64), LATER, own_count)
    assert_same(more, encode_at_once(encode, [*(FIRST[k] for k in kept), *LATER], own_count))
