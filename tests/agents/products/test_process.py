"""The process on products: predictions as sums, against a plain Gaussian process."""

from math import prod

import numpy as np
import pytest

from agents.products import BlockKernel, ProductProcess, Weights
from graph_bandit_env.pools import Slot, from_slots, from_smiles

SIZES, TERMS = (5, 7, 6), [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]
WEIGHTS = Weights((0.3, 0.5, 0.2, 0.1, 0.4, 0.2), 0.05)
EVERY = np.array(np.unravel_index(np.arange(prod(SIZES)), SIZES)).T


@pytest.fixture(scope="module")
def known():
    """A process of some results; the kernel of all products, and which of them were measured."""
    generator = np.random.default_rng(0)
    kernels = [BlockKernel((generator.random((size, 16)) < 0.4).astype(np.float32)) for size in SIZES[:2]]
    kernels += [BlockKernel.of(slot) for slot in from_slots({"heat": np.arange(SIZES[2]) * 10.0}).slots]
    own = np.sort(generator.choice(len(EVERY), 25, replace=False))
    each = [kernel.columns(EVERY[:, s]).astype(float)[EVERY[:, s]] for s, kernel in enumerate(kernels)]
    plain = sum(weight * prod(each[s] for s in term) for weight, term in zip(WEIGHTS.terms, TERMS, strict=True))
    return ProductProcess(kernels, EVERY[own], generator.normal(size=25), WEIGHTS), plain, own


def test_predictions_are_those_of_a_plain_process_and_sums_over_slots_and_pairs(known):
    process, plain, own = known
    covariance, cross = plain[np.ix_(own, own)] + WEIGHTS.noise * np.eye(25), plain[:, own]
    means, deviations = process.predict(EVERY)
    np.testing.assert_allclose(means, cross @ np.linalg.solve(covariance, process.targets), atol=1e-5)
    variances = np.diag(plain) - np.einsum("ij,ji->i", cross, np.linalg.solve(covariance, cross.T))
    np.testing.assert_allclose(deviations, np.sqrt(variances), atol=1e-4)
    np.testing.assert_allclose(process.scores.of(EVERY), means, atol=1e-5)


def test_what_others_predict_is_that_of_a_process_without_each_result(known):
    process, plain, own = known
    for k in range(25):
        rest, others = np.delete(own, k), np.delete(process.targets, k)
        covariance = plain[np.ix_(rest, rest)] + WEIGHTS.noise * np.eye(24)
        expected = plain[own[k], rest] @ np.linalg.solve(covariance, others)
        assert process.left_out[k] == pytest.approx(expected, abs=1e-5)


def test_it_is_half_identity_and_half_similarity():
    pytest.importorskip("rdkit")
    from rdkit import Chem
    from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator
    from rdkit.DataStructs import TanimotoSimilarity

    generator, smiles = GetMorganGenerator(radius=2, fpSize=1024), ["CCO", "CCN", "Oc1ccccc1", "CCCO", "C"]
    prints = [generator.GetFingerprint(Chem.MolFromSmiles(text)) for text in smiles]
    slot = Slot("acid", "structure", tuple("abcde"), from_smiles(smiles, ids="abcde"))
    similarity = np.array([[TanimotoSimilarity(one, other) for other in prints] for one in prints])
    kernel = BlockKernel.of(slot).columns(np.array([2, 0, 4]))
    np.testing.assert_allclose(kernel, ((similarity + np.eye(5)) / 2)[:, [2, 0, 4]], atol=1e-6)
