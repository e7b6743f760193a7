"""Whether the pool holds a better molecule, and what the pending ones promise."""

import numpy as np
import pytest
from support.molecules import some_molecules

from graph_bandit_campaign import Campaign, StoppingAdvice

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
    assert one.noise_std < 0.1 * one.std  # the forecast is of a result with noise, the advice of true values
    advice = campaign.stopping_advice()
    assert advice.count == 1
    assert advice.batch == pytest.approx(one.probability, abs=0.08)  # which allows for the choice of the best
    assert advice.better >= advice.batch


def test_more_molecules_promise_more():
    one, many = begin(), begin()
    one.ask()
    many.ask(8)
    assert many.stopping_advice().batch > one.stopping_advice().batch
    assert many.stopping_advice().better == pytest.approx(one.stopping_advice().better, abs=0.05)


def test_small_values_are_large_ones_with_another_sign():
    up, down = begin(), begin(sign=-1.0)
    up.ask(4)
    down.ask(4)
    assert up.stopping_advice() == down.stopping_advice()


def test_failed_molecules_and_those_not_on_offer_are_not_to_be_found():
    campaign = Campaign(MOLECULES, AGENT, offered=np.arange(40) < 21)
    campaign.tell({key: VALUES[key] for key in MOLECULES.ids[:20]})
    assert campaign.stopping_advice().better > 0
    campaign.tell({MOLECULES.ids[20]: "failed"})
    assert campaign.stopping_advice().better == 0


def test_it_is_among_those_that_meet_the_limits():
    campaign, limited = begin(), np.arange(40) < 21
    assert 0 < campaign.stopping_advice(limited).better < campaign.stopping_advice().better
    assert campaign.stopping_advice(np.arange(40) < 20) == StoppingAdvice(0.0, 0.0, 0)


def test_below_15_percent_the_rule_says_stop_whatever_the_batch():
    assert not StoppingAdvice(0.15, 0.0, 8).stop
    assert StoppingAdvice(0.149, 0.1, 0).stop
