import math

import numpy as np
import torch
from support.graphs import ragged_graphs

import registry
from graph_bandit_env import GraphSet

EVERY = torch.ones(4, dtype=torch.bool)


def ready(**settings):
    agent = registry.make_agent("exp3", **settings)
    agent.reset(None, seed=0, graph_set=GraphSet.from_pyg(ragged_graphs()))
    return agent


def play(agent, rewards):
    """Play, and return actions and the probabilities of each round."""
    actions, chances = [], []
    for reward in rewards:
        chances.append(agent.probabilities(EVERY).numpy())
        actions.append(agent.select_action(None))
        agent.update(None, actions[-1], reward)
    return np.array(actions), np.array(chances)


def test_probabilities_are_those_of_the_published_weights():
    """Figure 1 of Auer et al. (2002): weights are multiplied by exp(gamma x / (p K)) after each round."""
    gamma, rewards = 0.3, np.random.default_rng(0).uniform(size=60)
    agent = ready(exploration_share=gamma, lowest_reward=0, highest_reward=1)
    actions, chances = play(agent, rewards)
    weights = np.ones(4)
    for action, reward, found in zip(actions, rewards, chances, strict=True):
        p = (1 - gamma) * weights / weights.sum() + gamma / 4
        np.testing.assert_allclose(found, p, rtol=1e-9)
        weights[action] *= math.exp(gamma * reward / p[action] / 4)
    assert np.ptp(chances[-1]) > 0.05


def test_the_share_of_uniform_play_falls_with_the_rounds():
    agent = ready(lowest_reward=0, highest_reward=1)
    _, chances = play(agent, [0.0] * 200)  # rewards of 0 change no weight
    np.testing.assert_allclose(chances, 0.25)
    agent.update(None, [0] * 1000, [1.0] * 1000)
    gamma = math.sqrt(4 * math.log(4) / ((math.e - 1) * 1201))
    np.testing.assert_allclose(agent.probabilities(EVERY)[1:], gamma / 4, rtol=1e-6)


def test_without_a_range_the_weights_are_those_of_the_range_so_far_from_the_beginning():
    rewards = [3.0, 5.0, 4.0, -1.0]
    running, known = ready(exploration_share=0.5), ready(exploration_share=0.5, lowest_reward=-1, highest_reward=5)
    for action, reward in zip((0, 1, 2, 1), rewards, strict=True):
        running.update(None, action, reward)
        known.update(None, action, reward)
    np.testing.assert_allclose(running.probabilities(EVERY), known.probabilities(EVERY), rtol=1e-12)


def test_a_reward_outside_of_the_range_counts_as_its_nearest_end():
    agents = [ready(exploration_share=0.5, lowest_reward=-1, highest_reward=2) for _ in range(2)]
    agents[0].update(None, [0, 1], [70.0, -9.0])
    agents[1].update(None, [0, 1], [2.0, -1.0])
    assert torch.equal(agents[0].probabilities(EVERY), agents[1].probabilities(EVERY))


def test_a_late_reward_is_divided_by_the_probability_with_which_its_graph_was_chosen():
    agent = ready(exploration_share=0.4, lowest_reward=0, highest_reward=1)
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
