"""Graphs that are encoded later are those that are encoded all at once."""

import pytest
import torch
from support.graphs import ragged_graphs
from torch_geometric.data import Batch

from agents.beliefs.encoding import encode_more
from gntk import aggregate_neighbours, keep_nodes, select_graphs

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


def test_without_new_graphs_some_are_selected(encode, own_count):
    first, kept = encode_at_once(encode, FIRST, own_count), torch.tensor([2, 0])
    assert_same(encode_more(encode, first, kept, [], own_count), select_graphs(first, kept))


def test_new_graphs_have_the_precision_of_the_others(encode, own_count):
    first = encode_at_once(encode, FIRST, own_count).to(torch.float64)
    more = encode_more(encode, first, torch.tensor([2, 0]), LATER, own_count)
    assert more.nodes.dtype == more.divisors.dtype == torch.float64
    assert_same(more, encode_at_once(encode, [FIRST[2], FIRST[0], *LATER], own_count).to(torch.float64))


def test_one_graph_may_have_been_encoded_before(encode, own_count):
    first = encode_at_once(encode, FIRST[:1], own_count)
    more = encode_more(encode, first, torch.tensor([0]), LATER, own_count)
    assert_same(more, encode_at_once(encode, [FIRST[0], *LATER], own_count))
