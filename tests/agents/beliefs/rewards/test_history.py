import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from agents.beliefs.rewards.history import History

PULLS = st.lists(st.tuples(st.integers(0, 3), st.floats(-1e3, 1e3)), max_size=30)


def filled(pulls, forget=None):
    return add(History(4, forget), pulls)


def add(history, pulls):
    for action, reward in pulls:
        history.add(torch.tensor([action]), torch.tensor([reward], dtype=torch.float64))
    return history


@given(PULLS)
def test_counts_and_means_are_those_of_the_sequence(pulls):
    history = filled(pulls)
    for graph in range(4):
        rewards = [reward for action, reward in pulls if action == graph]
        assert history.counts[graph] == len(rewards)
        assert history.means[graph].item() == pytest.approx(np.mean(rewards) if rewards else 0.0, abs=1e-9)
        squares = len(rewards) * np.var(rewards) if rewards else 0.0
        assert history.squares[graph].item() == pytest.approx(squares, rel=1e-9, abs=1e-6)
    assert list(zip(history.actions.tolist(), history.rewards.tolist(), strict=True)) == pulls
    assert len(history) == len(pulls)


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


SOME = [(3, 1.0), (0, 5.0), (1, 2.0), (3, 4.0), (2, -1.0)]
FORGETS = [3, 0.7]


@given(PULLS, st.floats(0.3, 0.99))
def test_a_reward_told_d_rewards_ago_counts_as_the_discount_to_the_power_of_d(pulls, discount):
    history = filled(pulls, discount)
    ages = np.arange(len(pulls))[::-1]
    for graph in range(4):
        mine = np.array([action == graph for action, _ in pulls], dtype=bool)
        rewards, weights = np.array([reward for _, reward in pulls])[mine], discount ** ages[mine]
        mean = np.average(rewards, weights=weights) if len(rewards) else 0.0
        assert history.counts[graph].item() == pytest.approx(weights.sum(), rel=1e-9)
        assert history.means[graph].item() == pytest.approx(mean, abs=1e-8)
        assert history.squares[graph].item() == pytest.approx((weights * (rewards - mean) ** 2).sum(), abs=1e-5)
    assert history.rounds == pytest.approx((discount**ages).sum())
    assert history.num_results == len(pulls)


@given(PULLS, st.integers(1, 12))
def test_a_window_holds_what_a_history_of_the_last_rewards_holds(pulls, length):
    history, last = filled(pulls, length), filled(pulls[-length:])
    assert history.counts.tolist() == last.counts.tolist()
    assert history.seen.tolist() == last.seen.tolist()
    np.testing.assert_allclose(history.means, last.means, atol=1e-9)
    np.testing.assert_allclose(history.squares, last.squares, rtol=1e-9, atol=1e-6)
    assert (history.num_results, history.rounds) == (len(pulls), min(length, len(pulls)))


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


@pytest.mark.parametrize("forget", FORGETS)
def test_rewards_keep_their_age_where_graphs_come_and_go(forget):
    """Graph 0 goes, graphs 3 and 1 stay, and a new one is played."""
    history = filled(SOME[:4], forget)
    history.exchange(torch.tensor([3, 1]), added=1)
    add(history, [(2, 9.0)])
    ages = {0: [(4, 1.0), (1, 4.0)], 1: [(2, 2.0)], 2: [(0, 9.0)]}
    for graph, rewards in ages.items():
        weights = [float(age < 3) if forget == 3 else 0.7**age for age, _ in rewards]
        assert history.counts[graph].item() == pytest.approx(sum(weights))
        assert history.means[graph].item() == pytest.approx(np.average([r for _, r in rewards], weights=weights))
    assert history.num_results == 5
    assert history.seen.tolist() == ([1, 0, 2] if forget == 3 else [0, 1, 2])
