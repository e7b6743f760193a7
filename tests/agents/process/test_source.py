"""Values, bounds and classes of another quantity: their scale, and what they tell."""

import numpy as np
import pytest
import torch
from scipy.special import ndtri
from scipy.stats import norm
from support.molecules import some_molecules
from support.posterior import bounded

import registry
from agents.contract import SourceResults
from agents.process.results import Quantity, levels_of
from agents.process.settings import MixtureSettings

POOL = some_molecules(60)
FEW = np.arange(0, 60, 5)
MIDDLE = float(np.median(POOL.targets))


def taught(values, sides=None, graphs=None, **settings):
    agent = registry.make_agent("molecule-ucb", **settings)
    agent.reset(None, seed=3, graph_set=POOL)
    if values is not None:
        agent.learn_sources([SourceResults("other", graphs or [*range(60)], values, sides)])
    agent.update(None, FEW, POOL.targets[FEW])
    return agent


def one_each(rows):
    return bounded(len(rows), [(graph, float(value), above) for graph, (value, above) in enumerate(rows)]).bounds


def test_a_class_of_few_has_its_threshold_at_its_share():
    levels = levels_of(one_each([(0, True)] * 2 + [(0, False)] * 8))
    np.testing.assert_allclose(levels, ndtri(0.8))


def test_thresholds_of_several_heights_stand_at_the_shares_below_them_in_order():
    rows = [(1, True)] * 3 + [(1, False)] + [(5, True)] * 2 + [(5, False)] * 2 + [(3, False)] * 3 + [(3, True)]
    levels = levels_of(one_each(rows))
    low, middle, high = (
        set(levels[[k for k, row in enumerate(sorted(rows, key=lambda row: not row[1])) if row[0] == at]].tolist())
        for at in (1, 3, 5)
    )
    assert low == {ndtri(0.25)}
    assert middle == high == {ndtri(5 / 8)}  # three of four below the lower one, two of four below the higher: joined


def test_the_posterior_given_classes_is_that_of_weighted_draws():
    """Draws of all values from the exact results, weighted by how probable they make the classes."""
    graphs = [*range(1, 60, 8)]
    agent = taught(np.zeros(len(graphs)), np.where(POOL.targets[graphs] > MIDDLE, 1, -1), graphs)
    links, kernel, targets = agent.learnt.links, agent.posterior.kernel, agent.targets
    source = agent.sources[0]
    thresholds = source.thresholds(links.noises[0], len(POOL))
    asked = torch.tensor([2, 17, 33, *thresholds.graphs])
    rewards = torch.from_numpy(FEW)
    prior, cross = kernel.columns(rewards, rewards).numpy(), kernel.columns(rewards, asked).numpy()
    solved = np.linalg.solve(prior + agent.learnt.noise * np.eye(len(FEW)), cross)
    mean = solved.T @ targets.of(torch.from_numpy(POOL.targets[FEW])).numpy()
    covariance = kernel.columns(asked, asked).numpy() - cross.T @ solved
    draws = np.random.default_rng(0).multivariate_normal(mean, covariance, size=400_000)
    away = thresholds.signs.numpy() * (draws[:, 3:] - source.levels.numpy()) / thresholds.noises.numpy() ** 0.5
    weights = norm.cdf(away).prod(1)
    weights /= weights.sum()
    assert 1 / (weights**2).sum() > 2000
    expected = weights @ draws[:, :3]
    spread = np.sqrt(weights @ (draws[:, :3] - expected) ** 2)
    means, variances = agent.posterior.mean_and_variance(torch.tensor([2, 17, 33]))
    np.testing.assert_allclose(means, expected, atol=0.06 * spread.max())
    np.testing.assert_allclose(variances.sqrt(), spread, rtol=0.05)


@pytest.mark.parametrize("level", [-80.0, -6.0, -1.0, 0.0, 2.0, 5.5, 8.0, 80.0])
@pytest.mark.parametrize("sign", [1, -1])
def test_the_mean_beyond_a_far_bound_is_beyond_it(level, sign):
    graphs, sides = torch.tensor([0, 1, 2]), torch.tensor([0, 0, sign])
    source = Quantity.of_source(
        "other", graphs, torch.tensor([-1.0, 1.0, level]).double(), sides, MixtureSettings(warp="none")
    )
    guess, at = source.guessed().targets[-1].item(), source.levels[0].item()
    assert sign * guess >= max(0.0, sign * at)
    if sign * at > 3:
        assert abs(guess) < abs(at) + 1 / abs(at)
