"""What is wanted of a quantity: goals that make sense, the utility of values, and which values a limit allows."""

import math

import numpy as np
import pytest

from graph_bandit_campaign import Goal
from graph_bandit_campaign.constraints.goals.goal import check_goals, list_aims
from graph_bandit_campaign.constraints.goals.utility import meets, utility, utility_moments

VALUES = [1.0, math.nextafter(1, 2), 1.5, math.nextafter(2, 1), 2.0]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"aim": "large"}, "large"),
        ({"low": 1.0}, "range"),
        ({"aim": "target"}, "range"),
        ({"aim": "limit", "low": 2.0, "high": 1.0}, "range"),
        ({"weight": 0.0}, "weight"),
        ({"weight": math.inf}, "weight"),
        ({"aim": "limit", "low": 2.0, "weight": 1.0}, "weight"),
    ],
)
def test_a_goal_that_makes_no_sense_is_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        Goal("a", **wrong)


@pytest.mark.parametrize(
    "goals",
    [[], [Goal("a", "limit", 1.0)], [Goal("a"), Goal("a", "minimize")], [Goal("a", weight=1.0), Goal("b")]],
)
def test_goals_that_do_not_go_together_are_refused(goals):
    with pytest.raises(ValueError, match="goals"):
        check_goals(goals)


def test_limits_may_come_and_go_and_aims_stay():
    assert Goal("a", "target", 1.0, 3.0).text == "a near 1..3"
    goals = [Goal("b"), Goal("c", "limit", high=1.0), Goal("a", "minimize")]
    assert list_aims(goals) == list_aims([goals[2], goals[0]]) == "maximize b, minimize a"
    assert check_goals(goals) == tuple(goals)
    assert check_goals([Goal("a", weight=1.0), Goal("b", weight=2.0), goals[1]])


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(("low", "high"), [(1.0, 2.0), (1.0, None), (None, 2.0)])
def test_the_ends_of_a_limit_meet_it_unless_it_is_strict(low, high, strict):
    met = meets(Goal("a", "limit", low, high, strict=strict), np.array(VALUES))
    assert met.tolist() == [not (strict and value in (low, high)) for value in VALUES]


@pytest.mark.parametrize(("low", "high"), [(1.0, 2.0), (1.0, None), (None, 2.0)])
@pytest.mark.parametrize(("mean", "std"), [(0.2, 0.7), (1.5, 0.4), (1.9, 1.5), (4.0, 0.8)])
def test_the_utility_of_a_forecast_is_that_of_its_values(low, high, mean, std):
    """By quadrature: the distance of each value to the range, weighted by its density."""
    values = np.linspace(mean - 9 * std, mean + 9 * std, 200_001)
    weights = np.exp(-(((values - mean) / std) ** 2) / 2)
    weights /= weights.sum()
    below = np.maximum((-np.inf if low is None else low) - values, 0)
    distance = below + np.maximum(values - (np.inf if high is None else high), 0)
    expected = weights @ distance
    spread = np.sqrt(weights @ distance**2 - expected**2)
    told = utility_moments(Goal("a", "target", low, high), np.array([mean - std]), np.array([mean + std]))
    np.testing.assert_allclose(np.ravel(told), [-expected, spread], atol=1e-6)


@pytest.mark.parametrize(
    ("aim", "ends", "utilities"),
    [
        ("maximize", (None, None), [-1.0, 0.5, 3.0]),
        ("minimize", (None, None), [1.0, -0.5, -3.0]),
        ("target", (0.0, 1.0), [-1.0, 0.0, -2.0]),
        ("target", (1.0, 2.0), [-2.0, -0.5, -1.0]),
        ("limit", (0.0, 1.0), [0.0, 0.0, 0.0]),
    ],
)
def test_what_is_better_has_a_larger_utility(aim, ends, utilities):
    goal, values = Goal("a", aim, *ends), np.array([-1.0, 0.5, 3.0])
    assert utility(goal, values).tolist() == utilities
    if aim in ("maximize", "minimize"):
        assert [told.tolist() for told in utility_moments(goal, values - 2, values + 2)] == [utilities, [2.0] * 3]
