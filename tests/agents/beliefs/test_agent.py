"""What all agents with a belief do, tested on one whose belief is given."""

import warnings

import numpy as np
import pytest
import torch
from scipy.stats import norm

import registry
from agents.beliefs import Belief, Greedy
from agents.beliefs.agent import BeliefAgent, MisfitWarning, Watch
from graph_bandit_env.graphs import as_graph_set

MEAN = torch.tensor([0.0, 3.0, 1.0, 2.0], dtype=torch.float64)


class Told(BeliefAgent):
    """Believes in the same means whatever the rewards are."""

    def belief(self):
        return Belief(MEAN, torch.ones_like(MEAN), best=self.best_seen(MEAN))


def test_the_belief_of_a_choice_lasts_until_a_reward_which_makes_graphs_count_as_seen(graphs):
    agent = Told(registry.make_agent("random").settings, Greedy)
    agent.reset(None, graph_set=as_graph_set(graphs))
    assert agent.select_action(None) == 1
    belief, index = agent.ranked
    assert belief.best is None
    assert torch.equal(index, MEAN)
    agent.update(None, [2, 0], [0.0, 9.0])
    assert agent.belief().best == 1
    with pytest.raises(RuntimeError, match="insight"):
        _ = agent.ranked


def test_a_model_that_is_wrong_is_noticed_and_one_that_is_right_is_not():
    """Evidence is the largest log likelihood ratio of residuals of standard deviation 3 to those of 1 since a round."""
    rng = np.random.default_rng(0)
    for scale, is_wrong in ((1.0, False), (1.3, False), (2.5, True)):
        watch, residuals = Watch(), scale * rng.normal(size=300)
        assert (sum(map(watch.add, residuals)) > 0) == is_wrong
        clipped = residuals.clip(-5, 5)
        assert watch.misfit == pytest.approx(np.sqrt((clipped**2).mean()))
        steps = norm.logpdf(clipped, scale=3) - norm.logpdf(clipped)
        assert watch.evidence == pytest.approx(max(0.0, *(steps[k:].sum() for k in range(300))))


@pytest.mark.parametrize("name", ["gp-ucb", "gntk-ts", "lin-ucb", "gnn-ucb"])
def test_rewards_that_no_model_forecasts_are_told_once(name, graphs):
    agent, rng = registry.make_agent(name), np.random.default_rng(0)
    agent.reset(None, graph_set=as_graph_set(graphs))
    with warnings.catch_warnings(record=True, action="always") as caught:
        for t in range(90):
            agent.select_action(None)
            agent.update(None, t % len(graphs), rng.normal() if t < 40 else 10.0 * rng.normal())
    told = [warning for warning in caught if warning.category is MisfitWarning]
    assert len(told) == 1
    assert agent.remark
    assert (agent.watch.mended_at > 40) == (name != "gnn-ucb")  # a network is fitted after every reward anyway
    agent.select_action(None)
    assert agent.insight().misfit == agent.watch.misfit > 1.5


@pytest.mark.parametrize("name", ["gntk-ts", "lin-ts", "gnn-ts"])
def test_what_is_a_graphs_own_is_drawn_only_where_it_can_be_played_again(name, graphs):
    agent, played = registry.make_agent(name), torch.tensor([0, 1, 2])
    agent.reset(None, graph_set=as_graph_set(graphs))
    agent.update(None, played.numpy(), [1.0, 0.0, 2.0])
    mask, rest = torch.ones(len(graphs), dtype=torch.bool), torch.arange(3, len(graphs))
    beliefs, variances = [], []
    for offered in (True, False):
        mask[played] = offered
        agent.look_for_those_played(mask)
        beliefs.append(agent.belief())
        variances.append(beliefs[-1].joint_root().square().sum(1)[rest])
    own = variances[0] - variances[1]
    assert own.min() > 0
    assert torch.allclose(own, own.mean())
    assert torch.equal(beliefs[0].spread, beliefs[1].spread)
