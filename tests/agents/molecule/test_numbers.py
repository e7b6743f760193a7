import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import norm

from agents.molecule.numbers import GaussianKernel, LinearKernel, by_rank, standardise

VALUES = np.random.default_rng(0).normal(size=(9, 4)) * [1, 10, 0.1, 1000] + 5
EVERY = torch.arange(9)


def test_a_gaussian_kernel_is_of_the_mean_squared_distance():
    points = standardise(VALUES)
    expected = [[np.exp(-((points[i] - points[j]) ** 2).mean().item() / (2 * 0.7**2)) for j in EVERY] for i in (1, 4)]
    kernel = GaussianKernel(points, 0.7)
    np.testing.assert_allclose(kernel.columns(torch.tensor([1, 4]), EVERY), expected, rtol=1e-9)
    np.testing.assert_allclose(kernel.columns(EVERY, EVERY).diagonal(), kernel.diagonal(EVERY))


def test_a_linear_kernel_is_that_of_a_constant_and_a_weight_for_each_number():
    points = standardise(VALUES)
    draws = np.random.default_rng(0).normal(size=(200_000, 5))
    functions = draws[:, :1] + draws[:, 1:] @ points.numpy().T / 2  # D = 4
    np.testing.assert_allclose(LinearKernel(points).columns(EVERY, EVERY), np.corrcoef(functions.T), atol=0.01)
    torch.testing.assert_close(LinearKernel(points).diagonal(EVERY), torch.ones(9, dtype=torch.float64))


def test_standardised_numbers_have_mean_zero_and_deviation_one():
    points = standardise(VALUES)
    np.testing.assert_allclose(points.mean(0), 0, atol=1e-12)
    np.testing.assert_allclose(points.std(0, correction=0), 1)


def test_a_number_that_all_share_is_left_out():
    same = np.concatenate([VALUES, np.full((9, 2), 0.1)], axis=1)
    assert torch.equal(standardise(same), standardise(VALUES))


def test_a_number_that_is_not_known_is_the_mean_of_the_others():
    values = VALUES.copy()
    values[[2, 5], 1] = np.nan
    points, known = standardise(values), standardise(np.delete(VALUES, [2, 5], axis=0))
    assert points[[2, 5], 1].tolist() == [0, 0]
    np.testing.assert_allclose(np.delete(points[:, 1].numpy(), [2, 5]), known[:, 1])


def test_a_column_without_any_number_is_left_out():
    assert standardise(np.full((3, 1), np.nan)).shape == (3, 0)


def test_a_number_far_from_all_others_does_not_make_them_alike():
    values = np.append(np.arange(40.0), 1e9)[:, None]
    points = standardise(values)
    assert points.abs().max() <= 5


def test_ranks_become_normal_scores_column_by_column():
    values = np.array([[3.0, 1.0], [9999.0, np.nan], [-2.0, 1.0], [5.0, 7.0]])
    expected = norm.ppf([[3 / 8, 2 / 6], [7 / 8, np.nan], [1 / 8, 2 / 6], [5 / 8, 5 / 6]])
    np.testing.assert_allclose(by_rank(values), expected)


@given(arrays(np.float64, (6, 2), elements=st.integers(-50, 50).map(float)))
def test_only_the_order_of_numbers_counts(values):
    np.testing.assert_array_equal(by_rank(values), by_rank(np.exp(values / 10)))


def test_ranks_of_a_column_without_any_number_are_not_known():
    assert np.isnan(by_rank(np.full((3, 1), np.nan))).all()
    assert by_rank(np.empty((3, 0))).shape == (3, 0)


@given(arrays(np.float64, (6, 3), elements=st.floats(-1e6, 1e6)))
def test_kernels_are_symmetric_and_positive_semi_definite(values):
    points, every = standardise(values), torch.arange(6)
    for kernel in (GaussianKernel(points, 2.0), LinearKernel(points)):
        whole = kernel.columns(every, every)
        torch.testing.assert_close(whole, whole.T)
        assert torch.linalg.eigvalsh(whole).min() > -1e-9
