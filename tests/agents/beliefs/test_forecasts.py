"""Forecasts of graphs that were chosen for what is expected of them; and the worth of one more result, against play."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, t

from agents.beliefs.rewards import NormalScores, Standardised, predict_chosen, worth_of_results
from agents.beliefs.rewards.forecasts import correction

SCALED = Standardised(2.0, 3.0)
SKEWED = NormalScores(torch.tensor([0.0, 0.1, 0.3, 0.6, 1.0, 2.0, 5.0, 30.0]).double(), unit=1.0)


@given(st.integers(2, 10**4), st.integers(1, 500), st.integers(0, 10**6))
def test_a_choice_lowers_and_widens_but_less_with_more_results_and_with_a_larger_share_of_the_pool(
    results, count, left
):
    shift, factor = correction(results, count, count + left)
    assert (shift > 0) == (factor > 1) == (left > 0)
    later, narrower = correction(results + 50, count, count + left)
    assert later == shift
    assert narrower <= factor
    harder, wider = correction(results, count, count + left + 10)
    assert harder >= shift
    assert wider >= factor


@pytest.mark.parametrize("targets", [SCALED, SKEWED])
@pytest.mark.parametrize("offered", [1, 100])
def test_what_is_told_of_a_choice_belongs_to_a_normal_target_that_is_lower_and_wider(targets, offered):
    mean, std, noise = torch.tensor([-1.0, 0.2, 1.4]).double(), torch.tensor([0.3, 0.6, 0.9]).double(), 0.2
    chosen = predict_chosen(targets, mean, std, noise, 8, 1, offered)
    shift, factor = correction(8, 1, offered) if offered > 1 else (0.0, 1.0)
    spread = np.sqrt(std.numpy() ** 2 + noise)
    lowered = mean.numpy() - shift * spread
    for level in (0.5, 0.9):
        for bound, tail in zip(chosen.interval(level), ((1 - level) / 2, (1 + level) / 2), strict=True):
            expected = lowered + norm.ppf(tail) * factor * spread
            np.testing.assert_allclose(targets.of(torch.from_numpy(bound)).numpy(), expected, rtol=1e-9)
    assert chosen.noise_std == pytest.approx(targets.unit * noise**0.5)
    wide = np.hypot(chosen.std, chosen.noise_std)
    if targets is SCALED:
        np.testing.assert_allclose(chosen.mean, 2 + 3 * lowered)
        np.testing.assert_allclose(wide, 3 * factor * spread)
        np.testing.assert_allclose(chosen.probability_above(2.5), norm.sf(2.5, chosen.mean, wide))
    else:  # whose probabilities have wide tails already
        above = targets.exceeded(2.5, torch.from_numpy(lowered), torch.from_numpy(spread))
        np.testing.assert_allclose(chosen.probability_above(2.5), above)


def test_thirty_results_make_the_interval_that_of_students_distribution_of_the_probabilities():
    _, factor = correction(30, 8, 1000)
    assert factor * norm.ppf(0.95) == pytest.approx(t.ppf(0.95, 4), rel=0.03)


MEAN = np.array([0.9, 1.0, 0.2, 0.8])
ROOT = np.random.default_rng(0).normal(size=(4, 4)) * 0.4
COVARIANCE = ROOT @ ROOT.T


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
    assert worth(1, [1]) == worth(0, [1]) == 0  # if only one graph can be named
