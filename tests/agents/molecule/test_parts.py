"""The parts of the molecule agents against their definitions."""

import numpy as np
import pytest
import torch
from rdkit import Chem
from rdkit.Chem.rdFingerprintGenerator import GetAtomPairGenerator, GetMorganGenerator
from rdkit.DataStructs import TanimotoSimilarity
from support.graphs import ragged_graphs
from torch_geometric.data import Batch

from agents.beliefs.likelihood import Hyperparameters
from agents.molecule.descriptors import DescriptorKernel, compute_descriptors
from agents.molecule.fingerprints import FingerprintCounts, read_molecules
from agents.molecule.kernel import SumKernel, TangentKernel, TanimotoKernel
from agents.molecule.network import MolecularNetwork
from agents.molecule.packed import PackedGraphs
from agents.molecule.posterior import DualPosterior
from agents.molecule.settings import MoleculeSettings
from agents.molecule.training import train
from graph_bandit_env import from_smiles

SMILES = (
    "CCO",
    "c1ccccc1C(=O)[O-].[Na+]",
    "C",
    "CCCCN",
    "O=[N+]([O-])c1ccc(Br)cc1",
    "N[C@@H](C)C(=O)O",
    "[Na+]",
    "CCCO",
)
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
    packed = PackedGraphs(Batch.from_data_list(ragged_graphs()))
    assert packed.take(torch.tensor([0, 1])).edge_attr.unique().tolist() == [1.0]


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


def test_a_molecule_is_predicted_the_same_in_any_company(packed, network):
    alone = torch.cat([network(packed.take(k.unsqueeze(0))) for k in EVERY])
    torch.testing.assert_close(network(packed.take(EVERY)), alone)


def test_the_default_network_has_about_thirty_thousand_parameters():
    assert 25_000 < MolecularNetwork(38, 9).num_features < 35_000


@pytest.mark.parametrize(
    ("kind", "generator"),
    [("atom_pairs", GetAtomPairGenerator(fpSize=4096)), ("morgan", GetMorganGenerator(radius=3, fpSize=4096))],
)
def test_similarity_is_that_of_rdkit(kind, generator):
    rows, columns = EVERY[[0, 1, 3, 4]], EVERY[[1, 3, 4, 5, 7]]  # one atom has no pairs: RDKit calls it unlike itself
    prints = [generator.GetCountFingerprint(Chem.MolFromSmiles(text)) for text in SMILES]
    expected = [[TanimotoSimilarity(prints[i], prints[j]) for j in columns] for i in rows]
    found = FingerprintCounts(MOLS, kind).similarity(rows, columns)
    torch.testing.assert_close(found, torch.tensor(expected, dtype=torch.float64))


def test_molecules_without_pairs_are_alike():
    assert FingerprintCounts(MOLS, "atom_pairs").similarity(torch.tensor([2]), torch.tensor([6])).item() == 1


def test_stacked_counts_are_those_of_all_at_once():
    parts = [FingerprintCounts(MOLS[:3], "morgan"), FingerprintCounts(MOLS[3:], "morgan")]
    whole = FingerprintCounts(MOLS, "morgan")
    assert torch.equal(FingerprintCounts.stack(parts).similarity(EVERY, EVERY), whole.similarity(EVERY, EVERY))


def test_refuses_what_is_no_smiles():
    with pytest.raises(ValueError, match="number 1, 'nonsense'"):
        read_molecules(["C", "nonsense"])


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


def test_a_sum_of_kernels_adds_up(packed, network):
    one, other = TanimotoKernel(FingerprintCounts(MOLS, "atom_pairs")), TangentKernel(network, packed)
    cross, diagonal = SumKernel([(0.3, one), (0.7, other)]).columns(EVERY[:2], EVERY)
    torch.testing.assert_close(cross, 0.3 * one.columns(EVERY[:2], EVERY)[0] + 0.7 * other.columns(EVERY[:2], EVERY)[0])
    torch.testing.assert_close(diagonal, 0.3 + 0.7 * other.columns(EVERY[:2], EVERY)[1])


def test_the_posterior_is_that_of_the_whole_covariance():
    """Invert the covariance of every single measurement instead."""
    kernel = TanimotoKernel(FingerprintCounts(MOLS, "atom_pairs"))
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


def test_training_learns_the_molecules_it_is_shown(packed, network):
    targets = torch.tensor([1.0, -1.0, 0.5, 0.0])
    settings = MoleculeSettings(steps=200, batch_size=2)
    train(network, packed, EVERY[:4], targets, settings, torch.Generator().manual_seed(0))
    with torch.no_grad():
        assert (network(packed.take(EVERY[:4])) - targets).abs().max() < 0.2


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
