"""A campaign with several goals."""

import json

import pytest
from support.molecules import some_molecules

from graph_bandit_campaign import Campaign, Goal

MOLECULES = some_molecules(24)
IDS = MOLECULES.ids
GOALS = [Goal("a"), Goal("b", "minimize")]
AGENT = "molecule-ucb:short_list=20"


def begin(path=None, goals=GOALS, count=8):
    campaign = Campaign(MOLECULES, AGENT, goals=goals, state=path)
    campaign.tell_many({key: float(k % 5) for k, key in enumerate(IDS[:count])}, goal="a")
    campaign.tell_many({key: float(k % 3) for k, key in enumerate(IDS[2 : count + 2])}, goal="b")
    return campaign


def test_a_graph_is_measured_when_there_is_a_result_for_every_goal():
    campaign = begin()
    assert list(campaign.state.settled()) == list(IDS[2:8])
    everything_else = campaign.ask(24 - 6)
    assert {suggestion.id for suggestion in everything_else} == {*IDS[:2], *IDS[8:]}
    campaign.tell(IDS[0], 1.0, goal="b")
    campaign.tell(IDS[12], 1.0, goal="b")
    assert IDS[0] not in campaign.state.pending
    assert IDS[12] in campaign.state.pending


def test_there_is_a_prediction_for_every_goal_and_a_probability_of_the_front():
    for suggestion in begin().ask(3):
        assert 0 <= suggestion.probability <= 1
        assert suggestion.mean is None
        assert [each.id for each in suggestion.by_goal.values()] == [suggestion.id] * 2
        assert all(each.low < each.mean < each.high for each in suggestion.by_goal.values())
    predicted = begin().predict()
    assert list(predicted) == list(IDS)


def test_it_goes_on_from_its_file_with_the_same_answer(tmp_path):
    path = tmp_path / "state.json"
    begin(path)
    first = Campaign(MOLECULES, state=path).ask(3)
    assert Campaign(MOLECULES, state=path).state.rounds == (first,)
    assert begin().ask(3) == first
    assert Campaign(MOLECULES, state=path).front() == begin().front()
    fields = json.loads(path.read_text())
    assert fields["goals"][1]["aim"] == "minimize"
    assert fields["measured"][0]["goal"] == "a"


def test_ranges_and_weights_may_change_but_not_what_is_measured(tmp_path):
    path = tmp_path / "state.json"
    begin(path, [Goal("a"), Goal("b", "target", 0.0, 1.0)])
    changed = [Goal("a"), Goal("b", "target", 1.0, 2.0)]
    assert Campaign(MOLECULES, state=path, goals=changed).state.goals == tuple(changed)
    for goals in (GOALS, [Goal("a")], [Goal("a"), Goal("c", "target", 0.0, 1.0)]):
        with pytest.raises(ValueError, match="`goals` .*has maximize a, target b"):
            Campaign(MOLECULES, state=path, goals=goals)
    with pytest.raises(ValueError, match="Expected either `goals`, or `maximize` and `target`"):
        Campaign(MOLECULES, goals=GOALS, maximize=True)


def test_a_campaign_of_one_goal_does_not_become_one_of_several(tmp_path):
    path = tmp_path / "state.json"
    Campaign(MOLECULES, AGENT, state=path).tell(IDS[0], 1.0)
    with pytest.raises(ValueError, match="`goals` maximize a, minimize b. .* has none"):
        Campaign(MOLECULES, state=path, goals=GOALS)


def test_a_value_needs_the_name_of_its_goal():
    campaign = begin()
    before = campaign.state
    with pytest.raises(ValueError, match="`goal` to be one of the goals a, b. Got ''"):
        campaign.tell(IDS[12], 1.0)
    with pytest.raises(ValueError, match="nothing: there is one goal. Got 'a'"):
        Campaign(MOLECULES, AGENT).tell(IDS[12], 1.0, goal="a")
    assert campaign.state is before


def test_agents_that_do_not_draw_jointly_are_refused():
    with pytest.raises(ValueError, match="`random` cannot choose for several goals"):
        Campaign(MOLECULES, "random", goals=GOALS)


def test_there_is_a_front_but_no_best_value():
    campaign = begin()
    with pytest.raises(ValueError, match="Got several: look at each by"):
        _ = campaign.best
    assert campaign.outlook() is None
    assert campaign.front() == (IDS[4], IDS[3], IDS[2])  # (4, 2), (3, 1), (2, 0); not (0, 0), (1, 1), (2, 2)


def test_failures_stay_and_withdrawn_graphs_can_come_back():
    campaign = begin()
    first, second, _ = (suggestion.id for suggestion in campaign.ask(3))
    campaign.tell_failed(first)
    campaign.withdraw(second)
    assert campaign.state.failed == (first,)
    rest = {suggestion.id for suggestion in campaign.ask(24 - 6 - 2)}
    assert second in rest
    assert first not in rest


@pytest.mark.parametrize("weight", [None, 1.0])
def test_small_values_are_suggested_where_they_are_wanted(weight):
    small = some_molecules(40)
    campaign = Campaign(small, goals=[Goal("a", "minimize", weight=weight), Goal("b", "minimize", weight=weight)])
    value_of = dict(zip(small.ids, small.targets.tolist(), strict=True))
    for goal in campaign.state.goals:
        campaign.tell_many({key: value_of[key] for key in small.ids[::2]}, goal=goal.name)
    suggested = [value_of[suggestion.id] for suggestion in campaign.ask(5)]
    assert sum(suggested) / 5 < small.targets[1::2].mean() - 0.5 * small.targets.std()
