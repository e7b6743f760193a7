from dataclasses import dataclass

import numpy as np
import pytest
import torch
from support.graphs import ragged_graphs

import registry
from agents.contract import BaseAgent
from graph_bandit_env.graphs import as_graph_set

GRAPHS = as_graph_set(ragged_graphs())


@dataclass(frozen=True)
class Settings:
    device: str = "cpu"


class Once(BaseAgent):
    """Cannot begin on two graphs; notes what it learns and meets."""

    def begin(self, graphs, seed):
        if graphs.num_graphs == 2:
            raise ValueError("two graphs")

    def choose(self, mask):
        return int(mask.nonzero()[0])

    def learn(self, actions, rewards):
        self.seen = actions

    def meet(self, kept, graphs):
        self.met = kept.tolist(), len(graphs)


def ready(device="cpu"):
    agent = Once(Settings(device))
    agent.reset(None, graph_set=GRAPHS)
    return agent


def test_a_reset_that_fails_leaves_an_agent_that_must_be_reset():
    agent = ready()
    with pytest.raises(ValueError, match="two graphs"):
        agent.reset(None, graph_set=GRAPHS.take([0, 1]))
    with pytest.raises(RuntimeError, match="`reset`"):
        agent.select_action(None)


def test_what_is_checked_reaches_the_hooks_as_tensors():
    agent = ready()
    agent.update(None, np.array([1, 2]), np.array([0.5, 1.0]))
    assert torch.equal(agent.seen, torch.tensor([1, 2]))
    assert agent.select_action(None, [0, 1, 0, 1]) == 1


def test_an_agent_meets_all_graphs_of_a_round_unless_it_says_which_to_keep():
    agent = ready()
    agent.select_action(tuple(GRAPHS)[::-1])
    assert agent.met == ([], 4)


def test_a_state_saved_on_one_device_fits_all():
    saved, loaded = ready("cuda"), ready("cpu")
    loaded.load_state_dict(saved.state_dict())
    assert torch.equal(loaded.generator.get_state(), saved.generator.get_state())


def test_more_graphs_than_can_be_drawn_jointly_are_refused_at_reset_and_later(monkeypatch):
    monkeypatch.setattr("agents.neural.agent.MOST_DRAWN_JOINTLY", 3)
    agent, shown = registry.make_agent("gnn-ts", sampling="joint"), tuple(GRAPHS.take([0, 1]))
    with pytest.raises(ValueError, match="3 graphs"):
        agent.reset(None, graph_set=GRAPHS)
    agent.reset(shown)
    with pytest.raises(ValueError, match="3 graphs"):
        agent.select_action(tuple(GRAPHS))
    assert agent.select_action(shown) in (0, 1)
