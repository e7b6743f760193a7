"""The kernel between values in several quantities, against matrices written out."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from support.posterior import MatrixKernel

from agents.process.sources import LinkedKernel, Links

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
