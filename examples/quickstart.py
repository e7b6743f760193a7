"""Play GNN Thompson sampling on random graphs, first in a loop written by hand and then in the laboratory's.

python examples/quickstart.py --rounds 100
"""

import argparse

import gymnasium as gym
import numpy as np

import graph_bandit_env  # noqa: F401 - the import registers the environment
import registry
from graph_bandit_lab import run_bandit
from graph_bandit_lab.episodes import episode_seeds

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--rounds", type=int, default=100)
parser.add_argument("--seed", type=int, default=0)
arguments = parser.parse_args()

bandit = {"num_graphs": 30, "num_nodes": 20, "reward_scale": "unit", "noise_std": 0.5, "horizon": arguments.rounds}
env = gym.make("GraphActionBandit-v0", **bandit)

# By hand: the agent sees observations, masks and rewards. Means and regret are in `info`, which it never sees.
agent = registry.make_agent("gnn-ts", width=256)
env_seed, agent_seed = episode_seeds(arguments.seed)  # two streams from one seed
observation, info = env.reset(seed=env_seed)
agent.reset(observation, seed=agent_seed)
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

# The laboratory's loop: both agents play the same instance as above.
env = gym.make("GraphActionBandit-v0", **bandit, observe="indices")
for name, settings in (("gnn-ts", {"width": 256}), ("random", {})):
    result = run_bandit(env, registry.make_agent(name, **settings), seed=arguments.seed)
    print(f"{name}: regret {result.cumulative_regret[-1]:.1f} in {len(result.actions)} rounds")
