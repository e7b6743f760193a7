"""The worth of a result, against telling the agent many results and seeing which molecule it would name best."""

import numpy as np
import pytest
from scipy.stats import norm
from support.molecules import some_molecules

import registry

MOLECULES = some_molecules(40)
NAMED = [3, 11, 17, 5]


def make_agent(noise=0.3, **settings):
    agent = registry.make_agent("molecule-ucb", refit_growth=100, **settings)
    agent.reset(None, seed=0, graph_set=MOLECULES)
    values = MOLECULES.targets[:20] + noise * np.random.default_rng(0).normal(size=20)
    values[NAMED] = values.max() + 0.1 * np.arange(4)
    agent.update(None, np.arange(20), values)
    return agent


@pytest.mark.parametrize(("graph", "times"), [(17, 1), (25, 2)])
def test_it_is_what_telling_results_gains(graph, times):
    """The scale stays about the same: rewards are standardised, and one of twenty changes."""
    agent = make_agent(warp="none")
    before, named = agent.predict(), [*dict.fromkeys([*NAMED, graph])]
    state = agent.state_dict()
    bests = []
    for quantile in (np.arange(40) + 0.5) / 40:
        spread = np.hypot(before.std[graph], before.noise_std / times**0.5)
        agent.load_state_dict(state)
        agent.update(None, [graph] * times, [before.mean[graph] + spread * norm.ppf(quantile)] * times)
        bests.append(agent.predict().mean[named].max())
    agent.load_state_dict(state)
    (worth,) = agent.worth_of_results([graph], NAMED, times)
    assert worth > 0.001
    assert worth == pytest.approx(np.mean(bests) - before.mean[named].max(), rel=0.25)


def test_it_changes_no_later_choice_and_is_no_matter_of_the_others_asked_about():
    asked, silent = make_agent(), make_agent()
    every = asked.worth_of_results([25, 17, 30], NAMED)
    assert every[:1] == pytest.approx(asked.worth_of_results([25], NAMED))
    assert asked.worth_of_results([], NAMED).shape == (0,)
    mask = (np.arange(40) >= 20).astype(np.int8)
    assert asked.select_batch(None, 3, mask) == silent.select_batch(None, 3, mask)
