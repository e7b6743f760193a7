"""What is expected of graphs that were chosen for what is expected of them."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, t

from agents.beliefs.rewards import NormalScores, Standardised, predict, predict_chosen
from agents.beliefs.rewards.forecasts import correction

REWARDS = torch.tensor([0.1, 0.4, 0.5, 1.1, 1.3, 2.0, 2.2, 3.5], dtype=torch.float64)
MEAN, STD = torch.tensor([-1.0, 0.2, 1.4], dtype=torch.float64), torch.tensor([0.3, 0.6, 0.9], dtype=torch.float64)
NOISE = 0.2
TARGETS = [Standardised(1.0, 2.0), NormalScores(REWARDS, 1.0)]


def told(targets, count=1, offered=100, results=8):
    return predict_chosen(targets, MEAN, STD, NOISE, results, count, offered)


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


@pytest.mark.parametrize("targets", TARGETS)
def test_who_takes_all_is_told_what_is_predicted(targets):
    plain, chosen = predict(targets, MEAN, STD, NOISE**2), predict_chosen(targets, MEAN, STD, NOISE**2, 8, 3, 3)
    for one, other in (
        (plain.mean, chosen.mean),
        (plain.std, chosen.std),
        *zip(plain.interval(), chosen.interval(), strict=True),
    ):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    np.testing.assert_allclose(plain.probability_above(1.7), chosen.probability_above(1.7), rtol=1e-12)
    assert chosen.noise_std == plain.noise_std


@pytest.mark.parametrize("targets", TARGETS)
def test_the_interval_is_that_of_a_normal_target_that_is_lower_and_wider(targets):
    shift, factor = correction(8, 1, 100)
    spread = np.sqrt(STD.numpy() ** 2 + NOISE)
    for level in (0.5, 0.9):
        for bound, tail in zip(told(targets).interval(level), ((1 - level) / 2, (1 + level) / 2), strict=True):
            expected = MEAN.numpy() - shift * spread + norm.ppf(tail) * factor * spread
            np.testing.assert_allclose(targets.of(torch.from_numpy(bound)).numpy(), expected, rtol=1e-9)


def test_mean_std_and_probability_of_standardised_rewards_belong_to_one_normal_distribution():
    targets = TARGETS[0]
    shift, factor = correction(8, 1, 100)
    spread = np.sqrt(STD.numpy() ** 2 + NOISE)
    chosen = told(targets)
    np.testing.assert_allclose(chosen.mean, 1 + 2 * (MEAN.numpy() - shift * spread))
    np.testing.assert_allclose(np.hypot(chosen.std, chosen.noise_std), 2 * factor * spread)
    assert chosen.noise_std == pytest.approx(2 * NOISE**0.5)
    expected = norm.sf(2.5, chosen.mean, np.hypot(chosen.std, chosen.noise_std))
    np.testing.assert_allclose(chosen.probability_above(2.5), expected)


def test_thirty_results_make_the_interval_that_of_students_distribution_of_the_probabilities():
    _, factor = correction(30, 8, 1000)
    assert factor * norm.ppf(0.95) == pytest.approx(t.ppf(0.95, 4), rel=0.03)
