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
