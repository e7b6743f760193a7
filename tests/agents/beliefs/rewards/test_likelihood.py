from types import SimpleNamespace

import numpy as np
import pytest
import torch
from scipy.stats import multivariate_normal, norm

from agents.beliefs.rewards import likelihood as module
from agents.beliefs.rewards.history import History
from agents.beliefs.rewards.likelihood import BOUNDS, PRIOR_ROUNDS, MarginalLikelihood
from agents.beliefs.rewards.recency import DiscountedHistory
from agents.beliefs.rewards.targets import Standardised

FEATURES = np.random.default_rng(0).normal(size=(12, 5))
KERNEL = FEATURES @ FEATURES.T / 5  # singular: rank 5 on 12 graphs


def observe(length, seed=1, noise=0.1):
    rng = np.random.default_rng(seed)
    actions = rng.integers(0, 10, length)  # two graphs are never played
    means = FEATURES @ rng.normal(size=5)
    return actions, means[actions] + noise**0.5 * rng.normal(size=length)


def record(actions, rewards):
    history = History(12)
    history.add(torch.tensor(actions), torch.tensor(rewards))
    return history


def likelihood_of(kernel, history, **units):
    seen = history.counts > 0
    return MarginalLikelihood(torch.tensor(kernel)[seen][:, seen], history, Standardised(**units))


@pytest.mark.parametrize(("scale", "noise"), [(1.0, 0.1), (3.0, 0.5), (0.2, 1e-3)])
def test_likelihood_is_that_of_all_rewards_up_to_a_constant(scale, noise):
    actions, rewards = observe(50)
    likelihood = likelihood_of(KERNEL, record(actions, rewards), location=0.3, unit=2.0)

    def reference(scale, noise):
        covariance = scale * KERNEL[np.ix_(actions, actions)] + noise * np.eye(50)
        return -2 * multivariate_normal(np.zeros(50), covariance).logpdf((rewards - 0.3) / 2.0)

    ours = likelihood.twice_negative_log(scale, noise) - likelihood.twice_negative_log(1.0, 1.0)
    assert ours == pytest.approx(reference(scale, noise) - reference(1.0, 1.0), rel=1e-8)


@pytest.mark.parametrize(("scale", "noise"), [(1.0, 0.1), (3.0, 0.5), (0.2, 0.02)])
def test_with_weights_it_is_that_of_densities_to_the_power_of_their_weights(scale, noise):
    """By an integral over the mean rewards of two graphs."""
    actions, rewards, kernel = (
        np.array([0, 1, 0, 0]),
        np.array([0.5, -0.3, 0.1, 0.6]),
        np.array([[1.0, 0.4], [0.4, 0.8]]),
    )
    history = DiscountedHistory(2, 0.7)
    history.add(torch.tensor(actions), torch.tensor(rewards))
    likelihood = likelihood_of(kernel, history)

    axis = np.linspace(-8, 8, 801)
    means = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1)

    def reference(scale, noise):
        logs = norm(means[..., actions], noise**0.5).logpdf(rewards) @ 0.7 ** np.arange(4)[::-1]
        return -2 * np.log(np.exp(multivariate_normal(np.zeros(2), scale * kernel).logpdf(means) + logs).sum())

    ours = likelihood.twice_negative_log(scale, noise) - likelihood.twice_negative_log(0.7, 0.3)
    assert ours == pytest.approx(reference(scale, noise) - reference(0.7, 0.3), rel=1e-8)


def test_scale_and_noise_that_made_the_rewards_are_found():
    rng = np.random.default_rng(3)
    features = rng.normal(size=(12, 12))
    kernel = features @ features.T / 12
    means = np.linalg.cholesky(4.0 * kernel) @ rng.normal(size=12)
    actions = rng.integers(0, 12, 3000)
    rewards = means[actions] + 0.5 * rng.normal(size=3000)
    found = likelihood_of(kernel, record(actions, rewards)).fit(None, None, prior_scale=1.0)
    assert found.noise == pytest.approx(0.25, rel=0.1)
    assert found.scale == pytest.approx(4.0, rel=0.6)  # twelve graphs tell no more


@pytest.mark.parametrize(("scale", "noise"), [(2.0, None), (None, 0.3), (2.0, 0.3)])
def test_what_is_known_is_not_fitted(scale, noise):
    found = likelihood_of(KERNEL, record(*observe(20))).fit(scale, noise, prior_scale=1.0)
    assert scale in (None, found.scale)
    assert noise in (None, found.noise)


