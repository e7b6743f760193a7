"""Molecules that an agent was not given are rated as if it had been given them."""

import pickle
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from support.molecules import ODD_MOLECULES, some_molecules

import registry
from agents.contract import SourceResults
from agents.molecule import Scales, compute_descriptors
from graph_bandit_env import from_smiles

MOLECULES = from_smiles([*some_molecules(60).smiles, *from_smiles(ODD_MOLECULES).smiles])
SMILES, COUNT = MOLECULES.smiles, len(MOLECULES)
VALUES = np.random.default_rng(5).normal(size=COUNT)
EVERY = compute_descriptors(SMILES)
COLUMNS = np.random.default_rng(6).normal(size=(COUNT, 2)).round(1)
COLUMNS[::7, 1] = np.nan
MEASURED = np.array([*range(0, COUNT, 5), COUNT - 1, COUNT - 4])
BOUNDED = np.array([3, 3, 5, 11])


def molecules(index=None, descriptors=EVERY, columns=None):
    """All molecules, or some of them on the scales of all."""
    if index is None:
        return SimpleNamespace(to_pyg=MOLECULES.to_pyg, smiles=SMILES, descriptors=descriptors, columns=columns)
    some = None if columns is None else columns[index]
    scales = Scales.of(descriptors, columns)
    names = [SMILES[k] for k in index]
    return SimpleNamespace(
        to_pyg=MOLECULES.to_pyg, smiles=names, descriptors=descriptors.take(index), columns=some, scales=scales
    )


def taught(given, place=None, bounds=True, noisy=True, **settings):
    """An agent that learnt the same results, whatever the place of each molecule in its set."""
    place = np.arange(COUNT) if place is None else place
    agent = registry.make_agent("molecule-ucb", **settings)
    agent.reset(None, seed=7, graph_set=given)
    if bounds:
        agent.update_bounds(None, place[BOUNDED], [1.0, -1.0, 0.4, 0.2], [False, True, True, False])
    if noisy:
        agent.update_noisy(None, place[MEASURED[:4]], VALUES[MEASURED[:4]], [0.1, 0.2, 0.1, 3.0])
    agent.update(None, place[MEASURED[4:]], VALUES[MEASURED[4:]])
    return agent


def assert_rates_as(rating, agent, index, tolerance=1e-9):
    prediction, expected = rating.prediction, agent.predict()
    np.testing.assert_allclose(prediction.mean, expected.mean[index], rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(prediction.std, expected.std[index], rtol=100 * tolerance, atol=tolerance)
    assert prediction.noise_std == pytest.approx(expected.noise_std)
    interval = np.array(expected.interval(0.8))[:, index]
    np.testing.assert_allclose(prediction.interval(0.8), interval, rtol=100 * tolerance, atol=tolerance)
    chances = expected.probability_above(0.5)[index]
    np.testing.assert_allclose(prediction.probability_above(0.5), chances, atol=tolerance)
    mean, variance = agent.posterior.mean_and_variance(agent._every)
    upper = (mean + 2 * variance.sqrt()).numpy()[index]
    np.testing.assert_allclose(rating.upper, upper, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    ("columns", "warp", "bounds", "noisy"), [(COLUMNS, "normal_scores", True, True), (None, "none", False, False)]
)
def test_rates_as_the_agent_that_was_given_all(columns, warp, bounds, noisy):
    whole = taught(molecules(columns=columns), bounds=bounds, noisy=noisy, warp=warp)
    known = np.unique([*MEASURED, *BOUNDED])[::-1]
    place = np.full(COUNT, -1)
    place[known] = np.arange(len(known))
    part = taught(molecules(known, columns=columns), place, bounds, noisy, warp=warp)
    for agent in (whole, part):
        rater = pickle.loads(pickle.dumps(agent.rater()))
        for index in (np.arange(COUNT), np.array([61, 2, 2, 40]), np.array([9]), np.array([], np.int64)):
            rating = rater(EVERY.take(index), None if columns is None else columns[index])
            assert_rates_as(rating, whole, index)


@pytest.mark.parametrize("columns", [COLUMNS], ids=["columns"])
def test_molecules_with_results_in_other_quantities_are_known_again(columns):
    """Of a part of the pool, too: there are sources on its molecules, on others of the pool and on others."""
    outside = ["CCCCCCCCCO", "c1ccc(CCN)cc1CCCO"]
    own = np.array([*range(1, COUNT, 4)])
    values = np.concatenate([VALUES[own], [2.0, -1.0]])
    sources = [
        SourceResults("related", [*(SMILES[k] for k in own), *outside], values),
        SourceResults("classes", [SMILES[k] for k in own[:9]], np.zeros(9), np.where(VALUES[own[:9]] > 0, 1, -1)),
    ]
    whole = taught(molecules(columns=columns))
    whole.learn_sources(sources)
    with_columns = own[: 5 if columns is None else None]  # the agent has the columns of its own molecules alone
    known = np.unique([*MEASURED, *BOUNDED, *with_columns])[::-1]
    place = np.full(COUNT, -1)
    place[known] = np.arange(len(known))
    part = taught(molecules(known, columns=columns), place)
    part.learn_sources(sources)
    index = np.array([61, 2, 2, 40, *own, *MEASURED])
    given = [SMILES[k] for k in index]
    for agent, tolerance in ((whole, 1e-9), (part, 1e-6)):  # their links are found from another order of results
        rater = pickle.loads(pickle.dumps(agent.rater()))
        rating = rater(EVERY.take(index), None if columns is None else columns[index], given)
        assert_rates_as(rating, whole, index, tolerance)
        with pytest.raises(ValueError, match="SMILES, since sources count"):
            rater(EVERY.take(index), None if columns is None else columns[index])


@pytest.mark.parametrize("columns", [None, COLUMNS], ids=["bare", "columns"])
def test_molecules_are_rated_jointly_as_by_the_agent(columns):
    agent, index = taught(molecules(columns=columns)), np.arange(3, COUNT, 4)
    joint = agent.rater().joint(EVERY.take(index), None if columns is None else columns[index])
    np.testing.assert_allclose(joint.covariance, agent.posterior.covariance(torch.from_numpy(index)), atol=1e-9)
    np.testing.assert_allclose(joint.mean, agent.posterior.mean_and_variance(agent._every)[0][index], atol=1e-9)
    std = np.sqrt(joint.covariance_of_rewards().diagonal())
    np.testing.assert_allclose(std, agent.predict().std[index], rtol=1e-6)


def test_ratings_do_not_depend_on_blocks(monkeypatch):
    rater = taught(molecules(columns=COLUMNS)).rater()
    whole = rater(EVERY, COLUMNS).upper
    monkeypatch.setattr("agents.process.rater.AT_A_TIME", 19)
    monkeypatch.setattr("agents.process.rater.ROWS_AT_A_TIME", 7)
    np.testing.assert_allclose(rater(EVERY, COLUMNS).upper, whole, atol=1e-12)


def test_neither_an_agent_nor_a_rater_loads_the_libraries_of_graphs():
    """They take 200 MB and a second in each process that rates molecules."""
    code = """if True:
        import sys
        import registry
        from graph_bandit_env import from_smiles
        agent = registry.make_agent("molecule-ucb")
        agent.reset(None, graph_set=from_smiles(["CCO", "CCN", "CCC"]))
        agent.update(None, [0, 1], [1.0, 2.0])
        agent.select_action(None)
        assert len(agent.rater()(agent.described.descriptors).upper) == 3
        assert "torch_geometric" not in sys.modules, "torch_geometric"
    """
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)
