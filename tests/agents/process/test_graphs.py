"""The agents that read everything that a graph has."""

import networkx as nx
import numpy as np
import torch
from scipy.stats import spearmanr
from support.molecules import some_molecules

import registry
from graph_bandit_env import from_networkx
from graph_bandit_lab import run_bandit


def graph_set(graphs, weight=None):
    for graph in graphs:
        nx.set_node_attributes(graph, 1.0, "x")
    return from_networkx(graphs, edge_attribute=weight)


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
    env = small_env(num_graphs=5, resample_graphs="round", observe="graphs", horizon=14)
    agent = registry.make_agent("gp-ucb", memory=4)
    run_bandit(env, agent)
    assert 1 < len(agent.history.seen) <= 5
    assert torch.isfinite(torch.from_numpy(agent.predict().mean)).all()
