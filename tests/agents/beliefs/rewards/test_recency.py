import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from agents.beliefs.rewards.history import History
from agents.beliefs.rewards.recency import DiscountedHistory, WindowHistory, make_history

PULLS = st.lists(st.tuples(st.integers(0, 3), st.floats(-1e3, 1e3)), max_size=30)
SOME = [(3, 1.0), (0, 5.0), (1, 2.0), (3, 4.0), (2, -1.0)]
FORGETS = [3, 0.7]


def told(history, pulls):
    for action, reward in pulls:
        history.add(torch.tensor([action]), torch.tensor([reward], dtype=torch.float64))
    return history


@given(PULLS, st.floats(0.3, 0.99))
def test_a_reward_told_d_rewards_ago_counts_as_the_discount_to_the_power_of_d(pulls, discount):
    history = told(DiscountedHistory(4, discount), pulls)
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
    history, last = told(WindowHistory(4, length), pulls), told(History(4), pulls[-length:])
    assert history.counts.tolist() == last.counts.tolist()
    assert history.seen.tolist() == last.seen.tolist()
    np.testing.assert_allclose(history.means, last.means, atol=1e-9)
    np.testing.assert_allclose(history.squares, last.squares, rtol=1e-9, atol=1e-6)
    assert (history.num_results, history.rounds) == (len(pulls), min(length, len(pulls)))


def test_scale_weighs_a_graph_less_once_less_than_one_reward_is_left_of_it():
    history = told(DiscountedHistory(4, 0.5), [(0, 1.0), (0, 1.0), (0, 1.0), (1, 4.0), (2, 8.0)])
    assert history.counts.tolist() == [0.4375, 0.5, 1.0, 0.0]
    weights, means = np.array([0.4375, 0.5, 1.0]), np.array([1.0, 4.0, 8.0])
    location = np.average(means, weights=weights)
    assert history.location_and_scale() == pytest.approx(
        (location, np.average((means - location) ** 2, weights=weights) ** 0.5)
    )
    told(history, [(2, 8.0)] * 5)
    assert history.counts[2] > 1.9  # but no more than one counts
    assert history.location_and_scale()[0] == pytest.approx((0.4375 / 32 + 4 * 0.5 / 32 + 8) / (0.9375 / 32 + 1))


@pytest.mark.parametrize("forget", FORGETS)
def test_rewards_keep_their_age_where_graphs_come_and_go(forget):
    """Graph 0 goes, graphs 3 and 1 stay, and a new one is played."""
    history = told(make_history(4, forget), SOME[:4])
    history.exchange(torch.tensor([3, 1]), added=1)
    told(history, [(2, 9.0)])
    ages = {0: [(4, 1.0), (1, 4.0)], 1: [(2, 2.0)], 2: [(0, 9.0)]}
    for graph, rewards in ages.items():
        weights = [float(age < 3) if forget == 3 else 0.7**age for age, _ in rewards]
        assert history.counts[graph].item() == pytest.approx(sum(weights))
        assert history.means[graph].item() == pytest.approx(np.average([r for _, r in rewards], weights=weights))
    assert history.num_results == 5
    assert history.seen.tolist() == ([1, 0, 2] if forget == 3 else [0, 1, 2])
