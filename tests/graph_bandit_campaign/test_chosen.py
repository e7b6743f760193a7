"""Promises about suggested molecules: lower and wider than those about any molecule, while the choice is the same."""

import numpy as np
import pytest
from support.molecules import some_molecules

from graph_bandit_campaign import Campaign, Suggestion

MOLECULES = some_molecules(30)
IDS = MOLECULES.ids
VALUES = dict(zip(IDS, MOLECULES.targets.tolist(), strict=True))
AGENT = "molecule-ucb:short_list=20"


def begin(sign=1.0, **settings):
    campaign = Campaign(MOLECULES, AGENT, maximize=sign > 0, **settings)
    campaign.tell_many({key: sign * VALUES[key] for key in IDS[:10]})
    return campaign


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


def test_who_takes_all_that_is_left_has_not_chosen():
    campaign = begin()
    predicted = campaign.predict()
    for each in campaign.ask(20):
        for name in ("mean", "std", "noise_std", "probability", "low", "high"):
            assert getattr(each, name) == pytest.approx(getattr(predicted[each.id], name), rel=1e-9)
    (only,) = Campaign(MOLECULES, AGENT, maximize=True, offered=np.arange(30) == 17).ask()
    assert only == Suggestion(IDS[17])
