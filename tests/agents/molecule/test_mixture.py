"""The sum of all kernels, computed block by block, against each formula written out for one pair of molecules."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from support.molecules import some_molecules

from agents.molecule import mixture
from agents.molecule.fingerprints import TanimotoKernel
from agents.molecule.mixture import Mixture
from agents.molecule.numbers import GaussianKernel, LinearKernel, Points
from agents.molecule.parts import make_parts
from agents.molecule.settings import MoleculeSettings
from agents.traits import BINS, Counts, compute_traits


def ragged_counts(rng, count, largest):
    """Molecules with none to hundreds of features, some of them crowded."""
    lengths = rng.choice([0, 1, 7, 120, 400], size=count)
    bins = [np.sort(rng.choice(BINS if length > 9 else 20, length, replace=False)) for length in lengths]
    counts = np.minimum(rng.geometric(0.3, lengths.sum()) ** 2, largest)
    counts[rng.random(len(counts)) < 0.02] = largest
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return Counts(offsets, np.concatenate(bins).astype(np.uint16), counts.astype(np.uint16))


def dense(counts):
    matrix = np.zeros((len(counts), BINS))
    matrix[np.repeat(np.arange(len(counts)), np.diff(counts.offsets)), counts.bins] = counts.counts
    return matrix


def tanimoto(x, y):
    union = np.maximum(x, y).sum()
    return np.minimum(x, y).sum() / union if union else 1.0


def cosine(x, y):
    x, y = (np.append(1.0, z / np.sqrt(len(z))) for z in (x, y))
    return x @ y / np.sqrt((x @ x) * (y @ y))


@pytest.mark.parametrize("largest", [200, 255, 256, 3000, 65535])
@given(seed=st.integers(0, 1000), rows=st.integers(0, 9), columns=st.integers(0, 33), entries=st.sampled_from([1, 99]))
def test_blocks_of_all_kernels_are_the_sums_of_their_formulas(largest, seed, rows, columns, entries):
    rng = np.random.default_rng(seed)
    prints = [ragged_counts(rng, 20, most) for most in (largest, 40)]
    values = [rng.normal(size=(20, width)) for width in (3, 11)]
    points = [Points(each.astype(np.float32)) for each in values]
    kernels = [*map(TanimotoKernel, prints), GaussianKernel(points[0], 2.0), GaussianKernel(points[0], 0.7)]
    kernels += [GaussianKernel(points[1], 1.0), LinearKernel(points[1])]
    weights = rng.random(6)
    mine, theirs = torch.from_numpy(rng.integers(0, 20, rows)), torch.from_numpy(rng.integers(0, 20, columns))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mixture, "ENTRIES_AT_A_TIME", entries)
        found = Mixture(kernels, weights).columns(mine, theirs)
    matrices, z = [dense(counts) for counts in prints], [each.of(torch.arange(20)).numpy() for each in points]

    def value(i, j):
        near, wide = (np.square(each[i] - each[j]).mean() / 2 for each in z)
        terms = [tanimoto(matrix[i], matrix[j]) for matrix in matrices]
        terms += [np.exp(-near / 2.0**2), np.exp(-near / 0.7**2), np.exp(-wide), cosine(z[1][i], z[1][j])]
        return weights @ terms

    expected = np.array([[value(i, j) for j in theirs.tolist()] for i in mine.tolist()]).reshape(rows, columns)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
    alone = sum(w * kernel.columns(mine, theirs) for kernel, w in zip(kernels, weights, strict=True))
    np.testing.assert_allclose(alone, expected, rtol=1e-10, atol=1e-12)


def test_any_other_kernel_is_added_too():
    class Same:
        def columns(self, rows, index):
            return (rows.unsqueeze(1) == index).double()

    rows, index = torch.tensor([1, 4]), torch.arange(40)
    found = Mixture([Same(), Same()], [2.0, 0.5]).columns(rows, index)
    np.testing.assert_array_equal(found, 2.5 * Same().columns(rows, index).numpy())


def test_a_mixture_is_the_weighted_sum_of_its_parts():
    parts = make_parts(MoleculeSettings(), compute_traits(some_molecules().smiles))
    kernels, rows, index = [part.kernel for part in parts[:3]], torch.tensor([3, 1]), torch.arange(7)
    found = Mixture(kernels, [0.5, 0.0, 2.0])
    expected = 0.5 * kernels[0].columns(rows, index) + 2 * kernels[2].columns(rows, index)
    torch.testing.assert_close(found.columns(rows, index), expected)
    torch.testing.assert_close(found.diagonal(index), torch.full((7,), 2.5, dtype=torch.float64))
