"""Results of which only a bound is known, taught to the agents for molecules."""

import numpy as np
import pytest
from scipy.stats import spearmanr
from support.molecules import some_molecules
from support.posterior import EXACT

import registry
from agents.contract import BoundsLearner

MOLECULES = some_molecules()
VALUES = MOLECULES.targets
KNOWN = np.arange(0, 40, 2)
OTHERS = np.arange(1, 40, 2)


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


@pytest.mark.parametrize("name", registry.list_agents())
def test_agents_of_a_sum_of_parts_learn_from_bounds_and_no_others_say_so(name):
    assert isinstance(registry.make_agent(name), BoundsLearner) == name.startswith(EXACT)


@pytest.mark.parametrize("warp", ["normal_scores", "none"])
def test_bounds_move_predictions_to_their_side(warp):
    low, high = np.quantile(VALUES, [0.2, 0.8])
    plain = taught(KNOWN, warp=warp).predict()
    above = taught(KNOWN, [(1, high, True)], warp=warp).predict()
    below = taught(KNOWN, [(1, low, False)], warp=warp).predict()
    assert below.mean[1] < plain.mean[1] < above.mean[1]
    assert max(above.std[1], below.std[1]) < plain.std[1]


def test_a_bound_that_says_what_is_known_changes_little():
    far = VALUES.min() - 100
    plain, bounded = taught(KNOWN, warp="none"), taught(KNOWN, [(0, far, True), (2, far, True)], warp="none")
    np.testing.assert_allclose(bounded.predict().mean, plain.predict().mean, atol=1e-6)


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


@pytest.mark.parametrize("strong", [True, False])
def test_bounds_on_a_third_predict_the_order_better_than_the_rest_alone(strong):
    """Over draws of the molecules told, by the correlation of ranks on all molecules."""
    limit, sign = np.quantile(VALUES, 0.7 if strong else 0.3), 1 if strong else -1
    gains = []
    for seed in range(5):
        told = np.random.default_rng(seed).permutation(40)[:25]
        beyond = sign * VALUES[told] > sign * limit
        exact, bounds = told[~beyond], [(k, limit, strong) for k in told[beyond].tolist()]
        with_bounds, without = (spearmanr(taught(exact, given).predict().mean, VALUES)[0] for given in (bounds, []))
        gains.append(with_bounds - without)
    assert np.mean(gains) > 0.02


def test_bounds_alone_are_enough_to_choose_and_to_predict():
    agent = taught([], [(k, 1.0, False) for k in range(10)])
    assert np.isfinite(agent.predict().mean).all()
    assert (agent.predict().mean[:10] < 1.0).all()
    assert len(set(agent.select_batch(None, 5, np.arange(40) >= 10))) == 5
    assert sum(agent.shares().values()) == pytest.approx(1)


@pytest.mark.parametrize("results", [[4], [4, 5]])
def test_few_results_and_many_bounds_go_together(results):
    agent = taught(results, [(k, VALUES[results].min(), False) for k in range(10, 40)])
    found = agent.predict()
    assert np.isfinite([*found.mean, *found.std, *found.interval()[0], *found.probability_above(1.0)]).all()


def test_a_molecule_may_have_a_result_and_contradicting_bounds():
    agent = taught(KNOWN, [(0, 1e100, True), (0, -1e100, False), (1, 3.0, True), (1, 2.0, False)])
    assert np.isfinite(agent.predict().mean).all()


def test_expected_improvement_counts_from_molecules_with_bounds_too():
    agent = reset("molecule-ei")
    agent.update_bounds(None, 7, 100.0, True)
    agent.update(None, [1, 3], VALUES[[1, 3]])
    assert agent.belief().best == agent.belief().mean[7]


def test_a_resumed_agent_remembers_bounds():
    agent, other = taught(KNOWN, [(1, 3.0, True), (5, 0.0, False)]), reset()
    other.load_state_dict(agent.state_dict())
    assert np.array_equal(other.predict().mean, agent.predict().mean)
    agent.reset(None, graph_set=MOLECULES)
    assert not len(agent.results.bounds)


def test_the_order_of_bounds_and_results_changes_nothing_once_weights_are_learnt_from_all():
    first = taught(KNOWN, [(k, 3.0, True) for k in (1, 3, 5)], refit_growth=0.0)
    then = taught(KNOWN, refit_growth=0.0)
    then.update_bounds(None, [5, 1, 3], [3.0] * 3, True)
    np.testing.assert_allclose(then.predict().mean, first.predict().mean, rtol=1e-9)


@pytest.mark.parametrize(
    ("given", "match"),
    [
        (([40], [1.0], [True]), "Expected actions"),
        (([0], [np.nan], [True]), "Expected rewards"),
        (([0], [1.0], [1]), "Expected `above`"),
        (([0, 1], [1.0, 2.0], [True, False, True]), "Expected `above`"),
        (([0], [1.0], "above"), "Expected `above`"),
    ],
)
def test_refuses_what_is_no_bound_and_changes_nothing(given, match):
    agent = taught(KNOWN)
    before = agent.predict().mean
    with pytest.raises(ValueError, match=match):
        agent.update_bounds(None, *given)
    assert np.array_equal(agent.predict().mean, before)
    assert not len(agent.results.bounds)


def test_bounds_before_reset_are_refused():
    with pytest.raises(RuntimeError, match="Expected `reset` first"):
        registry.make_agent("molecule-ts").update_bounds(None, 0, 1.0, True)
