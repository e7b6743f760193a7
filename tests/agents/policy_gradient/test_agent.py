"""The agent `sb3-ppo`: what it does beside what every agent does (test_agents_table.py)."""

import numpy as np
import pytest
import torch
from stable_baselines3 import PPO
from support.graphs import ragged_graphs
from support.play import go_on, play

import registry
from agents.contract.protocol import DivergedError
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


def test_a_full_rollout_changes_the_policy_and_nothing_before_it_does():
    three = told(GRAPHS, [0, 1, 2], [1.0, 2.0, 3.0])
    assert torch.equal(probabilities(three), probabilities(told(GRAPHS, [], [])))
    three.update(None, 2, 3.0)
    assert not torch.equal(probabilities(three), probabilities(told(GRAPHS, [], [])))
    assert three.rounds == []


def test_what_paid_becomes_more_likely():
    before = probabilities(told(GRAPHS, [], []))
    after = probabilities(told(GRAPHS, [0, 1, 2, 3] * 4, [0.0, 5.0, 0.0, 0.0] * 4))
    assert after[1] > 2 * before[1]


def test_the_rounds_keep_the_mask_and_the_probability_of_their_choice():
    agent = told(GRAPHS, [], [])
    mask = np.array([1, 0, 1, 0, 1])
    expected = probabilities(agent, mask)
    action = agent.select_action(None, mask)
    agent.update(None, action, 1.0)
    assert agent.rounds[0].mask == (1, 0, 1, 0, 1)
    assert agent.rounds[0].log_probability == pytest.approx(expected[action].log().item())


def test_a_choice_that_waits_for_its_reward_is_part_of_the_state(small_env):
    env = small_env(horizon=40)
    agent = registry.make_agent("sb3-ppo")
    play(env, agent, 11, seed=1)
    agent.select_action(None, [1, 1, 0, 0, 1, 0])
    twin = registry.make_agent("sb3-ppo")
    twin.reset(None, seed=9, graph_set=env.unwrapped.graph_set)
    twin.load_state_dict(agent.state_dict())
    for one in (agent, twin):
        one.update(None, 0, 1.0)
    assert agent.rounds == twin.rounds
    masks = env.unwrapped.action_masks()
    assert np.array_equal(go_on(env, agent, 9, None, masks)[0], go_on(small_env_at(env), twin, 9, None, masks)[0])


def small_env_at(env):
    """A bandit on the same graphs, whose noise is so small that it does not matter."""
    import gymnasium as gym

    settings = {"graphs": env.unwrapped.graph_set, "reward_model": env.unwrapped.mean_rewards, "horizon": 40}
    twin = gym.make("GraphActionBandit-v0", **settings)
    twin.reset(seed=0)
    return twin


def test_weights_that_turn_non_finite_at_the_last_step_are_not_kept(monkeypatch):
    agent = told(GRAPHS, [0, 1, 2], [1.0, 2.0, 3.0])
    before = probabilities(agent)

    def spoil(ppo):
        with torch.no_grad():
            next(iter(ppo.policy.value_net.parameters())).fill_(float("nan"))

    monkeypatch.setattr(PPO, "train", spoil)
    with pytest.raises(DivergedError, match="Lower `learning_rate`"):
        agent.update(None, 2, 3.0)
    assert torch.equal(probabilities(agent), before)


def test_a_reward_that_comes_late_belongs_to_the_choice_that_earned_it():
    agent = told(GRAPHS, [], [])
    masks = [np.array([1, 0, 0, 0, 0]), np.array([0, 1, 1, 0, 0]), np.array([0, 0, 0, 1, 1])]
    played = [agent.select_action(None, mask) for mask in masks]
    agent.update(None, played[0], 1.0)
    agent.update(None, played[2], 2.0)
    agent.update(None, played[1], 3.0)
    assert [kept.mask for kept in agent.rounds] == [(1, 0, 0, 0, 0), (0, 0, 0, 1, 1), (0, 1, 1, 0, 0)]
    assert agent.state_dict()["chosen"] == []
