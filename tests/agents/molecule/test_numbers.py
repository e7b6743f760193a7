import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from agents.molecule.numbers import GaussianKernel, LinearKernel, Points

VALUES = np.random.default_rng(0).normal(size=(9, 4)) * [1, 10, 0.1, 1000] + 5
EVERY = torch.arange(9)


def test_a_gaussian_kernel_is_of_the_mean_squared_distance():
    points = Points(VALUES)
    z = points.of(EVERY)
    expected = [[np.exp(-((z[i] - z[j]) ** 2).mean().item() / (2 * 0.7**2)) for j in EVERY] for i in (1, 4)]
    kernel = GaussianKernel(points, 0.7)
    np.testing.assert_allclose(kernel.columns(torch.tensor([1, 4]), EVERY), expected, rtol=1e-9)
    np.testing.assert_allclose(kernel.columns(EVERY, EVERY).diagonal(), kernel.diagonal(EVERY))


def test_a_linear_kernel_is_that_of_a_constant_and_a_weight_for_each_number():
    points = Points(VALUES)
    draws = np.random.default_rng(0).normal(size=(200_000, 5))
    functions = draws[:, :1] + draws[:, 1:] @ points.of(EVERY).numpy().T / 2  # D = 4
    np.testing.assert_allclose(LinearKernel(points).columns(EVERY, EVERY), np.corrcoef(functions.T), atol=0.01)
    torch.testing.assert_close(LinearKernel(points).diagonal(EVERY), torch.ones(9, dtype=torch.float64))


@given(arrays(np.float64, (6, 3), elements=st.floats(-1e6, 1e6)))
def test_kernels_are_symmetric_and_positive_semi_definite(values):
    points, every = Points(values), torch.arange(6)
    for kernel in (GaussianKernel(points, 2.0), LinearKernel(points)):
        whole = kernel.columns(every, every)
        torch.testing.assert_close(whole, whole.T)
        assert torch.linalg.eigvalsh(whole).min() > -1e-9
