from support.served import result, suggestion, write_campaign

from graph_bandit_campaign import Store
from graph_bandit_serve.campaigns.views import best_of, describe

GOALS = [
    {"name": "affinity", "aim": "maximize"},
    {"name": "logd", "aim": "target", "low": 1, "high": 3},
    {"name": "tox", "aim": "minimize"},
]


def state_of(folder, **changes):
    path = write_campaign(folder / "a.campaign.json", **changes)
    return Store(path).state


def view_of(folder, **changes):
    return describe("k", "one", "v", state_of(folder, **changes))


def test_each_suggestion_says_what_came_of_it(tmp_path):
    rounds = [[suggestion("a"), suggestion("b"), suggestion("c"), suggestion("d")]]
    (first,) = view_of(tmp_path, rounds=rounds).rounds
    assert [one.status for one in first.suggestions] == ["measured", "failed", "pending", "not asked for any more"]
    assert [one.smiles for one in first.suggestions] == ["CCO", "c1ccccc1", "CCN", None]
    assert [one.value for one in first.suggestions[0].results] == [2.0]
    assert first.suggestions[0].probability == 0.25


def test_several_goals_have_a_prediction_each_and_a_probability_of_their_range(tmp_path):
    by_goal = {name: suggestion("a", mean) for mean, name in enumerate(("affinity", "logd", "tox"))}
    entry = {"id": "a", "probability": 0.5, "by_goal": by_goal}
    measured = [result("a", 7.0, 1, goal="affinity"), result("b", 2.0, 0, goal="tox")]
    changes = {"goals": GOALS, "target": "", "measured": measured, "failures": []}
    view = view_of(tmp_path, rounds=[[entry]], **changes)
    (one,) = view.rounds[0].suggestions
    assert [(p.goal, p.mean, p.low, p.high) for p in one.predictions][:1] == [("affinity", 0.0, -1.0, 1.0)]
    assert [p.probability for p in one.predictions] == [None, 0.25, None]
    assert (one.probability, one.status) == (0.5, "in part measured")
    assert [(best.goal, best.id, best.value) for best in view.best] == [("affinity", "a", 7.0), ("tox", "b", 2.0)]


def test_the_best_is_the_largest_or_the_smallest(tmp_path):
    assert [(best.id, best.value) for best in best_of(state_of(tmp_path))] == [("a", 2.0)]
    assert [(best.id, best.value) for best in best_of(state_of(tmp_path, maximize=False))] == [("z", 0.5)]
    assert best_of(state_of(tmp_path, measured=[])) == []
