"""Agents that are told results of other quantities, which are rows of their one posterior."""

import networkx as nx
import numpy as np
import pytest
import torch
from scipy.stats import spearmanr
from support.molecules import some_molecules
from support.posterior import from_scratch

import registry
from agents.contract import SourceResults
from graph_bandit_env.graphs import as_graph_set

POOL = some_molecules(60)
OTHERS = [text for text in some_molecules(150).smiles if text not in {*POOL.smiles}]
BOTH = [*POOL.smiles[10:40], *OTHERS[:40]]
LOGP = some_molecules(150).targets[[some_molecules(150).smiles.index(text) for text in OTHERS[:40]]]
RELATED = np.concatenate([POOL.targets[10:40], LOGP])
FEW = np.arange(0, 60, 5)
LEFT = np.setdiff1d(np.arange(60), FEW)
RINGS = [nx.cycle_graph(size) for size in (3, 4, 5)]
for ring in RINGS:
    nx.set_node_attributes(ring, 1.0, "x")
RINGS = as_graph_set(RINGS)


def source(values=RELATED, smiles=BOTH, name="other", sides=None):
    return SourceResults(name, smiles, values, sides)


def taught(*sources, name="molecule-ucb", rewards=POOL.targets[FEW], **settings):
    agent = registry.make_agent(name, **settings)
    agent.reset(None, seed=3, graph_set=POOL)
    if sources:
        agent.learn_sources(sources)
    agent.update(None, FEW, rewards)
    return agent


def rank_correlation(agent):
    return spearmanr(agent.predict().mean[LEFT], POOL.targets[LEFT]).statistic


@pytest.mark.parametrize("warp", ["normal_scores", "none"])
@pytest.mark.parametrize("sign", [1, -1])
def test_related_results_teach_in_either_direction(warp, sign):
    plain, told = taught(warp=warp), taught(source(sign * RELATED), warp=warp)
    assert rank_correlation(told) > rank_correlation(plain)
    correlation = told.correlations()["other"]
    assert sign * correlation.value > 0.4
    assert -1 <= correlation.low <= correlation.value <= correlation.high <= 1
    assert sign * (correlation.low if sign > 0 else correlation.high) > 0


def test_the_posterior_is_that_of_all_results_at_once():
    agent = taught(source(), source(-RELATED[:50], BOTH[:50], "third"))
    posterior, kernel = agent.posterior, agent.posterior.kernel
    every = agent.results.described.count
    assert every == 60 + 40
    matrix = kernel.columns(torch.arange(3 * every), torch.arange(3 * every)).numpy()
    noises = posterior.noise / posterior.counts.numpy()
    mean, covariance = from_scratch(matrix, noises, posterior.seen.numpy(), posterior.targets.numpy())
    means, variances = posterior.mean_and_variance(torch.arange(60))
    np.testing.assert_allclose(means, mean[:60], atol=1e-6)
    np.testing.assert_allclose(variances, np.diag(covariance)[:60], atol=1e-6)


def test_several_results_of_a_molecule_count_as_their_mean():
    doubled = source(np.concatenate([RELATED + 0.5, RELATED - 0.5]), [*BOTH, *BOTH])
    told = taught(doubled).sources[0]
    assert told.history.counts.tolist() == [2] * len(BOTH)
    np.testing.assert_allclose(told.history.means, RELATED)


def test_reasons_add_up_and_name_the_results_of_sources():
    agent = taught(source())
    explanation = agent.explain([1, 2, 11])
    total = sum(explanation.parts.values())
    np.testing.assert_allclose(explanation.contributions.sum(0), total, atol=1e-6)
    assert explanation.seen.tolist() == FEW.tolist()
    assert set(explanation.others) == {("other", text) for text in BOTH}
    assert len(explanation.contributions) == len(FEW) + len(BOTH)


@pytest.mark.parametrize(
    ("sources", "error", "text"),
    [
        ([source(), source()], ValueError, "different names"),
        ([source(np.full(len(BOTH), 2.0))], ValueError, "tell something different"),
        ([source(RELATED[:-1])], ValueError, "for each"),
        ([source(np.where(RELATED > 1, np.nan, RELATED))], ValueError, "finite"),
        ([source(smiles=["C(", *BOTH[1:]])], ValueError, r"C\("),
    ],
)
def test_bad_sources_are_refused_and_change_nothing(sources, error, text):
    agent = taught(source())
    before = agent.predict().mean
    with pytest.raises(error, match=text):
        agent.learn_sources(sources)
    np.testing.assert_array_equal(agent.predict().mean, before)


RINGS_OF_ALL_SIZES = [nx.cycle_graph(int(size)) for size in range(3, 23)]
for one in RINGS_OF_ALL_SIZES:
    nx.set_node_attributes(one, float(len(one)), "x")
RINGS_OF_ALL_SIZES = as_graph_set(RINGS_OF_ALL_SIZES)
