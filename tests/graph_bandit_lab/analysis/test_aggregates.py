import itertools

import numpy as np
import pandas as pd
import pytest

from graph_bandit_lab.analysis import aggregate_agents
from graph_bandit_lab.analysis.aggregates import (
    profile_agents,
)
from graph_bandit_lab.analysis.scores import relative_regret

# Two environments, of four and two repetitions.
INDEX = pd.MultiIndex.from_tuples(
    [("x", 1), ("x", 2), ("y", 1), ("x", 3), ("x", 4), ("y", 2)], names=["environment", "seed"]
)
TRIALS = pd.DataFrame({"a": [2.0, 4, 30, 6, 8, 50], "b": [8.0, 12, 100, 10, 10, 100]}, INDEX)


def drawn(seed=0, environments=6, repetitions=8):
    index = pd.MultiIndex.from_product([range(environments), range(repetitions)], names=["environment", "seed"])
    rng = np.random.default_rng(seed)
    return pd.DataFrame({name: rng.gamma(3 + k, size=len(index)) for k, name in enumerate("pqr")}, index)


def test_regret_is_relative_to_the_largest_mean_of_the_environment():
    scores = relative_regret(TRIALS)  # means of b: 10 and 100
    assert scores["a"].tolist() == [0.2, 0.4, 0.6, 0.8, 0.3, 0.5]  # one environment after the other
    assert scores["b"].tolist() == [0.8, 1.2, 1.0, 1.0, 1.0, 1.0]
    assert relative_regret(TRIALS, ["a"]).loc["y", "a"].tolist() == [30 / 40, 50 / 40]


def test_agents_come_by_their_interquartile_means():
    first, second = aggregate_agents(TRIALS)
    assert (first.label, second.label) == ("a", "b")
    assert first.middle == pytest.approx((0.3 + 0.4 + 0.5 + 0.6) / 4)  # of six trials, one is left out at either end
    assert second.middle == pytest.approx(1.0)
    assert np.isnan(first.behind)


def test_the_probability_counts_pairs_of_repetitions_environment_by_environment():
    (_, second) = aggregate_agents(TRIALS)
    pairs = list(itertools.product([0.2, 0.4, 0.6, 0.8], [0.8, 1.2, 1.0, 1.0]))
    on_x = np.mean([1.0 if a < b else 0.5 if a == b else 0.0 for a, b in pairs])
    assert second.behind == pytest.approx((on_x + 1.0) / 2)


def test_intervals_are_those_of_repetitions_that_are_drawn_again_within_their_environments():
    """A slow bootstrap with its own random numbers, one resample after the other."""
    trials, rng = drawn(), np.random.default_rng(99)
    scores = {label: score.unstack().to_numpy() for label, score in relative_regret(trials).items()}
    middles, chances = {label: [] for label in trials}, {label: [] for label in trials}
    first = aggregate_agents(trials)[0].label
    for _ in range(800):
        rows = rng.integers(8, size=(6, 8))
        again = {label: np.take_along_axis(score, rows, axis=1) for label, score in scores.items()}
        for label, score in again.items():
            middles[label].append(np.sort(score.ravel())[12:36].mean())
            mine, theirs = again[first][:, :, None], score[:, None, :]
            chances[label].append((mine < theirs).mean() + (mine == theirs).mean() / 2)
    for aggregate in aggregate_agents(trials):
        np.testing.assert_allclose(
            [aggregate.low, aggregate.high], np.percentile(middles[aggregate.label], [2.5, 97.5]), atol=0.02
        )
        assert aggregate.low < aggregate.middle < aggregate.high
        if aggregate.label != first:
            expected = np.percentile(chances[aggregate.label], [2.5, 97.5])
            np.testing.assert_allclose([aggregate.behind_low, aggregate.behind_high], expected, atol=0.03)


def test_single_repetitions_do_not_tell_how_far_others_would_be():
    trials = drawn(repetitions=1)
    for aggregate in aggregate_agents(trials):
        assert np.isnan([aggregate.low, aggregate.high, aggregate.behind_low, aggregate.behind_high]).all()
        assert np.isfinite(aggregate.middle)
    assert np.isnan(profile_agents(trials)[0].low).all()


def test_a_profile_is_the_distribution_of_scores():
    a, b = profile_agents(TRIALS, points=13)  # tau = 0, 0.1, ... 1.2
    np.testing.assert_allclose(a.thresholds, np.arange(13) / 10)
    np.testing.assert_allclose(6 * a.shares[[0, 1, 7, 9]], [0, 0, 5, 6])  # not at a score, where rounding decides
    np.testing.assert_allclose(6 * b.shares[[0, 7, 9, 11]], [0, 0, 1, 5])
    assert (a.shares[-1], b.shares[-1]) == (1, 1)
    assert ((a.low <= a.shares) & (a.shares <= a.high)).all()
    assert a.high[5] - a.low[5] > 0.2
