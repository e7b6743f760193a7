"""The kernel between values in several quantities, against matrices written out."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from support.posterior import MatrixKernel

from agents.process.links import LinkedKernel, Links

CORRELATIONS = st.lists(st.floats(-1, 1), min_size=1, max_size=4)
BASE = np.exp(-np.square(np.subtract.outer(np.arange(5.0), np.arange(5.0))) / 3)


@given(CORRELATIONS, st.floats(0, 2))
def test_it_is_that_of_processes_that_share_a_part(correlations, residual):
    slopes, sizes = tuple(0.5 + k for k in range(len(correlations))), 1 + len(correlations)
    links = Links(tuple(correlations), (0.1,) * len(correlations), slopes, residual)
    along, scale = np.array([1.0, *correlations]), np.array([1.0, *slopes])
    between = (np.outer(along, along) + np.diag(1 - along**2)) * np.outer(scale, scale)
    expected = np.kron(between, BASE + residual * np.eye(5))
    every = torch.arange(5 * sizes)
    kernel = LinkedKernel(MatrixKernel(BASE), 5, links)
    np.testing.assert_allclose(kernel.columns(every, every), expected, atol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(every), np.diag(expected))
    assert np.linalg.eigvalsh(expected)[0] > -1e-9


def test_the_same_rows_are_the_same_to_the_kernel_below():
    seen = []

    class Noting(MatrixKernel):
        def columns(self, rows, index):
            seen.append(rows)
            return super().columns(rows, index)

    kernel, rows = LinkedKernel(Noting(BASE), 5, Links((0.5,), (0.1,), (2.0,), 0.1)), torch.tensor([1, 7])
    kernel.columns(rows, torch.tensor([0]))
    kernel.columns(rows, torch.tensor([3]))
    assert seen[0] is seen[1]


@given(CORRELATIONS, st.lists(st.integers(0, 9), min_size=1, max_size=12), st.lists(st.integers(0, 9), max_size=8))
def test_columns_of_any_values_are_those_of_the_whole_matrix(correlations, rows, index):
    """Repeated ones, of one quantity or of several."""
    links = Links(tuple(correlations), (0.1,) * len(correlations), (1.5,) * len(correlations), 0.3)
    kernel, every = LinkedKernel(MatrixKernel(BASE), 5, links), torch.arange(5 * (1 + len(correlations)))
    whole = kernel.columns(every, every)
    rows, index = (torch.tensor(values, dtype=torch.int64) for values in (rows, index))
    for some in (index, index % 5):
        np.testing.assert_allclose(kernel.columns(rows, some), whole[rows][:, some], atol=1e-12)
