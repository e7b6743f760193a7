"""Use your own graphs, of different sizes, and give the agent measurements made before it began.

python examples/own_graphs.py --rounds 40
"""

import argparse

import gymnasium as gym
import networkx as nx
import numpy as np

import registry
from graph_bandit_env.graphs import degree_features  # the import registers the environment

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--rounds", type=int, default=40)
arguments = parser.parse_args()

# Forty networks of 12 to 20 nodes. Nodes have no features of their own: each gets its number of neighbours, one-hot.
networks = [nx.connected_watts_strogatz_graph(12 + k % 9, 4, k / 40, seed=k) for k in range(40)]
graphs = degree_features(networks)


def clustering(data):
    """Return the mean reward of a graph: here, how clustered it is. In practice, this is a measurement."""
    graph = nx.Graph(data.edge_index.T.tolist())
    return nx.transitivity(graph)


env = gym.make("GraphActionBandit-v0", graphs=graphs, reward_model=clustering, noise_std=0.05, horizon=arguments.rounds)
observation, info = env.reset(seed=0)
agent = registry.make_agent("gntk-ucb")
agent.reset(observation, seed=0)

# Old measurements come first, all at once, so that the agent fits them once.
known = np.array([5, 11, 20])
agent.update(observation, known, env.unwrapped.mean_rewards[known])

regret = 0.0
for _ in range(arguments.rounds):
    action = agent.select_action(observation, info["action_mask"])
    following, reward, _, _, info = env.step(action)
    agent.update(observation, action, reward)
    observation = following
    regret += info["regret"]
worst = arguments.rounds * (info["optimal_mean_reward"] - env.unwrapped.mean_rewards.mean())
print(f"best graph {info['optimal_action']}, played last {action}")
print(f"regret {regret:.2f} in {arguments.rounds} rounds; random play has {worst:.2f} on average")
