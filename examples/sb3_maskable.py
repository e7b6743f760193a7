"""Train MaskablePPO of sb3-contrib where each round offers some graphs of one set, like the products in stock.

python examples/sb3_maskable.py --rounds 10000      # with the extra sb3: pip install 'graph-bandit-env[sb3]'

The set never changes, so the policy keeps its graphs, and observations are indices and a mask, which keeps rollouts
small. The environment raises an error if a masked graph is played.
"""

import argparse

import gymnasium as gym
import numpy as np
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks
from stable_baselines3.common.env_util import make_vec_env

from agents.sb3 import GraphSetMaskablePolicy
from graph_bandit_env.wrappers import GraphSetIndices

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--rounds", type=int, default=10_000, help="rounds of training")
parser.add_argument("--seed", type=int, default=0)
arguments = parser.parse_args()
torch.set_num_threads(1)  # on batches this small, more threads are several times slower

# All bandits share the graph set of a first bandit.
first = gym.make("graph_bandit_env:GraphActionBandit-v0", num_graphs=100, num_nodes=20)
first.reset(seed=arguments.seed)
graphs, means = first.unwrapped.graph_set, first.unwrapped.mean_rewards

bandits = make_vec_env(
    "GraphActionBandit-v0",
    n_envs=16,
    seed=arguments.seed,
    wrapper_class=GraphSetIndices,
    env_kwargs={
        "graphs": graphs,
        "reward_model": means,
        "actions_per_round": 10,
        "horizon": 100,
        "observe": "indices",
    },
)
model = MaskablePPO(
    GraphSetMaskablePolicy,
    bandits,
    policy_kwargs={"features_extractor_kwargs": {"graph_set": graphs}},
    n_steps=min(32, arguments.rounds),
    batch_size=256,
    n_epochs=4,
    learning_rate=1e-3,
    gamma=0.0,
    seed=arguments.seed,
    device="cpu",
)


def mean_regret(choose, rounds=100):
    """Return the mean regret of a round, and how many graphs were played that were not on offer."""
    observation, regrets, masked = bandits.reset(), [], 0
    for _ in range(rounds):
        masks = get_action_masks(bandits)
        actions = choose(observation, masks)
        masked += int((~masks[np.arange(len(actions)), actions]).sum())
        observation, _, _, infos = bandits.step(actions)
        regrets.extend(info["regret"] for info in infos)
    return np.mean(regrets), masked


def policy(observation, masks):
    """Return the graph on offer that the policy prefers, for each bandit."""
    return model.predict(observation, action_masks=masks, deterministic=True)[0]


def random(observation, masks):
    """Return a random graph on offer, for each bandit."""
    return np.array([generator.choice(np.flatnonzero(mask)) for mask in masks])


generator = np.random.default_rng(arguments.seed)
size = sum(array.nbytes for array in bandits.reset().values()) // bandits.num_envs
print(f"an observation of {len(graphs)} graphs takes {size} bytes")
print(f"random play: regret {mean_regret(random)[0]:.3f} a round")
model.learn(arguments.rounds)
regret, masked = mean_regret(policy)
print(f"after {model.num_timesteps} rounds: regret {regret:.3f} a round, {masked} masked graphs played")
