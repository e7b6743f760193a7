"""Forecasts of graphs that were chosen for what is expected of them."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, t

from agents.beliefs.rewards import NormalScores, Standardised, predict_chosen
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
