"""Results whose measuring noise is known, taught to the agents for molecules."""

import numpy as np
import pytest
from support.molecules import some_molecules
from support.posterior import EXACT

import registry
from agents.contract import NoiseLearner

MOLECULES = some_molecules()
VALUES = MOLECULES.targets
KNOWN = np.arange(0, 40, 2)


def reset(name="molecule-ucb", **settings):
    agent = registry.make_agent(name, **settings)
    agent.reset(None, seed=3, graph_set=MOLECULES)
    return agent


def brute_force(agent, rows, values, noises):
    """Posterior mean and variance by an inverse, with a row for every result; values are in units of the targets."""
    every = np.arange(len(VALUES))
    kernel = agent.posterior.kernel.columns(*[agent._every] * 2).numpy()
    inverse = np.linalg.inv(kernel[np.ix_(rows, rows)] + np.diag(noises))
    cross = kernel[np.ix_(every, rows)]
    return cross @ inverse @ values, np.diag(kernel - cross @ inverse @ cross.T)


@pytest.mark.parametrize("name", registry.list_agents())
def test_agents_of_a_sum_of_parts_learn_from_noises_and_no_others_say_so(name):
    assert isinstance(registry.make_agent(name), NoiseLearner) == name.startswith(EXACT)


@pytest.mark.parametrize("seed", range(3))
def test_the_posterior_is_that_of_an_inverse_with_the_given_noises(seed):
    """Random noises, over four orders of magnitude; ragged: some molecules with noisy results, plain ones, or both."""
    random, agent = np.random.default_rng(seed), reset(warp="none")
    noisy, plain = random.integers(0, 25, 30), random.integers(15, 40, 12)
    noises = 10 ** random.uniform(-3, 1, 30)
    values, others = VALUES[noisy] + noises * random.normal(size=30), VALUES[plain] + random.normal(size=12) / 10
    agent.update_noisy(None, noisy, values, noises)
    agent.update(None, plain, others)
    learnt, targets = agent.posterior.noise, agent.targets
    rows, means, variances = [], [], []
    for molecule in np.unique(noisy):  # what the structures leave unexplained is one number for all its noisy results
        here = noisy == molecule
        precision = (1 / noises[here] ** 2).sum()
        rows.append(molecule)
        means.append((values[here] / noises[here] ** 2).sum() / precision)
        variances.append(learnt + 1 / precision / targets.unit**2)
    rows, means = np.append(rows, plain), np.append(means, others)
    variances = np.append(variances, np.full(12, learnt))
    mean, variance = brute_force(agent, rows, (means - targets.location) / targets.unit, variances)
    found = agent.posterior.mean_and_variance(agent._every)
    np.testing.assert_allclose(found[0], mean, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(found[1], variance, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("warp", ["normal_scores", "none"])
def test_an_outlier_with_much_noise_is_trusted_less(warp):
    def taught(noise):
        agent = reset(warp=warp)
        values = VALUES[KNOWN].copy()
        values[3] += 5 * VALUES.std()
        agent.update_noisy(None, KNOWN, values, np.where(KNOWN[3] == KNOWN, noise, 0.05))
        return agent.predict()

    precise, vague = taught(0.05), taught(20.0)
    outlier = KNOWN[3]
    assert abs(vague.mean[outlier] - VALUES[outlier]) < abs(precise.mean[outlier] - VALUES[outlier])


@pytest.mark.parametrize("warp", ["normal_scores", "none"])
def test_tiny_noises_are_as_results_without_noise(warp):
    plain, noisy = reset(warp=warp), reset(warp=warp)
    plain.update(None, KNOWN, VALUES[KNOWN])
    noisy.update_noisy(None, KNOWN, VALUES[KNOWN], 1e-200)
    np.testing.assert_allclose(noisy.predict().mean, plain.predict().mean, rtol=1e-5, atol=1e-6)
    assert noisy.predict().noise_std == pytest.approx(plain.predict().noise_std, rel=1e-4)


def test_enormous_noises_tell_nothing():
    plain, noisy = reset(warp="none", refit_growth=1e9), reset(warp="none", refit_growth=1e9)
    for agent in (plain, noisy):
        agent.update(None, KNOWN, VALUES[KNOWN])
    noisy.update_noisy(None, [1, 1], [VALUES.mean(), VALUES.mean()], [1e90, 1e80])
    np.testing.assert_allclose(
        noisy.posterior.mean_and_variance(noisy._every)[1][1],
        plain.posterior.mean_and_variance(plain._every)[1][1],
        rtol=1e-6,
    )


def test_repeats_count_by_their_precision():
    agent, once = reset(refit_growth=0.0), reset(refit_growth=0.0)
    once.update_noisy(None, KNOWN, VALUES[KNOWN], 0.1)
    agent.update_noisy(None, np.repeat(KNOWN, 4), np.repeat(VALUES[KNOWN], 4), 0.2)
    np.testing.assert_allclose(agent.predict().mean, once.predict().mean, rtol=1e-6)


def test_one_more_result_has_the_noise_of_a_typical_one():
    agent = reset(warp="none")
    agent.update_noisy(None, KNOWN, VALUES[KNOWN], [0.5] * 19 + [1e6])
    learnt = agent.posterior.noise
    assert agent.predict().noise_std == pytest.approx(np.hypot(agent.targets.unit * learnt**0.5, 0.5))


def test_without_noisy_results_nothing_is_added():
    agent = reset()
    agent.update(None, KNOWN, VALUES[KNOWN])
    assert agent.result_noise == agent.posterior.noise
    assert agent.results.noisy.join(agent.history) is agent.history


def test_a_resumed_agent_remembers_noises():
    agent, other = reset(), reset()
    agent.update_noisy(None, KNOWN, VALUES[KNOWN], np.linspace(0.1, 2, 20))
    agent.update_bounds(None, 1, 3.0, True)
    agent.update(None, 0, 0.5)
    other.load_state_dict(agent.state_dict())
    assert np.array_equal(other.predict().mean, agent.predict().mean)
    state = agent.state_dict()
    state["noisy"]["deviations"] = -state["noisy"]["deviations"]
    with pytest.raises(ValueError, match="standard deviation"):
        other.load_state_dict(state)
    agent.reset(None, graph_set=MOLECULES)
    assert not len(agent.results.noisy)


@pytest.mark.parametrize(
    ("given", "match"),
    [
        (([40], [1.0], [1.0]), "Expected actions"),
        (([0], [np.nan], [1.0]), "Expected rewards"),
        (([0], [1.0], [0.0]), "Expected `noise`"),
        (([0], [1.0], [-1.0]), "Expected `noise`"),
        (([0], [1.0], [np.nan]), "Expected `noise`"),
        (([0], [1.0], [np.inf]), "Expected `noise`"),
        (([0], [1.0], ["0.3"]), "Expected `noise`"),
        (([0, 1], [1.0, 2.0], [1.0, 1.0, 1.0]), "Expected `noise`"),
    ],
)
def test_refuses_what_is_no_noise_and_changes_nothing(given, match):
    agent = reset()
    agent.update(None, KNOWN, VALUES[KNOWN])
    before = agent.predict().mean
    with pytest.raises(ValueError, match=match):
        agent.update_noisy(None, *given)
    assert np.array_equal(agent.predict().mean, before)
    assert not len(agent.results.noisy)
