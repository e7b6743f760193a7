"""The graphs of a round are those of its observation: agents play them as what they are, or refuse."""

import fnmatch
import gc
import pickle
import weakref
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from gymnasium.spaces import GraphInstance
from support.graphs import ragged_graphs
from support.molecules import some_molecules

import registry
from agents.contract.graph_memory import PLAY_CHANGING_GRAPHS, FirstGraphs, GraphMemory, ObservedGraphs
from agents.contract.inputs import read_graphs
from graph_bandit_env import GraphSet

SET = GraphSet.from_pyg(ragged_graphs())
GRAPHS = tuple(SET)
STRANGERS = tuple(GraphSet.from_pyg(ragged_graphs((2, 6, 4, 3, 5), seed=1)))


def edited(observation, index=0, **changes):
    fields = {name: np.copy(value) for name, value in observation[index]._asdict().items()}
    graph = GraphInstance(**{**fields, **changes})
    return (*observation[:index], graph, *observation[index + 1 :])


OTHERS = {
    "more graphs": (*GRAPHS, GRAPHS[0]),
    "fewer graphs": GRAPHS[:2],
    "other graphs": STRANGERS[: len(GRAPHS)],
    "another order": GRAPHS[::-1],
    "another feature": edited(GRAPHS, nodes=GRAPHS[0].nodes + np.float32(1e-6)),
    "another edge": edited(GRAPHS, edge_links=GRAPHS[0].edge_links[:-1], edges=GRAPHS[0].edges[:-1]),
    "another edge feature": edited(GRAPHS, edges=2 * GRAPHS[0].edges),
}


def plays_anything(name):
    return any(fnmatch.fnmatch(name, pattern) for pattern in PLAY_CHANGING_GRAPHS)


def ready(name, observation=GRAPHS, **settings):
    agent = registry.make_agent(name, **settings)
    agent.reset(observation, seed=0, graph_set=SET)
    return agent


@pytest.mark.parametrize("others", OTHERS.values(), ids=list(OTHERS))
@pytest.mark.parametrize("name", ["ucb1", "sb3-ppo"])
def test_an_agent_on_one_set_refuses_others_and_goes_on_with_its_own(name, others):
    agent, twin = ready(name), ready(name)
    for use in (agent.select_action, lambda observation: agent.update(observation, 0, 1.0)):
        with pytest.raises(
            ValueError, match=r"Expected the graphs of `reset` in each observation.*Agents that play on"
        ):
            use(others)
    for observation in (GRAPHS, None, np.arange(4)):
        action = agent.select_action(observation)
        assert action == twin.select_action(GRAPHS)
        agent.update(observation, action, 0.5 * action)
        twin.update(GRAPHS, action, 0.5 * action)


@pytest.mark.parametrize("name", registry.list_agents())
def test_every_agent_plays_other_graphs_or_is_listed_as_one_that_does_not(name):
    if registry.agent_needs(name) == "molecules":
        agent, molecules = registry.make_agent(name), some_molecules(5)
        agent.reset(tuple(molecules), graph_set=molecules)
        assert agent.select_action(tuple(molecules)) in range(5)
        with pytest.raises(ValueError, match="Agents that play on graphs that change: "):
            agent.select_action(tuple(molecules)[::-1])
        return
    agent = ready(name)
    agent.update(GRAPHS, [0, 1], [0.5, 1.0])
    if not plays_anything(name):
        with pytest.raises(ValueError, match="Agents that play on graphs that change: "):
            agent.select_action(STRANGERS)
        return
    for observation in (STRANGERS, GRAPHS[:2], GRAPHS, None, STRANGERS[::-1]):
        action = agent.select_action(observation)
        assert action in range(len(GRAPHS if observation is None else observation))
        agent.update(observation, action, 1.0)


def test_graphs_that_are_alike_are_recognised():
    """Edges whose only feature is 1 are no features, whether the graphs of `reset` have them or not."""
    first = FirstGraphs(read_graphs(None, SET), None)
    assert first.keys == FirstGraphs(read_graphs(GRAPHS), GRAPHS).keys == ObservedGraphs(GRAPHS, first).keys
    copied = edited(GRAPHS, nodes=np.asfortranarray(GRAPHS[0].nodes.astype(np.float64)))
    assert ObservedGraphs(copied, first).keys == first.keys


def test_a_single_edge_is_known_by_its_feature():
    def edge(weight):
        return GraphInstance(GRAPHS[0].nodes, np.full((1, 1), weight, np.float32), np.array([[0, 1]]))

    first = FirstGraphs(read_graphs((edge(2.0),)), (edge(2.0),))
    assert ObservedGraphs((edge(2.0),), first).keys == first.keys
    assert ObservedGraphs((edge(3.0),), first).keys != first.keys


def test_a_graph_without_links_is_one_without_edges():
    first = FirstGraphs(read_graphs(GRAPHS), GRAPHS)
    alone = edited(GRAPHS, edges=None, edge_links=None)
    shown = ObservedGraphs(alone, first)
    assert shown.keys == ObservedGraphs(edited(GRAPHS, edges=None, edge_links=np.zeros((0, 2))), first).keys
    assert shown.graph(0).edge_attr.shape == (0, 1)


def test_graphs_of_a_set_that_may_change_are_kept_as_they_were():
    graphs = SET.to_pyg()
    agent, twin = (registry.make_agent("gntk-ucb") for _ in range(2))
    agent.reset(None, seed=0, graph_set=Changing(graphs))
    twin.reset(None, seed=0, graph_set=SET)
    graphs.pop()
    for player in (agent, twin):
        player.update(None, 3, 1.0)
        player.select_action(STRANGERS)
        player.update(STRANGERS, 2, 0.5)
        player.select_action(GRAPHS)
    np.testing.assert_array_equal(agent.predict().mean, twin.predict().mean)


