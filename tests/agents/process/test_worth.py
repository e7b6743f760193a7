"""The worth of a result, against telling the agent many results and seeing which molecule it would name best."""

import numpy as np
import pytest
from scipy.stats import norm
from support.molecules import some_molecules

import registry
from agents.contract import ResultsWeigher

MOLECULES = some_molecules(40)
NAMED = [3, 11, 17, 5]


def make_agent(noise=0.3, **settings):
    agent = registry.make_agent("molecule-ucb", refit_growth=100, **settings)
    agent.reset(None, seed=0, graph_set=MOLECULES)
    values = MOLECULES.targets[:20] + noise * np.random.default_rng(0).normal(size=20)
    values[NAMED] = values.max() + 0.1 * np.arange(4)
    agent.update(None, np.arange(20), values)
    return agent


@pytest.mark.parametrize(("graph", "times"), [(17, 1), (5, 1), (25, 1), (25, 2)])
def test_it_is_what_telling_results_gains(graph, times):
    """The scale stays about the same: rewards are standardised, and one of twenty changes."""
    agent = make_agent(warp="none")
    before, named = agent.predict(), [*dict.fromkeys([*NAMED, graph])]
    state = agent.state_dict()
    bests = []
    for quantile in (np.arange(80) + 0.5) / 80:
        spread = np.hypot(before.std[graph], before.noise_std / times**0.5)
        agent.load_state_dict(state)
        agent.update(None, [graph] * times, [before.mean[graph] + spread * norm.ppf(quantile)] * times)
        bests.append(agent.predict().mean[named].max())
    agent.load_state_dict(state)
    (worth,) = agent.worth_of_results([graph], NAMED, times)
    assert worth > 0.001
    assert worth == pytest.approx(np.mean(bests) - before.mean[named].max(), rel=0.25)


def test_two_results_are_worth_more_than_one_and_a_repeat_of_a_weak_molecule_is_worth_little():
    agent = make_agent(noise=2.0)
    weak = int(np.argmin(agent.predict().mean[:20]))
    once, twice = (agent.worth_of_results(range(20, 40), NAMED, times) for times in (1, 2))
    assert (twice >= once).all()
    assert (twice > once).any()
    assert agent.worth_of_results([weak], [*NAMED, weak])[0] < 0.1 * agent.worth_of_results(NAMED, NAMED).max()


def test_it_changes_no_later_choice_and_is_no_matter_of_the_others_asked_about():
    asked, silent = make_agent(), make_agent()
    every = asked.worth_of_results([25, 17, 30], NAMED)
    assert every[:1] == pytest.approx(asked.worth_of_results([25], NAMED))
    assert asked.worth_of_results([], NAMED).shape == (0,)
    mask = (np.arange(40) >= 20).astype(np.int8)
    assert asked.select_batch(None, 3, mask) == silent.select_batch(None, 3, mask)


def test_other_molecules_and_no_result_are_refused():
    agent = registry.make_agent("molecule-ucb")
    assert isinstance(agent, ResultsWeigher)
    with pytest.raises(RuntimeError, match="Expected `reset` first"):
        agent.worth_of_results([0], [1])
    agent = make_agent()
    for index, named, times in [([40], [1], 1), ([0], [-1], 1), ([0], [1], 0)]:
        with pytest.raises(ValueError, match="indices from 0 to 39|`times` of at least 1"):
            agent.worth_of_results(index, named, times)