def test_noise_in_whose_units_the_prior_is_has_the_largest_posterior():
    """Its prior is that of `PRIOR_ROUNDS` more rewards with a mean square of the ridge."""
    likelihood = likelihood_of(KERNEL, record(*observe(60)))

    def objective(noise):
        return likelihood.twice_negative_log(noise / 0.2, noise) + PRIOR_ROUNDS * (np.log(noise) + 0.2 / noise)

    found = likelihood.fit_noise(ridge=0.2)
    assert objective(found) < min(objective(0.98 * found), objective(1.02 * found))


def test_where_nothing_is_known_the_prior_decides():
    nothing = likelihood_of(KERNEL, record(np.array([0]), np.array([0.0])))
    found = nothing.fit(None, None, prior_scale=7.0)
    assert found.scale == pytest.approx(7.0, rel=1.0 / PRIOR_ROUNDS)


def test_fit_is_no_worse_than_its_neighbours():
    likelihood = likelihood_of(KERNEL, record(*observe(200)))
    found = likelihood.fit(None, None, prior_scale=1.0)
    best = likelihood.twice_negative_log(found.scale, found.noise)
    for factor in (0.5, 2.0):
        assert likelihood.twice_negative_log(factor * found.scale, found.noise) > best - 0.5
        assert likelihood.twice_negative_log(found.scale, factor * found.noise) > best


def test_noise_in_units_of_the_prior_is_that_of_the_whole_covariance():
    actions, rewards = observe(30)
    found = likelihood_of(KERNEL, record(actions, rewards), location=0.3, unit=2.0).fit_noise(ridge=0.2)
    targets = (rewards - 0.3) / 2.0
    whole = KERNEL[np.ix_(actions, actions)] / 0.2 + np.eye(30)
    expected = (targets @ np.linalg.solve(whole, targets) + PRIOR_ROUNDS * 0.2) / (30 + PRIOR_ROUNDS)
    assert found == pytest.approx(expected, rel=1e-9)


def test_without_rewards_but_zero_the_noise_is_its_prior_times_the_density_of_one_reward():
    """The logarithm x of the noise minimises x + ((x - log 0.01) / 3)^2: it is 4.5 below that of the median."""
    zero = likelihood_of(KERNEL, record(np.array([0]), np.array([0.0])))
    found = zero.fit(1e-9, None, prior_scale=1.0)
    assert found.noise == pytest.approx(0.01 * np.exp(-4.5), rel=1e-2)


def test_with_little_noise_the_scale_is_a_mean_square_with_two_rewards_from_the_prior():
    rewards = np.array([1.0, -2.0, 3.0])
    likelihood = likelihood_of(np.eye(12), record(np.arange(3), rewards))
    found = likelihood.fit(None, 1e-8, prior_scale=5.0)
    assert found.scale == pytest.approx((1 + 4 + 9 + 2 * 5.0) / (3 + 2), rel=1e-3)


def test_the_search_starts_near_the_best_of_all_pairs(monkeypatch):
    """A scale of about a thousand with a noise of a millionth, steps of seven apart."""
    actions = np.tile(np.arange(10), 20)
    rewards = 30 * np.random.default_rng(0).normal(size=10)[actions] + 1e-3 * observe(200)[1]
    likelihood = likelihood_of(np.eye(12), record(actions, rewards))
    best = likelihood.fit(None, None, prior_scale=1000.0)
    monkeypatch.setattr(module, "minimize", lambda *given, **named: SimpleNamespace(fun=np.inf))
    start = likelihood.fit(None, None, prior_scale=1000.0)
    for found, near in ((best.scale, start.scale), (best.noise, start.noise)):
        assert found / 7.2 < near < found * 7.2
    assert best.scale > 1e7 * best.noise


def test_an_eigenvalue_below_zero_by_rounding_counts_as_zero():
    likelihood = likelihood_of(np.diag([1.0, -1e-10, *[1.0] * 10]), record(np.array([0, 1]), np.array([1.0, 0.0])))
    assert likelihood.twice_negative_log(1e4, 1e-8) == pytest.approx(np.log(1e4) + 1e-4 + np.log(1e-8), rel=1e-6)


@pytest.mark.parametrize("size", [1e-12, 1e12])
def test_scale_and_noise_stay_within_bounds(size):
    actions, rewards = observe(20)
    found = likelihood_of(KERNEL, record(actions, size * rewards)).fit(None, None, prior_scale=size)
    for value in (found.scale, found.noise):
        assert BOUNDS[0] * 0.99 <= value <= BOUNDS[1] * 1.01
