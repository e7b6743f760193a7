"""The choice for several goals, and what failures teach, have versions of their own in the file of a campaign."""

import json
import warnings

import pytest
from support.molecules import some_molecules

from graph_bandit_campaign import AgentChangedWarning, Campaign, Goal
from graph_bandit_campaign.model import goals_choice
from graph_bandit_campaign.model.failures import forecast

MOLECULES = some_molecules(24)
IDS = MOLECULES.ids


def begin(path, **settings):
    return Campaign(MOLECULES, "molecule-ucb:short_list=20", state=path, **settings)


def keys(path):
    return {key: value for key, value in json.loads(path.read_text()).items() if key.endswith("_algorithm")}


def check_quiet(path, **settings):
    with warnings.catch_warnings(action="error", category=AgentChangedWarning):
        return begin(path, **settings)


def test_a_change_of_the_choice_for_several_goals_is_told(tmp_path, monkeypatch):
    path, goals = tmp_path / "state.json", [Goal("a"), Goal("b")]
    begin(path, goals=goals).tell(IDS[0], 1.0, goal="a")
    begin(tmp_path / "one.json").tell(IDS[0], 1.0)
    assert keys(path) == {"goals_algorithm": 2}
    monkeypatch.setattr(goals_choice, "ALGORITHM", 3)
    with pytest.warns(AgentChangedWarning, match=r"The choice for several goals has changed .* \(algorithm 2, now 3\)"):
        begin(path, goals=goals).tell(IDS[1], 1.0, goal="a")
    assert keys(path) == {"goals_algorithm": 3}
    check_quiet(path, goals=goals)
    check_quiet(tmp_path / "one.json").tell(IDS[1], 2.0)
    assert keys(tmp_path / "one.json") == {}


def test_a_change_of_what_failures_teach_is_told_where_they_teach(tmp_path, monkeypatch):
    path, few = tmp_path / "state.json", tmp_path / "few.json"
    for file, count in ((path, 5), (few, 4)):
        campaign = begin(file)
        for k in range(count):
            campaign.tell_failed(IDS[k])
        campaign.tell_many({IDS[k]: float(k) for k in range(6, 12)})
    monkeypatch.setattr(forecast, "ALGORITHM", 3)
    with pytest.warns(AgentChangedWarning, match=r"What failures teach has changed .* \(algorithm 1, now 3\)"):
        begin(path).ask(1)
    assert keys(path) == {"failures_algorithm": 3}
    check_quiet(path)
    check_quiet(path, ignore_failures=True).ask(1)
    check_quiet(path)
    campaign = check_quiet(few)
    campaign.tell_failed(IDS[4])
    campaign.ask(1)
    assert keys(few) == {"failures_algorithm": 3}
