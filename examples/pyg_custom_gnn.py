"""Train a policy with your own graph network, a GINE on bonds, to choose among molecules that it has never seen.

python examples/pyg_custom_gnn.py --rounds 6000     # with the extra chem: pip install 'graph-bandit-env[chem]'

Half of a library is for training and half for the test. In each episode the policy chooses one of 20 molecules; the
reward is its drug-likeness (QED, computed by RDKit).
"""

import argparse

import gymnasium as gym
import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env
from torch import nn
from torch_geometric.nn import GINEConv, global_mean_pool

from agents.sb3 import GraphSetPolicy
from graph_bandit_env import enumerate_library

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--rounds", type=int, default=6000, help="rounds of training")
parser.add_argument("--seed", type=int, default=0)
arguments = parser.parse_args()
torch.set_num_threads(1)  # on batches this small, more threads are several times slower


class BondNetwork(nn.Module):
    """Map a PyG `Batch` to `(num_graphs, out_dim)`: two convolutions on atoms and bonds, then a mean over atoms."""

    def __init__(self, feature_dim, edge_feature_dim, out_dim, width=32):
        super().__init__()
        self.embed = nn.Linear(feature_dim, width)
        self.convolutions = nn.ModuleList(
            GINEConv(nn.Sequential(nn.Linear(width, width), nn.ReLU()), edge_dim=edge_feature_dim) for _ in range(2)
        )
        self.head = nn.Linear(width, out_dim)

    def forward(self, batch):
        """Embed the graphs of a batch."""
        x = self.embed(batch.x)
        for convolution in self.convolutions:
            x = x + convolution(x, batch.edge_index, batch.edge_attr)
        return self.head(global_mean_pool(x, batch.batch, batch.num_graphs))


library = enumerate_library("qed")
order = np.random.default_rng(arguments.seed).permutation(len(library))
known, unseen = (library.take(part) for part in np.array_split(order, 2))
nodes, edges = library.largest_sizes


ID = "graph_bandit_env:GraphActionBanditPadded-v0"  # observes arrays, as Stable-Baselines3 needs


def settings_for(molecules):
    """Return the arguments of bandits that draw 20 molecules for each episode of one round."""
    return {
        "graphs": molecules,
        "num_graphs": 20,
        "resample_graphs": True,
        "reward_model": molecules.targets,
        "horizon": 1,
        "max_nodes": nodes,
        "max_edges": edges,
    }


def test(model, bandits, seed):
    """Return the mean QED of the policy's choices, of the best choices, and of random play."""
    observation, _ = bandits.reset(seed=seed)
    actions, _ = model.predict(observation, deterministic=True)
    means = np.stack(bandits.get_attr("mean_rewards"))
    return means[np.arange(len(means)), actions].mean(), means.max(axis=1).mean(), means.mean()


training = make_vec_env(ID, n_envs=16, seed=arguments.seed, env_kwargs=settings_for(known))
model = PPO(
    GraphSetPolicy,
    training,
    policy_kwargs={"features_extractor_kwargs": {"network": BondNetwork}},
    n_steps=min(32, arguments.rounds),
    batch_size=256,
    n_epochs=4,
    learning_rate=1e-3,
    gamma=0.0,
    seed=arguments.seed,
    device="cpu",
)
model.learn(arguments.rounds)
chosen, best, random = test(model, gym.make_vec(ID, num_envs=100, **settings_for(unseen)), seed=1)
print(f"mean QED of 100 choices from unseen molecules: {chosen:.3f} (random {random:.3f}, best {best:.3f})")
