"""Train a policy of Stable-Baselines3 on graph sets that change every round, and test it on sets that it has not seen.

python examples/sb3_ppo.py --rounds 8000

A bandit algorithm learns one graph set. One reward function over graphs holds here for all sets, so that a policy can
learn what makes a graph good, and know it of graphs that nobody has played.
"""

import argparse
import tempfile
from pathlib import Path

import gymnasium as gym
import numpy as np
from stable_baselines3 import PPO

from agents.sb3 import GraphSetPolicy, SB3VecEnv
from graph_bandit_env.wrappers.vector import PaddedGraphSet

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--rounds", type=int, default=8000, help="of training")
parser.add_argument("--seed", type=int, default=0)
arguments = parser.parse_args()


def make_bandits(count, num_graphs=20):
    """Make bandits that share the reward function, with graphs of their own in each episode of one round."""
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
        observe="indices",  # the wrapper below reads the graphs by itself
    )
    return PaddedGraphSet(bandits, max_edges=300)  # both directions; 380 could be, 152 are expected


def relative_regret(model, bandits, seed):
    """Return mean regret of what the policy likes best on new graph sets, in percent of random play."""
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
    gamma=0.0,  # no graph that is played changes what comes
    seed=arguments.seed,
    device="cpu",
)
unseen = make_bandits(100)
print(f"before training: regret {relative_regret(model, unseen, seed=10_000):.1f} % of random play")
model.learn(arguments.rounds)
print(f"after {model.num_timesteps} rounds: {relative_regret(model, unseen, seed=10_000):.1f} %")

# Saved and loaded as any model of Stable-Baselines3.
with tempfile.TemporaryDirectory() as folder:
    model.save(Path(folder) / "policy")
    loaded = PPO.load(Path(folder) / "policy", device="cpu")
observation, _ = unseen.reset(seed=1)
same = np.array_equal(*(one.predict(observation, deterministic=True)[0] for one in (model, loaded)))
print(f"loaded again, it plays the same graphs: {same}")

# No weight depends on how many graphs there are: the same policy chooses from 50.
larger = make_bandits(100, num_graphs=50)
chooser = GraphSetPolicy(larger.single_observation_space, larger.single_action_space, lr_schedule=lambda _: 0.0)
chooser.load_state_dict(model.policy.state_dict())
print(f"choosing from 50 graphs: {relative_regret(chooser, larger, seed=20_000):.1f} %")
