"""The worth of one more result, against play: draw truths and results, name the best graph, and see what it gives."""

import numpy as np
import pytest
import torch
from scipy.stats import norm

from agents.beliefs.rewards import NormalScores, Standardised, worth_of_results

MEAN = np.array([0.9, 1.0, 0.2, 0.8])
ROOT = np.random.default_rng(0).normal(size=(4, 4)) * 0.4
COVARIANCE = ROOT @ ROOT.T
SCALED = Standardised(2.0, 3.0)
SKEWED = NormalScores(torch.tensor([0.0, 0.1, 0.3, 0.6, 1.0, 2.0, 5.0, 30.0]).double(), unit=1.0)


def worth(graph, named, targets=SCALED, noise=0.1, mean=MEAN, covariance=COVARIANCE):
    tensors = torch.from_numpy(np.asarray(mean)), torch.from_numpy(np.asarray(covariance))
    return worth_of_results(targets, *tensors, noise, graph, torch.tensor(named))


def expected_rewards(targets, means, variance):
    """By quantiles of each target, not in closed form."""
    quantiles = norm.ppf((np.arange(200) + 0.5) / 200)
    every = means[..., None] + np.sqrt(variance)[..., None] * quantiles
    return targets.to_rewards(torch.from_numpy(every)).numpy().mean(-1)


def play(graph, named, targets, noise, draws=8000):
    """How much better the graph named after a result is, by truths that are drawn."""
    generator = np.random.default_rng(1)
    truths = MEAN + generator.multivariate_normal(np.zeros(4), COVARIANCE, draws)
    results = truths[:, graph] + noise**0.5 * generator.normal(size=draws)
    gain = COVARIANCE[:, graph] / (COVARIANCE[graph, graph] + noise)
    means = MEAN + np.outer(results - MEAN[graph], gain)
    variances = np.diag(COVARIANCE) - gain * COVARIANCE[:, graph]
    after = np.argmax(expected_rewards(targets, means, variances)[:, named], axis=1)
    now = np.argmax(expected_rewards(targets, MEAN, np.diag(COVARIANCE))[named])
    rewards = targets.to_rewards(torch.from_numpy(truths[:, named])).numpy()
    risen = rewards[np.arange(draws), after] - rewards[:, now]
    return risen.mean(), risen.std() / draws**0.5


@pytest.mark.parametrize("targets", [SCALED, SKEWED])
@pytest.mark.parametrize(("graph", "named", "noise"), [(0, [0, 1, 3], 0.1), (1, [0, 1], 0.02), (2, [0, 1, 2, 3], 0.5)])
def test_it_is_what_naming_the_best_after_a_result_gains(targets, graph, named, noise):
    came, error = play(graph, named, targets, noise)
    assert error < 0.25 * came
    assert worth(graph, named, targets, noise) == pytest.approx(came, abs=3.5 * error)


def test_of_two_independent_graphs_it_is_the_formula_of_expected_improvement():
    spread, apart, noise = 0.6, 0.3, 0.2
    moved = spread**2 / np.hypot(spread, noise**0.5)
    expected = moved * norm.pdf(apart / moved) - apart * norm.sf(apart / moved)
    found = worth(1, [0, 1], Standardised(), noise, [apart, 0.0], np.diag([0.5, spread**2]))
    assert found == pytest.approx(expected, rel=1e-2)


def test_more_noise_and_a_graph_that_is_known_make_it_worth_less():
    by_noise = [worth(0, [0, 1, 3], noise=noise) for noise in (0.0, 0.1, 1.0, 1e9)]
    assert by_noise == sorted(by_noise, reverse=True)
    assert by_noise[-1] == pytest.approx(0, abs=1e-4)
    assert worth(0, [0, 1], noise=0.0, mean=MEAN[:2], covariance=np.zeros((2, 2))) == 0


def test_if_only_one_graph_can_be_named_no_result_is_worth_anything():
    assert worth(1, [1]) == worth(0, [1]) == 0
