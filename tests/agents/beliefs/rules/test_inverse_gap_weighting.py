import numpy as np
import pytest
import torch

import registry
from agents.beliefs.belief import Belief
from agents.beliefs.rules import InverseGapWeighting
from agents.beliefs.rules.remembering import inverse_gap_weights


def published(predictions, gamma):
    """The distribution of Algorithm 1 of Foster & Rakhlin (2020), one action after the other."""
    best = int(np.argmax(predictions))
    p = [1 / (len(predictions) + gamma * (predictions[best] - y)) for y in predictions]
    p[best] = 1 - sum(p[:best]) - sum(p[best + 1 :])
    return p


def belief(mean):
    mean = torch.tensor(mean, dtype=torch.float64)
    return Belief(mean, torch.full_like(mean, torch.nan))  # the spread must not count


@pytest.mark.parametrize("gamma", [0.0, 0.7, 100.0])
@pytest.mark.parametrize("mean", [[0.3, -1.0, 2.5, 2.4], [-7.0], [1.0, 1.0, 1.0]])
def test_probabilities_are_those_of_the_paper(mean, gamma):
    found = inverse_gap_weights(belief(mean).mean, torch.ones(len(mean), dtype=torch.bool), gamma)
    np.testing.assert_allclose(found, published(mean, gamma), rtol=1e-12)


def test_graphs_that_are_not_on_offer_do_not_count():
    mask = torch.tensor([True, False, True, True])
    found = inverse_gap_weights(belief([0.3, 99.0, 2.5, 2.4]).mean, mask, 2.0)
    assert found[1] == 0
    np.testing.assert_allclose(found[mask], published([0.3, 2.5, 2.4], 2.0), rtol=1e-12)


def test_gaps_weigh_more_in_each_round_and_a_copy_goes_on_where_the_rule_stood():
    rule, twin, mask = InverseGapWeighting(), InverseGapWeighting(), torch.ones(2, dtype=torch.bool)
    for _ in range(3):
        rule(belief([0.0, 1.0]), mask, torch.Generator())
    rule.forget_graphs()
    twin.load_state_dict(rule.state_dict())
    assert twin == rule != InverseGapWeighting()
    assert rule.rounds == 3


def test_the_agent_plays_by_the_mean_of_its_regression():
    env = registry.make_environment(num_graphs=5, num_nodes=6, noise_std=0.1)
    agent, observation = registry.make_agent("squarecb", gap_weight=2.0), env.reset(seed=0)[0]
    agent.reset(observation, seed=0)
    agent.update(observation, [0, 1, 2, 3], [0.1, 0.4, -0.2, 0.9])
    agent.select_action(observation)
    index = agent.ranked[1]  # log p + Gumbel noise, whose seed is known
    twin = registry.make_agent("squarecb", gap_weight=2.0)
    twin.reset(observation, seed=0)
    waiting = torch.empty(5, dtype=torch.float64).exponential_(generator=twin.generator)
    expected = np.log(published(agent.belief().mean.tolist(), 2.0 * 5**0.5))
    np.testing.assert_allclose(index + waiting.log(), expected, rtol=1e-9)
