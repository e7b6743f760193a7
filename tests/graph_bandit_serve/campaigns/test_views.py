import json
from pathlib import Path

from support.served import fields_of_campaign, result, suggestion

from graph_bandit_campaign import read_state
from graph_bandit_serve.campaigns.views import best_of, describe


def state_of(**changes):

    return read_state(json.dumps(fields_of_campaign(**changes)), Path("a.campaign.json"))


GOALS = [
    {"name": "affinity", "aim": "maximize"},
    {"name": "logd", "aim": "target", "low": 1, "high": 3},
    {"name": "tox", "aim": "minimize"},
]


def test_each_suggestion_says_what_came_of_it():
    rounds = [[suggestion("a"), suggestion("b"), suggestion("c"), suggestion("d")]]
    (first,) = describe("k", "one", "v", state_of(rounds=rounds)).rounds
    assert [one.status for one in first.suggestions] == ["measured", "failed", "pending", "not asked for any more"]
    assert [one.smiles for one in first.suggestions] == ["CCO", "c1ccccc1", "CCN", None]
    assert [one.value for one in first.suggestions[0].results] == [2.0]
    (prediction,) = first.suggestions[0].predictions
    assert (prediction.goal, prediction.mean, prediction.low, prediction.high) == ("affinity", 1.0, 0.0, 2.0)
    assert first.suggestions[0].probability == 0.25


def test_several_goals_have_a_prediction_each_and_a_probability_of_their_range():
    by_goal = {name: suggestion("a", mean) for mean, name in enumerate(("affinity", "logd", "tox"))}
    entry = {"id": "a", "probability": 0.5, "by_goal": by_goal}
    measured = [result("a", 7.0, 1, goal="affinity"), result("b", 2.0, 0, goal="tox")]
    state = state_of(goals=GOALS, target="", measured=measured, failed=[], pending=["c"], rounds=[[entry]])
    view = describe("k", "one", "v", state)
    (one,) = view.rounds[0].suggestions
    assert [(p.goal, p.mean, p.probability) for p in one.predictions] == [
        ("affinity", 0.0, None),
        ("logd", 1.0, 0.25),
        ("tox", 2.0, None),
    ]
    assert (one.probability, one.status) == (0.5, "in part measured")
    assert [goal.text for goal in view.goals] == ["maximize affinity", "logd near 1..3", "minimize tox"]
    assert [(best.goal, best.id, best.value) for best in view.best] == [("affinity", "a", 7.0), ("tox", "b", 2.0)]


def test_the_best_is_the_largest_or_the_smallest():
    assert [(best.id, best.value) for best in best_of(state_of())] == [("a", 2.0)]
    assert [(best.id, best.value) for best in best_of(state_of(maximize=False))] == [("z", 0.5)]
    assert best_of(state_of(measured=[])) == []


def test_infinite_predictions_are_left_out():
    entry = {"id": "a", "mean": 1e308, "std": 1e308, "noise_std": 1e308, "probability": 0.5}
    (one,) = describe("k", "one", "v", state_of(rounds=[[entry]])).rounds[0].suggestions
    assert one.predictions[0].low is None
    assert "inf" not in one.model_dump_json().lower()
