"""Agents that are told results of other quantities, which are rows of their one posterior."""

import networkx as nx
import numpy as np
import pytest
import torch
from scipy.stats import spearmanr
from support.molecules import some_molecules
from support.posterior import from_scratch

import registry
from agents.contract import SourceLearner, SourceResults
from graph_bandit_env import GraphSet

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
RINGS = GraphSet.from_networkx(RINGS)


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


def test_shuffled_results_teach_little_and_say_so():
    losses = []
    for seed in range(6):
        told = taught(source(np.random.default_rng(seed).permutation(RELATED)))
        correlation = told.correlations()["other"]
        assert correlation.low < 0 < correlation.high
        losses.append(rank_correlation(taught()) - rank_correlation(told))
    assert np.mean(losses) < 0.05


def test_the_posterior_is_that_of_all_results_at_once():
    agent = taught(source(), source(-RELATED[:50], BOTH[:50], "third"))
    posterior, kernel = agent.posterior, agent.posterior.kernel
    every = len(agent.sources.described.names)
    assert every == 60 + 40
    matrix = kernel.columns(torch.arange(3 * every), torch.arange(3 * every)).numpy()
    noises = posterior.noise / posterior.counts.numpy()
    mean, covariance = from_scratch(matrix, noises, posterior.seen.numpy(), posterior.targets.numpy())
    means, variances = posterior.mean_and_variance(torch.arange(60))
    np.testing.assert_allclose(means, mean[:60], atol=1e-6)
    np.testing.assert_allclose(variances, np.diag(covariance)[:60], atol=1e-6)


def test_molecules_of_the_pool_are_known_again_in_a_source():
    agent = taught(source())
    assert agent.sources.described.names[:60] == POOL.smiles
    assert agent.sources.told[0].graphs.tolist() == [*range(10, 40), *range(60, 100)]


def test_several_results_of_a_molecule_count_as_their_mean():
    doubled = source(np.concatenate([RELATED + 0.5, RELATED - 0.5]), [*BOTH, *BOTH])
    told = taught(doubled).sources.told[0]
    assert told.history.counts.tolist() == [2] * len(BOTH)
    np.testing.assert_allclose(told.history.means, RELATED)


def test_sources_may_be_told_before_and_after_rewards():
    after = registry.make_agent("molecule-ucb")
    after.reset(None, seed=3, graph_set=POOL)
    after.update(None, FEW, POOL.targets[FEW])
    after.learn_sources([source()])
    before = taught(source())
    np.testing.assert_allclose(after.predict().mean, before.predict().mean, atol=1e-6)
    after.learn_sources([])
    np.testing.assert_allclose(after.predict().mean, taught().predict().mean, atol=1e-6)
    assert after.correlations() == {}


def test_before_any_reward_nothing_is_learnt_of_sources():
    agent = registry.make_agent("molecule-ucb")
    agent.reset(None, seed=3, graph_set=POOL)
    agent.learn_sources([source()])
    assert agent.correlations()["other"].value == 0
    assert np.ptp(agent.predict().mean) == 0


def test_bounds_and_known_noises_count_beside_sources():
    agent, high = taught(source()), POOL.targets.max() + 1
    before = agent.predict()
    agent.update_bounds(None, [1], [high], [True])
    agent.update_noisy(None, [2], [POOL.targets[2]], [0.01])
    after = agent.predict()
    assert after.mean[1] > before.mean[1]
    assert after.std[2] < before.std[2]


def test_reasons_add_up_and_name_the_results_of_sources():
    agent = taught(source())
    explanation = agent.explain([1, 2, 11])
    total = sum(explanation.parts.values())
    np.testing.assert_allclose(explanation.pulls.sum(0), total, atol=1e-6)
    assert explanation.seen.tolist() == FEW.tolist()
    assert set(explanation.others) == {("other", text) for text in BOTH}
    assert len(explanation.pulls) == len(FEW) + len(BOTH)


@pytest.mark.parametrize("name", [name for name in registry.list_agents() if name.startswith(("molecule-", "gp-"))])
def test_all_that_an_agent_can_be_asked_is_of_the_pool(name):
    agent, mask = taught(source(), name=name), ~np.isin(np.arange(60), FEW)
    chosen = [*agent.select_batch(None, 8, mask), agent.select_action(None, mask)]
    assert len({*chosen[:8]}) == 8
    assert mask[chosen].all()
    assert len(agent.predict_chosen(8, len(LEFT)).mean) == 60
    assert agent.draw_rewards(LEFT[:3], 5, seed=0).shape == (5, 3)
    assert agent.worth_of_results(LEFT[:3], [1]).shape == (3,)


def test_another_agent_like_it_takes_the_molecules_that_are_read():
    agent = taught(source())
    other = agent.blank()
    other.reset(None, seed=3, graph_set=POOL)
    other.learn_sources([source()])
    assert other.sources.described is agent.sources.described
    other.learn_sources([source(smiles=BOTH[:-1], values=RELATED[:-1])])
    assert other.sources.described is not agent.sources.described


