import numpy as np
import pytest
import torch
from support.graphs import ragged_graphs
from support.posterior import from_scratch
from torch_geometric.data import Batch

import registry
from agents.beliefs.flat_features import describe
from agents.process.parts.linear import FLAT
from graph_bandit_env.graphs import as_graph_set

FIRST = ragged_graphs((5, 5, 5, 5, 5, 5))  # of one size
OTHERS = ragged_graphs((3, 8, 5), seed=1)
MEANS = np.array([60.0, 39.0, 53.0, 41.0])  # of the graphs played
PLAYS, REWARDS = np.array([0, 2, 2, 3, 5]), np.array([60.0, 40.0, 38.0, 53.0, 41.0])


def ready(name="lin-ts", graphs=FIRST, **settings):
    agent = registry.make_agent(name, **settings)
    agent.reset(None, seed=0, graph_set=as_graph_set(graphs))
    return agent


def observation_of(graphs):
    return tuple(as_graph_set(graphs))


def scaled(graphs):
    """Features in units of their spread over the graphs of `reset`, or as they are if that is 0, and a constant."""
    first, rows = (describe(Batch.from_data_list(some)).numpy() for some in (FIRST, graphs))
    spread = first.std(0)
    spread[spread < 1e-6] = 1
    return np.column_stack([(rows - first.mean(0)) / spread, np.ones(len(rows))])


def linear_kernel(rows, scale):
    """Weights have this variance, and the constant more."""
    prior = np.diag([scale] * (rows.shape[1] - 1) + [FLAT * scale])
    return rows @ prior @ rows.T


@pytest.mark.parametrize("others", [FIRST[::-1], OTHERS])
def test_predictions_are_those_of_a_gaussian_process_on_features_in_units_of_the_first_graphs(others):
    agent = ready(output_scale=0.7, noise_variance=0.2)
    agent.update(None, PLAYS, REWARDS)
    location, unit = MEANS.mean(), MEANS.std()
    rows = scaled([*FIRST, *others])
    mean, covariance = from_scratch(linear_kernel(rows, 0.7), 0.2 / unit**2, PLAYS, (REWARDS - location) / unit)
    for shown, which in ((None, slice(6)), (observation_of(others), slice(6, None))):
        agent.select_action(shown)
        told = agent.predict()
        np.testing.assert_allclose(told.mean, (location + unit * mean)[which], rtol=1e-6)
        np.testing.assert_allclose(told.std, unit * np.sqrt(np.diag(covariance))[which], rtol=1e-6)
        assert told.noise_std == pytest.approx(0.2**0.5)


@pytest.mark.parametrize("settings", [{}, {"itself_weight": 0.0}, {"features": "means"}, {"forget": 0.9}], ids=str)
def test_many_graphs_with_rewards_are_conditioned_on_in_as_many_numbers_as_describe_them(settings):
    graphs = ragged_graphs(tuple(range(3, 15)) * 2, seed=2)
    agent = ready(graphs=graphs, **settings)
    agent.update(None, np.arange(len(graphs)).repeat(2), np.sin(np.arange(2 * len(graphs))))
    mean, variance = agent.posterior.mean_and_variance(torch.arange(len(graphs)))  # in dual form
    told = agent.predict()
    np.testing.assert_allclose(told.mean, agent.targets.to_rewards(mean), atol=1e-6)
    np.testing.assert_allclose(told.std, agent.targets.unit * variance.sqrt(), atol=1e-6)
    assert agent.described.numbers(agent.learnt.weights)[0].shape[1] < len(graphs)


@pytest.mark.parametrize("offset", [1e6, 1e10])
def test_a_large_offset_of_the_rewards_costs_no_digits(offset):
    graphs = as_graph_set(ragged_graphs(tuple(range(3, 15)), seed=2))
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
