"""The loop of a bandit, without the laboratory."""

import numpy as np


def play(env, agent, rounds, seed=0):
    """Play some rounds; return actions and rewards."""
    observation, info = env.reset(seed=seed)
    agent.reset(observation, seed=seed, graph_set=env.unwrapped.graph_set)
    return go_on(env, agent, rounds, observation, info["action_mask"])


def go_on(env, agent, rounds, observation, action_mask):
    actions, rewards = [], []
    for _ in range(rounds):
        action = agent.select_action(observation, action_mask)
        observation, reward, _, _, info = env.step(action)
        action_mask = info["action_mask"]
        agent.update(observation, action, reward)
        actions.append(action)
        rewards.append(reward)
    return np.array(actions), np.array(rewards)
