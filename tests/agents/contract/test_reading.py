"""Agents say what they read; the others see graphs without directions, and say what they cannot see."""

import warnings

import numpy as np
import pytest
import torch
from support.graphs import ragged_graphs
from torch_geometric.data import Batch

import registry
from agents.classic.agents import RandomAgent, RandomSettings
from agents.contract import READABLE, BlindAgentWarning
from agents.contract.reading import with_both_directions
from graph_bandit_env import GraphSet
from graph_bandit_env.graphs import as_graph_set

NODES = [np.arange(8.0).reshape(4, 2), np.arange(6.0).reshape(3, 2) ** 2]
LINKS = [[[0, 1], [1, 2], [3, 1], [1, 1]], [[2, 0], [0, 2], [1, 2]]]
FEATURES = [[[1.0], [2.0], [3.0], [4.0]], [[5.0], [6.0], [7.0]]]
ARROWS = GraphSet(NODES, LINKS, FEATURES, directed=True)
EDGES = GraphSet(NODES, LINKS, FEATURES, directed=False)
RING = [[k, (k + 1) % 5] for k in range(5)]
BLIND = ("gnn-ts:width=8", "nn-ts:width=8", "gntk-ucb", "lin-ucb", "wl-ucb")


def make(name):
    name, _, setting = name.partition(":")
    return registry.make_agent(name, **({"width": 8} if setting else {}))


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
    expected |= {"gntk-ei": {"node features"}, "lin-ts": {"node features"}}
    expected |= {"wl-ts": {"node features", "edge features"}, "molecule-ts": {"SMILES"}}
    expected |= {"ucb1": set(), "gaussian-ts": set(), "random": set()}
    for name, reads in expected.items():
        assert registry.make_agent(name).reads == reads, name
    assert all(registry.make_agent(name).reads <= {*READABLE} for name in registry.list_agents())
    assert registry.make_agent("gntk-ts", kernel="custom", kernel_matrix=np.eye(2)).reads == {*READABLE} - {"SMILES"}


def drawn(*shape):
    return [np.random.default_rng(k).normal(size=shape) for k in range(4)]


BOTH = [*RING, *([b, a] for a, b in RING)]
SAME = [drawn(5, 2)[0]] * 4
BLINDNESS = {  # of an agent that reads nodes alone
    "edge features": GraphSet(SAME, [RING] * 4, drawn(5, 1), directed=False),
    "directions": GraphSet(drawn(5, 2), [RING] * 4, directed=True),
    "": as_graph_set(ragged_graphs((5, 7, 3, 6))),
    "equal edges": GraphSet(SAME, [RING] * 4, [np.ones((5, 1))] * 4, directed=False),
    "both directions": GraphSet(drawn(5, 2), [BOTH] * 4, directed=True),
}


@pytest.mark.parametrize("kind", BLINDNESS)
@pytest.mark.parametrize("name", BLIND)
def test_what_an_agent_cannot_see_is_told_and_nothing_else(name, kind):
    agent = make(name)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", BlindAgentWarning)
        agent.reset(None, seed=0, graph_set=BLINDNESS[kind])
    assert [str(warning.message) for warning in caught] == ([agent.blindness] if agent.blindness else [])
    told = [word for word in ("edge features", "directions") if f"does not read {word}" in agent.blindness]
    assert told == [kind] * (kind in READABLE)
