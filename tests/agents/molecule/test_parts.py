"""The parts of the molecule agents against their definitions."""

import numpy as np
import pytest
import torch
from support.graphs import ragged_graphs
from support.molecules import ODD_MOLECULES
from torch_geometric.data import Batch

from agents.beliefs.rewards.likelihood import Hyperparameters
from agents.molecule.descriptors import DescriptorKernel, compute_descriptors
from agents.molecule.fingerprints import FingerprintCounts, read_molecules
from agents.molecule.fixed_parts import fixed_parts
from agents.molecule.kernel import SumKernel, TangentKernel, TanimotoKernel
from agents.molecule.network import MolecularNetwork
from agents.molecule.packed import PackedGraphs
from agents.molecule.posterior import DualPosterior
from agents.molecule.settings import MoleculeSettings
from agents.molecule.training import train
from graph_bandit_env import from_smiles

SMILES = (*ODD_MOLECULES, "CCCO")
MOLECULES = from_smiles(SMILES)
EVERY = torch.arange(len(SMILES))
MOLS = read_molecules(SMILES)


@pytest.fixture
def packed():
    return PackedGraphs(Batch.from_data_list(MOLECULES.to_pyg()))


@pytest.fixture
def network(packed):
    torch.manual_seed(0)
    return MolecularNetwork(packed.x.shape[1], packed.edge_attr.shape[1], width=8, depth=2)


@pytest.mark.parametrize("index", [[0, 1, 2], [6, 2], [3, 3, 0], [1], []])
def test_what_is_taken_is_what_pyg_batches(packed, index):
    taken = packed.take(torch.tensor(index, dtype=torch.int64))
    assert taken.num_graphs == len(index)
    if index:
        graphs = MOLECULES.to_pyg()
        expected = Batch.from_data_list([graphs[k] for k in index])
        for name in ("x", "edge_index", "edge_attr", "batch", "ptr"):
            assert torch.equal(taken[name], expected[name])


def test_graphs_without_edge_features_have_a_constant_one():
    taken = PackedGraphs(Batch.from_data_list(ragged_graphs())).take(torch.tensor([0, 1]))
    assert torch.equal(taken.edge_attr, torch.ones(taken.num_edges, 1))


def test_tangent_features_of_the_network_are_the_gradients_of_each_molecule(packed, network):
    values, features = network.tangent_features(packed.take(EVERY))
    parameters = list(network.parameters())
    assert features.shape == (len(SMILES), network.num_features)
    for k in EVERY:
        value = network(packed.take(k.unsqueeze(0))).squeeze()
        torch.testing.assert_close(values[k], value.detach())
        gradients = torch.autograd.grad(value, parameters, allow_unused=True, materialize_grads=True)
        lengths = torch.cat([gradient.flatten() for gradient in gradients]).norm()
        torch.testing.assert_close(features[k].norm(), lengths)
    one = network(packed.take(EVERY[:1])).squeeze()
    gradients = torch.autograd.grad(one, [network.embed.weight, network.embed.bias])
    first = torch.cat([gradient.flatten() for gradient in gradients])
    torch.testing.assert_close(features[0, : len(first)], first)


def test_the_network_computes_its_formula_atom_by_atom(packed, network):
    network.size, graph = 9.0, MOLECULES.to_pyg()[1]
    with torch.no_grad():
        nodes = network.embed(graph.x.float())
        for convolution in network.convolutions:
            arriving = nodes.clone()
            for source, target, bond in zip(*graph.edge_index, graph.edge_attr.float(), strict=True):
                arriving[target] += torch.relu(nodes[source] + convolution.lin(bond))
            nodes = nodes + convolution.nn(arriving)
        expected = network.output(torch.relu(network.hidden(nodes.sum(0) / 3)))
        torch.testing.assert_close(network(packed.take(EVERY[1:2])), expected)


def test_a_molecule_is_predicted_the_same_in_any_company(packed, network):
    alone = torch.cat([network(packed.take(k.unsqueeze(0))) for k in EVERY])
    torch.testing.assert_close(network(packed.take(EVERY)), alone)


def test_the_default_network_has_about_thirty_thousand_parameters():
    assert 25_000 < MolecularNetwork(38, 9).num_features < 35_000


