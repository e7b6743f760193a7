import math

import numpy as np
import torch
from support.graphs import ragged_graphs

import registry
from graph_bandit_env.graphs import as_graph_set

EVERY = torch.ones(4, dtype=torch.bool)
UNIT = {"lowest_reward": 0, "highest_reward": 1}


def ready(**settings):
    agent = registry.make_agent("exp3", **settings)
    agent.reset(None, seed=0, graph_set=as_graph_set(ragged_graphs()))
    return agent


def test_probabilities_are_those_of_the_published_weights():
    """Figure 1 of Auer et al. (2002): weights are multiplied by exp(gamma x / (p K)) after each round."""
    agent, weights = ready(exploration_share=0.3, **UNIT), np.ones(4)
    for reward in np.random.default_rng(0).uniform(size=60):
        p = 0.7 * weights / weights.sum() + 0.3 / 4
        np.testing.assert_allclose(agent.probabilities(EVERY), p, rtol=1e-9)
        action = agent.select_action(None)
        agent.update(None, action, reward)
        weights[action] *= math.exp(0.3 * reward / p[action] / 4)
    assert np.ptp(p) > 0.05


def test_the_share_of_uniform_play_falls_with_the_rounds():
    agent = ready(**UNIT)
    agent.update(None, [1] * 200, [0.0] * 200)  # rewards of 0 change no weight
    np.testing.assert_allclose(agent.probabilities(EVERY), 0.25)
    agent.update(None, [0] * 1000, [1.0] * 1000)
    gamma = math.sqrt(4 * math.log(4) / ((math.e - 1) * 1201))
    np.testing.assert_allclose(agent.probabilities(EVERY)[1:], gamma / 4, rtol=1e-6)


def test_rewards_are_scaled_by_the_range_given_or_seen_and_clipped_to_it():
    known = {"exploration_share": 0.5, "lowest_reward": -1, "highest_reward": 5}
    agents = [ready(exploration_share=0.5), ready(**known), ready(**known)]
    for agent, rewards in zip(agents, ([3.0, 5.0, 4.0, -1.0], [3.0, 5.0, 4.0, -1.0], [3.0, 70, 4, -9]), strict=True):
        for action, reward in zip((0, 1, 2, 1), rewards, strict=True):
            agent.update(None, action, reward)
    expected, *others = (agent.probabilities(EVERY) for agent in agents)
    for found in others:
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_a_late_reward_is_divided_by_the_probability_with_which_its_graph_was_chosen():
    agent = ready(exploration_share=0.4, **UNIT)
    agent.update(None, [0] * 9, [1.0] * 9)
    chances = agent.probabilities(EVERY)
    first = agent.select_action(None)
    other = (first + 1) % 4
    agent.update(None, [other] * 5, [1.0] * 5)  # changes the probabilities while the first reward is on its way
    agent.update(None, first, 1.0)
    gains = np.array([9 * 4.0, 0, 0, 0])  # of 1 / K where a graph was never chosen
    gains[other] += 5 * 4.0
    gains[first] += 1 / chances[first].item()
    weights = np.exp(0.4 * gains / 4)
    np.testing.assert_allclose(agent.probabilities(EVERY), 0.6 * weights / weights.sum() + 0.1, rtol=1e-9)
