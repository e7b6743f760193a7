"""Results whose measuring noise is known, taught to the agents for molecules."""

import numpy as np
import pytest
from support.molecules import some_molecules

import registry

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


def test_one_more_result_has_the_noise_of_a_typical_one():
    agent = reset(warp="none")
    agent.update_noisy(None, KNOWN, VALUES[KNOWN], [0.5] * 19 + [1e6])
    learnt = agent.posterior.noise
    assert agent.predict().noise_std == pytest.approx(np.hypot(agent.targets.unit * learnt**0.5, 0.5))
