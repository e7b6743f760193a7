"""What must not matter to an agent: names of nodes, order of graphs, padding, copies. Over all that is registered."""

import numpy as np
import pytest
import torch
from support.graphs import ragged_graphs
from torch_geometric.data import Data
from torch_geometric.utils import subgraph

import registry
from graph_bandit_env.graphs import as_graph_set

GRAPHS = ragged_graphs(sizes=(5, 4, 7, 6, 7))
PLAYED = np.array([3, 0, 3, 1, 0, 3])
REWARDS = np.array([1.0, -0.5, 0.8, 0.2, -0.4, 1.1])
STRUCTURED = ("gnn-ucb", "nn-ei", "neural-ucb", "gntk-ei", "gp-ucb", "lin-ucb", "wl-ucb")
LEARNERS = (*STRUCTURED, "ucb1", "gaussian-ts")
SIZED = ("gp", "lin", "neural", "wl")  # to which the sizes of graphs count


def told(name, graphs, actions=PLAYED, rewards=REWARDS):
    """An agent that has been told these measurements, one after the other."""
    settings = {"width": 16, "steps": 10} if name.startswith(("gnn", "nn")) else {}
    settings |= {"width": 16, "epochs": 10, "regularization": 0.01} if name.startswith("neural") else {}
    agent = registry.make_agent(name, **settings)
    agent.reset(None, seed=3, graph_set=as_graph_set(graphs))
    for action, reward in zip(actions, rewards, strict=True):
        agent.update(None, action, reward)
    return agent


def assert_equal_beliefs(found, expected, order=slice(None)):
    for part in ("mean", "spread"):
        wanted = getattr(expected.belief(), part)[order]
        torch.testing.assert_close(getattr(found.belief(), part), wanted, rtol=1e-3, atol=1e-3)


def relabelled(graph, generator):
    order = torch.randperm(graph.num_nodes, generator=generator)
    place = torch.empty_like(order)
    place[order] = torch.arange(graph.num_nodes)
    return Data(x=graph.x[order], edge_index=place[graph.edge_index])


def padded(graph, num_nodes):
    missing = num_nodes - graph.num_nodes
    return Data(x=torch.cat([graph.x, torch.zeros(missing, graph.x.shape[1])]), edge_index=graph.edge_index)


@pytest.mark.parametrize("name", LEARNERS)
def test_order_of_graphs_and_names_of_nodes_do_not_matter(name):
    order, generator = np.array([2, 0, 4, 3, 1]), torch.Generator().manual_seed(0)
    place = np.argsort(order)
    others = [relabelled(GRAPHS[k], generator) for k in order]
    actions, rewards = np.append(PLAYED, [2, 4]), np.append(REWARDS, [0.3, 0.4])  # each graph once, so that none tie
    agent, permuted = told(name, GRAPHS, actions, rewards), told(name, others, place[actions], rewards)
    assert_equal_beliefs(permuted, agent, order)
    if name != "gaussian-ts":  # which draws
        assert order[permuted.select_action(None)] == agent.select_action(None)


@pytest.mark.parametrize("name", [name for name in LEARNERS if not name.startswith(SIZED)])
def test_padding_with_featureless_isolated_nodes_up_to_the_largest_changes_nothing(name):
    assert_equal_beliefs(told(name, [padded(graph, 7) for graph in GRAPHS]), told(name, GRAPHS))


@pytest.mark.parametrize("name", STRUCTURED)
def test_duplicates_of_a_graph_are_equal_until_one_is_played(name):
    belief = told(name, [*GRAPHS, GRAPHS[3], GRAPHS[2]]).belief()
    torch.testing.assert_close(belief.mean[6], belief.mean[2], rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(belief.spread[6], belief.spread[2], rtol=1e-5, atol=1e-6)
    assert belief.spread[3] < belief.spread[5] < belief.spread[6]  # a copy of the graph that was played three times


@pytest.mark.parametrize("name", STRUCTURED)
def test_edges_mean_something_to_all_but_the_baselines_on_nodes(name):
    without = [Data(x=g.x, edge_index=subgraph([0], g.edge_index, num_nodes=g.num_nodes)[0]) for g in GRAPHS]
    found, expected = told(name, without), told(name, GRAPHS)
    if name.startswith("nn"):
        assert_equal_beliefs(found, expected)
    else:
        assert not torch.allclose(found.belief().spread, expected.belief().spread, rtol=0.05)
