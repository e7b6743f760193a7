"""Results of which only a bound is known, taught to the agents for molecules."""

import numpy as np
import pytest
from support.molecules import some_molecules
from support.posterior import EXACT

import registry
from agents.contract import ModelAgent

MOLECULES = some_molecules()
VALUES = MOLECULES.targets
KNOWN = np.arange(0, 40, 2)


def reset(name="molecule-ucb", **settings):
    agent = registry.make_agent(name, **settings)
    agent.reset(None, seed=3, graph_set=MOLECULES)
    return agent


def taught(results, bounds=(), **settings):
    """An agent that knows the results of some molecules, and (molecule, number, above) of others."""
    agent = reset(**settings)
    if len(bounds):
        molecules, numbers, above = zip(*bounds, strict=True)
        agent.update_bounds(None, molecules, numbers, above)
    if len(results):
        agent.update(None, results, VALUES[results])
    return agent


def test_agents_of_a_sum_of_parts_learn_from_bounds_and_no_others_say_so():
    for name in registry.list_agents():
        assert isinstance(registry.make_agent(name), ModelAgent) == name.startswith(EXACT)


@pytest.mark.parametrize("warp", ["normal_scores", "none"])
def test_bounds_move_predictions_to_their_side(warp):
    low, high = np.quantile(VALUES, [0.2, 0.8])
    plain = taught(KNOWN, warp=warp).predict()
    above = taught(KNOWN, [(1, high, True)], warp=warp).predict()
    below = taught(KNOWN, [(1, low, False)], warp=warp).predict()
    assert below.mean[1] < plain.mean[1] < above.mean[1]
    assert max(above.std[1], below.std[1]) < plain.std[1]


@pytest.mark.parametrize("warp", ["normal_scores", "none"])
def test_maximising_and_minimising_are_mirror_images(warp):
    agent, mirrored = reset(warp=warp), reset(warp=warp)
    bounds = [1, 3], np.quantile(VALUES, [0.3, 0.9]), np.array([False, True])
    agent.update_bounds(None, *bounds)
    agent.update(None, KNOWN, VALUES[KNOWN])
    mirrored.update_bounds(None, bounds[0], -bounds[1], ~bounds[2])
    mirrored.update(None, KNOWN, -VALUES[KNOWN])
    np.testing.assert_allclose(mirrored.predict().mean, -agent.predict().mean, atol=2e-3)
    np.testing.assert_allclose(mirrored.predict().std, agent.predict().std, rtol=2e-2)
