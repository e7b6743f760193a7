"""A campaign whose goal is a class: probabilities of a hit, hits to expect, and a way back to numbers."""

import re

import pytest
from support.campaigns import IDS, MOLECULES, SMALL, VALUES

from graph_bandit_campaign import Campaign


@pytest.mark.parametrize("agent", [SMALL, "gp-ei"])
@pytest.mark.parametrize("maximize", [True, False])
def test_of_a_class_the_probability_of_a_hit_is_predicted(agent, maximize, tmp_path):
    campaign = Campaign(MOLECULES, agent, maximize=maximize, state=tmp_path / "a.json")
    campaign.tell(hits := {key: int(VALUES[key] > 2) for key in IDS[:10]})
    asked, every = campaign.ask(5), campaign.predict().values()
    chances = [each.probability for each in asked]
    assert chances == sorted(chances, reverse=True) == [campaign.predict()[each.id].probability for each in asked]
    assert all(each.mean == (each.probability if maximize else 1 - each.probability) for each in every)
    assert all(0 < each.mean < 1 and each.interval is None for each in every)
    assert {*campaign.state.hits} == {key for key, hit in hits.items() if hit == maximize}
    advice, left = campaign.stopping_advice(), [each.probability for each in every if each.id not in hits]
    assert advice.hits == pytest.approx(sum(left))
    assert max(chances) < advice.batch < advice.better <= 1
    with pytest.raises(ValueError, match=re.escape(IDS[12])):
        campaign.tell({IDS[12]: 0.5})
    numbers = Campaign(MOLECULES, agent, state=tmp_path / "a.json", kind="number")  # also later
    numbers.tell({IDS[12]: 0.5})
    assert all(each.interval for each in numbers.ask(2))
    assert Campaign(MOLECULES, agent, state=tmp_path / "a.json").state.kind == "number"


@pytest.mark.parametrize(("values", "kind"), [([True, True], "class"), ([1, 1], ""), ([0, 0.5], "")])
def test_one_class_is_a_class_if_it_is_no_number(values, kind):
    campaign = Campaign(MOLECULES, SMALL)
    campaign.tell(dict(zip(IDS, values, strict=False)))
    assert campaign.state.kind == kind
