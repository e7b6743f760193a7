import numpy as np
import pytest
from support.molecules import some_molecules

import registry
from agents.contract import ModelAgent

MOLECULES = some_molecules(30)
NAMES = [name for name in registry.list_agents() if registry.agent_needs(name) == "molecules"]
MASK = np.arange(30) >= 10


def begin(name="molecule-ucb", **settings):
    agent = registry.make_agent(name, **settings)
    agent.reset(None, seed=1, graph_set=MOLECULES)
    agent.update(None, np.arange(10), MOLECULES.targets[:10])
    return agent


@pytest.mark.parametrize("name", NAMES[:1])
def test_equal_prices_change_nothing(name):
    assert isinstance(begin(name), ModelAgent)
    free = begin(name).select_batch(None, 6, MASK, [12])
    assert begin(name).select_priced(None, 6, np.full(30, 7.3), MASK, [12]) == free
    assert begin(name).select_priced(None, 6, np.where(MASK, 0.1, np.nan), MASK, [12]) == free


def test_the_choice_is_that_of_the_index_less_the_handicap():  # one molecule, so no batch and no short list
    agent, prices = begin(), np.geomspace(1, 100, 30)
    mean, variance = (moment.numpy() for moment in agent.posterior.mean_and_variance(agent._every))
    index = mean + np.sqrt(variance) - 0.5 * np.log(prices)
    assert agent.select_priced(None, 1, prices, MASK) == [10 + int(index[10:].argmax())]


def test_it_stops_when_nothing_fits_any_more():
    chosen = begin().select_priced(None, 6, np.ones(30), MASK, (), lambda so_far: np.full(30, len(so_far) < 3))
    assert chosen == begin().select_batch(None, 3, MASK)
