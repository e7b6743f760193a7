import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from agents.linear.regression import FLAT, Sums, Weights, likelihood, posterior

RNG = np.random.default_rng(0)
FEATURES = np.column_stack([RNG.normal(size=(30, 4)), np.ones(30)])
REWARDS = FEATURES @ RNG.normal(size=5) + 0.3 * RNG.normal(size=30) + 2
PRIOR = np.diag([1.0, 1.0, 1.0, 1.0, FLAT])


def sums_of(count, origin=0.0):
    return Sums.empty(5, origin).add(torch.tensor(FEATURES[:count]), torch.tensor(REWARDS[:count]))


@pytest.mark.parametrize("count", [0, 1, 3, 30])
def test_the_posterior_is_that_of_a_gaussian_process_with_a_linear_kernel(count):
    """By one solve with the t x t matrix of all observations, without weights."""
    weights = posterior(sums_of(count), scale=0.7, noise=0.2)
    kernel = 0.7 * FEATURES @ PRIOR @ FEATURES.T
    gain = np.linalg.solve(kernel[:count, :count] + 0.2 * np.eye(count), kernel[:count]).T
    np.testing.assert_allclose(FEATURES @ weights.mean.numpy(), gain @ REWARDS[:count], atol=1e-8)
    covariance = FEATURES @ weights.covariance.numpy() @ FEATURES.T
    np.testing.assert_allclose(covariance, kernel - gain @ kernel[:count], atol=1e-8)
    np.testing.assert_allclose(weights.variance(torch.tensor(FEATURES)), np.diag(covariance), atol=1e-8)
    root = weights.root()
    np.testing.assert_allclose(root @ root.T, weights.covariance, atol=1e-9)


@pytest.mark.parametrize("count", [1, 3, 30])
def test_the_likelihood_is_the_density_of_all_rewards(count):
    found = likelihood(sums_of(count))

    def density(scale, noise):
        covariance = scale * FEATURES[:count] @ PRIOR @ FEATURES[:count].T + noise * np.eye(count)
        return multivariate_normal(np.zeros(count), covariance).logpdf(REWARDS[:count])

    for scale, noise in ((0.5, 0.1), (2.0, 3.0), (1e-3, 1.0)):
        expected = 2 * (density(1.0, 1.0) - density(scale, noise))
        told = found.twice_negative_log(scale, noise) - found.twice_negative_log(1.0, 1.0)
        assert told == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_a_variance_that_is_negative_by_rounding_is_zero():
    sure = Weights(torch.zeros(5), -1e-18 * torch.eye(5, dtype=torch.float64))
    assert not sure.variance(torch.tensor(FEATURES)).any()


def test_without_rewards_every_scale_and_noise_is_as_likely():
    found = likelihood(Sums.empty(5))
    assert found.twice_negative_log(0.5, 0.1) == pytest.approx(found.twice_negative_log(2.0, 3.0))


def test_the_likelihood_is_that_density_where_large_features_are_equal_to_others():
    """The gram matrix is then singular, and its rounding errors are no eigenvalues."""
    wide = np.column_stack([1e4 * FEATURES[:, :2], 1e4 * FEATURES[:, :2], np.ones(30)])
    found = likelihood(Sums.empty(5).add(torch.tensor(wide), torch.tensor(REWARDS)))

    def density(scale, noise):
        covariance = scale * wide @ PRIOR @ wide.T + noise * np.eye(30)
        return multivariate_normal(np.zeros(30), covariance).logpdf(REWARDS)

    expected = 2 * (density(1e-8, 1.0) - density(3e-8, 0.5))
    told = found.twice_negative_log(3e-8, 0.5) - found.twice_negative_log(1e-8, 1.0)
    assert told == pytest.approx(expected, rel=1e-4)


@given(st.floats(-100, 100), st.floats(0.01, 100), st.integers(1, 30))
def test_sums_of_standardised_targets_are_those_of_the_targets(location, unit, count):
    found = sums_of(count, origin=1.5).standardised(location, unit)
    targets = torch.tensor((REWARDS[:count] - location) / unit)
    expected = Sums.empty(5).add(torch.tensor(FEATURES[:count]), targets)
    assert found.origin == expected.origin == 0
    np.testing.assert_allclose(found.products, expected.products, rtol=1e-7, atol=1e-7)
    assert found.squares == pytest.approx(expected.squares, rel=1e-6, abs=1e-6)


def test_location_and_unit_are_mean_and_deviation_and_equal_rewards_have_unit_one():
    for origin in (0.0, 3.0):
        location, unit = sums_of(30, origin).location_and_unit()
        assert location == pytest.approx(REWARDS.mean())
        assert unit == pytest.approx(REWARDS.std())
    assert Sums.empty(5).location_and_unit() == (0.0, 1.0)
    equal = Sums.empty(5).add(torch.tensor(FEATURES), torch.full((30,), 0.1, dtype=torch.float64))
    assert equal.location_and_unit() == (pytest.approx(0.1), 1.0)


@pytest.mark.parametrize(
    ("middle", "origin", "spread", "differs"),
    [
        (1e4, 0.0, 0.1, True),
        (1e4, 0.0, 1e-3, False),
        (0.0, 1e10, 0.05, True),
        (0.0, 1e10, 3e-3, False),
        (0.0, 0.0, 1e-99, True),
        (0.0, 0.0, 1e-101, False),
    ],
)
def test_the_unit_is_one_where_rewards_differ_by_rounding_errors_only(middle, origin, spread, differs):
    """Of their mean from the origin, of the origin, or of a square that is almost 0."""
    rewards = origin + middle + spread * torch.tensor([1.0, -1.0] * 15, dtype=torch.float64)
    _, unit = Sums.empty(5, origin).add(torch.tensor(FEATURES), rewards).location_and_unit()
    assert unit == pytest.approx(spread if differs else 1.0, rel=1e-2)
