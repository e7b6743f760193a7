"""The graphs of a round are those of its observation: agents play them as what they are, or refuse."""

import fnmatch

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
@pytest.mark.parametrize("name", ["ucb1", "exp3"])
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


@pytest.mark.parametrize(
    "name",
    [
        "gnn-ts",
        "neural-ts",
        "gntk-ucb",
        "gp-ucb",
        "lin-ts",
        "wl-ei",
        "ucb1",
        "exp3",
        "molecule-ucb",
        "random",
        "squarecb",
    ],
)
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


def test_a_memory_keeps_some_graphs_and_adds_those_that_are_new():
    first = FirstGraphs(read_graphs(GRAPHS), GRAPHS)
    shown = (STRANGERS[1], GRAPHS[2], STRANGERS[1], GRAPHS[0])
    memory = GraphMemory.of(first).showing(ObservedGraphs(shown, first), kept=torch.tensor([3, 2]))
    assert [len(graph.x) for graph in memory.graphs] == [3, 7, 6, 5]  # two that stay, then two that are new
    assert memory.offered.tolist() == [2, 1, 2, 3]
    assert memory.shows(ObservedGraphs(shown, first))
    assert not memory.shows(first)
