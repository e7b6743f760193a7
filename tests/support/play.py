"""The loop of a bandit, without the laboratory."""

import numpy as np


def play(env, agent, rounds, seed=0):
    """Play some rounds; return actions and rewards."""
    observation, info = env.reset(seed=seed)
    agent.reset(observation, seed=seed, graph_set=env.unwrapped.graph_set)
    played = []
    for _ in range(rounds):
        action = agent.select_action(observation, info["action_mask"])
        observation, reward, _, _, info = env.step(action)
        agent.update(observation, action, reward)
        played.append((action, reward))
    actions, rewards = zip(*played, strict=True)
    return np.array(actions), np.array(rewards)
