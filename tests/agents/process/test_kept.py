import numpy as np
import pytest
import torch

from agents.process.kept import KeptColumns


class Counted:
    """A random kernel that counts the entries it computes."""

    def __init__(self, values):
        self.values, self.computed = torch.from_numpy(values @ values.T), 0

    def columns(self, rows, index):
        self.computed += len(rows) * len(index)
        return self.values[rows][:, index]

    def diagonal(self, index):
        return self.values.diagonal()[index]


VALUES = np.random.default_rng(0).normal(size=(8, 3))


@pytest.mark.parametrize("whole", [False, True])
def test_columns_are_those_of_the_kernel_and_computed_once(whole):
    kernel = Counted(VALUES)
    kept = KeptColumns(kernel, 8, whole)
    for rows, index in [([3, 1], [0, 5]), ([1, 3, 3], range(8)), ([], [2])]:
        rows, index = torch.tensor(rows, dtype=torch.int64), torch.tensor(list(index))
        assert torch.equal(kept.columns(rows, index), kernel.values[rows][:, index])
    assert kernel.computed == (64 if whole else 16)
    assert torch.equal(kept.diagonal(torch.tensor([2, 7])), kernel.values.diagonal()[[2, 7]])


def test_columns_of_graphs_that_stay_are_kept_where_graphs_change():
    first = KeptColumns(Counted(VALUES), 8)
    first.columns(torch.tensor([4, 6, 0]), torch.arange(8))
    stay, new = torch.tensor([6, 2, 4]), np.random.default_rng(1).normal(size=(5, 3))
    kernel = Counted(np.concatenate([VALUES[stay.numpy()], new]))
    moved = first.exchanged(kernel, stay, 5)
    assert kernel.computed == 2 * 5  # two of the three columns are kept, and continued to five new graphs
    found = moved.columns(torch.tensor([0, 2]), torch.arange(8))
    assert kernel.computed == 2 * 5
    torch.testing.assert_close(found, kernel.values[[0, 2]])
    torch.testing.assert_close(moved.diagonal(torch.arange(8)), kernel.values.diagonal())


def test_columns_that_would_take_too_much_memory_are_computed_each_time(monkeypatch):
    monkeypatch.setattr("agents.process.kept.ENTRIES", 16)  # two columns of eight
    kernel = Counted(VALUES)
    kept, every = KeptColumns(kernel, 8), torch.arange(8)
    kept.columns(torch.tensor([1, 2]), every)
    some = torch.tensor([0, 5])
    for times in (1, 2):
        assert torch.equal(kept.columns(torch.tensor([1, 2, 3]), some), kernel.values[[1, 2, 3]][:, [0, 5]])
        assert kernel.computed == 16 + 6 * times
    assert torch.equal(kept.columns(torch.tensor([2]), every), kernel.values[[2]])
    assert kernel.computed == 16 + 12