@pytest.mark.parametrize("name", ["molecule-ei", "gp-ucb"])
def test_all_agents_of_a_sum_of_parts_learn_from_sources_on_molecules(name):
    agent = taught(source(), name=name)
    assert isinstance(agent, SourceLearner)
    assert agent.correlations()["other"].value > 0.3


@pytest.mark.parametrize(
    ("sources", "error", "text"),
    [
        ([source(), source()], ValueError, "different names"),
        ([source(np.full(len(BOTH), 2.0))], ValueError, "tell something different"),
        ([source(sides=np.ones(len(BOTH)))], ValueError, "tell something different"),
        ([source(sides=np.full(len(BOTH), 2))], ValueError, "a side of -1, 0 or 1"),
        ([source(RELATED[:-1])], ValueError, "as many"),
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


def test_they_are_refused_before_reset_and_molecules_on_other_graphs():
    agent = registry.make_agent("gp-ucb")
    with pytest.raises(RuntimeError, match="reset"):
        agent.learn_sources([source()])
    agent.reset(None, seed=0, graph_set=RINGS)
    with pytest.raises(ValueError, match="Expected indices"):
        agent.learn_sources([source()])
    with pytest.raises(ValueError, match="from 0 to 2"):
        agent.learn_sources([source([1.0, 2.0], [0, 3])])


@pytest.mark.parametrize("name", ["gp-ucb", "gp-ei"])
def test_results_of_graphs_that_are_no_molecules_teach_too(name):
    """Rewards are known of small rings alone; the other quantity falls where they rise."""
    sizes = np.arange(3, 33)
    rings = [nx.cycle_graph(int(size)) for size in sizes]
    for ring, size in zip(rings, sizes, strict=True):
        nx.set_node_attributes(ring, float(np.sin(size)), "x")
    values, few = np.sin(sizes) + 0.1 * sizes, np.arange(0, 30, 4)
    predicted = []
    for sources in ([], [source(-values, [*range(30)])]):
        agent = registry.make_agent(name)
        agent.reset(None, seed=0, graph_set=GraphSet.from_networkx(rings))
        agent.learn_sources(sources)
        agent.update(None, few, values[few])
        predicted.append(np.abs(agent.predict().mean - values).mean())
    assert predicted[1] < predicted[0] / 2
    assert agent.correlations()["other"].value < -0.2
    rest = np.setdiff1d(np.arange(30), few)
    mask = np.isin(np.arange(30), rest)
    assert mask[agent.select_batch(None, 3, mask)].all()
    agent.select_action(None, mask)
    assert agent.insight().variance.shape == (30,)


def test_the_same_graph_by_its_index_and_by_its_smiles_is_one():
    by_text = taught(source(RELATED[:30], BOTH[:30]))
    by_index = taught(source(RELATED[:30], [*range(10, 40)]))
    np.testing.assert_allclose(by_index.predict().mean, by_text.predict().mean, atol=1e-6)


def test_graphs_that_change_are_refused_while_there_are_sources():
    agent = registry.make_agent("gp-ucb")
    agent.reset(None, seed=0, graph_set=RINGS)
    agent.learn_sources([source([1.0, 2.0], [0, 1])])
    with pytest.raises(ValueError, match="leave sources out"):
        agent.go_on(torch.tensor([0]), [])


def test_a_state_is_refused_because_it_would_not_hold_their_molecules():
    with pytest.raises(ValueError, match="without sources"):
        taught(source()).state_dict()


OTHERS_ON_GRAPHS = [
    name
    for name in registry.list_agents()
    if registry.agent_needs(name) != "molecules" and isinstance(registry.make_agent(name), SourceLearner)
]


def on_rings(name, values, **settings):
    agent = registry.make_agent(name, **settings)
    agent.reset(None, seed=0, graph_set=RINGS_OF_ALL_SIZES)
    agent.learn_sources([source(values, [*range(20)])])
    agent.update(None, np.arange(0, 20, 4), SIZES[::4])
    return agent


SIZES = np.arange(3.0, 23.0) / 10
RINGS_OF_ALL_SIZES = [nx.cycle_graph(int(size)) for size in range(3, 23)]
for one in RINGS_OF_ALL_SIZES:
    nx.set_node_attributes(one, float(len(one)), "x")
RINGS_OF_ALL_SIZES = GraphSet.from_networkx(RINGS_OF_ALL_SIZES)


@pytest.mark.parametrize("name", OTHERS_ON_GRAPHS)
def test_every_agent_that_can_learns_from_sources_of_graphs_in_any_unit(name):
    agent, large = on_rings(name, -SIZES), on_rings(name, -1000 * SIZES)
    assert agent.correlations()["other"].value < 0
    np.testing.assert_allclose(large.predict().mean, agent.predict().mean, atol=1e-5)


@pytest.mark.parametrize("unit", [1.0, 1000.0])
def test_a_weight_and_a_noise_that_are_known_stay_beside_sources(unit):
    known = {"output_scale": 2.0, "noise_variance": 0.1, "standardize": False}
    agent = on_rings("gntk-ucb", -unit * SIZES, **known)
    assert agent.learnt.weights == pytest.approx((2.0,))
    assert agent.learnt.noise == 0.1
    assert agent.correlations()["other"].value < 0
