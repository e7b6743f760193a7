"""What is worth measuring twice: told where results are noisy, and not where they are exact."""

from unittest.mock import MagicMock

import numpy as np
import pytest
from support.molecules import some_molecules

from agents.contract import Prediction
from graph_bandit_campaign import Campaign, CampaignState, Measurement, Repeat
from graph_bandit_campaign.model.stopping import find_repeat

MOLECULES = some_molecules(60)
AGENT = "molecule-ucb:short_list=30"


def begin(noise, sign=1.0):
    """A campaign in which the better two thirds are measured."""
    generator = np.random.default_rng(0)
    campaign = Campaign(MOLECULES, AGENT, maximize=sign > 0)
    order = np.argsort(-MOLECULES.targets)[:40]
    results = sign * (MOLECULES.targets[order] + noise * generator.normal(size=40))
    campaign.tell(dict(zip([MOLECULES.ids[k] for k in order], results.tolist(), strict=True)))
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
