import pytest
import torch
from support.graphs import ragged_graphs
from torch_geometric.data import Batch, Data

from agents.process.parts.network import Network, sample_nodes
from gntk import GraphMLP, aggregate_neighbours, empirical_kernel, infinite_width_kernel

GRAPHS = ragged_graphs(sizes=(5, 4, 7, 3), seed=2)


def test_it_is_the_limit_of_the_kernels_of_wide_networks():
    batch, every = Batch.from_data_list(GRAPHS), torch.arange(4)
    graphs = aggregate_neighbours(batch, keep_isolated=True)
    found = Network.of(batch, 2, own_count=False).columns(every, every)[0]
    seeds = range(8)
    wide = torch.stack([empirical_kernel(GraphMLP(4, width=2048, seed=seed), graphs) for seed in seeds])
    torch.testing.assert_close(found, wide.mean(0).double(), atol=0.02, rtol=0.05)


@pytest.mark.parametrize("own_count", [False, True])
def test_columns_and_diagonal_are_parts_of_the_whole_kernel(own_count):
    batch = Batch.from_data_list(GRAPHS)
    whole = infinite_width_kernel(aggregate_neighbours(batch, own_count=own_count, keep_isolated=True), 3)
    network = Network.of(batch, 3, own_count)
    rows, index = torch.tensor([2, 0]), torch.tensor([3, 1, 2])
    torch.testing.assert_close(network.columns(rows, index)[0], whole[rows][:, index])
    torch.testing.assert_close(network.columns(rows, torch.arange(4))[0], whole[rows])
    torch.testing.assert_close(network.diagonal(index)[0], whole.diagonal()[index])


def test_new_graphs_have_the_divisor_of_those_of_reset():
    batch = Batch.from_data_list(GRAPHS[:2])
    met = Network.of(batch, 2, own_count=False).exchange(torch.tensor([1]), Batch.from_data_list(GRAPHS[3:]))
    graphs = aggregate_neighbours(Batch.from_data_list([GRAPHS[1], GRAPHS[3]]), 5, keep_isolated=True)
    whole = infinite_width_kernel(graphs, 2)
    torch.testing.assert_close(met.columns(torch.arange(2), torch.arange(2))[0], whole)


def test_nodes_are_left_out_only_where_comparing_all_takes_long():
    many = [Data(x=torch.ones(25, 40), edge_index=torch.zeros(2, 0, dtype=torch.int64))] * 2000
    for graphs, compared in ((many, 25), ([Data(x=torch.ones(3000, 40), edge_index=many[0].edge_index)] * 30, 1360)):
        nodes = sample_nodes(aggregate_neighbours(Batch.from_data_list(graphs)))
        assert nodes.offsets.diff().unique().tolist() == [compared]
