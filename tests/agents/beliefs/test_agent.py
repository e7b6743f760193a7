"""What all agents with a belief do, tested on one whose belief is given."""

import pytest
import torch

import registry
from agents.beliefs import Belief, Greedy, ThompsonSampling
from agents.beliefs.agent import BeliefAgent
from graph_bandit_env import GraphSet

MEAN = torch.tensor([0.0, 3.0, 1.0, 2.0], dtype=torch.float64)


class Told(BeliefAgent):
    """Believes in the same means whatever the rewards are."""

    def belief(self):
        return Belief(MEAN, torch.ones_like(MEAN), best=self.best_seen(MEAN))

    def meet(self, kept, graphs):
        self.exchange(kept, len(graphs))


class Remembered(Greedy):
    """A rule whose memory is the index that it gives all graphs."""

    index = torch.zeros(4)

    def __call__(self, belief, action_mask, generator):
        return self.index

    def state_dict(self):
        return {"index": self.index}

    def load_state_dict(self, state):
        self.index = state["index"]


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


def test_where_graphs_change_no_graph_seen_is_the_best(graphs):
    agent, shown = ready(graphs), tuple(GraphSet.from_pyg(graphs))
    agent.update(shown[::-1], 0, 1.0)
    assert agent.belief().best is None


@pytest.mark.parametrize(
    "index", [torch.zeros(3), torch.tensor([0.0, torch.nan, 0.0, 0.0]), torch.full((5,), torch.nan)]
)
def test_a_state_of_a_rule_that_cannot_rank_the_graphs_is_refused(graphs, index):
    agent = ready(graphs, Remembered)
    state = agent.state_dict()
    agent.load_state_dict(state)
    agent.rule.index = index
    with pytest.raises(ValueError, match="Expected a rule that ranks 4 graphs"):
        agent.restore(agent.state())


@pytest.mark.parametrize("sampling", ["independent", "joint"])
def test_a_state_of_a_rule_that_draws_is_taken(graphs, sampling):
    agent = ready(graphs, lambda: ThompsonSampling(sampling))
    agent.update(None, 1, 0.5)
    other = ready(graphs, lambda: ThompsonSampling(sampling))
    other.load_state_dict(agent.state_dict())
    assert other.history.counts.tolist() == [0, 1, 0, 0]
