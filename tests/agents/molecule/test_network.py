import pytest
import torch
from support.molecules import ODD_MOLECULES
from torch_geometric.data import Batch

from agents.molecule.network import MolecularNetwork
from graph_bandit_env import from_smiles

GRAPHS = from_smiles((*ODD_MOLECULES, "CCCO")).to_pyg()


@pytest.fixture
def network():
    torch.manual_seed(0)
    return MolecularNetwork(GRAPHS[0].x.shape[1], GRAPHS[0].edge_attr.shape[1], width=8, depth=2)


def test_the_network_computes_its_formula_atom_by_atom(network):
    network.size, graph = 9.0, GRAPHS[1]
    with torch.no_grad():
        nodes = network.embed(graph.x)
        for convolution in network.convolutions:
            arriving = nodes.clone()
            for source, target, bond in zip(*graph.edge_index, graph.edge_attr, strict=True):
                arriving[target] += torch.relu(nodes[source] + convolution.lin(bond))
            nodes = nodes + convolution.nn(arriving)
        expected = network.output(torch.relu(network.hidden(nodes.sum(0) / 3)))
        torch.testing.assert_close(network(Batch.from_data_list([graph])), expected)


def test_a_molecule_is_predicted_the_same_in_any_company(network):
    alone = torch.cat([network(Batch.from_data_list([graph])) for graph in GRAPHS])
    torch.testing.assert_close(network(Batch.from_data_list(GRAPHS)), alone)


def test_the_default_network_has_about_thirty_thousand_parameters():
    assert 25_000 < sum(parameter.numel() for parameter in MolecularNetwork(38, 9).parameters()) < 35_000
