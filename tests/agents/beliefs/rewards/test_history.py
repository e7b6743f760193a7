import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from agents.beliefs.rewards.history import History, OrderedHistory

PULLS = st.lists(st.tuples(st.integers(0, 3), st.floats(-1e3, 1e3)), max_size=30)


def filled(pulls, kind=OrderedHistory):
    history = kind(4)
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


@pytest.mark.parametrize("kind", [History, OrderedHistory])
def test_graphs_that_stay_keep_their_rewards_and_their_order(kind):
    pulls = [(3, 1.0), (0, 5.0), (1, 2.0), (3, 4.0)]
    history, expected = filled(pulls, kind), filled([(0, 1.0), (2, 2.0), (0, 4.0)], kind)
    history.exchange(torch.tensor([3, 2, 1]), added=1)
    assert {k: v.tolist() for k, v in history.state_dict().items()} == {
        k: v.tolist() for k, v in expected.state_dict().items()
    }
