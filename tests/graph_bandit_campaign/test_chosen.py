"""Promises about suggested molecules: lower and wider than those about any molecule, while the choice is the same."""

import numpy as np
import pytest
from support.molecules import some_molecules

from agents.contract import ChoiceForecaster
from graph_bandit_campaign import Campaign, Goal, Suggestion
from graph_bandit_env import GraphPool

MOLECULES = some_molecules(30)
IDS = MOLECULES.ids
VALUES = dict(zip(IDS, MOLECULES.targets.tolist(), strict=True))
AGENT = "molecule-ucb:short_list=20"


def begin(sign=1.0, **settings):
    campaign = Campaign(MOLECULES, AGENT, maximize=sign > 0, **settings)
    campaign.tell_many({key: sign * VALUES[key] for key in IDS[:10]})
    return campaign


def uncorrected(monkeypatch):
    """Let agents predict of chosen molecules what they predict of any."""
    monkeypatch.setattr("agents.process.forecaster.ProcessForecaster.predict_chosen", lambda self, *_: self.predict())


@pytest.mark.parametrize("count", [1, 5, 20])
@pytest.mark.parametrize("agent", ["molecule-ucb", "molecule-ei", "molecule-ts", "molecule-greedy"])
def test_the_correction_changes_no_choice(monkeypatch, agent, count):
    def rounds():
        campaign = Campaign(MOLECULES, f"{agent}:short_list=20", seed=3)
        campaign.tell_many({key: VALUES[key] for key in IDS[:5]})
        for _ in range(2 if count < 20 else 1):
            campaign.tell_many({each.id: VALUES[each.id] for each in campaign.ask(count)})
        chosen = [[each.id for each in suggested] for suggested in campaign.state.rounds]
        return chosen, campaign.predict(), [each.mean for each in campaign.state.rounds[0]]

    *choices, shown = rounds()
    uncorrected(monkeypatch)
    *same, plain = rounds()
    assert same == choices
    assert plain != shown


def test_suggestions_promise_less_than_predictions_and_in_wider_intervals():
    campaign = begin()
    for each in campaign.ask(5):
        plain = campaign.predict()[each.id]
        assert each.mean < plain.mean
        assert each.probability < plain.probability
        assert each.std > plain.std
        assert each.noise_std == plain.noise_std
        assert each.high - each.low > plain.high - plain.low
        assert each.low < plain.low


def test_what_is_shown_is_what_the_agent_says_of_a_choice_from_those_on_offer():
    campaign = begin(offered=np.arange(30) < 26)
    among = np.arange(30) < 24  # less ten with results: 14
    suggested = campaign.ask(8, among=among)
    assert isinstance(campaign.model(), ChoiceForecaster)
    said = campaign.model().predict_chosen(8, 14)
    for each in suggested:
        k = IDS.index(each.id)
        low, high = said.interval(0.9)
        expected = said.mean[k], said.std[k], low[k], high[k], said.probability_above(campaign.best)[k]
        assert (each.mean, each.std, each.low, each.high, each.probability) == pytest.approx(expected)


def test_small_values_are_corrected_upwards():
    up, down = begin(), begin(sign=-1.0)
    for one, other in zip(up.ask(3), down.ask(3), strict=True):
        assert (one.mean, one.low, one.high, one.std) == pytest.approx(
            (-other.mean, -other.high, -other.low, other.std)
        )
        assert other.mean > down.predict()[other.id].mean


def test_who_takes_all_that_is_left_has_not_chosen():
    campaign = begin()
    predicted = campaign.predict()
    for each in campaign.ask(20):
        for name in ("mean", "std", "noise_std", "probability", "low", "high"):
            assert getattr(each, name) == pytest.approx(getattr(predicted[each.id], name), rel=1e-9)
    (only,) = Campaign(MOLECULES, AGENT, maximize=True, offered=np.arange(30) == 17).ask()
    assert only == Suggestion(IDS[17])


def test_one_molecule_on_offer_is_no_choice_and_two_are_one():
    for offered, is_choice in ((1, False), (2, True)):
        campaign = begin(offered=np.arange(30) >= 30 - offered)
        predicted = campaign.predict()
        (only,) = campaign.ask()
        assert (only.mean < predicted[only.id].mean - 1e-6) == is_choice


def test_goals_and_agents_that_cannot_are_not_corrected():
    campaign = Campaign(MOLECULES, AGENT, goals=[Goal("a"), Goal("b", aim="minimize")])
    for goal, sign in (("a", 1.0), ("b", 0.5)):
        campaign.tell_many({key: sign * VALUES[key] + len(key) for key in IDS[:10]}, goal)
    for each in campaign.ask(3):
        assert each == campaign.predict()[each.id]
    rng = np.random.default_rng(0)
    graphs = GraphPool([rng.normal(size=(4, 3)) for _ in range(12)], [[(0, 1), (1, 2)]] * 12, directed=False)
    campaign = Campaign(graphs, "gnn-ucb", maximize=True)
    campaign.tell_many({str(k): float(k) for k in range(5)})
    for each in campaign.ask(2):
        assert each == campaign.predict()[each.id]
    assert not isinstance(campaign.model(), ChoiceForecaster)
