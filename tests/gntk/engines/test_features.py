import torch
from support.graphs import ragged_graphs
from torch_geometric.data import Batch

from gntk import aggregate_neighbours
from gntk.engines import HeldFeatures, features, features_at, paper_network

GRAPHS = aggregate_neighbours(Batch.from_data_list(ragged_graphs(sizes=(5, 1, 7, 3, 6))))


def test_made_and_held_features_agree_to_more_than_single_precision():
    network = paper_network(GRAPHS, 512)
    index = torch.arange(network.num_graphs)
    held = HeldFeatures(*network.values_and_features(network.initial, index))
    made = features.MadeFeatures(network, network.initial)
    precision = torch.rand(network.num_features, dtype=torch.float64)
    torch.testing.assert_close(made.squares(precision), held.squares(precision), rtol=1e-12, atol=0)
    torch.testing.assert_close(made.kernel(), held.kernel(), rtol=1e-12, atol=0)
    assert torch.equal(made.values, held.values)


def test_features_are_held_where_they_are_few_and_that_is_asked_for(monkeypatch):
    network = paper_network(GRAPHS, 8)
    assert isinstance(features_at(network, network.initial), HeldFeatures)
    assert isinstance(features_at(network, network.initial, hold=False), features.MadeFeatures)
    monkeypatch.setattr(features, "HELD_BYTES", 8 * network.num_graphs * network.num_features - 1)
    assert isinstance(features_at(network, network.initial), features.MadeFeatures)
