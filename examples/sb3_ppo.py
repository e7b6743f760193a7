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
from stable_baselines3.common.env_util import make_vec_env

from agents.sb3 import GraphSetPolicy

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--rounds", type=int, default=8000, help="rounds of training")
parser.add_argument("--seed", type=int, default=0)
arguments = parser.parse_args()
torch.set_num_threads(1)  # on batches this small, more threads are several times slower


ID = "graph_bandit_env:GraphActionBanditPadded-v0"  # observes arrays, as Stable-Baselines3 needs
SETTINGS = {
    "num_graphs": 20,
    "num_nodes": 20,
    "max_edges": 300,  # both directions counted; 380 are possible, 152 expected
    "resample_graphs": True,  # each episode is one round with new graphs,
    "horizon": 1,
    "reward_seed": arguments.seed,  # and one reward function holds for all of them
}


def relative_regret(model, bandits, seed):
    """Return the mean regret of the policy's choices on new graph sets, in percent of random play."""
    observation, _ = bandits.reset(seed=seed)
    actions, _ = model.predict(observation, deterministic=True)
    means = np.stack(bandits.get_attr("mean_rewards"))
    regret = means.max(axis=1) - means[np.arange(len(means)), actions]
    random = means.max(axis=1) - means.mean(axis=1)
    return 100 * regret.mean() / random.mean()


training = make_vec_env(ID, n_envs=16, seed=arguments.seed, env_kwargs=SETTINGS)
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
unseen = gym.make_vec(ID, num_envs=100, **SETTINGS)
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
larger = gym.make_vec(ID, num_envs=100, **{**SETTINGS, "num_graphs": 50})
chooser = GraphSetPolicy(larger.single_observation_space, larger.single_action_space, lr_schedule=lambda _: 0.0)
chooser.load_state_dict(model.policy.state_dict())
print(f"choosing from 50 graphs: {relative_regret(chooser, larger, seed=20_000):.1f} %")
