import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from support.posterior import MatrixKernel, from_scratch

from agents.beliefs.posterior import DualPosterior, Marginals, PrimalPosterior
from agents.beliefs.rewards import History
from gntk import symmetric_root

FEATURES = np.random.default_rng(0).normal(size=(12, 5))
KERNEL = FEATURES @ FEATURES.T / 5  # singular: rank 5 on 12 graphs
PRIOR = MatrixKernel(KERNEL)


def condition(actions, rewards, scale=1.0, noise=0.1, kernel=KERNEL):
    seen, counts = np.unique(actions, return_counts=True)
    means = np.array([np.mean(rewards[actions == graph]) for graph in seen], float)
    return DualPosterior(MatrixKernel(scale * kernel), noise, *map(torch.from_numpy, (seen, counts, means)))


@pytest.mark.parametrize("block", [1, 5, 4096])
@given(st.lists(st.integers(0, 11), max_size=30), st.floats(0.01, 10), st.floats(1e-3, 10))
def test_it_is_the_posterior_of_every_single_reward(block, actions, scale, noise):
    actions, rewards = np.array(actions, int), np.sin(np.arange(len(actions)))
    posterior, index = condition(actions, rewards, scale, noise), torch.tensor([3, 0, 11, 3, 7])
    mean, covariance = from_scratch(scale * KERNEL, noise, actions, rewards)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("agents.beliefs.posterior.BLOCK", block)
        found, variances = posterior.mean_and_variance(index)
    np.testing.assert_allclose(found, mean[index], atol=1e-8)
    np.testing.assert_allclose(variances, covariance.diagonal()[index], atol=1e-7)
    np.testing.assert_allclose(posterior.covariance(index), covariance[np.ix_(index, index)], atol=1e-7)


@given(st.sets(st.integers(0, 11)), st.floats(0, 2), st.floats(1e-3, 10), st.integers(1, 9))
def test_the_primal_form_is_the_dual_one(played, own, noise, count):
    seen, index = torch.tensor([*played], dtype=torch.int64), torch.tensor([3, 0, 11, 3, 7])
    prior = MatrixKernel(5 * KERNEL + own * np.eye(12))
    results = noise, seen, count + seen, torch.sin(seen.double())
    primal, dual = PrimalPosterior(torch.from_numpy(FEATURES), own, prior, *results), DualPosterior(prior, *results)
    for found, expected in zip(primal.mean_and_variance(index), dual.mean_and_variance(index), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-7)
    root, every = primal.root(torch.arange(12)), torch.arange(12)
    np.testing.assert_allclose(root @ root.T, dual.covariance(every), atol=1e-7)
    np.testing.assert_allclose(primal.dual.covariance(every), dual.covariance(every), atol=1e-12)


GROUPS = {
    "one graph each": [[3], [0], [3], [11]],
    "with the same others": [[3, 7, 7], [0, 7, 7], [7, 7, 7], [11, 7, 7]],
    "the same others first": [[7, 2, 3], [7, 2, 0], [7, 2, 2]],
    "one group": [[4, 4, 1, 9]],
    "nothing in common": [[3, 0], [1, 2], [5, 4], [11, 11], [3, 1]],
    "in two dimensions": [[[3, 0], [1, 2]], [[5, 4], [3, 0]]],
}


@pytest.mark.parametrize("together", [1, 1000])
@pytest.mark.parametrize("groups", GROUPS.values(), ids=GROUPS)
def test_groups_have_the_joint_posterior_of_their_graphs(groups, together, monkeypatch):
    monkeypatch.setattr("agents.beliefs.posterior.TOGETHER", together)
    actions = np.array([0, 3, 3, 5, 9, 1])
    rewards, groups = np.sin(actions), np.array(groups)
    means, covariances = condition(actions, rewards).joint(torch.from_numpy(groups))
    mean, covariance = from_scratch(KERNEL, 0.1, actions, rewards)
    np.testing.assert_allclose(means, mean[groups], atol=1e-8)
    np.testing.assert_allclose(covariances, covariance[groups[..., :, None], groups[..., None, :]], atol=1e-7)


@given(st.lists(st.integers(0, 11), max_size=30), st.floats(1e-3, 10), st.integers(0, 20))
def test_a_root_of_the_prior_makes_one_of_the_covariance(actions, noise, more):
    """Whether the last rewards were added one by one or all were conditioned on at once."""
    actions, rewards = np.array(actions, int), np.sin(np.arange(len(actions)))
    posterior = condition(actions, rewards, noise=noise)
    for k in range(more):
        index = torch.tensor([k % 12])
        posterior = posterior.extended(k % 12, posterior.explained(index)[:, 0], 1.0, 0.0)
    every = np.append(actions, np.arange(more) % 12)
    _, covariance = from_scratch(KERNEL, noise, every, np.zeros(len(every)))
    root = posterior.root(symmetric_root(PRIOR.matrix))
    assert root.shape == (12, 12 + len(posterior.seen))
    np.testing.assert_allclose(root @ root.T, covariance, atol=1e-7)


@pytest.mark.parametrize("noise", [1e-4, 1.0])
def test_it_is_exact_after_ten_thousand_rewards(noise):
    random = np.random.default_rng(1)
    actions, rewards = random.integers(0, 10, 10_000), random.normal(size=10_000)  # two graphs are never played
    history = History(12)
    history.add(torch.tensor(actions), torch.tensor(rewards))
    seen = history.seen
    posterior = DualPosterior(PRIOR, noise, seen, history.counts[seen], history.means[seen])
    graphs, counts = np.unique(actions, return_counts=True)  # the rewards of one graph are one, with less noise
    means = np.array([rewards[actions == graph].mean() for graph in graphs])
    gain = np.linalg.solve(KERNEL[np.ix_(graphs, graphs)] + np.diag(noise / counts), KERNEL[graphs]).T
    mean, variance = posterior.mean_and_variance(torch.arange(12))
    np.testing.assert_allclose(mean, gain @ means, atol=1e-9)
    np.testing.assert_allclose(variance, np.diag(KERNEL - gain @ KERNEL[graphs]), atol=1e-9)


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
