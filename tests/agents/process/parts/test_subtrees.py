import torch
from support.graphs import ragged_graphs
from torch_geometric.data import Batch, Data

from agents.kernel.settings import SubtreeSettings
from agents.kernel.subtrees import encode_subtrees
from agents.process.parts.subtrees import Subtrees


def labelled(links, count=3):
    return Data(x=torch.ones(count, 1), edge_index=torch.tensor(links, dtype=torch.int64).reshape(-1, 2).T)


def compare(*graphs):
    subtrees = Subtrees.of(Batch.from_data_list(graphs), iterations=2, bins=4, directed=True)
    every = torch.arange(len(graphs))
    return subtrees.columns(every, every)


def test_it_is_the_kernel_of_the_wl_agents():
    batch, every = Batch.from_data_list(ragged_graphs()), torch.arange(4)
    settings = SubtreeSettings(iterations=2, similarity="gaussian")
    subtrees = Subtrees.of(batch, iterations=2, bins=4)
    torch.testing.assert_close(subtrees.columns(every, every), encode_subtrees(settings, batch, 0).rows())


def test_arrows_that_are_turned_make_another_graph_and_another_order_of_nodes_does_not():
    from_one, to_one = labelled([(0, 1), (0, 2)]), labelled([(1, 0), (2, 0)])
    renamed = labelled([(2, 0), (2, 1)])
    similarity = compare(from_one, to_one, renamed)
    assert similarity[0, 1] < 1
    assert similarity[0, 2] == 1


def test_a_path_of_arrows_differs_from_arrows_that_meet():
    similarity = compare(labelled([(0, 1), (1, 2)]), labelled([(0, 1), (2, 1)]))
    assert similarity[0, 1] < 1


def test_new_graphs_are_compared_with_those_that_stay():
    graphs = ragged_graphs(sizes=(5, 4, 7, 3), seed=2)
    first = Subtrees.of(Batch.from_data_list(graphs[:2]), iterations=2, bins=4)
    met = first.exchange(torch.tensor([1]), Batch.from_data_list(graphs[2:]))
    every = first.exchange(torch.tensor([0, 1]), Batch.from_data_list(graphs[2:]))
    places = torch.tensor([1, 2, 3])
    torch.testing.assert_close(met.columns(torch.arange(3), torch.arange(3)), every.columns(places, places))