@dataclass
class Changing:
    """A graph set that its owner may change."""

    graphs: list

    def to_pyg(self):
        return self.graphs


@pytest.mark.parametrize("graph_set", [None, SET], ids=["observation", "graph set"])
def test_an_agent_can_be_pickled_after_reset(graph_set):
    agent = registry.make_agent("gntk-ucb")
    agent.reset(GRAPHS, seed=0, graph_set=graph_set)
    again = pickle.loads(pickle.dumps(agent))
    assert again.select_action(STRANGERS) == agent.select_action(STRANGERS)


def test_graphs_that_can_be_read_again_are_not_held():
    batch = read_graphs(None, SET)
    first, held = FirstGraphs(batch, None, lambda: read_graphs(None, SET)), weakref.ref(batch)
    del batch
    gc.collect()
    assert held() is None
    assert first.keys == ObservedGraphs(GRAPHS, first).keys


def test_a_memory_keeps_some_graphs_and_adds_those_that_are_new():
    first = FirstGraphs(read_graphs(GRAPHS), GRAPHS)
    shown = (STRANGERS[1], GRAPHS[2], STRANGERS[1], GRAPHS[0])
    memory = GraphMemory.of(first).showing(ObservedGraphs(shown, first), kept=torch.tensor([3, 2]))
    assert [len(graph.x) for graph in memory.graphs] == [3, 7, 6, 5]  # two that stay, then two that are new
    assert memory.offered.tolist() == [2, 1, 2, 3]
    assert memory.shows(ObservedGraphs(shown, first))
    assert not memory.shows(first)


def test_graphs_of_another_kind_are_refused():
    first = FirstGraphs(read_graphs(GRAPHS), GRAPHS)
    wide = edited(GRAPHS, nodes=np.zeros((5, 9), np.float32))
    with pytest.raises(ValueError, match=r"with `x` of 4 columns, as at `reset`. Got \(5, 9\)"):
        GraphMemory.of(first).showing(ObservedGraphs(wide, first), torch.tensor([], dtype=torch.int64))


def test_an_observation_seen_before_a_state_was_loaded_is_looked_at_again():
    agent, twin = (registry.make_agent("gntk-ucb") for _ in range(2))
    for player in (agent, twin):
        player.reset(GRAPHS, seed=0)
    twin.update(STRANGERS, 1, 5.0)
    agent.select_action(GRAPHS)
    agent.load_state_dict(twin.state_dict())
    agent.update(GRAPHS, 3, 1.0)
    twin.update(GRAPHS, 3, 1.0)
    np.testing.assert_array_equal(agent.predict().mean, twin.predict().mean)


def test_a_given_kernel_is_that_of_one_graph_set():
    agent = registry.make_agent("gntk-ts", kernel="custom", kernel_matrix=np.eye(4))
    agent.reset(GRAPHS, seed=0)
    with pytest.raises(ValueError, match="a given `kernel_matrix` is that of these graphs. Got other graphs"):
        agent.select_action(STRANGERS)


@pytest.mark.parametrize(
    "wrong",
    [
        {"offered": torch.tensor([0, 9])},
        {"offered": torch.tensor([], dtype=torch.int64)},
        {"offered": torch.tensor([0.0])},
        {"graphs": []},
        {"graphs": [{"x": torch.zeros(2, 4)}]},
        {"graphs": [{"x": torch.zeros(2, 4), "edge_index": torch.tensor([[0], [2]]), "edge_attr": torch.ones(1, 1)}]},
        {"graphs": [{"x": torch.zeros(2, 5), "edge_index": torch.tensor([[0], [1]]), "edge_attr": torch.ones(1, 1)}]},
    ],
)
def test_a_state_with_wrong_graphs_is_refused_and_changes_nothing(wrong):
    agent, twin = (registry.make_agent("gntk-ucb") for _ in range(2))
    for player in (agent, twin):
        player.reset(GRAPHS, seed=0)
        player.update(STRANGERS, [0, 1], [0.5, 2.0])
    state = agent.state_dict()
    for changes in ({"graph_memory": {**state["graph_memory"], **wrong}}, {"generator": torch.zeros(9).byte()}):
        with pytest.raises(ValueError, match="Expected"):
            agent.load_state_dict({**state, **changes})
    np.testing.assert_array_equal(agent.predict().mean, twin.predict().mean)
    assert agent.select_action(STRANGERS) == twin.select_action(STRANGERS)


@pytest.mark.parametrize(
    ("links", "offered"), [((0, 1), 1), ((0, 1), -1), ((0, 2), 0), ((2, 0), 0), ((0, -1), 0), ((-1, 0), 0)]
)
def test_a_memory_of_nodes_or_slots_that_do_not_exist_is_refused(links, offered):
    first = FirstGraphs(read_graphs(GRAPHS), GRAPHS)
    pair = {"x": torch.zeros(2, 4), "edge_index": torch.tensor([[0], [1]]), "edge_attr": torch.ones(1, 1)}
    assert GraphMemory.from_state({"graphs": [pair], "offered": torch.tensor([0])}, first).offered.tolist() == [0]
    pair["edge_index"] = torch.tensor(links).unsqueeze(1)
    with pytest.raises(ValueError, match="Expected edges between nodes of their graph, and a round of some of 1"):
        GraphMemory.from_state({"graphs": [pair], "offered": torch.tensor([offered])}, first)
