"""Agents say what they read; the others see graphs without directions, and say what they cannot see."""

import warnings

import numpy as np
import pytest
import torch
from support.graphs import ragged_graphs
from torch_geometric.data import Batch

import registry
from agents.classic.drawing import RandomAgent, RandomSettings
from agents.contract import READABLE, BlindAgentWarning
from agents.contract.reading import with_both_directions
from graph_bandit_env import GraphSet

NODES = [np.arange(8.0).reshape(4, 2), np.arange(6.0).reshape(3, 2) ** 2]
LINKS = [[[0, 1], [1, 2], [3, 1], [1, 1]], [[2, 0], [0, 2], [1, 2]]]
FEATURES = [[[1.0], [2.0], [3.0], [4.0]], [[5.0], [6.0], [7.0]]]
ARROWS = GraphSet(NODES, LINKS, FEATURES, directed=True)
EDGES = GraphSet(NODES, LINKS, FEATURES, directed=False)
RING = [[k, (k + 1) % 5] for k in range(5)]
BLIND = ("gnn-ts:width=8", "nn-ts:width=8", "gntk-ucb", "lin-ucb", "wl-ucb", "sb3-ppo")


def make(name):
    name, _, setting = name.partition(":")
    return registry.make_agent(name, **({"width": 8} if setting else {}))


def blindness_of(name, graph_set):
    """Return what an agent says at `reset`; nothing else may warn."""
    agent = make(name)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", BlindAgentWarning)
        agent.reset(None, seed=0, graph_set=graph_set)
    assert [str(warning.message) for warning in caught] == ([agent.blindness] if agent.blindness else [])
    return agent.blindness


def assert_equal_graphs(found, expected):
    for name in ("x", "edge_index", "edge_attr"):
        assert torch.equal(getattr(found, name), getattr(expected, name)), name


def test_a_batch_without_directions_is_that_of_the_undirected_set():
    seen, expected = with_both_directions(ARROWS.to_batch()), EDGES.to_batch()
    assert_equal_graphs(seen, expected)
    for one, other in zip(seen.to_data_list(), expected.to_data_list(), strict=True):
        assert_equal_graphs(one, other)
    for one, other in zip(map(with_both_directions, ARROWS.to_pyg()), EDGES.to_pyg(), strict=True):
        assert_equal_graphs(one, other)


def test_undirected_graphs_are_not_copied():
    for graphs in (EDGES.to_batch(), EDGES.to_pyg()[0], Batch.from_data_list(ragged_graphs())):
        assert with_both_directions(graphs) is graphs


class Watcher(RandomAgent):
    """Notes which edges it is shown."""

    def __init__(self, reads):
        super().__init__(RandomSettings())
        self.reads, self.shown = reads, []

    def begin(self, graphs, seed):
        self.shown = [graph.edge_index.T.tolist() for graph in graphs.to_data_list()]

    def meet(self, kept, graphs):
        self.shown = [graph.edge_index.T.tolist() for graph in graphs]


@pytest.mark.parametrize("reads", [frozenset(), frozenset({"directions", "edge features", "node features"})])
def test_directions_reach_those_agents_alone_that_read_them(reads):
    agent, expected = Watcher(reads), ARROWS if reads else EDGES
    expected = [graph.edge_links.tolist() for graph in expected]
    for observation, graph_set in ((tuple(ARROWS), None), (None, ARROWS), (tuple(ARROWS), ARROWS)):
        agent.reset(observation, graph_set=graph_set)
        assert agent.shown == expected
    agent.look_at(tuple(ARROWS)[::-1])  # a later round shows other graphs
    assert agent.shown == expected[::-1]
    agent.look_at(tuple(ARROWS))  # those of `reset` again
    assert agent.shown == expected


@pytest.mark.parametrize("name", [*BLIND, "random", "ucb1", "epsilon-greedy"])
@pytest.mark.filterwarnings("ignore::agents.contract.BlindAgentWarning")  # what the test is about
def test_agents_without_directions_play_as_on_the_undirected_set(name):
    arrows, edges = make(name), make(name)
    arrows.reset(tuple(ARROWS), seed=1)
    edges.reset(tuple(EDGES), seed=1)
    for reward in (0.5, -1.0, 2.0, 0.1):
        played = arrows.select_action(tuple(ARROWS))
        assert played == edges.select_action(tuple(EDGES))
        arrows.update(tuple(ARROWS), played, reward)
        edges.update(tuple(EDGES), played, reward)
    edges.load_state_dict(arrows.state_dict())


def test_every_agent_says_what_it_reads():
    expected = {"gnn-ts": {"node features"}, "epsilon-greedy": {"node features"}, "nn-ucb": {"node features"}}
    expected |= {"gntk-ei": {"node features"}, "lin-ts": {"node features"}, "sb3-ppo": {"node features"}}
    expected |= {"wl-ts": {"node features", "edge features"}, "molecule-ts": {"SMILES"}}
    expected |= {"ucb1": set(), "gaussian-ts": set(), "random": set()}
    for name, reads in expected.items():
        assert registry.make_agent(name).reads == reads, name
    assert all(registry.make_agent(name).reads <= {*READABLE} for name in registry.list_agents())
    assert registry.make_agent("gntk-ts", kernel="custom", kernel_matrix=np.eye(2)).reads == {*READABLE} - {"SMILES"}


def rings(count=4, features=None, **kind):
    nodes = [np.random.default_rng(0).normal(size=(5, 2))] * count
    return GraphSet(nodes, [RING] * count, features, **kind)


def drawn(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


@pytest.mark.parametrize("name", BLIND)
def test_edge_features_that_vary_are_told(name):
    said = blindness_of(name, rings(features=[drawn(k, 5, 1) for k in range(4)], directed=False))
    assert "It does not read edge features, which differ here." in said
    assert "Agents that read all of it: `gp-ucb`." in said
    assert "directions" not in said


@pytest.mark.parametrize("name", BLIND)
def test_directions_are_told(name):
    nodes = [drawn(k, 5, 2) for k in range(4)]
    said = blindness_of(name, GraphSet(nodes, [RING] * 4, directed=True))
    assert "It does not read directions: each edge counts in both." in said
    assert "edge features" not in said


@pytest.mark.parametrize("name", BLIND)
def test_nothing_is_told_of_graphs_that_are_seen(name):
    assert not blindness_of(name, GraphSet.from_pyg(ragged_graphs((5, 7, 3, 6))))
    assert not blindness_of(name, rings(features=[np.ones((5, 1))] * 4, directed=False))  # equal graphs, equal edges
    both = [drawn(k, 5, 2) for k in range(4)], [[*RING, *([b, a] for a, b in RING)]] * 4
    assert not blindness_of(name, GraphSet(*both, directed=True))  # as an undirected set
