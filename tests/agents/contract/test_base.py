import copy
from dataclasses import dataclass

import numpy as np
import pytest
import torch

import registry
from agents.contract import BaseAgent
from graph_bandit_env import GraphSet


class Once(BaseAgent):
    """Cannot begin on two graphs."""

    def begin(self, graphs, seed):
        if graphs.num_graphs == 2:
            raise ValueError("two graphs")

    def choose(self, mask):
        return int(mask.nonzero()[0])

    def learn(self, actions, rewards):
        self.seen = actions


def test_a_reset_that_fails_leaves_an_agent_that_must_be_reset(graphs):
    agent = Once(registry.make_agent("random").settings)
    agent.reset(None, graph_set=GraphSet.from_pyg(graphs))
    with pytest.raises(ValueError, match="two graphs"):
        agent.reset(None, graph_set=GraphSet.from_pyg(graphs[:2]))
    with pytest.raises(RuntimeError, match="Expected `reset` first"):
        agent.select_action(None)


def test_a_state_of_an_earlier_algorithm_is_refused(graphs):
    agent = registry.make_agent("gntk-ts")
    agent.reset(None, graph_set=GraphSet.from_pyg(graphs))
    state = agent.state_dict()
    assert state["identity"]["algorithm"] == 4
    del state["identity"]["algorithm"]  # as the first version wrote it
    with pytest.raises(ValueError, match="version 4 of the agent's algorithm. Got one of version 1"):
        agent.load_state_dict(state)


def test_what_is_checked_reaches_the_hooks_as_tensors(graphs):
    agent = Once(registry.make_agent("random").settings)
    agent.reset(None, graph_set=GraphSet.from_pyg(graphs))
    agent.update(None, np.array([1, 2]), np.array([0.5, 1.0]))
    assert torch.equal(agent.seen, torch.tensor([1, 2]))
    assert agent.select_action(None, [0, 1, 0, 1]) == 1


def test_graphs_equal_to_those_of_reset_are_played_and_others_refused(graphs):
    graph_set = GraphSet.from_pyg(graphs)
    agent = Once(registry.make_agent("random").settings)
    agent.reset(None, graph_set=graph_set)
    assert agent.select_action(tuple(graph_set)) == 0
    for use in (agent.select_action, lambda observation: agent.update(observation, 0, 1.0)):
        with pytest.raises(ValueError, match="Expected the graphs of `reset`"):
            use(tuple(graph_set)[::-1])


class Forgetful(Once):
    """Plays on other graphs, and says of none that it is worth keeping."""

    def meet(self, kept, graphs):
        self.met = kept.tolist(), len(graphs)


def test_an_agent_meets_all_graphs_of_a_round_unless_it_says_which_to_keep(graphs):
    graph_set = GraphSet.from_pyg(graphs)
    agent = Forgetful(registry.make_agent("random").settings)
    agent.reset(None, graph_set=graph_set)
    agent.select_action(tuple(graph_set)[::-1])
    assert agent.met == ([], 4)


@dataclass(frozen=True)
class DeviceSettings:
    device: str


def test_a_state_saved_on_one_device_fits_all(graphs):
    agents = [Once(DeviceSettings(device)) for device in ("cuda", "cpu")]
    for agent in agents:
        agent.reset(None, graph_set=GraphSet.from_pyg(graphs))
    agents[1].load_state_dict(agents[0].state_dict())
    assert torch.equal(agents[0].generator.get_state(), agents[1].generator.get_state())


class Remembering(Once):
    """Remembers in every form that a state may have."""

    def begin(self, graphs, seed):
        self.memory = {
            "best": 0,
            "least": torch.full((2,), torch.inf),
            "rewards": [],
            "last": None,
            "by": {},
            "name": "a",
        }

    def learn(self, actions, rewards):
        self.memory["best"] = max(self.memory["best"], *rewards.tolist())
        self.memory["least"][0] = rewards.min()
        self.memory["rewards"] += rewards.tolist()
        self.memory["last"] = actions[-1:]
        self.memory["by"][int(actions[-1])] = rewards[-1:]

    def state(self):
        return copy.deepcopy(self.memory)

    def restore(self, state):
        self.memory["best"] = state["best"]
        if state["name"] != "a":
            raise KeyError(state["name"])
        self.memory = {key: copy.deepcopy(state[key]) for key in self.memory}


def test_a_state_may_hold_anything_and_what_is_empty_at_first_grows(graphs):
    agent, twin = (Remembering(registry.make_agent("random").settings) for _ in range(2))
    for player in (agent, twin):
        player.reset(None, graph_set=GraphSet.from_pyg(graphs))
    agent.update(None, [1, 2], [0.5, 1.5])
    twin.load_state_dict(agent.state_dict())
    assert str(twin.memory) == str(agent.memory)


def test_a_state_that_restore_cannot_take_is_undone(graphs):
    agent = Remembering(registry.make_agent("random").settings)
    agent.reset(None, graph_set=GraphSet.from_pyg(graphs))
    state = {**agent.state_dict(), "best": 7.0, "name": "b"}
    with pytest.raises(ValueError, match="one that does not fit: 'b'"):
        agent.load_state_dict(state)
    assert agent.memory["best"] == 0


@pytest.mark.parametrize("pending", [[-1], [99], [0.5], [1, 1]])
def test_pending_graphs_must_be_some(graphs, pending):
    agent = registry.make_agent("gntk-ucb")
    agent.reset(None, graph_set=GraphSet.from_pyg(graphs))
    with pytest.raises(ValueError, match="Expected `pending` to be different integers from 0 to 3"):
        agent.select_batch(None, 2, None, pending)
    assert len(agent.select_batch(None, np.int64(2), None, np.array([1]))) == 2
