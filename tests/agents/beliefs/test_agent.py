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


def test_the_belief_of_a_choice_lasts_until_a_reward_which_makes_graphs_count_as_seen(graphs):
    agent = Told(registry.make_agent("random").settings, Greedy)
    agent.reset(None, graph_set=GraphSet.from_pyg(graphs))
    assert agent.select_action(None) == 1
    belief, index = agent.ranked
    assert belief.best is None
    assert torch.equal(index, MEAN)
    agent.update(None, [2, 0], [0.0, 9.0])
    assert agent.belief().best == 1
    with pytest.raises(RuntimeError, match="insight"):
        _ = agent.ranked
