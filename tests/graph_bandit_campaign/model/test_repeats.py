"""What is worth measuring twice: told where results are noisy, and not where they are exact."""

from unittest.mock import MagicMock

import numpy as np
import pytest
from support.molecules import some_molecules

from agents.contract import Prediction
from graph_bandit_campaign import Campaign, CampaignState, Measurement, Outlook, Repeat
from graph_bandit_campaign.model.stopping import find_repeat

MOLECULES = some_molecules(60)
AGENT = "molecule-ucb:short_list=30"


def begin(noise, sign=1.0):
    """A campaign in which the better two thirds are measured."""
    generator = np.random.default_rng(0)
    campaign = Campaign(MOLECULES, AGENT, maximize=sign > 0)
    order = np.argsort(-MOLECULES.targets)[:40]
    results = sign * (MOLECULES.targets[order] + noise * generator.normal(size=40))
    campaign.tell_many(dict(zip([MOLECULES.ids[k] for k in order], results.tolist(), strict=True)))
    return campaign


def test_where_results_are_exact_nothing_is_worth_measuring_twice():
    campaign = begin(noise=0.0)
    campaign.ask(4)
    assert campaign.outlook().again is None


def test_where_they_are_noisy_it_is_one_of_those_that_look_best():
    campaign = begin(noise=1.5)
    campaign.ask(4)
    again = campaign.outlook().again
    predicted = campaign.predict()
    means = sorted((predicted[key].mean for key in campaign.state.means()), reverse=True)
    assert predicted[again.id].mean >= means[9]
    assert again.worth > again.first > 0
    assert again.worth > 0.01 * np.std(list(campaign.state.means().values()))
    assert campaign.outlook().sentence("logP").endswith(again.sentence("logP"))


def test_of_small_values_it_is_the_same_molecule():
    up, down = begin(noise=1.5), begin(noise=1.5, sign=-1.0)
    up.ask(4)
    down.ask(4)
    assert up.outlook().again == down.outlook().again


def test_it_changes_no_later_suggestion():
    asked, silent = begin(noise=1.5), begin(noise=1.5)
    asked.outlook()
    assert asked.ask(3) == silent.ask(3)


@pytest.mark.parametrize(
    ("measured", "once", "twice", "told"),
    [
        ([0.1, 0.2], [0.1, 0.05], [0.15, 0.1], ("b", 0.2, 0.075)),
        ([0.1, 0.0], [0.1, 0.05], [0.15, 0.2], ("d", 0.15, 0.075)),  # the second result of a suggestion adds most
        ([0.1, 0.2], [0.3, 0.3], [0.4, 0.4], None),  # first results are worth more
        ([0.004, 0.0], [], [], None),  # less than 0.01 standard deviations of the results
        ([0.006, 0.0], [], [], ("a", 0.006, None)),
    ],
)
def test_it_must_be_worth_more_than_a_first_measurement(measured, once, twice, told):
    worths = {(0, 1): measured, (2, 3): once, (2, 3, 2): twice, (): []}
    agent = MagicMock()
    agent.predict.return_value = Prediction(np.array([1.0, 0.5, 0.0, 0.0]), np.ones(4), 0.1)
    agent.worth_of_results = lambda index, named, times=1: np.array(
        worths[(*index, times) if times > 1 and index else tuple(index)], np.float64
    )
    state = CampaignState("a", True, 0, (Measurement("a", 1.0, 0), Measurement("b", 0.0, 0)))
    found = find_repeat(agent, state, {"a": 0, "b": 1, "c": 2, "d": 3}, [2, 3] if once else [])
    assert found == (told and Repeat(told[0], pytest.approx(told[1]), told[2] and pytest.approx(told[2])))


@pytest.mark.parametrize(
    ("first", "ending"), [(None, "named best by 0.05."), (0.01, "by 0.05, a first measurement by 0.01 on average.")]
)
def test_it_is_said_in_a_sentence(first, ending):
    sentence = Outlook(0.4, 0.0, 0.0, 0, again=Repeat("m7", 0.05, first)).sentence("pic50")
    known = Outlook(0.4, 0.0, 0.0, 0).sentence("pic50")
    start = f"{known} m7 is worth measuring twice: that is expected to improve the pic50"
    assert sentence.startswith(start)
    assert sentence.endswith(ending)


def test_a_bound_is_no_result_that_may_be_measured_twice():
    state = CampaignState("a", True, 0, (Measurement("a", 1.0, 0), Measurement("b", 0.0, 0, "above")))
    assert find_repeat(MagicMock(), state, {"a": 0, "b": 1}, []) is None
