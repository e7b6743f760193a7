import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal
from support.graphs import ragged_graphs
from torch_geometric.data import Batch

import registry
from agents.linear.features import describe
from agents.linear.regression import FLAT, Sums, likelihood, posterior
from graph_bandit_env import GraphSet

RNG = np.random.default_rng(0)
FEATURES = np.column_stack([RNG.normal(size=(30, 4)), np.ones(30)])
REWARDS = FEATURES @ RNG.normal(size=5) + 0.3 * RNG.normal(size=30) + 2
PRIOR = np.diag([1.0, 1.0, 1.0, 1.0, FLAT])


def sums_of(count, origin=0.0):
    return Sums.empty(5, origin).add(torch.tensor(FEATURES[:count]), torch.tensor(REWARDS[:count]))


@pytest.mark.parametrize("count", [0, 1, 3, 30])
def test_the_posterior_is_that_of_a_gaussian_process_with_a_linear_kernel(count):
    """By one solve with the t x t matrix of all observations, without weights."""
    weights = posterior(sums_of(count), scale=0.7, noise=0.2)
    kernel = 0.7 * FEATURES @ PRIOR @ FEATURES.T
    gain = np.linalg.solve(kernel[:count, :count] + 0.2 * np.eye(count), kernel[:count]).T
    np.testing.assert_allclose(FEATURES @ weights.mean.numpy(), gain @ REWARDS[:count], atol=1e-8)
    covariance = FEATURES @ weights.covariance.numpy() @ FEATURES.T
    np.testing.assert_allclose(covariance, kernel - gain @ kernel[:count], atol=1e-8)
    root = weights.root()
    np.testing.assert_allclose(root @ root.T, weights.covariance, atol=1e-9)


@pytest.mark.parametrize("count", [1, 3, 30])
def test_the_likelihood_is_the_density_of_all_rewards(count):
    found = likelihood(sums_of(count))

    def density(scale, noise):
        covariance = scale * FEATURES[:count] @ PRIOR @ FEATURES[:count].T + noise * np.eye(count)
        return multivariate_normal(np.zeros(count), covariance).logpdf(REWARDS[:count])

    for scale, noise in ((0.5, 0.1), (2.0, 3.0), (1e-3, 1.0)):
        expected = 2 * (density(1.0, 1.0) - density(scale, noise))
        told = found.twice_negative_log(scale, noise) - found.twice_negative_log(1.0, 1.0)
        assert told == pytest.approx(expected, rel=1e-6, abs=1e-6)


@given(st.floats(-100, 100), st.floats(0.01, 100), st.integers(1, 30))
def test_sums_of_standardised_targets_are_those_of_the_targets(location, unit, count):
    found = sums_of(count, origin=1.5).standardised(location, unit)
    targets = torch.tensor((REWARDS[:count] - location) / unit)
    expected = Sums.empty(5).add(torch.tensor(FEATURES[:count]), targets)
    assert found.origin == expected.origin == 0
    np.testing.assert_allclose(found.products, expected.products, rtol=1e-7, atol=1e-7)
    assert found.squares == pytest.approx(expected.squares, rel=1e-6, abs=1e-6)


def test_location_and_unit_are_mean_and_deviation_and_equal_rewards_have_unit_one():
    for origin in (0.0, 3.0):
        location, unit = sums_of(30, origin).location_and_unit()
        assert location == pytest.approx(REWARDS.mean())
        assert unit == pytest.approx(REWARDS.std())
    assert Sums.empty(5).location_and_unit() == (0.0, 1.0)
    equal = Sums.empty(5).add(torch.tensor(FEATURES), torch.full((30,), 0.1, dtype=torch.float64))
    assert equal.location_and_unit() == (pytest.approx(0.1), 1.0)


def test_a_graph_is_described_by_means_of_its_nodes_and_its_sizes():
    graphs = ragged_graphs()
    for row, graph in zip(describe(Batch.from_data_list(graphs)), graphs, strict=True):
        sums = torch.zeros(graph.num_nodes, 4)
        for source, target in graph.edge_index.T.tolist():
            sums[target] += graph.x[source]
        lengths = sums.norm(dim=1, keepdim=True)
        aggregated = sums / lengths.where(lengths > 0, 1.0)
        sizes = torch.tensor([np.log(graph.num_nodes), np.log1p(graph.num_edges)])
        np.testing.assert_allclose(row, torch.cat([aggregated.mean(0), graph.x.mean(0), sizes]), atol=1e-6)


@pytest.mark.parametrize("name", ["lin-ts", "lin-ucb"])
def test_the_agent_finds_the_best_graph_under_a_linear_reward(name):
    graphs = GraphSet.from_pyg(ragged_graphs(tuple(range(3, 33)), seed=2))
    means = describe(graphs.to_batch())[:, 0].numpy() * 10
    agent, rng = registry.make_agent(name), np.random.default_rng(0)
    agent.reset(None, seed=0, graph_set=graphs)
    actions = []
    for _ in range(60):
        actions.append(agent.select_action(None))
        agent.update(None, actions[-1], means[actions[-1]] + 0.01 * rng.normal())
    assert actions[-10:] == [int(means.argmax())] * 10
    assert agent.predict().mean.max() == pytest.approx(means.max(), abs=0.05)
    assert agent.predict().noise_std < 0.1


def test_features_that_are_equal_at_reset_tell_graphs_apart_later():
    """All graphs of `reset` have five nodes; later ones have other sizes, and the reward is the size."""
    agent = registry.make_agent("lin-ucb")
    agent.reset(tuple(GraphSet.from_pyg(ragged_graphs((5, 5, 5)))), seed=0)
    for seed in range(20):
        observation = tuple(GraphSet.from_pyg(ragged_graphs((4, 9, 14), seed=seed)))
        action = agent.select_action(observation)
        agent.update(observation, action, float(len(observation[action].nodes)))
    assert agent.select_action(tuple(GraphSet.from_pyg(ragged_graphs((3, 12, 7), seed=99)))) == 1


@pytest.mark.parametrize("offset", [1e6, 1e10])
def test_a_large_offset_of_the_rewards_costs_no_digits(offset):
    graphs = GraphSet.from_pyg(ragged_graphs(tuple(range(3, 15)), seed=2))
    rewards = np.random.default_rng(1).normal(size=40)
    agents = []
    for shift in (0.0, offset):
        agents.append(registry.make_agent("lin-ucb"))
        agents[-1].reset(None, seed=0, graph_set=graphs)
        for t, reward in enumerate(rewards):
            agents[-1].update(None, t % 12, reward + shift)
    plain, shifted = (agent.predict() for agent in agents)
    np.testing.assert_allclose(shifted.mean - offset, plain.mean, atol=1e-15 * offset + 1e-4)
    np.testing.assert_allclose(shifted.std, plain.std, rtol=1e-3)
    assert shifted.noise_std == pytest.approx(plain.noise_std, rel=1e-3)


@pytest.mark.parametrize("count", [1, 2, 3, 5, 7])
def test_a_known_noise_is_that_of_the_rewards_between_fits_too(count):
    """Scale, noise and targets keep the units of the last fit."""
    graphs = GraphSet.from_pyg(ragged_graphs(tuple(range(3, 15)), seed=2))
    agent = registry.make_agent("lin-ts", noise_variance=0.25)
    agent.reset(None, seed=0, graph_set=graphs)
    for action, reward in enumerate(10 * np.random.default_rng(3).normal(size=count)):
        agent.update(None, action, reward)
        assert agent.predict().noise_std == pytest.approx(0.5)
