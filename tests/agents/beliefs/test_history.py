"""Rewards observed; results with known noise, against the posterior of a constant under a flat prior; and bounds."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from support.posterior import bounded

from agents.beliefs.rewards import History, PartialResults, Standardised, variances_of
from agents.beliefs.rewards.targets import LEAST_UNITS, MOST_UNITS

PULLS = st.lists(st.tuples(st.integers(0, 3), st.floats(-1e3, 1e3)), max_size=30)


def filled(pulls, forget=None):
    return add(History(4, forget), pulls)


def add(history, pulls):
    for action, reward in pulls:
        history.add(torch.tensor([action]), torch.tensor([reward], dtype=torch.float64))
    return history


def weights_of(ages, forget):
    return np.where(ages < forget, 1.0, 0.0) if isinstance(forget, int) else (forget or 1.0) ** ages


@given(PULLS, st.none() | st.integers(1, 12) | st.floats(0.3, 0.99))
def test_statistics_are_those_of_the_weighted_sequence(pulls, forget):
    history, weights = filled(pulls, forget), weights_of(np.arange(len(pulls))[::-1], forget)
    actions, rewards = np.array([*zip(*pulls, strict=True)] if pulls else [[], []])
    for graph in range(4):
        mine, own = rewards[actions == graph], weights[actions == graph]
        mean = np.average(mine, weights=own) if own.any() else 0.0
        assert history.counts[graph].item() == pytest.approx(own.sum(), rel=1e-9)
        assert history.means[graph].item() == pytest.approx(mean, abs=1e-8)
        assert history.squares[graph].item() == pytest.approx((own * (mine - mean) ** 2).sum(), abs=1e-5)
    counting = [pull for pull, weight in zip(pulls, weights, strict=True) if weight > 1e-12]
    assert list(zip(history.actions.tolist(), history.rewards.tolist(), strict=True)) == counting
    assert history.seen.tolist() == [*dict(counting)]
    assert (history.num_results, history.rounds) == (len(pulls), pytest.approx(weights.sum()))


def test_scale_does_not_shrink_while_the_best_graph_is_played_again():
    few, many = filled([(0, 1.0), (1, 3.0)]), filled([(0, 1.0), *[(1, 3.0)] * 50])
    assert few.location_and_scale() == pytest.approx(many.location_and_scale())
    assert few.location_and_scale() == pytest.approx((2.0, 1.0))


@pytest.mark.parametrize(
    ("pulls", "expected"),
    [([], (0.0, 1.0)), ([(0, 7.0)], (7.0, 1.0)), ([(0, 0.1), (1, 0.1), (2, 0.1)], (0.1, 1.0))],
)
def test_scale_is_one_until_two_graphs_differ(pulls, expected):
    assert filled(pulls).location_and_scale() == pytest.approx(expected)


@pytest.mark.parametrize(("step", "scale"), [(1e-13, 1.0), (1e-10, 5e-11)])
def test_means_that_differ_by_rounding_errors_have_no_scale(step, scale):
    assert filled([(0, 1.0), (1, 1.0 + step)]).location_and_scale()[1] == pytest.approx(scale, rel=1e-3)
    assert filled([(0, -1.0), (1, -1.0 - step)]).location_and_scale()[1] == pytest.approx(scale, rel=1e-3)


def test_graphs_that_stay_keep_their_rewards_and_their_order():
    pulls = [(3, 1.0), (0, 5.0), (1, 2.0), (3, 4.0)]
    history, expected = filled(pulls), filled([(0, 1.0), (2, 2.0), (0, 4.0)])
    history.exchange(torch.tensor([3, 2, 1]), added=1)
    for name in ("counts", "means", "squares", "seen", "actions", "rewards"):
        assert getattr(history, name).tolist() == getattr(expected, name).tolist()


def test_scale_weighs_a_graph_less_once_less_than_one_reward_is_left_of_it():
    history = filled([(0, 1.0), (0, 1.0), (0, 1.0), (1, 4.0), (2, 8.0)], 0.5)
    assert history.counts.tolist() == [0.4375, 0.5, 1.0, 0.0]
    weights, means = np.array([0.4375, 0.5, 1.0]), np.array([1.0, 4.0, 8.0])
    location = np.average(means, weights=weights)
    assert history.location_and_scale() == pytest.approx(
        (location, np.average((means - location) ** 2, weights=weights) ** 0.5)
    )
    add(history, [(2, 8.0)] * 5)
    assert history.counts[2] > 1.9  # but no more than one counts
    assert history.location_and_scale()[0] == pytest.approx((0.4375 / 32 + 4 * 0.5 / 32 + 8) / (0.9375 / 32 + 1))


@pytest.mark.parametrize("forget", [3, 0.7])
def test_rewards_keep_their_age_where_graphs_come_and_go(forget):
    """Graph 0 goes, graphs 3 and 1 stay, and a new one is played."""
    history = filled([(3, 1.0), (0, 5.0), (1, 2.0), (3, 4.0)], forget)
    history.exchange(torch.tensor([3, 1]), added=1)
    add(history, [(2, 9.0)])
    ages = {0: [(4, 1.0), (1, 4.0)], 1: [(2, 2.0)], 2: [(0, 9.0)]}
    for graph, rewards in ages.items():
        weights = weights_of(np.array([age for age, _ in rewards]), forget)
        assert history.counts[graph].item() == pytest.approx(sum(weights))
        assert history.means[graph].item() == pytest.approx(np.average([r for _, r in rewards], weights=weights))
    assert history.num_results == 5
    assert history.seen.tolist() == ([1, 0, 2] if forget == 3 else [0, 1, 2])


@pytest.mark.parametrize("seed", range(3))
def test_results_of_a_graph_merge_into_their_generalised_least_squares_estimate(seed):
    random = np.random.default_rng(seed)
    graphs, values, deviations = random.integers(0, 5, 20), random.normal(size=20), 10 ** random.uniform(-2, 1, 20)
    noisy = PartialResults(5)
    noisy.add(*map(torch.from_numpy, (graphs, values, np.zeros(20, int), deviations)))
    owners, merged, widths = noisy.merge()
    assert owners.tolist() == np.unique(graphs).tolist()
    for row, graph in enumerate(np.unique(graphs)):
        here = graphs == graph
        # y = c + noise is least squares on rows divided by their noise: its solution, and the width of its Gaussian.
        design, scaled = 1 / deviations[here, None], values[here] / deviations[here]
        (constant,), *_ = np.linalg.lstsq(design, scaled, rcond=None)
        assert merged[row].item() == pytest.approx(constant, rel=1e-12)
        assert widths[row].item() == pytest.approx(np.linalg.pinv(design.T @ design)[0, 0] ** 0.5, rel=1e-12)


def test_noise_is_squared_in_units_of_the_targets_within_bounds():
    targets = Standardised(location=3.0, unit=2.0)
    found = variances_of(torch.tensor([1.0, 1e-30, 1e30], dtype=torch.float64), targets)
    assert found.tolist() == pytest.approx([0.25, LEAST_UNITS**2, MOST_UNITS**2])


def test_the_tightest_bound_of_each_side_counts():
    rows = [(3, 1.0, True), (1, 4.0, False), (3, 2.0, True), (1, 5.0, False), (3, 9.0, False)]
    bounds = bounded(5, rows).bounds
    assert bounds.graphs.tolist() == [3, 1, 3]
    assert bounds.values.tolist() == [2.0, 4.0, 9.0]
    assert bounds.signs.tolist() == [1.0, -1.0, -1.0]


def test_intervals_are_of_graphs_without_exact_results_and_contradictions_are_turned_round():
    rows = [(0, 1.0, True), (1, 6.0, True), (1, 5.0, False), (2, 3.0, False)]
    low, high = bounded(4, rows).intervals(torch.tensor([1, 0, 0, 0]))
    assert low.tolist() == [5.0, -np.inf]
    assert high.tolist() == [6.0, 3.0]
