"""Play GNN Thompson sampling on random graphs, first in a loop written by hand and then in the laboratory's.

python examples/quickstart.py --rounds 100
"""

import argparse

import gymnasium as gym
import numpy as np

import graph_bandit_env  # noqa: F401 - the import registers the environment
import registry
from graph_bandit_lab import run_bandit

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--rounds", type=int, default=100)
parser.add_argument("--seed", type=int, default=0)
arguments = parser.parse_args()

env = gym.make("GraphActionBandit-v0", num_graphs=30, num_nodes=20, horizon=arguments.rounds)

# By hand: the agent sees observations, masks and rewards. Means and regret are in `info`, which it never sees.
agent = registry.make_agent("gnn-ts", width=256)
observation, info = env.reset(seed=arguments.seed)
agent.reset(observation, seed=arguments.seed)
regret = []
over = False
while not over:
    action = agent.select_action(observation, info["action_mask"])
    played = observation
    observation, reward, terminated, truncated, info = env.step(action)
    agent.update(played, action, reward)
    regret.append(info["regret"])
    over = terminated or truncated
print(f"by hand: regret {np.sum(regret):.1f} in {len(regret)} rounds, {np.sum(regret[-10:]):.2f} in the last 10")

# The laboratory's loop; both agents play the same instance.
env = gym.make("GraphActionBandit-v0", num_graphs=30, num_nodes=20, horizon=arguments.rounds, observe="indices")
for name in ("gnn-ts", "random"):
    result = run_bandit(env, registry.make_agent(name), seed=arguments.seed)
    print(f"{name}: regret {result.cumulative_regret[-1]:.1f} in {len(result.actions)} rounds")
