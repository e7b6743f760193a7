"""The process on products: predictions as sums, against a plain Gaussian process."""

from itertools import combinations

import numpy as np
import pytest

from agents.products import BlockKernel, ProductProcess, Weights

SIZES = (5, 7, 6)


def random_kernels(sizes=SIZES, seed=0):
    generator = np.random.default_rng(seed)
    return [BlockKernel((generator.random((size, 16)) < 0.4).astype(np.float32)) for size in sizes]


def random_results(count=25, sizes=SIZES, seed=1):
    generator = np.random.default_rng(seed)
    tuples = np.unique(np.stack([generator.integers(size, size=count) for size in sizes], axis=1), axis=0)
    return tuples, generator.normal(size=len(tuples))


def plain_kernel(kernels, weights, left, right):
    each = [kernel.columns(right[:, s]).astype(float)[left[:, s]] for s, kernel in enumerate(kernels)]
    total = sum(weight * kernel for weight, kernel in zip(weights.slots, each, strict=True))
    pairs = combinations(range(len(kernels)), 2)
    return total + sum(weight * each[s] * each[t] for (s, t), weight in zip(pairs, weights.pairs, strict=True))


WEIGHTS = Weights((0.3, 0.5, 0.2), (0.1, 0.4, 0.2), 0.05)


def test_predictions_are_those_of_a_plain_process():
    kernels, (tuples, values) = random_kernels(), random_results()
    process = ProductProcess(kernels, tuples, values, WEIGHTS)
    new, _ = random_results(40, seed=5)
    covariance = plain_kernel(kernels, WEIGHTS, tuples, tuples) + WEIGHTS.noise * np.eye(len(values))
    cross = plain_kernel(kernels, WEIGHTS, new, tuples)
    means, deviations = process.predict(new)
    np.testing.assert_allclose(means, cross @ np.linalg.solve(covariance, process.targets), atol=1e-5)
    prior = np.diag(plain_kernel(kernels, WEIGHTS, new, new))
    variances = prior - np.einsum("ij,ij->i", cross, np.linalg.solve(covariance, cross.T).T)
    np.testing.assert_allclose(deviations, np.sqrt(variances), atol=1e-4)


def test_means_are_sums_over_slots_and_pairs():
    kernels, (tuples, values) = random_kernels(), random_results()
    process = ProductProcess(kernels, tuples, values, WEIGHTS)
    every = np.array(np.unravel_index(np.arange(np.prod(SIZES)), SIZES)).T
    assert process.scores.sizes == SIZES
    np.testing.assert_allclose(process.scores.of(every), process.predict(every)[0], atol=1e-5)


SMILES = ["CCO", "CCN", "c1ccccc1O", "CCO", "C"]


def test_it_is_half_identity_and_half_similarity():
    pytest.importorskip("rdkit")
    from rdkit import Chem
    from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator
    from rdkit.DataStructs import TanimotoSimilarity

    generator = GetMorganGenerator(radius=2, fpSize=1024)
    prints = [generator.GetFingerprint(Chem.MolFromSmiles(text)) for text in SMILES]
    similarity = np.array([[TanimotoSimilarity(one, other) for other in prints] for one in prints])
    kernel = BlockKernel.of_smiles(SMILES).columns(np.array([2, 0, 4]))
    np.testing.assert_allclose(kernel, ((similarity + np.eye(5)) / 2)[:, [2, 0, 4]], atol=1e-6)


def test_what_others_predict_is_that_of_a_process_without_each_result():
    kernels, (tuples, values) = random_kernels(), random_results()
    process = ProductProcess(kernels, tuples, values, WEIGHTS)
    for k in range(len(values)):
        others = np.arange(len(values)) != k
        covariance = plain_kernel(kernels, WEIGHTS, tuples[others], tuples[others]) + WEIGHTS.noise * np.eye(
            sum(others)
        )
        cross = plain_kernel(kernels, WEIGHTS, tuples[[k]], tuples[others])
        expected = cross @ np.linalg.solve(covariance, process.targets[others])
        np.testing.assert_allclose(process.left_out[k], expected[0], atol=1e-5)
