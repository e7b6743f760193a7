import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from support.posterior import from_scratch

from agents.beliefs.posterior import DualPosterior, Marginals
from agents.beliefs.rewards.likelihood import Hyperparameters
from agents.kernel.priors import WholePrior

FEATURES = np.random.default_rng(0).normal(size=(12, 5))
KERNEL = FEATURES @ FEATURES.T / 5  # singular: rank 5 on 12 graphs
PRIOR = WholePrior(torch.tensor(KERNEL))


def condition(actions, rewards, scale=1.0, noise=0.1):
    seen, counts = np.unique(actions, return_counts=True)
    means = np.array([np.mean(rewards[actions == graph]) for graph in seen])
    return DualPosterior(PRIOR, Hyperparameters(scale, noise), *map(torch.from_numpy, (seen, counts, means)))


@pytest.mark.parametrize("block", [1, 5, 4096])
@given(st.lists(st.integers(0, 11), min_size=1, max_size=30), st.floats(0.01, 10), st.floats(1e-3, 10))
def test_it_is_the_posterior_of_every_single_reward(block, actions, scale, noise):
    actions, rewards = np.array(actions), np.sin(np.arange(len(actions)))
    posterior, index = condition(actions, rewards, scale, noise), torch.tensor([3, 0, 11, 3, 7])
    mean, covariance = from_scratch(scale * KERNEL, noise, actions, rewards)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("agents.beliefs.posterior.BLOCK", block)
        found, variances = posterior.mean_and_variance(index)
    np.testing.assert_allclose(found, mean[index], atol=1e-8)
    np.testing.assert_allclose(variances, covariance.diagonal()[index], atol=1e-7)
    np.testing.assert_allclose(posterior.covariance(index), covariance[np.ix_(index, index)], atol=1e-7)


def test_without_rewards_it_is_the_prior():
    none = torch.zeros(0, dtype=torch.float64)
    posterior = DualPosterior(PRIOR, Hyperparameters(2.0, 0.1), none.long(), none, none)
    mean, variance = posterior.mean_and_variance(torch.arange(12))
    assert not mean.any()
    torch.testing.assert_close(variance, 2 * PRIOR.kernel.diagonal())


def test_a_kernel_of_copies_without_noise_can_be_conditioned_on():
    posterior = condition(np.arange(12), np.arange(12.0), noise=1e-16)
    mean, variance = posterior.mean_and_variance(torch.arange(12))
    assert mean.isfinite().all()
    assert (variance >= 0).all()


@pytest.mark.parametrize("among", [[*range(12)], [11, 3, 0], [2]])
def test_the_posterior_of_some_graphs_is_that_of_all(among):
    actions = np.random.default_rng(1).integers(0, 10, 40)
    rewards = np.random.default_rng(2).normal(size=40)
    counts, means = torch.zeros(2, 12, dtype=torch.float64)
    for graph in set(actions.tolist()):
        counts[graph], means[graph] = (actions == graph).sum(), rewards[actions == graph].mean()
    prior = WholePrior(PRIOR.kernel, offered=torch.tensor(among))
    some = prior.condition(Hyperparameters(1.0, 0.1), counts, means)
    mean, covariance = from_scratch(KERNEL, 0.1, actions, rewards)
    np.testing.assert_allclose(some.mean, mean[among], atol=1e-9)
    np.testing.assert_allclose(some.root @ some.root.T, covariance[np.ix_(among, among)], atol=1e-9)


@given(st.lists(st.integers(0, 11), min_size=1, max_size=15), st.lists(st.integers(0, 4), min_size=1, max_size=10))
def test_results_that_are_added_one_by_one_give_the_posterior_of_all(first, later):
    index = torch.tensor([3, 0, 11, 5, 7])  # graphs that are asked about, some of them played
    actions = np.array([*first, *index[later].tolist()])
    rewards = np.sin(np.arange(len(actions)))
    marginals = Marginals(condition(np.array(first), rewards[: len(first)]), index)
    for place, reward in zip(later, rewards[len(first) :], strict=True):
        marginals = marginals.given(place, 1.0, float(reward))
    mean, covariance = from_scratch(KERNEL, 0.1, actions, rewards)
    np.testing.assert_allclose(marginals.mean, mean[index], atol=1e-8)
    np.testing.assert_allclose(marginals.variance, covariance.diagonal()[index], atol=1e-8)
    found, variances = marginals.posterior.mean_and_variance(index)
    np.testing.assert_allclose(found, mean[index], atol=1e-8)
    np.testing.assert_allclose(variances, covariance.diagonal()[index], atol=1e-8)
    np.testing.assert_allclose(marginals.posterior.covariance(index), covariance[np.ix_(index, index)], atol=1e-8)


def test_other_targets_of_the_same_results_give_their_posterior():
    actions, rewards, others = np.array([1, 4, 6]), np.array([0.3, -1.0, 2.0]), np.array([5.0, 0.0, 1.0])
    marginals = Marginals(condition(actions, rewards), torch.arange(12)).given(8, 1.0, 9.0)
    moved = marginals.retargeted(torch.tensor([*others, -3.0], dtype=torch.float64))
    mean, covariance = from_scratch(KERNEL, 0.1, np.array([*actions, 8]), np.array([*others, -3.0]))
    np.testing.assert_allclose(moved.mean, mean, atol=1e-8)
    np.testing.assert_allclose(moved.variance, covariance.diagonal(), atol=1e-8)
