"""Whether the pool holds a better molecule, and what the pending ones promise."""

import numpy as np
import pytest
from support.molecules import some_molecules

from graph_bandit_campaign import Campaign, Outlook

MOLECULES = some_molecules(40)
VALUES = dict(zip(MOLECULES.ids, MOLECULES.targets.tolist(), strict=True))
AGENT = "molecule-ucb:short_list=20"


def begin(count=20, sign=1.0, agent=AGENT):
    campaign = Campaign(MOLECULES, agent, maximize=sign > 0)
    campaign.tell({key: sign * VALUES[key] for key in MOLECULES.ids[:count]})
    return campaign


def test_of_one_molecule_it_is_the_forecast_of_its_result():
    campaign = begin()
    (one,) = campaign.ask()
    assert one.noise_std < 0.1 * one.std  # the forecast is of a result with noise, the outlook of true values
    outlook = campaign.outlook()
    assert outlook.count == 1
    assert outlook.batch == pytest.approx(one.probability, abs=0.08)  # which allows for the choice of the best
    assert outlook.better >= outlook.batch


def test_more_molecules_promise_more():
    one, many = begin(), begin()
    one.ask()
    many.ask(8)
    assert many.outlook().batch > one.outlook().batch
    assert many.outlook().better == pytest.approx(one.outlook().better, abs=0.05)


def test_small_values_are_large_ones_with_another_sign():
    up, down = begin(), begin(sign=-1.0)
    up.ask(4)
    down.ask(4)
    assert up.outlook() == down.outlook()


def test_failed_molecules_and_those_not_on_offer_are_not_to_be_found():
    campaign = Campaign(MOLECULES, AGENT, offered=np.arange(40) < 21)
    campaign.tell({key: VALUES[key] for key in MOLECULES.ids[:20]})
    assert campaign.outlook().better > 0
    campaign.tell({MOLECULES.ids[20]: "failed"})
    assert campaign.outlook().better == 0


def test_it_is_among_those_that_meet_the_limits():
    campaign, limited = begin(), np.arange(40) < 21
    assert 0 < campaign.outlook(limited).better < campaign.outlook().better
    assert campaign.outlook(np.arange(40) < 20) == Outlook(0.0, 0.0, 0)


def test_below_15_percent_the_rule_says_stop_whatever_the_batch():
    assert not Outlook(0.15, 0.0, 8).stop
    assert Outlook(0.149, 0.1, 0).stop
