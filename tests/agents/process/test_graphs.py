"""The agents that read everything that a graph has."""

import networkx as nx
import numpy as np
import pytest
import torch
from scipy.stats import spearmanr
from support.molecules import some_molecules
from support.play import play

import registry
from agents.contract import BoundsLearner, Explainer, GainForecaster, NoiseLearner, PriceMinder
from graph_bandit_env import GraphSet
from graph_bandit_lab import run_bandit

PLAIN = [nx.gnp_random_graph(10, 0.35, seed=seed) for seed in range(40)]


def graph_set(graphs, weight=None):
    for graph in graphs:
        nx.set_node_attributes(graph, 1.0, "x")
    return GraphSet.from_networkx(graphs, edge_attribute=weight)


def test_graphs_without_features_are_told_apart_by_their_structure():
    means = np.array([nx.transitivity(graph) for graph in PLAIN])
    env = registry.make_environment(
        graphs=graph_set(PLAIN), reward_model=means, reward_scale="unit", noise_std=0.1, horizon=60, observe="indices"
    )
    ours, theirs = (run_bandit(env, registry.make_agent(name), seed=1).regret.sum() for name in ("gp-ucb", "random"))
    assert ours < 0.5 * theirs


def test_weights_of_edges_alone_are_learnt_from():
    random = np.random.default_rng(0)
    graphs = [nx.cycle_graph(8) for _ in range(30)]
    for graph in graphs:
        nx.set_edge_attributes(graph, {edge: random.uniform(0, 1) for edge in graph.edges}, "w")
    means = [sum(weight for *_, weight in graph.edges(data="w")) for graph in graphs]
    agent = registry.make_agent("gp-greedy")
    agent.reset(None, graph_set=graph_set(graphs, "w"))
    agent.update(None, np.arange(15), np.array(means[:15]))
    assert spearmanr(agent.predict().mean[15:], means[15:]).statistic > 0.9
    assert agent.shares()["edge features"] > 0.3


def test_one_by_one_or_all_at_once_rewards_give_one_posterior(small_env):
    env = small_env(num_graphs=30)
    observation, _ = env.reset(seed=0)
    actions, rewards = np.arange(12) % 7, np.sin(np.arange(12))
    one, all_at_once = (registry.make_agent("gp-ucb", refit_growth=1e9) for _ in range(2))
    for agent in (one, all_at_once):
        agent.reset(observation, seed=1)
        agent.update(observation, actions[:3], rewards[:3])  # weights are learnt from these
    for action, reward in zip(actions[3:], rewards[3:], strict=True):
        one.update(observation, action, reward)
    all_at_once.update(observation, actions[3:], rewards[3:])
    np.testing.assert_allclose(one.predict().mean, all_at_once.predict().mean, atol=1e-9)
    np.testing.assert_allclose(one.predict().std, all_at_once.predict().std, atol=1e-7)


def test_abilities_are_those_of_the_whole_family(small_env):
    agent = registry.make_agent("gp-ei")
    for ability in (BoundsLearner, Explainer, GainForecaster, NoiseLearner, PriceMinder):
        assert isinstance(agent, ability)
    observation, _ = small_env(num_graphs=20).reset(seed=0)
    agent.reset(observation, seed=0)
    agent.update(observation, np.arange(8), np.arange(8.0))
    agent.update_bounds(observation, [9], [7.5], [True])
    agent.update_noisy(observation, [10], [1.0], 0.5)
    explained = agent.explain([3, 12])
    assert set(explained.parts) == set(agent.shares())
    np.testing.assert_allclose(sum(explained.parts.values()), explained.pulls.sum(0), atol=1e-9)
    assert agent.predict().mean[9] > agent.predict().mean[10]


def test_graphs_that_are_remembered_and_not_on_offer_are_among_the_reasons(small_env):
    observation, _ = small_env(num_graphs=20).reset(seed=0)
    agent = registry.make_agent("gp-ucb")
    agent.reset(observation, seed=0)
    agent.update(observation, np.arange(8), np.arange(8.0))
    agent.look_at(observation[10:13])  # slots from 13 on have results, and only three graphs are on offer
    explained = agent.explain([0, 2])
    np.testing.assert_allclose(sum(explained.parts.values()), explained.pulls.sum(0), atol=1e-9)
    assert len(explained.seen) == 8
    assert explained.others == ()
    assert len(agent.predict_chosen(1, 3).mean) == 3


def test_on_molecules_it_is_the_process_of_the_molecule_agents():
    molecules = some_molecules()
    same = {"warp": "normal_scores", "refit_growth": 0.1, "exploration_scale": 1.0}
    agents = registry.make_agent("gp-ucb", **same), registry.make_agent("molecule-ucb")
    values = np.random.default_rng(0).normal(size=10)
    for agent in agents:
        agent.reset(None, seed=3, graph_set=molecules)
        agent.update(None, np.arange(10), values)
    np.testing.assert_array_equal(agents[0].predict().mean, agents[1].predict().mean)
    assert agents[0].select_batch(None, 3) == agents[1].select_batch(None, 3)


def test_settings_of_how_graphs_are_read_are_refused_on_molecules():
    with pytest.raises(ValueError, match="`structure_weight` at its default on molecules"):
        registry.make_agent("gp-ucb", structure_weight=0.5).reset(None, graph_set=some_molecules())


def test_explores_less_where_graphs_with_results_are_not_on_offer(small_env):
    observation, _ = small_env(num_graphs=8).reset(seed=0)
    agent = registry.make_agent("gp-ucb")
    agent.reset(observation)
    agent.update_noisy(observation, [0, 1], [1.0, 2.0], 0.1)
    agent.select_action(observation, np.ones(8))
    assert agent.nu == 2
    agent.select_action(observation, [0, 0, 1, 1, 1, 1, 1, 1])
    assert agent.nu == 1


def test_a_memory_that_is_full_keeps_what_tells_most(small_env):
    env = small_env(num_graphs=5, resample_graphs="round", observe="graphs", horizon=40)
    agent = registry.make_agent("gp-ucb", memory=10)
    play(env, agent, 40)
    assert 1 < len(agent.history.seen) <= 11
    assert torch.isfinite(torch.from_numpy(agent.predict().mean)).all()


@pytest.mark.parametrize("settings", [{"network_weight": -1.0}, {"bins": 1}, {"depth": 1}, {"weight_spread": 0.0}])
def test_refuses_settings_out_of_range(settings):
    with pytest.raises(ValueError, match="Expected"):
        registry.make_agent("gp-ucb", **settings)
