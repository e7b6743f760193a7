import numpy as np
import pytest
import torch

from agents.beliefs.rewards import History, Standardised
from agents.beliefs.rewards.recency import DiscountedHistory
from agents.neural.noise import PRIOR_ROUNDS, fit_noise

FEATURES = np.random.default_rng(0).normal(size=(12, 5))
KERNEL = FEATURES @ FEATURES.T / 5  # singular: rank 5 on 12 graphs
RNG = np.random.default_rng(1)
ACTIONS, REWARDS = RNG.integers(0, 10, 30), RNG.normal(size=30)


def fitted(history, **units):
    seen = history.counts > 0
    return fit_noise(torch.tensor(KERNEL)[seen][:, seen], history, Standardised(**units), ridge=0.2)


def told(history):
    history.add(torch.tensor(ACTIONS), torch.tensor(REWARDS))
    return history


def test_it_is_that_of_the_whole_covariance_of_all_rewards():
    targets = (REWARDS - 0.3) / 2.0
    whole = KERNEL[np.ix_(ACTIONS, ACTIONS)] / 0.2 + np.eye(30)
    expected = (targets @ np.linalg.solve(whole, targets) + PRIOR_ROUNDS * 0.2) / (30 + PRIOR_ROUNDS)
    assert fitted(told(History(12)), location=0.3, unit=2.0) == pytest.approx(expected, rel=1e-9)


def test_it_has_the_largest_posterior_under_a_prior_of_more_rewards():
    """Their mean square is the ridge, at which the prior covariance is the kernel."""
    whole = KERNEL[np.ix_(ACTIONS, ACTIONS)] / 0.2 + np.eye(30)
    square = REWARDS @ np.linalg.solve(whole, REWARDS)

    def objective(noise):
        return 30 * np.log(noise) + square / noise + PRIOR_ROUNDS * (np.log(noise) + 0.2 / noise)

    found = fitted(told(History(12)))
    assert objective(found) < min(objective(0.98 * found), objective(1.02 * found))


def test_rewards_that_count_less_have_more_noise():
    weights = 0.9 ** np.arange(30)[::-1]
    whole = KERNEL[np.ix_(ACTIONS, ACTIONS)] / 0.2 + np.diag(1 / weights)
    expected = (REWARDS @ np.linalg.solve(whole, REWARDS) + PRIOR_ROUNDS * 0.2) / (weights.sum() + PRIOR_ROUNDS)
    assert fitted(told(DiscountedHistory(12, 0.9))) == pytest.approx(expected, rel=1e-9)
