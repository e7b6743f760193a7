"""Train PPO of RLlib on graph sets that are new in each round, and test it on unseen sets.

python examples/rllib_ppo.py --rounds 8192      # with the extra rllib: pip install 'graph-bandit-env[rllib]'

RLlib makes the environment by its name. The module holds the network that scores graphs.
"""

import argparse
import csv
import time
from pathlib import Path

import gymnasium as gym
import numpy as np
import ray
import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis import ValueFunctionAPI
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.core.rl_module.torch import TorchRLModule

from agents.padded import GraphSetActorCritic

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--rounds", type=int, default=8_192, help="rounds of training")
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--test-sets", type=int, default=200, help="unseen graph sets of a test")
parser.add_argument("--out", type=Path, help="CSV file for the learning curve")
arguments = parser.parse_args()
torch.set_num_threads(1)  # on batches this small, more threads are several times slower

ID = "graph_bandit_env:GraphActionBanditPadded-v0"
NUM_ENVS, BATCH = 16, 512
BANDIT = {  # they share a reward function; each episode is one round with new graphs
    "num_graphs": 20,
    "num_nodes": 20,
    "max_edges": 300,  # both directions counted; 380 are possible, 152 expected
    "resample_graphs": True,
    "reward_seed": arguments.seed,
    "horizon": 1,
}


class GraphSetModule(TorchRLModule, ValueFunctionAPI):
    """The network that scores graphs, in the form of RLlib."""

    def setup(self):
        """Make the network."""
        self.network = GraphSetActorCritic(self.observation_space)

    def _forward(self, batch, **kwargs):
        scores, values = self.network(batch[Columns.OBS])  # a graph that is not on offer has probability 0
        return {Columns.ACTION_DIST_INPUTS: scores, Columns.VF_PREDS: values}

    def compute_values(self, batch, embeddings=None):
        """Return the values of observations."""
        return self.network(batch[Columns.OBS])[1]


def make_config():
    """Return the settings of PPO, with everything in this process."""
    return (
        PPOConfig()
        .environment(ID, env_config=BANDIT)
        .env_runners(
            num_env_runners=0,
            num_envs_per_env_runner=NUM_ENVS,
            gym_env_vectorize_mode=gym.VectorizeMode.VECTOR_ENTRY_POINT,  # the native vector environment
        )
        .learners(num_learners=0)
        .rl_module(rl_module_spec=RLModuleSpec(module_class=GraphSetModule))
        .training(
            train_batch_size_per_learner=BATCH,
            minibatch_size=256,
            num_epochs=4,
            lr=1e-3,
            gamma=0.0,  # actions do not affect later rounds
            clip_param=0.2,
            vf_loss_coeff=0.5,
            grad_clip=0.5,
            use_kl_loss=False,
        )
        .debugging(seed=arguments.seed, log_level="ERROR")
    )


@torch.no_grad()
def test(steps):
    """Print and keep the regret of the graphs that the policy ranks first on unseen sets, relative to random play."""
    observation, _ = unseen.reset(seed=10_000 + arguments.seed)
    means = np.stack(unseen.get_attr("mean_rewards"))
    network = algorithm.get_module().network
    actions = network({key: torch.as_tensor(array) for key, array in observation.items()})[0].argmax(dim=1).numpy()
    regret = means.max(axis=1) - means[np.arange(len(means)), actions]
    relative = (regret.mean() / (means.max(axis=1) - means.mean(axis=1)).mean()).item()
    seconds, cpu = time.perf_counter() - start[0], time.process_time() - start[1]
    curve.append(("rllib-ppo", arguments.seed, 20, steps, round(relative, 5), round(seconds, 1), round(cpu, 1)))
    print(f"{steps:8,} rounds | {seconds:6.1f} s | {cpu:6.1f} s of CPU | regret {100 * relative:6.2f} % of random play")


ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
algorithm = make_config().build_algo()
unseen = gym.make_vec(ID, num_envs=arguments.test_sets, **BANDIT)
start, curve = (time.perf_counter(), time.process_time()), []
test(steps=0)
updates = max(1, arguments.rounds // BATCH)
for update in range(1, updates + 1):
    played = algorithm.train()["num_env_steps_sampled_lifetime"]
    if update % max(1, updates // 10) == 0 or update == updates:
        test(steps=int(played))
algorithm.stop()
ray.shutdown()

if arguments.out is not None:
    with arguments.out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("learner", "seed", "actions_per_round", "steps", "relative_regret", "seconds", "cpu_seconds"))
        writer.writerows(curve)
