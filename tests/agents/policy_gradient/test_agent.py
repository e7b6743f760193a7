"""The agent `sb3-ppo`: what it does beside what every agent does (test_agents_table.py)."""

import numpy as np
import pytest
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.logger import Logger
from support.graph_policies import encoder_kwargs, make_env
from support.graphs import ragged_graphs

import registry
from agents.sb3 import GraphSetPolicy
from graph_bandit_env import GraphSet

GRAPHS = ragged_graphs(sizes=(5, 4, 7, 6, 7))
ACTIONS, REWARDS = [0, 1, 2, 3, 1, 1, 0, 4], np.array([0.3, 5.0, 0.1, 0.4, 4.0, 6.0, 0.0, 0.2])


def told(actions, rewards, **settings):
    agent = registry.make_agent("sb3-ppo", **settings)
    agent.reset(None, seed=3, graph_set=GraphSet.from_pyg(GRAPHS))
    for action, reward in zip(actions, rewards, strict=True):
        agent.update(None, action, reward)
    return agent


def probabilities(agent, mask=None):
    return torch.from_numpy(agent.action_probabilities(None, mask).values)


def test_an_update_is_that_of_stable_baselines_and_does_not_depend_on_units():
    agent, env = told([], [], entropy_weight=0.01), make_env("indices", GRAPHS)
    settings = {"n_steps": 8, "batch_size": 8, "learning_rate": 0.01, "gamma": 0.0, "ent_coef": 0.01, "device": "cpu"}
    ppo = PPO(GraphSetPolicy, env, policy_kwargs={"features_extractor_kwargs": encoder_kwargs(env)}, **settings)
    parts = (ppo.policy.features_extractor, ppo.policy.action_net, ppo.policy.value_net)
    for theirs, mine in zip(parts, agent.policy.children(), strict=True):
        theirs.load_state_dict(mine.state_dict())
    before, observation = probabilities(agent), {"indices": np.arange(5), "mask": np.ones(5, np.int8)}
    agent.update(None, ACTIONS, REWARDS)
    location, scale = agent.history.location_and_scale()
    value = ppo.policy.predict_values(ppo.policy.obs_to_tensor(observation)[0]).detach()[0]
    for action, reward in zip(ACTIONS, (REWARDS - location) / scale, strict=True):
        chance = before[[action]].log()
        ppo.rollout_buffer.add(observation, np.array([action]), reward, np.ones(1), value, chance)
    ppo.rollout_buffer.compute_returns_and_advantage(torch.zeros(1), np.ones(1))
    ppo.set_logger(Logger(None, []))
    ppo.train()
    expected = ppo.policy.get_distribution(ppo.policy.obs_to_tensor(observation)[0]).distribution.probs[0].double()
    torch.testing.assert_close(probabilities(agent), expected, rtol=1e-3, atol=1e-5)
    assert expected[1] > 2 * before[1]
    large = told(ACTIONS, 7.0 + 1000 * REWARDS, entropy_weight=0.01)
    torch.testing.assert_close(probabilities(large), expected, rtol=1e-3, atol=1e-5)


def test_a_reward_that_comes_late_belongs_to_the_choice_that_earned_it():
    agent = told([], [])
    masks = [np.array([1, 0, 0, 0, 0]), np.array([0, 1, 1, 0, 0]), np.array([0, 0, 0, 1, 1])]
    chances = [probabilities(agent, mask) for mask in masks]
    played = [agent.select_action(None, mask) for mask in masks]
    for k in (0, 2, 1):
        agent.update(None, played[k], 1.0 + k)
        assert agent.rounds[-1].mask.tolist() == (masks[k] == 1).tolist()
        assert agent.rounds[-1].log_probability == pytest.approx(chances[k][played[k]].log().item())
    assert agent.state_dict()["chosen"] == []
