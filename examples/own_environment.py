"""Write your own environment that observes graph sets, and train a policy in it.

python examples/own_environment.py --rounds 10000

Six networks lose links in every round, and the policy repairs one of them. The reward is the share of all nodes that
have a link left. An action changes later rounds, so this is not a bandit, but it has the spaces and policy of one.
"""

import argparse

import gymnasium as gym
import numpy as np
import torch
from gymnasium.spaces import Discrete, GraphInstance
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy

from agents.sb3 import GraphSetPolicy
from graph_bandit_env.wrappers import Padding

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--rounds", type=int, default=10_000, help="rounds of training")
parser.add_argument("--seed", type=int, default=0)
arguments = parser.parse_args()
torch.set_num_threads(1)  # on batches this small, more threads are several times slower


class Repairs(gym.Env):
    """Choose which of six networks to repair in each of 20 rounds; the others lose links, some faster than others."""

    def __init__(self):
        self.padding = Padding(graphs=6, nodes=10, edges=90, feature_dim=1, edge_feature_dim=1)
        self.observation_space = self.padding.space()
        self.action_space = Discrete(6)

    def reset(self, *, seed=None, options=None):
        """Draw the networks, and how fast each of them wears."""
        super().reset(seed=seed)
        upper = np.triu(self.np_random.random((6, 10, 10)) < 0.3, k=1)
        self.whole = upper | upper.transpose(0, 2, 1)
        self.links = self.whole.copy()
        self.wear = self.np_random.uniform(0.0, 0.4, size=6)  # share of links lost in a round
        self.round = 0
        return self.observe(), {}

    def step(self, action):
        """Repair a network, and let the others wear."""
        self.links[action] = self.whole[action]
        lost = np.triu(self.np_random.random((6, 10, 10)) < self.wear[:, None, None], k=1)
        lost[action] = False
        self.links &= ~(lost | lost.transpose(0, 2, 1))
        self.round += 1
        reward = float(self.links.any(axis=2).mean())
        return self.observe(), reward, False, self.round == 20, {}

    def observe(self):
        """Return the networks as padded arrays; every node has the feature 1, so only the links differ."""
        observation = self.padding.zeros()
        pairs = [np.argwhere(links) for links in self.links]
        ones = np.ones((10, 1), np.float32)
        self.padding.fill(observation, [GraphInstance(ones, np.ones((len(p), 1), np.float32), p) for p in pairs])
        return observation


training = make_vec_env(Repairs, n_envs=8, seed=arguments.seed)
test = make_vec_env(Repairs, n_envs=8, seed=arguments.seed + 1000)
model = PPO(
    GraphSetPolicy,
    training,
    n_steps=min(64, arguments.rounds),
    batch_size=256,
    n_epochs=4,
    learning_rate=1e-3,
    gamma=0.9,
    seed=arguments.seed,
    device="cpu",
)
before, _ = evaluate_policy(model, test, n_eval_episodes=16, deterministic=False)
model.learn(arguments.rounds)
after, _ = evaluate_policy(model, test, n_eval_episodes=16)
print(f"share of nodes with a link: {before / 20:.3f} untrained, {after / 20:.3f} after {model.num_timesteps} rounds")
