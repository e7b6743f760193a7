import pytest

from graph_bandit_campaign.report.outcomes import find_outcomes, sum_up
from graph_bandit_campaign.results.facts import Measurement
from graph_bandit_campaign.state import CampaignState, Suggestion


def state_of(told, rounds, maximize=True):
    return CampaignState("random", maximize, 0, tuple(Measurement(*row) for row in told), rounds=rounds)


def test_results_are_compared_with_what_was_last_predicted_of_them():
    rounds = (
        (Suggestion("a", 1.0, 0.3, 0.4, 0.5, 0.0, 3.0), Suggestion("d", 1.0, 1.0, 0.0)),
        (Suggestion("b", 0.0, 1.0, 0.0, 0.5, -1.0, 1.0), Suggestion("c")),
        (Suggestion("d", 5.0, 1.0, 0.0, None, 4.0, 5.5),),
    )
    told = (("a", 1.6, 2), ("b", 2.5, 2), ("c", 0.0, 2), ("b", 9.0, 0), ("d", 5.0, 3), ("e", 7.0, 3))
    outcomes = find_outcomes(state_of(told, rounds))
    assert [(outcome.mean, outcome.value) for outcome in outcomes] == [(1.0, 1.6), (0.0, 2.5), (5.0, 5.0)]
    assert [outcome.interval for outcome in outcomes] == [(0.0, 3.0), (-1.0, 1.0), (4.0, 5.5)]
    assert sum_up(outcomes)["inside"] == pytest.approx(2 / 3)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_result_beats_the_best_of_the_time_when_its_graph_was_suggested(sign):
    chances = {"a": 0.5, "b": 0.25, "c": None}
    rounds = (
        tuple(Suggestion(key, sign, 1.0, 1.0, chance, -9.0, 9.0) for key, chance in chances.items()),
        (Suggestion("d", sign, 1.0, 1.0, 0.125, -9.0, 9.0),),
    )
    before = (("x", 1.0 * sign, 0), ("x", 3.0 * sign, 0), ("y", 0.0, 0))  # so the best is 2
    later = (("a", 2.5 * sign, 1), ("b", 2.0 * sign, 1), ("c", 9.0 * sign, 2), ("d", 2.25 * sign, 2))
    outcomes = find_outcomes(state_of((*before, *later), rounds, maximize=sign > 0))
    assert [outcome.beats for outcome in outcomes] == [True, False, True, False]  # by d's time, a had 2.5
    promises = sum_up(outcomes)
    assert (promises["expected"], promises["beaten"]) == (0.875, 1)  # nothing was forecast of c


def test_what_is_only_known_to_be_a_bound_is_left_out():
    rounds = (tuple(Suggestion(key, 2.0, 0.3, 0.4, 0.5, 1.0, 3.0) for key in "ab"),)
    (outcome,) = find_outcomes(state_of([("a", 4.5, 1, "above"), ("b", 1.5, 1)], rounds))
    assert outcome.value == 1.5