def test_descriptors_are_properties_that_a_chemist_knows():
    ethanol, methane = compute_descriptors(read_molecules(["CCO", "C"]))
    assert ethanol[:5].tolist() == pytest.approx([46.069, 20.23, 1, 1, 0])  # mass, polar surface, OH gives and takes
    assert methane[0] == pytest.approx(16.043)


def test_descriptor_kernel_is_a_gaussian_of_standardised_properties():
    values = compute_descriptors(MOLS)
    points = (values - values.mean(0)) / np.where(values.std(0) > 0, values.std(0), 1)
    expected = [[np.exp(-((points[i] - points[j]) ** 2).sum() / 96) for j in EVERY] for i in (1, 4)]
    cross, diagonal = DescriptorKernel(values).columns(torch.tensor([1, 4]), EVERY)
    np.testing.assert_allclose(cross, expected, rtol=1e-6)
    assert diagonal.tolist() == [1.0] * len(SMILES)


def test_a_property_that_all_molecules_share_tells_nothing():
    values = compute_descriptors(MOLS)
    same = np.concatenate([values, np.full((len(values), 12), 0.5)], axis=1)
    found, expected = (DescriptorKernel(table).columns(EVERY, EVERY)[0] for table in (same, values))
    np.testing.assert_allclose(found, expected.sqrt(), rtol=1e-6)  # the mean over twice as many properties


def test_the_fixed_parts_are_those_of_positive_weight():
    weights = {"pairs_weight": 0.5, "morgan_weight": 2.0, "descriptor_weight": 3.0}
    kernels = [TanimotoKernel(FingerprintCounts(MOLS, kind)) for kind in ("atom_pairs", "morgan")]
    kernels.append(DescriptorKernel(compute_descriptors(MOLS)))
    found = fixed_parts(MoleculeSettings(**weights), SMILES)
    for (weight, part), expected, kernel in zip(found, weights.values(), kernels, strict=True):
        assert weight == expected
        assert torch.equal(part.columns(EVERY, EVERY)[0], kernel.columns(EVERY, EVERY)[0])
    for name, weight in weights.items():
        alone = MoleculeSettings(**{**dict.fromkeys(weights, 0.0), name: weight})
        assert [part[0] for part in fixed_parts(alone, SMILES)] == [weight]


def test_refuses_a_kernel_of_nothing():
    with pytest.raises(ValueError, match="one of the four weights"):
        MoleculeSettings(pairs_weight=0, morgan_weight=0, descriptor_weight=0, tangent_weight=0)


