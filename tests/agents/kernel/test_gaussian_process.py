import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from support.posterior import from_scratch

from agents.beliefs.rewards.history import History
from agents.beliefs.rewards.recency import DiscountedHistory
from agents.kernel.gaussian_process import GaussianProcess
from gntk import symmetric_root

FEATURES = np.random.default_rng(0).normal(size=(12, 5))
KERNEL = FEATURES @ FEATURES.T / 5  # singular: rank 5 on 12 graphs


def record(actions, rewards):
    history = History(12)
    history.add(torch.tensor(actions), torch.tensor(rewards))
    return history


def by_counts(kernel, noise, actions, rewards):
    """The same from counts and means: the observations of one graph are one, with less noise."""
    seen, counts = np.unique(actions, return_counts=True)
    means = np.array([rewards[actions == graph].mean() for graph in seen])
    gain = np.linalg.solve(kernel[np.ix_(seen, seen)] + np.diag(noise / counts), kernel[seen]).T
    return gain @ means, kernel - gain @ kernel[seen]


def observe(length, seed=1, noise=0.1):
    rng = np.random.default_rng(seed)
    actions = rng.integers(0, 10, length)  # two graphs are never played
    means = FEATURES @ rng.normal(size=5)
    return actions, means[actions] + noise**0.5 * rng.normal(size=length)


@pytest.mark.parametrize("noise", [1e-4, 0.1, 10.0])
def test_posterior_equals_one_solve_with_all_observations(noise):
    actions, rewards = observe(60)
    process = GaussianProcess(torch.tensor(KERNEL), noise)
    for action, reward in zip(actions, rewards, strict=True):
        process.add(int(action), float(reward))
    mean, covariance = from_scratch(KERNEL, noise, actions, rewards)
    np.testing.assert_allclose(process.mean, mean, atol=1e-9)
    np.testing.assert_allclose(process.root @ process.root.T, covariance, atol=1e-9)
    np.testing.assert_allclose(process.variance, np.diag(covariance), atol=1e-9)


@pytest.mark.parametrize("noise", [1e-4, 1.0])
def test_posterior_after_ten_thousand_rounds_equals_a_solve_from_scratch(noise):
    actions, rewards = observe(10_000)
    process = GaussianProcess(torch.tensor(KERNEL), noise)
    for action, reward in zip(actions, rewards, strict=True):
        process.add(int(action), float(reward))
    mean, covariance = by_counts(KERNEL, noise, actions, rewards)
    np.testing.assert_allclose(process.mean, mean, atol=1e-9)
    np.testing.assert_allclose(process.root @ process.root.T, covariance, atol=1e-9)


def test_posterior_from_counts_and_means_equals_the_one_reward_by_reward():
    actions, rewards = observe(40)
    history = record(actions, rewards)
    at_once = GaussianProcess(torch.tensor(KERNEL), 0.1, history.counts, history.means)
    mean, covariance = from_scratch(KERNEL, 0.1, actions, rewards)
    np.testing.assert_allclose(at_once.mean, mean, atol=1e-9)
    np.testing.assert_allclose(at_once.root @ at_once.root.T, covariance, atol=1e-9)


@pytest.mark.parametrize("before", [0, 15])
def test_the_posterior_given_rewards_with_weights_is_that_with_more_noise(before):
    """Of a reward with weight w: the noise variance is divided by w."""
    actions, rewards = observe(40)
    history = DiscountedHistory(12, 0.9)
    history.add(torch.tensor(actions[before:]), torch.tensor(rewards[before:]))
    process = GaussianProcess.of_root(symmetric_root(torch.tensor(KERNEL)), 0.1)
    for action, reward in zip(actions[:before], rewards[:before], strict=True):
        process.add(int(action), float(reward))
    root = process.root.clone()
    told = process.given(history.counts, history.means)
    noise = 0.1 / np.append(np.ones(before), 0.9 ** np.arange(40 - before)[::-1])
    mean, covariance = from_scratch(KERNEL, noise, actions, rewards)
    np.testing.assert_allclose(told.mean, mean, atol=1e-9)
    np.testing.assert_allclose(told.root @ told.root.T, covariance, atol=1e-9)
    assert told.noise_variance == 0.1
    assert torch.equal(process.root, root)  # the process itself stays


def test_the_posterior_given_no_rewards_is_the_prior():
    process, none = GaussianProcess(torch.tensor(KERNEL), 0.1), torch.zeros(12, dtype=torch.float64)
    assert torch.equal(process.given(none, none).root, process.root)
    assert not process.given(none, none).mean.any()


def test_no_rewards_leave_the_prior_exactly():
    kernel, none = torch.tensor(KERNEL), torch.zeros(12, dtype=torch.float64)
    assert torch.equal(GaussianProcess(kernel, 0.1, none.long(), none).root, GaussianProcess(kernel, 0.1).root)


def test_a_reward_that_tells_nothing_changes_nothing():
    """Of a graph whose mean reward is known, the gain is zero, not zero by zero."""
    kernel = torch.tensor(KERNEL)
    kernel[3], kernel[:, 3] = 0, 0
    process = GaussianProcess(kernel, 0.1)
    before = process.root.clone()
    process.add(3, 7.0)
    torch.testing.assert_close(process.root, before, rtol=0, atol=1e-8)
    torch.testing.assert_close(process.mean, torch.zeros_like(process.mean), rtol=0, atol=1e-8)


@given(st.lists(st.integers(0, 11), min_size=1, max_size=30))
def test_one_more_reward_never_raises_a_variance(actions):
    process = GaussianProcess(torch.tensor(KERNEL), 0.05)
    for action in actions:
        before = process.variance
        process.add(action, 1.0)
        assert (process.variance <= before + 1e-12).all()
