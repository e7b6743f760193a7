"""Train a policy of Stable-Baselines3 on graph sets that change every round, and test it on unseen sets.

python examples/sb3_ppo.py --rounds 8000

A bandit algorithm learns about one graph set. Here one reward function holds for all graph sets, so a policy can learn
what makes a graph good and apply it to graphs that were never played.
"""

import argparse
import tempfile
from pathlib import Path

import gymnasium as gym
import numpy as np
import torch
from stable_baselines3 import PPO

from agents.sb3 import GraphSetPolicy, SB3VecEnv
from graph_bandit_env.wrappers.vector import PaddedGraphSet

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--rounds", type=int, default=8000, help="rounds of training")
parser.add_argument("--seed", type=int, default=0)
arguments = parser.parse_args()
torch.set_num_threads(1)  # on batches this small, more threads are several times slower


def make_bandits(count, num_graphs=20):
    """Make bandits that share a reward function; each episode is one round with new graphs."""
    bandits = gym.make_vec(
        "graph_bandit_env:GraphActionBandit-v0",
        num_envs=count,
        autoreset_mode="SameStep",  # as Stable-Baselines3 resets
        num_graphs=num_graphs,
        num_nodes=20,
        resample_graphs=True,
        reward_model="linear",
        reward_seed=arguments.seed,
        horizon=1,
        observe="indices",  # the wrapper below reads the graphs from the environment itself
    )
    return PaddedGraphSet(bandits, max_edges=300)  # both directions counted; 380 are possible, 152 expected


def relative_regret(model, bandits, seed):
    """Return the mean regret of the policy's choices on new graph sets, in percent of random play."""
    observation, _ = bandits.reset(seed=seed)
    actions, _ = model.predict(observation, deterministic=True)
    means = bandits.unwrapped.mean_rewards
    regret = means.max(axis=1) - means[np.arange(len(means)), actions]
    random = means.max(axis=1) - means.mean(axis=1)
    return 100 * regret.mean() / random.mean()


training = SB3VecEnv(make_bandits(16))
training.seed(arguments.seed)
model = PPO(
    GraphSetPolicy,
    training,
    n_steps=min(32, arguments.rounds),
    batch_size=256,
    n_epochs=4,
    learning_rate=1e-3,
    gamma=0.0,  # actions do not affect later rounds
    seed=arguments.seed,
    device="cpu",
)
unseen = make_bandits(100)
print(f"before training: regret {relative_regret(model, unseen, seed=10_000):.1f} % of random play")
model.learn(arguments.rounds)
print(f"after {model.num_timesteps} rounds: {relative_regret(model, unseen, seed=10_000):.1f} %")

# The model is saved and loaded like any model of Stable-Baselines3.
with tempfile.TemporaryDirectory() as folder:
    model.save(Path(folder) / "policy")
    loaded = PPO.load(Path(folder) / "policy", device="cpu")
observation, _ = unseen.reset(seed=1)
same = np.array_equal(*(policy.predict(observation, deterministic=True)[0] for policy in (model, loaded)))
print(f"loaded again, it plays the same graphs: {same}")

# No weight depends on the number of graphs, so the same policy can choose from 50.
larger = make_bandits(100, num_graphs=50)
chooser = GraphSetPolicy(larger.single_observation_space, larger.single_action_space, lr_schedule=lambda _: 0.0)
chooser.load_state_dict(model.policy.state_dict())
print(f"choosing from 50 graphs: {relative_regret(chooser, larger, seed=20_000):.1f} %")
