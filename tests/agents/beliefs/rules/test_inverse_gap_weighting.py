import numpy as np
import pytest
import torch

import registry
from agents.beliefs.belief import Belief
from agents.beliefs.rules import InverseGapWeighting
from agents.beliefs.rules.inverse_gap_weighting import inverse_gap_weights
from graph_bandit_lab import run_bandit


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


def test_graphs_are_played_as_often_as_their_probabilities_say():
    """In round t the weight of gaps is gamma_0 sqrt(K t); here t is 9, and K is 3 of 4."""
    mask, generator = torch.tensor([True, True, False, True]), torch.Generator().manual_seed(0)
    counts = np.zeros(4)
    for _ in range(20_000):
        rule = InverseGapWeighting(0.5)
        rule.load_state_dict({"rounds": 8})
        counts[int(rule(belief([0.0, 1.0, 5.0, 0.8]), mask, generator).argmax())] += 1
    assert counts[2] == 0
    np.testing.assert_allclose(counts[[0, 1, 3]] / 20_000, published([0.0, 1.0, 0.8], 0.5 * 27**0.5), atol=0.012)


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


def test_it_has_less_than_half_of_the_regret_of_random_play():
    env = registry.make_environment(num_graphs=12, num_nodes=10, horizon=150, reward_scale="unit", noise_std=0.1)
    regret = {
        name: sum(run_bandit(env, registry.make_agent(name), seed=seed).regret.sum() for seed in range(3))
        for name in ("squarecb", "random")
    }
    assert regret["squarecb"] < 0.5 * regret["random"]
