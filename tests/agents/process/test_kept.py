import numpy as np
import pytest
import torch

from agents.process.kept import KeptColumns, KeptKernel, KeptMixture


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
    monkeypatch.setattr("agents.process.kept.WHOLE", request.param)
    return request.param > 0


def test_columns_are_those_of_the_kernels_and_computed_once(whole):
    readings = [Counted(VALUES), Counted(OTHERS)]
    kept, values = KeptColumns(readings, 8), torch.cat([reading.values for reading in readings])
    for rows, index in [([3, 1], [0, 5]), ([1, 3, 3], range(8)), ([], [2]), ([6, 3], [1, 1])]:
        rows, index = torch.tensor(rows, dtype=torch.int64), torch.tensor(list(index))
        assert torch.equal(kept.columns(rows, index), values[:, rows][:, :, index].transpose(0, 1))
        assert torch.equal(KeptKernel(kept, 2).columns(rows, index), values[2, rows][:, index])
    assert [reading.computed for reading in readings] == [64 if whole else 24] * 2
    assert torch.equal(kept.diagonals, values.diagonal(dim1=1, dim2=2))
    assert torch.equal(KeptKernel(kept, 3).diagonal(torch.tensor([2, 7])), values[3].diagonal()[[2, 7]])


def test_a_mixture_is_the_weighted_sum_of_the_kernels():
    readings, every = [Counted(VALUES), Counted(OTHERS)], torch.arange(8)
    weights = [0.5, 2.0, 0.0, 0.3]
    mixture = KeptMixture(KeptColumns(readings, 8), weights)
    values = torch.cat([reading.values for reading in readings])
    whole = sum(weight * kernel for weight, kernel in zip(weights, values, strict=True))
    rows = torch.tensor([3, 0])
    torch.testing.assert_close(mixture.columns(rows, every), whole[rows])
    torch.testing.assert_close(mixture.diagonal(rows), whole.diagonal()[rows])
    torch.testing.assert_close(mixture.root @ mixture.root.T, whole)


def test_columns_of_graphs_that_stay_are_kept_where_graphs_change(monkeypatch):
    monkeypatch.setattr("agents.process.kept.WHOLE", 0)
    first = KeptColumns([Counted(VALUES)], 8)
    first.columns(torch.tensor([4, 6, 0]), torch.arange(8))
    stay, new = torch.tensor([6, 2, 4]), np.random.default_rng(1).normal(size=(5, 3))
    reading = Counted(np.concatenate([VALUES[stay.numpy()], new]))
    moved = first.exchanged([reading], stay, 5)
    assert reading.computed == 2 * 5  # two of the three columns are kept, and continued to five new graphs
    found = moved.columns(torch.tensor([0, 2]), torch.arange(8))
    assert reading.computed == 2 * 5
    torch.testing.assert_close(found.transpose(0, 1), reading.values[:, [0, 2]])
    torch.testing.assert_close(moved.diagonals, reading.values.diagonal(dim1=1, dim2=2))
