import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from support.posterior import MatrixKernel, bounded

from agents.beliefs.censoring import LEAST_NOISE, Thresholds, match_bounds, propagate_expectations
from agents.beliefs.posterior import DualPosterior

DRAWS = 400_000


def posterior_of(mean, covariance, precision, shift):
    """Means and variances given pseudo results, by inverses."""
    inverse = np.linalg.inv(covariance)
    found = np.linalg.inv(inverse + np.diag(precision))
    return found @ (inverse @ mean + shift), found.diagonal()


def drawn_moments(mean, covariance, thresholds, signs, noise, seed):
    """Means and variances by importance sampling from the prior, and how many draws the weights are worth."""
    draws = np.random.default_rng(seed).multivariate_normal(mean, covariance, size=DRAWS)
    weights = norm.cdf(signs * (draws - thresholds) / noise**0.5).prod(1)
    weights /= weights.sum()
    means = weights @ draws
    return means, weights @ (draws - means) ** 2, 1 / (weights**2).sum()


def problem(seed):
    """Means, covariance, thresholds, signs and noises, as results that were drawn would have them."""
    rng = np.random.default_rng(seed)
    size, rank = rng.integers(1, 6), rng.integers(1, 4)
    factor = rng.normal(size=(size, rank))
    mean, covariance = rng.normal(size=size), factor @ factor.T / rank + 0.05 * np.eye(size)
    noises = rng.choice([0.01, 0.1, 1.0]) * np.geomspace(1, 4, size) if seed % 2 else np.full(size, 0.1)
    results = rng.multivariate_normal(mean, covariance + np.diag(noises))
    thresholds = mean + rng.normal(size=size)
    return mean, covariance, thresholds, np.sign(results - thresholds), noises


def propagate(mean, covariance, thresholds, signs, noise):
    noises = np.broadcast_to(noise, np.shape(mean)).copy()
    tensors = (torch.as_tensor(given, dtype=torch.float64) for given in (mean, covariance, thresholds, signs, noises))
    precision, shift = propagate_expectations(*tensors)
    return precision.numpy(), shift.numpy()


@pytest.mark.parametrize("seed", range(12))
def test_moments_are_those_of_importance_sampling(seed):
    given_bounds = problem(seed)
    means, variances, worth = drawn_moments(*given_bounds, seed)
    found, spread = posterior_of(*given_bounds[:2], *propagate(*given_bounds))
    assert worth > 1000
    assert (np.abs(found - means) < (0.02 + 4 / worth**0.5) * variances**0.5).all()
    np.testing.assert_allclose(spread, variances, rtol=0.2)  # too small where bounds enclose graphs that are much alike


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_one_bound_has_the_moments_of_a_truncated_normal(sign):
    """Closed form of a normal variable plus noise above a number."""
    mean, variance, threshold, noise = 0.3, 0.8, 1.1, 0.2
    found, spread = posterior_of(
        *map(np.atleast_1d, (mean, [[variance]])), *propagate([mean], [[variance]], [threshold], [sign], noise)
    )
    z = sign * (mean - threshold) / (variance + noise) ** 0.5
    ratio = norm.pdf(z) / norm.cdf(z)
    assert found[0] == pytest.approx(mean + sign * variance * ratio / (variance + noise) ** 0.5, rel=1e-5)
    assert spread[0] == pytest.approx(variance - variance**2 / (variance + noise) * ratio * (z + ratio), rel=1e-5)


@given(st.integers(0, 10**6), st.floats(1e-8, 4), st.floats(0.01, 10))
def test_it_converges_on_contradictions_and_copies_and_a_bound_tells_no_more_than_a_result(seed, noise, width):
    rng = np.random.default_rng(seed)
    size, rank = int(rng.integers(1, 40)), int(rng.integers(1, 6))
    points = rng.normal(size=(size, rank))
    if seed % 3 == 0:
        points[:] = points[0]
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    signs, thresholds = rng.choice([-1.0, 1.0], size), width * rng.normal(size=size)
    precision, shift = propagate(np.zeros(size), points @ points.T, thresholds, signs, noise)
    assert np.isfinite(shift).all()
    assert (precision >= 0).all()
    assert (precision <= (1 + 1e-6) / max(noise, LEAST_NOISE)).all()


def prior(covariance, noise=0.1):
    none = torch.zeros(0, dtype=torch.float64)
    return DualPosterior(MatrixKernel(covariance), noise, none.long(), none, none)


def test_bounds_that_say_what_is_known_anyway_are_left_out():
    bounds = bounded(4, [(0, -50.0, True), (2, 0.5, True)]).bounds
    pseudo = match_bounds(prior(np.eye(4)), Thresholds(*bounds, torch.full_like(bounds.signs, 0.1)))
    assert pseudo.graphs.tolist() == [2]
    assert pseudo.values[0] > 0.5


def test_a_graph_may_have_both_bounds():
    bounds = bounded(4, [(1, 0.5, True), (1, 1.0, False)]).bounds
    pseudo = match_bounds(prior(np.eye(4), 1e-3), Thresholds(*bounds, torch.full_like(bounds.signs, 1e-3)))
    assert pseudo.graphs.tolist() == [1, 1]
    weights = 1 / pseudo.noises
    assert 0.5 < (weights @ pseudo.values / weights.sum()).item() < 1.0
