"""What all agents with a belief do, tested on one whose belief is given."""

import pytest
import torch

import registry
from agents.beliefs import Belief, Greedy
from agents.beliefs.agent import BeliefAgent
from graph_bandit_env import GraphSet

MEAN = torch.tensor([0.0, 3.0, 1.0, 2.0], dtype=torch.float64)


class Told(BeliefAgent):
    """Believes in the same means whatever the rewards are."""

    def belief(self):
        return Belief(MEAN, torch.ones_like(MEAN), best=self.best_seen(MEAN))

    def meet(self, kept, graphs):
        self.exchange(kept, len(graphs))


def ready(graphs, rule=Greedy):
    agent = Told(registry.make_agent("random").settings, rule)
    agent.reset(None, graph_set=GraphSet.from_pyg(graphs))
    return agent


def test_the_belief_and_index_of_a_choice_last_until_a_reward_is_told(graphs):
    agent = ready(graphs)
    with pytest.raises(RuntimeError, match="Nothing has been chosen yet"):
        _ = agent.ranked
    assert agent.select_action(None) == 1
    belief, index = agent.ranked
    assert torch.equal(belief.mean, MEAN)
    assert torch.equal(index, MEAN)
    agent.update(None, 1, 0.5)
    with pytest.raises(RuntimeError, match="Nothing has been chosen yet"):
        _ = agent.ranked


def test_the_best_graph_seen_is_that_with_the_largest_mean_of_those_played(graphs):
    agent = ready(graphs)
    assert agent.belief().best is None
    agent.update(None, [2, 0], [0.0, 9.0])
    assert agent.belief().best == 1
