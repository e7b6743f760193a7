"""The graphs of a round are those of its observation: agents play them as what they are, or refuse."""

import numpy as np
import pytest
import torch
from gymnasium.spaces import GraphInstance
from support.graphs import ragged_graphs
from support.molecules import some_molecules

import registry
from agents.contract import plays_changing_graphs
from agents.contract.graph_memory import FirstGraphs, GraphMemory, key_of
from agents.contract.inputs import read_graphs
from graph_bandit_env.graphs import as_graph_set

SET = as_graph_set(ragged_graphs())
GRAPHS = tuple(SET)
STRANGERS = tuple(as_graph_set(ragged_graphs((2, 6, 4, 3, 5), seed=1)))
FAMILIES = ("gnn-ts", "neural-ts", "gntk-ucb", "gp-ucb", "lin-ts", "wl-ei", "ucb1", "exp3", "random", "squarecb")


def edited(observation, **changes):
    fields = {name: np.copy(value) for name, value in observation[0]._asdict().items()}
    return (GraphInstance(**{**fields, **changes}), *observation[1:])


OTHERS = {
    "more graphs": (*GRAPHS, GRAPHS[0]),
    "fewer graphs": GRAPHS[:2],
    "other graphs": STRANGERS[: len(GRAPHS)],
    "another order": GRAPHS[::-1],
    "another feature": edited(GRAPHS, nodes=GRAPHS[0].nodes + np.float32(1e-6)),
    "another edge": edited(GRAPHS, edge_links=GRAPHS[0].edge_links[:-1], edges=GRAPHS[0].edges[:-1]),
    "another edge feature": edited(GRAPHS, edges=2 * GRAPHS[0].edges),
}


def ready(name, graph_set=SET):
    agent = registry.make_agent(name)
    agent.reset(tuple(graph_set), seed=0, graph_set=graph_set)
    return agent


@pytest.mark.parametrize("others", OTHERS.values(), ids=list(OTHERS))
@pytest.mark.parametrize("name", ["ucb1", "exp3"])
def test_an_agent_on_one_set_refuses_others_and_goes_on_with_its_own(name, others):
    agent, twin = ready(name), ready(name)
    for use in (agent.select_action, lambda observation: agent.update(observation, 0, 1.0)):
        with pytest.raises(ValueError, match="the graphs of `reset`"):
            use(others)
    for observation in (GRAPHS, None, np.arange(4)):
        action = agent.select_action(observation)
        assert action == twin.select_action(GRAPHS)
        agent.update(observation, action, 0.5 * action)
        twin.update(GRAPHS, action, 0.5 * action)


@pytest.mark.parametrize("name", [*FAMILIES, "molecule-ucb"])
def test_every_agent_plays_other_graphs_or_is_listed_as_one_that_does_not(name):
    graph_set = some_molecules(5) if name.startswith("molecule") else SET
    agent = ready(name, graph_set)
    agent.update(None, [0, 1], [0.5, 1.0])
    if not plays_changing_graphs(name):
        with pytest.raises(ValueError, match="the graphs of `reset`"):
            agent.select_action(tuple(graph_set)[::-1])
        return
    for observation in (STRANGERS, GRAPHS[:2], GRAPHS, None, STRANGERS[::-1]):
        action = agent.select_action(observation)
        assert action in range(len(GRAPHS if observation is None else observation))
        agent.update(observation, action, 1.0)


def test_graphs_that_are_alike_are_recognised():
    """Edges whose only feature is 1 are no features, whether the graphs of `reset` have them or not."""
    copied = edited(GRAPHS, nodes=np.asfortranarray(GRAPHS[0].nodes.astype(np.float64)))
    for first in (FirstGraphs(read_graphs(None, SET), None), FirstGraphs(read_graphs(GRAPHS), GRAPHS)):
        assert first.keys == tuple(map(key_of, GRAPHS)) == tuple(map(key_of, copied))


def test_a_memory_keeps_some_graphs_and_adds_those_that_are_new():
    first, round_of = FirstGraphs(read_graphs(GRAPHS), GRAPHS), (STRANGERS[1], GRAPHS[2], STRANGERS[1], GRAPHS[0])
    keys = tuple(map(key_of, round_of))
    memory = GraphMemory.of(first).showing(keys, lambda k: first.graph(k, round_of), kept=torch.tensor([3, 2]))
    assert [len(graph.x) for graph in memory.graphs] == [3, 7, 6, 5]  # two that stay, then two that are new
    assert memory.offered.tolist() == [2, 1, 2, 3]
    assert memory.shown == GraphMemory.from_state(memory.state_dict()).shown == keys