@pytest.mark.parametrize("held_bytes", [0, 1 << 27])
def test_tangent_kernel_is_the_gram_matrix_of_unit_mean_diagonal(packed, network, held_bytes, monkeypatch):
    monkeypatch.setattr("agents.molecule.kernel.HELD_BYTES", held_bytes)
    monkeypatch.setattr("agents.molecule.kernel.BLOCK", 3)
    kernel = TangentKernel(network, packed)
    features = network.tangent_features(packed.take(EVERY))[1].double()
    expected = features @ features.T / features.square().sum(1).mean()
    cross, diagonal = kernel.columns(EVERY[2:5], EVERY)
    torch.testing.assert_close(cross, expected[2:5], rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(diagonal, expected.diagonal(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("spare", "computed"), [(0, []), (-1, EVERY.tolist())])
def test_tangent_features_are_held_where_those_of_the_set_fit_and_else_those_of_the_rows(
    packed, network, spare, computed, monkeypatch
):
    monkeypatch.setattr("agents.molecule.kernel.HELD_BYTES", 4 * network.num_features * len(packed) + spare)
    kernel, take, taken = TangentKernel(network, packed), packed.take, []
    kernel.columns(EVERY[2:5], EVERY)
    monkeypatch.setattr(packed, "take", lambda index: taken.extend(index.tolist()) or take(index))
    kernel.columns(EVERY[2:5], EVERY)
    assert taken == computed


def test_a_sum_of_kernels_adds_up(packed, network):
    one, other = TanimotoKernel(FingerprintCounts(MOLS, "atom_pairs")), TangentKernel(network, packed)
    cross, diagonal = SumKernel([(0.3, one), (0.7, other)]).columns(EVERY[:2], EVERY)
    torch.testing.assert_close(cross, 0.3 * one.columns(EVERY[:2], EVERY)[0] + 0.7 * other.columns(EVERY[:2], EVERY)[0])
    torch.testing.assert_close(diagonal, 0.3 + 0.7 * other.columns(EVERY[:2], EVERY)[1])


def test_the_posterior_is_that_of_the_whole_covariance():
    """Invert the covariance of every single measurement instead."""
    kernel = SumKernel([(0.25, TanimotoKernel(FingerprintCounts(MOLS, "atom_pairs")))])
    whole = 2.0 * kernel.columns(EVERY, EVERY)[0].numpy()
    actions = np.array([0, 4, 4, 4, 5])
    rewards = np.array([1.0, -1.0, -0.5, 0.0, 0.3])
    inverse = np.linalg.inv(whole[np.ix_(actions, actions)] + 0.2 * np.eye(5))
    mean = whole[:, actions] @ inverse @ rewards
    covariance = whole - whole[:, actions] @ inverse @ whole[actions]
    seen, counts = torch.tensor([0, 4, 5]), torch.tensor([1, 3, 1])
    targets = torch.tensor([1.0, -0.5, 0.3], dtype=torch.float64)
    posterior = DualPosterior(kernel, Hyperparameters(2.0, 0.2), seen, counts, targets)
    found, variance = posterior.mean_and_variance(EVERY)
    np.testing.assert_allclose(found, mean, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(variance, covariance.diagonal(), rtol=1e-9)
    np.testing.assert_allclose(posterior.covariance(EVERY[2:7]), covariance[2:7, 2:7], rtol=1e-9, atol=1e-12)


def test_a_variance_is_never_below_zero():
    kernel = TanimotoKernel(FingerprintCounts(MOLS, "morgan"))
    targets = torch.zeros(len(SMILES), dtype=torch.float64)
    posterior = DualPosterior(kernel, Hyperparameters(1.0, 1e-18), EVERY, torch.ones(len(SMILES)), targets)
    assert (posterior.mean_and_variance(EVERY)[1] >= 0).all()


class Taken:
    """Graphs that tell which of them were taken."""

    def __init__(self):
        self.taken = []

    def take(self, index):
        self.taken += index.tolist()
        return torch.ones(len(index), 1)


def test_training_draws_every_molecule_once_in_a_pass():
    graphs, generator, twin = Taken(), *(torch.Generator().manual_seed(0) for _ in range(2))
    network = torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.Flatten(0))
    index = torch.tensor([9, 2, 7, 4])
    train(network, graphs, index, torch.zeros(4), MoleculeSettings(steps=6, batch_size=2), generator)
    assert graphs.taken == torch.cat([index[torch.randperm(4, generator=twin)] for _ in range(3)]).tolist()
    assert torch.equal(generator.get_state(), twin.get_state())


def test_training_learns_the_molecules_it_is_shown(packed, network):
    targets = torch.tensor([1.0, -1.0, 0.5, 0.0])
    settings = MoleculeSettings(steps=200, batch_size=2)
    train(network, packed, EVERY[:4], targets, settings, torch.Generator().manual_seed(0))
    with torch.no_grad():
        assert (network(packed.take(EVERY[:4])) - targets).abs().max() < 0.2


@pytest.mark.parametrize(
    "settings",
    [
        {"pairs_weight": 0.5, "morgan_weight": 0.5, "descriptor_weight": 0.0, "tangent_weight": 0.0},
        {"pairs_weight": 0.5, "morgan_weight": 0.0, "descriptor_weight": 0.5, "tangent_weight": 0.0},
        {"pairs_weight": 0.5, "morgan_weight": 0.0, "descriptor_weight": 0.0, "tangent_weight": 0.5},
        {"learning_rate": 1e30},
        {"noise_variance": 1.0},
    ],
)
def test_settings_at_the_edge_are_allowed(settings):
    assert vars(MoleculeSettings(**settings)).items() >= settings.items()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tangent_weight", -1.0),
        ("morgan_weight", float("inf")),
        ("networks", 0),
        ("learning_rate", 0),
        ("noise_variance", 0),
        ("steps", 0),
    ],
)
def test_refuses_settings_that_make_no_sense(name, value):
    with pytest.raises(ValueError, match=f"`{name}`"):
        MoleculeSettings(**{name: value})
