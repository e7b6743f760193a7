"""Agents say what they read; the others see graphs without directions, and say what they cannot see."""

import warnings

import networkx as nx
import numpy as np
import pytest
import torch
from support.graphs import ragged_graphs
from torch_geometric.data import Batch, Data

import registry
from agents.classic.random_agent import RandomAgent, RandomSettings
from agents.contract import READABLE, BaseAgent, BlindAgentWarning
from agents.contract.reading import find_alike, with_both_directions
from graph_bandit_env import GraphSet, from_smiles

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


def test_graphs_without_an_edge_index_are_left_to_the_agent():
    class Bare:
        def to_pyg(self):
            return [Data(x=torch.ones(2, 1)), Data(x=torch.ones(3, 1))]

    agent = registry.make_agent("random")
    agent.reset(None, graph_set=Bare())
    assert agent.select_action(None) in (0, 1)


def test_graphs_that_differ_in_directions_alone_are_different_graphs():
    there, back = (GraphSet(NODES[:1], [links], directed=True)[0] for links in ([[0, 1]], [[1, 0]]))
    agent = Watcher(frozenset())
    agent.reset((there, back))
    agent.look_at((back, there))
    assert agent.offered.tolist() == [0, 1]
    assert len(agent.shown) == 2


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


@pytest.mark.filterwarnings("ignore::agents.contract.BlindAgentWarning")
@pytest.mark.parametrize("name", ["gntk-ucb", "lin-ucb", "wl-ucb", "nn-ts:width=8", "gnn-ts:width=8"])
def test_arrows_of_later_rounds_are_dropped_too(name):
    pool = [GraphSet(NODES, LINKS, FEATURES, directed=directed) for directed in (True, False)]
    agents = [make(name), make(name)]
    for agent, graphs in zip(agents, pool, strict=True):
        agent.reset(tuple(graphs), seed=1)
    for places in ([0], [1, 0], [1], [0, 1]):
        rounds = [tuple(graphs[k] for k in places) for graphs in pool]
        plays = [agent.select_action(shown) for agent, shown in zip(agents, rounds, strict=True)]
        assert plays[0] == plays[1]
        for agent, shown in zip(agents, rounds, strict=True):
            agent.update(shown, plays[0], 0.5 * plays[0])


def test_a_module_of_ones_own_reads_everything():
    class Sum(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(1))

        def forward(self, batch):
            self.edges = batch.edge_index
            return self.weight * torch.bincount(batch.batch, minlength=batch.num_graphs)

    agent = registry.make_agent("gnn-ts", network=Sum())
    assert agent.reads == {"node features", "edge features", "directions"}
    agent.reset(None, graph_set=ARROWS)
    assert not agent.blindness


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
    assert "Graphs 0 and 1, for example, look equal to it, and are not." in said
    assert "Agents that read all of it: `gp-ucb`." in said
    assert "directions" not in said


@pytest.mark.parametrize("name", BLIND)
def test_directions_are_told(name):
    nodes = [drawn(k, 5, 2) for k in range(4)]
    said = blindness_of(name, GraphSet(nodes, [RING] * 4, directed=True))
    assert "It does not read directions: each edge counts in both." in said
    assert "edge features" not in said
    assert "look equal" not in said


@pytest.mark.parametrize("name", BLIND)
def test_nothing_is_told_of_graphs_that_are_seen(name):
    assert not blindness_of(name, GraphSet.from_pyg(ragged_graphs((5, 7, 3, 6))))
    assert not blindness_of(name, rings(features=[np.ones((5, 1))] * 4, directed=False))  # equal graphs, equal edges
    both = [drawn(k, 5, 2) for k in range(4)], [[*RING, *([b, a] for a, b in RING)]] * 4
    assert not blindness_of(name, GraphSet(*both, directed=True))  # as an undirected set


@pytest.mark.parametrize("name", ["random", "ucb1", "gaussian-ts"])
def test_agents_that_judge_graphs_by_rewards_alone_tell_nothing(name):
    assert not blindness_of(name, rings(features=[drawn(k, 5, 1) for k in range(4)], directed=True))


def test_wl_reads_features_of_edges_that_are_integers():
    kinds = [np.eye(5)[[k, k, 0, 0, 0]] for k in range(4)]
    assert not blindness_of("wl-ucb", rings(features=kinds, directed=False))
    assert "edge features" in blindness_of("gntk-ucb", rings(features=kinds, directed=False))


