"""The models that agents are measured against, by their definitions."""

import itertools

import numpy as np
import pytest
from rdkit import Chem, rdBase
from rdkit.Chem import Crippen, rdMolDescriptors
from rdkit.Chem.rdFingerprintGenerator import GetAtomPairGenerator
from rdkit.DataStructs import ConvertToNumpyArray
from sklearn.ensemble import RandomForestRegressor

from benchmarks.pools.models.forest import Forest, atom_pair_bits
from benchmarks.pools.models.tanimoto import MinMax, TanimotoProcess
from graph_bandit_env import from_smiles
from graph_bandit_env.pools.library import SCAFFOLDS, SUBSTITUENTS


@pytest.fixture(scope="module")
def molecules():
    pairs = list(itertools.product(SCAFFOLDS, SUBSTITUENTS))[:: len(SUBSTITUENTS) // 4]
    smiles = [scaffold.format(other, "CCO") for scaffold, other in pairs][:59]
    smiles.append("C")  # which has no pairs of atoms
    return from_smiles(smiles, [Crippen.MolLogP(Chem.MolFromSmiles(text)) for text in smiles])


def test_bits_are_those_of_molpal(molecules):
    """By the call that MolPAL makes."""
    for smiles, row in zip(molecules.smiles[:20], atom_pair_bits(molecules.smiles[:20]), strict=True):
        expected = np.zeros(2048)
        with rdBase.BlockLogs():  # it is deprecated
            found = rdMolDescriptors.GetHashedAtomPairFingerprintAsBitVect(
                Chem.MolFromSmiles(smiles), minLength=1, maxLength=3, nBits=2048
            )
        ConvertToNumpyArray(found, expected)
        assert np.array_equal(row, expected)


def test_a_forest_is_known_by_its_trees(molecules):
    measured = np.arange(30)
    model, seed = Forest(), 5
    model.begin(molecules, seed)
    prediction = model.predict(measured, molecules.targets[measured])
    mean, std = prediction.mean, prediction.std
    bits = atom_pair_bits(molecules.smiles)
    forest = RandomForestRegressor(max_depth=8, random_state=int(np.random.default_rng(seed).integers(2**31)))
    forest.fit(bits[measured], molecules.targets[measured])
    np.testing.assert_allclose(mean, forest.predict(bits))
    squares = np.mean([tree.predict(bits) ** 2 for tree in forest.estimators_], axis=0)
    np.testing.assert_allclose(std**2, squares - mean**2, atol=1e-9)


def test_similarity_is_minima_by_maxima_of_all_pairs_of_atoms(molecules):
    generator = GetAtomPairGenerator(fpSize=4096)
    dense = np.array([generator.GetCountFingerprintAsNumPy(Chem.MolFromSmiles(text)) for text in molecules.smiles])
    atoms = molecules.num_nodes
    assert dense.sum(axis=1).tolist() == (atoms * (atoms - 1) // 2).tolist()
    smaller = np.minimum(dense[:, None], dense[None]).sum(axis=-1)
    larger = np.maximum(dense[:, None], dense[None]).sum(axis=-1)
    expected = np.where(larger > 0, smaller / np.maximum(larger, 1), 1.0)
    some, kept = np.array([3, 59, 7]), np.array([7, 59, 0, 11])
    np.testing.assert_allclose(MinMax(molecules.smiles).between(some, kept), expected[np.ix_(some, kept)])


def log_likelihood(kernel, noise, values):
    covariance = kernel + noise * np.eye(len(values))
    return -values @ np.linalg.solve(covariance, values) - np.linalg.slogdet(covariance)[1]


def test_the_process_is_the_closed_form_at_its_best_hyperparameters(molecules, monkeypatch):
    monkeypatch.setattr("benchmarks.pools.models.tanimoto.CHUNK", 7)
    everything, measured = np.arange(60), np.random.default_rng(0).permutation(60)[:40]
    noise = np.random.default_rng(1).normal(0, 1.5, 40)  # so that the best noise is none of its bounds
    values = 100 + 5 * (molecules.targets[measured] + noise)
    model = TanimotoProcess()
    model.begin(molecules, seed=0)
    prediction = model.predict(measured, values)
    mean, std = prediction.mean, prediction.std

    standardised = (values - values.mean()) / values.std()
    fitted = model.fit(measured, standardised).kernel_
    scale, level = fitted.k1.k1.constant_value, fitted.k2.noise_level
    similarity = MinMax(molecules.smiles).between(everything, everything)
    between, within = scale * similarity[:, measured], scale * similarity[np.ix_(measured, measured)]
    inverse = np.linalg.inv(within + level * np.eye(40))
    np.testing.assert_allclose(mean, values.mean() + values.std() * between @ inverse @ standardised, rtol=1e-5)
    variance = scale - np.einsum("ij,jk,ik->i", between, inverse, between)
    np.testing.assert_allclose(std, values.std() * np.sqrt(variance), rtol=1e-4)
    assert prediction.noise_std**2 == pytest.approx(values.var() * level)

    best = log_likelihood(within, level, standardised)
    for factor in (0.8, 1.25):
        assert log_likelihood(factor * within, level, standardised) < best
        assert log_likelihood(within, factor * level, standardised) < best
