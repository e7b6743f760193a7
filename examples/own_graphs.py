"""Use your own graphs, of different sizes, and give the agent measurements made before it began.

python examples/own_graphs.py --rounds 40
"""

import argparse

import gymnasium as gym
import networkx as nx
import numpy as np

import graph_bandit_env  # noqa: F401 - the import registers the environment
import registry

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--rounds", type=int, default=40)
arguments = parser.parse_args()

# Twenty-four networks of 6 to 29 nodes. Each node has a vector `x`: its degree, its clustering, and a constant.
graphs = [nx.connected_watts_strogatz_graph(6 + k, 4, 0.05 * (k % 8), seed=k) for k in range(24)]
for graph in graphs:
    clustering = nx.clustering(graph)
    for node in graph:
        graph.nodes[node]["x"] = [graph.degree[node] / 4, clustering[node], 1.0]


def efficiency(data):
    """Return the mean reward of a graph: here, how short its paths are. In practice, this is a measurement."""
    graph = nx.Graph(data.edge_index.T.tolist())
    return nx.global_efficiency(graph)


env = gym.make("GraphActionBandit-v0", graphs=graphs, reward_model=efficiency, noise_std=0.02, horizon=arguments.rounds)
observation, info = env.reset(seed=0)
agent = registry.make_agent("gnn-ts", width=256)
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
