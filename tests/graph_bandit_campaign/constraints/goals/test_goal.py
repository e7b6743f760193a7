"""What is wanted of one quantity."""

import numpy as np
import pytest

from graph_bandit_campaign import Goal
from graph_bandit_campaign.constraints.goals.goal import check_goals, list_aims
from graph_bandit_campaign.constraints.goals.utility import meets, utility

VALUES = np.array([-2.0, 0.0, 1.0, 2.0, 5.0])


@pytest.mark.parametrize(
    ("goal", "utilities", "text"),
    [
        (Goal("a"), VALUES, "maximize a"),
        (Goal("a", "minimize"), -VALUES, "minimize a"),
        (Goal("a", "target", 1.0, 3.0), [-3, -1, 0, 0, -2], "a near 1..3"),
        (Goal("a", "target", high=1.0), [0, 0, 0, -1, -4], "a near ..1"),
        (Goal("a", "limit", high=1.0), [0, 0, 0, 0, 0], "a <= 1"),
    ],
)
def test_a_utility_is_larger_where_a_value_is_better(goal, utilities, text):
    np.testing.assert_array_equal(utility(goal, VALUES), utilities)
    assert goal.text == text


@pytest.mark.parametrize(
    ("goal", "met"),
    [
        (Goal("a", "limit", high=1.0), [1, 1, 1, 0, 0]),
        (Goal("a", "limit", high=1.0, strict=True), [1, 1, 0, 0, 0]),
        (Goal("a", "limit", 0.0, 2.0), [0, 1, 1, 1, 0]),
        (Goal("a", "target", 0.0, 2.0), [1, 1, 1, 1, 1]),
    ],
)
def test_a_limit_is_met_inside_its_range(goal, met):
    np.testing.assert_array_equal(meets(goal, VALUES), np.array(met, bool))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"aim": "large"}, "one of maximize, minimize, target, limit. Got 'a', 'large'"),
        ({"low": 1.0}, "`a` with no range, since its aim is maximize"),
        ({"aim": "target"}, "a smaller to a larger finite number"),
        ({"aim": "limit", "low": 2.0, "high": 1.0}, "a smaller to a larger finite number"),
        ({"weight": 0.0}, "positive weight"),
        ({"weight": np.inf}, "positive weight"),
        ({"aim": "limit", "low": 2.0, "weight": 1.0}, "positive weight, and none of a limit"),
    ],
)
def test_a_goal_that_makes_no_sense_is_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        Goal("a", **wrong)


@pytest.mark.parametrize(
    ("goals", "message"),
    [
        ([], "at least one other than limits. Got none"),
        ([Goal("a", "limit", 1.0)], "at least one other than limits. Got a >= 1"),
        ([Goal("a"), Goal("a", "minimize")], "goals of different names"),
        ([Goal("a", weight=1.0), Goal("b")], "Without a weight: b"),
    ],
)
def test_goals_that_do_not_go_together_are_refused(goals, message):
    with pytest.raises(ValueError, match=message):
        check_goals(goals)


def test_limits_may_come_and_go_and_aims_stay():
    goals = [Goal("b"), Goal("c", "limit", high=1.0), Goal("a", "minimize")]
    assert list_aims(goals) == list_aims([goals[2], goals[0]]) == "maximize b, minimize a"
    assert check_goals(goals) == tuple(goals)
    assert check_goals([Goal("a", weight=1.0), Goal("b", weight=2.0), goals[1]])
