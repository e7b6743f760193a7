"""Torch computes what the CPU computes; on a machine with a GPU, there too."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from support.graphs import ragged_graphs
from torch_geometric.data import Batch

from gntk import GraphMLP, aggregate_neighbours, values_and_features
from gntk.engines import Batches, TorchNetwork, features, paper_network, torch_network

GRAPHS = aggregate_neighbours(Batch.from_data_list(ragged_graphs(sizes=(5, 1, 7, 3, 6))))
DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
INDEX = torch.tensor([3, 0, 4])


def weights_of(depth, device="cpu", zero_start=False):
    return [weight.detach().to(device) for weight in GraphMLP(4, 8, depth, zero_start=zero_start).weights]


def network_of(depth, **settings):
    return TorchNetwork(GRAPHS, weights_of(depth, zero_start=True), **settings)


@given(
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=6),
    depth=st.integers(2, 4),
    block=st.sampled_from([1, 100, 1 << 20]),
    own_count=st.booleans(),
)
def test_padded_blocks_give_the_plain_features_of_ragged_graphs(sizes, depth, block, own_count):
    batch = Batch.from_data_list(ragged_graphs(sizes=sizes, feature_dim=3))
    graphs = aggregate_neighbours(batch, own_count=own_count)
    weights = [weight.detach() for weight in GraphMLP(3, 8, depth, zero_start=False).weights]
    index = torch.randperm(len(graphs))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch_network, "NODE_UNITS_PER_BLOCK", block)
        found = torch_network.batched_features(weights, graphs, index)
    torch.testing.assert_close(found, values_and_features(weights, graphs)[1][index])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize("depth", [2, 3])
@pytest.mark.parametrize("gradient", ["all", "last_layer"])
def test_torch_computes_what_the_cpu_computes(device, batched, depth, gradient, monkeypatch):
    monkeypatch.setattr(features, "BLOCK_BYTES", 8 * 2 * 112)  # two graphs at a time
    plain = paper_network(GRAPHS, 8, depth, gradient=gradient)
    network = network_of(depth, gradient=gradient, device=torch.device(device), batched=batched)
    weights, there = weights_of(depth), weights_of(depth, device)
    size = network.num_features
    assert size == (8 if gradient == "last_layer" else sum(weight.numel() for weight in weights))
    expected, found = plain.values_and_features(weights, INDEX), network.values_and_features(there, INDEX)
    torch.testing.assert_close(found[0], expected[0])
    torch.testing.assert_close(network.values(there)[INDEX], expected[0])
    assert network.values_and_features(there, INDEX[:0])[1].shape == (0, size)
    torch.testing.assert_close(found[1].double().square().sum(1), expected[1].double().square().sum(1))
    one = torch.ones(size)
    torch.testing.assert_close(network.values_and_squares(there, one), plain.values_and_squares(weights, one))
    batches = Batches.of_size(torch.tensor([0, 3, 3, 2]), torch.randn(4), 2)
    moved = network.descend(there, there, batches, 0.1, 0.01)
    expected = plain.descend(weights, weights, batches, 0.1, 0.01)
    torch.testing.assert_close([weight.cpu() for weight in moved], expected)


@pytest.mark.parametrize("depth", [2, 3])
def test_the_last_layer_alone_has_the_last_of_all_features(depth):
    whole, last = (paper_network(GRAPHS, 8, depth, gradient=gradient) for gradient in ("all", "last_layer"))
    weights, precision = weights_of(depth), torch.rand(8, dtype=torch.float64)
    features_of_last = last.features(weights, INDEX)
    assert torch.equal(features_of_last, whole.features(weights, INDEX)[:, -8:])
    squares = last.values_and_squares(weights, precision)[1][INDEX]
    torch.testing.assert_close(squares, features_of_last.double().square() @ precision)


@pytest.mark.parametrize("depth", [2, 3])
def test_every_value_is_exactly_zero_at_the_start_and_after_another_start(depth):
    network = paper_network(GRAPHS, 8, depth)
    for initial in (network.initial, weights_of(depth, zero_start=True), [2 * weight for weight in network.initial]):
        network.start_at(initial)
        every = torch.arange(network.num_graphs)
        assert not network.values(network.initial).any()
        assert not network.values_and_features(network.initial, every)[0].any()
        assert not network.values_and_squares(network.initial, torch.ones(network.num_features))[0].any()
