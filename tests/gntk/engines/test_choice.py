import pytest
from support.graphs import ragged_graphs
from torch_geometric.data import Batch

from gntk import aggregate_neighbours
from gntk.engines import CompiledNetwork, TorchNetwork, paper_network, read_device

GRAPHS = aggregate_neighbours(Batch.from_data_list(ragged_graphs(sizes=(5, 1, 7))))


def test_compiled_loops_are_chosen_where_they_can_be():
    assert isinstance(paper_network(GRAPHS, 8, 2), CompiledNetwork)
    assert isinstance(paper_network(GRAPHS, 8, 3), TorchNetwork)


@pytest.mark.parametrize("name", ["cuda:99", "abacus", "meta"])
def test_a_device_that_is_not_here_is_refused_with_those_that_are(name):
    with pytest.raises(ValueError, match="torch can use here: cpu.*Got '" + name):
        read_device(name)