@pytest.mark.parametrize("name", [name for name in BLIND if not name.startswith("wl")])
def test_networks_with_one_number_a_node_look_equal(name):
    networks = [nx.connected_watts_strogatz_graph(12, 4, 0.3, seed=k) for k in range(6)]
    for network in networks:
        nx.set_node_attributes(network, 1.0, "x")
    said = blindness_of(name, GraphSet.from_networkx(networks))
    assert "Graphs 0 and 1, for example, look equal to it, and are not." in said
    assert "edge features" not in said


@pytest.mark.parametrize("name", ["molecule-ucb"])
def test_agents_that_read_smiles_see_all_of_molecules(name):
    assert not blindness_of(name, from_smiles(["CCO", "CCN", "CC=O", "C#N"]))


@pytest.mark.parametrize("smiles", [True, False])
def test_smiles_tell_all_of_a_molecule_where_there_are_some(smiles):
    molecules = from_smiles(["CCO", "CC=O"])
    agent = Watcher(frozenset({"SMILES"}))
    with warnings.catch_warnings(record=True, action="always") as caught:
        agent.reset(None, graph_set=molecules if smiles else GraphSet.from_pyg(molecules.to_pyg()))
    assert ["edge features" in str(warning.message) for warning in caught] == [True] * (not smiles)


def test_the_warning_points_to_the_line_that_resets():
    agent = make("lin-ucb")
    with pytest.warns(BlindAgentWarning) as caught:
        agent.reset(None, graph_set=rings(directed=True))
    assert caught[0].filename == __file__


def regular(*graphs):
    """Return graphs of 6 nodes with one number a node, in which each node has two neighbours, or three."""
    batch = [torch.tensor(list(nx.DiGraph(graph).edges)).T for graph in graphs]
    return Batch.from_data_list([Data(x=torch.ones(6, 1), edge_index=links) for links in batch])


def shuffled(graph, seed):
    order = np.random.default_rng(seed).permutation(len(graph)).tolist()
    return nx.relabel_nodes(graph, dict(zip(graph, order, strict=True)))


TRIANGLES, HEXAGON = nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3)), nx.cycle_graph(6)
PRISM, BIPARTITE = nx.circular_ladder_graph(3), nx.complete_bipartite_graph(3, 3)


@pytest.mark.parametrize(("first", "second"), [(TRIANGLES, HEXAGON), (PRISM, BIPARTITE)])
def test_regular_graphs_with_other_triangles_are_different(first, second):
    assert find_alike(torch.ones(3, 1), regular(first, shuffled(first, 0), second)) == (1, 2)


def test_an_order_of_nodes_is_no_difference():
    copies = [shuffled(PRISM, seed) for seed in range(20)]
    assert find_alike(torch.ones(20, 1), regular(*copies)) is None
    dense = nx.gnp_random_graph(60, 0.5, seed=0)
    links = [torch.tensor(list(nx.DiGraph(shuffled(dense, seed)).edges)).T for seed in range(5)]
    graphs = Batch.from_data_list([Data(x=torch.ones(60, 1), edge_index=edges) for edges in links])
    assert find_alike(torch.ones(5, 1), graphs) is None


def test_graphs_that_do_not_look_equal_are_not_compared():
    assert find_alike(torch.tensor([[1.0], [2.0], [3.0]]), regular(TRIANGLES, HEXAGON, PRISM)) is None
    assert find_alike(torch.tensor([[1.0], [2.0], [1.0]]), regular(TRIANGLES, HEXAGON, PRISM)) == (0, 2)


@pytest.mark.parametrize("edges_at_once", [1, 30, 10**6])
def test_many_graphs_are_compared_in_parts(edges_at_once, monkeypatch):
    monkeypatch.setattr("agents.contract.reading.EDGES_AT_ONCE", edges_at_once)
    graphs = regular(*[HEXAGON] * 7, TRIANGLES, HEXAGON)
    assert find_alike(torch.ones(9, 1), graphs) == (6, 7)
    assert find_alike(torch.ones(7, 1), regular(*[HEXAGON] * 7)) is None


def test_wide_appearances_are_compared_row_by_row():
    rows = torch.randn(4, 100, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    rows[3] = rows[1] + 1e-9
    assert find_alike(rows, regular(HEXAGON, HEXAGON, TRIANGLES, TRIANGLES)) == (1, 3)
    rows[3, 50] += 0.01
    assert find_alike(rows, regular(HEXAGON, HEXAGON, TRIANGLES, TRIANGLES)) is None


def test_an_agent_that_says_nothing_reads_node_features():
    assert BaseAgent.reads == {"node features"}
