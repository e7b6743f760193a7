"""The agent `sb3-ppo`: what it does beside what every agent does (test_agents_table.py)."""

import numpy as np
import pytest
import torch
from support.graphs import ragged_graphs

import registry
from graph_bandit_env import GraphSet

GRAPHS = ragged_graphs(sizes=(5, 4, 7, 6, 7))


def told(graphs, actions, rewards, **settings):
    agent = registry.make_agent("sb3-ppo", **{"rollout": 4, **settings})
    agent.reset(None, seed=3, graph_set=GraphSet.from_pyg(graphs))
    for action, reward in zip(actions, rewards, strict=True):
        agent.update(None, action, reward)
    return agent


def probabilities(agent, mask=None):
    return torch.from_numpy(agent.action_probabilities(None, mask).values)


def test_what_paid_becomes_more_likely():
    before = probabilities(told(GRAPHS, [], []))
    after = probabilities(told(GRAPHS, [0, 1, 2, 3] * 4, [0.0, 5.0, 0.0, 0.0] * 4))
    assert after[1] > 2 * before[1]


def test_units_of_the_rewards_do_not_matter():
    actions, rewards = [0, 1, 2, 3] * 2, np.array([0.3, 1.0, 0.1, 0.4] * 2)
    small, large = told(GRAPHS, actions, rewards), told(GRAPHS, actions, 7.0 + 1000 * rewards)
    torch.testing.assert_close(probabilities(small), probabilities(large), rtol=1e-4, atol=1e-5)


def test_the_rounds_keep_the_mask_and_the_probability_of_their_choice():
    agent = told(GRAPHS, [], [])
    mask = np.array([1, 0, 1, 0, 1])
    expected = probabilities(agent, mask)
    action = agent.select_action(None, mask)
    agent.update(None, action, 1.0)
    assert agent.rounds[0].mask == (1, 0, 1, 0, 1)
    assert agent.rounds[0].log_probability == pytest.approx(expected[action].log().item())


def test_a_reward_that_comes_late_belongs_to_the_choice_that_earned_it():
    agent = told(GRAPHS, [], [])
    masks = [np.array([1, 0, 0, 0, 0]), np.array([0, 1, 1, 0, 0]), np.array([0, 0, 0, 1, 1])]
    played = [agent.select_action(None, mask) for mask in masks]
    agent.update(None, played[0], 1.0)
    agent.update(None, played[2], 2.0)
    agent.update(None, played[1], 3.0)
    assert [kept.mask for kept in agent.rounds] == [(1, 0, 0, 0, 0), (0, 0, 0, 1, 1), (0, 1, 1, 0, 0)]
    assert agent.state_dict()["chosen"] == []
