import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from agents.descriptors import BINS, Counts, Moments
from agents.molecule.fingerprints import Fingerprint
from agents.process.kernels import Kernels, Mixture
from agents.process.parts.measured import Measured


class Counted:
    """Random kernels, two of a reading, that count the entries computed of each."""

    name, shares = "random", (0.5, 0.5)

    def __init__(self, values):
        self.values = torch.from_numpy(np.stack([values @ values.T, np.square(values) @ np.square(values).T]))
        self.computed = 0

    def columns(self, rows, index):
        self.computed += len(rows) * len(index)
        return self.values[:, rows][:, :, index]

    def diagonal(self, index):
        return self.values.diagonal(dim1=1, dim2=2)[:, index]


VALUES = np.random.default_rng(0).normal(size=(8, 3))
OTHERS = np.random.default_rng(1).normal(size=(8, 4))


@pytest.fixture(params=[0, 500])
def whole(request, monkeypatch):
    monkeypatch.setattr("agents.process.kernels.WHOLE", request.param)
    return request.param > 0


def test_columns_are_those_of_the_kernels_and_computed_once(whole):
    readings = [Counted(VALUES), Counted(OTHERS)]
    kernels, values = Kernels(readings, 8), torch.cat([reading.values for reading in readings])
    for rows, index in [([3, 1], [0, 5]), ([1, 3, 3], range(8)), ([], [2]), ([6, 3], [1, 1])]:
        rows, index = torch.tensor(rows, dtype=torch.int64), torch.tensor(list(index))
        assert torch.equal(kernels.columns(rows, index), values[:, rows][:, :, index].transpose(0, 1))
    assert [reading.computed for reading in readings] == [64 if whole else 24] * 2
    assert torch.equal(kernels.diagonals, values.diagonal(dim1=1, dim2=2))


@pytest.mark.parametrize("keeps", [True, False])
def test_a_mixture_is_the_weighted_sum_of_the_kernels(keeps):
    readings, every = [Counted(VALUES), Counted(OTHERS)], torch.arange(8)
    weights = [0.5, 2.0, 0.3]
    mixture = Mixture(Kernels(readings, 8, [0, 1, 3], keeps), weights)
    values = torch.cat([reading.values for reading in readings])
    whole = sum(weight * kernel for weight, kernel in zip(weights, values[[0, 1, 3]], strict=True))
    rows = torch.tensor([3, 0])
    torch.testing.assert_close(mixture.columns(rows, every), whole[rows])
    torch.testing.assert_close(mixture.diagonal(rows), whole.diagonal()[rows])
    torch.testing.assert_close(mixture.root @ mixture.root.T, whole)


def test_columns_of_graphs_that_stay_are_kept_where_graphs_change(monkeypatch):
    monkeypatch.setattr("agents.process.kernels.WHOLE", 0)
    first = Kernels([Counted(VALUES)], 8)
    first.columns(torch.tensor([4, 6, 0]), torch.arange(8))
    stay, new = torch.tensor([6, 2, 4]), np.random.default_rng(1).normal(size=(5, 3))
    reading = Counted(np.concatenate([VALUES[stay.numpy()], new]))
    moved = first.exchanged([reading], stay, 5)
    assert reading.computed == 2 * 5  # two of the three columns are kept, and continued to five new graphs
    found = moved.columns(torch.tensor([0, 2]), torch.arange(8))
    assert reading.computed == 2 * 5
    torch.testing.assert_close(found.transpose(0, 1), reading.values[:, [0, 2]])
    torch.testing.assert_close(moved.diagonals, reading.values.diagonal(dim1=1, dim2=2))


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
def test_blocks_of_kernels_that_are_not_kept_are_the_sums_of_their_formulas(largest, seed, rows, columns, entries):
    """The oracle is each formula for one pair of molecules."""
    rng = np.random.default_rng(seed)
    prints = [ragged_counts(rng, 20, most) for most in (largest, 40)]
    values = [rng.normal(size=(20, width)).astype(np.float32) for width in (3, 11)]
    scales = [Moments.of(each).scale() for each in values]
    readings = [
        *(Fingerprint("counts", counts) for counts in prints),
        *(Measured("numbers", *pair, linear) for *pair, linear in zip(values, scales, (0.0, 0.2), strict=True)),
    ]
    weights = rng.random(7)
    mine, theirs = torch.from_numpy(rng.integers(0, 20, rows)), torch.from_numpy(rng.integers(0, 20, columns))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("agents.process.kernels.SUMS_AT_A_TIME", entries)
        found = Mixture(Kernels(readings, 20, keeps=False), weights.tolist()).columns(mine, theirs)
    matrices = [dense(counts) for counts in prints]
    z = [scale.points(each) for scale, each in zip(scales, values, strict=True)]

    def value(i, j):
        near, wide = (np.square(each[i] - each[j]).mean() / 2 for each in z)
        terms = [tanimoto(matrix[i], matrix[j]) for matrix in matrices]
        terms += [np.exp(-square / width**2) for square in (near, wide) for width in (2.0, 0.7)]
        return weights @ [*terms, cosine(z[1][i], z[1][j])]

    expected = np.array([[value(i, j) for j in theirs.tolist()] for i in mine.tolist()]).reshape(rows, columns)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
    kept = Mixture(Kernels(readings, 20), weights.tolist()).columns(mine, theirs)
    np.testing.assert_allclose(kept, expected, rtol=1e-10, atol=1e-12)
