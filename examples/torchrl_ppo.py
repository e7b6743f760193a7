"""Train PPO of TorchRL on graph sets that are new in each round, and test it on unseen sets.

python examples/torchrl_ppo.py --rounds 8192      # with the extra torchrl: pip install 'graph-bandit-env[torchrl]'

The environment is known by its name; TorchRL resets it, and its modules take the parts of the network one by one.
"""

import argparse
import csv
import time
from pathlib import Path

import gymnasium as gym
import numpy as np
import torch
from tensordict.nn import TensorDictModule
from torch.distributions import Categorical
from torchrl.collectors import Collector
from torchrl.data import LazyTensorStorage, TensorDictReplayBuffer
from torchrl.data.replay_buffers.samplers import SamplerWithoutReplacement
from torchrl.envs import ExplorationType, GymWrapper, set_exploration_type
from torchrl.modules import ActorValueOperator, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from agents.padded import GraphSetActorCritic

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--rounds", type=int, default=8_192, help="rounds of training")
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--test-sets", type=int, default=200, help="unseen graph sets of a test")
parser.add_argument("--out", type=Path, help="CSV file for the learning curve")
arguments = parser.parse_args()
torch.set_num_threads(1)  # on batches this small, more threads are several times slower
torch.manual_seed(arguments.seed)

NUM_ENVS, NUM_STEPS, MINIBATCH, EPOCHS = 16, 32, 256, 4
KEYS = ("x", "edge_index", "edge_attr", "n_node", "n_edge", "mask")


def make_env(count):
    """Make bandits that share a reward function; each episode is one round with new graphs."""
    bandits = gym.make_vec(
        "graph_bandit_env:GraphActionBanditPadded-v0",
        num_envs=count,
        autoreset_mode="Disabled",  # TorchRL resets by itself
        num_graphs=20,
        num_nodes=20,
        max_edges=300,  # both directions counted; 380 are possible, 152 expected
        mask_dtype="bool",
        resample_graphs=True,
        reward_seed=arguments.seed,
        horizon=1,
    )
    return GymWrapper(bandits, categorical_action_encoding=True)


class Encoder(torch.nn.Module):
    """Embed graphs, given the arrays of an observation one by one, as TorchRL gives them."""

    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder

    def forward(self, *arrays):
        """Return the embeddings."""
        return self.encoder(dict(zip(KEYS, arrays, strict=True)))


envs, unseen = make_env(NUM_ENVS), make_env(arguments.test_sets)
network = GraphSetActorCritic(envs._env.single_observation_space)
model = ActorValueOperator(
    TensorDictModule(Encoder(network.encoder), in_keys=list(KEYS), out_keys=["graphs"]),
    ProbabilisticActor(
        TensorDictModule(network.scorer, in_keys=["graphs"], out_keys=["logits"]),
        in_keys=["logits"],
        distribution_class=Categorical,  # a graph that is not on offer has probability 0
        return_log_prob=True,
        spec=envs.action_spec_unbatched,
    ),
    ValueOperator(network.value, in_keys=["graphs"]),
)
actor, critic = model.get_policy_operator(), model.get_value_operator()
advantages = GAE(gamma=0.0, lmbda=0.95, value_network=critic, deactivate_vmap=True)  # no action affects later rounds
loss_module = ClipPPOLoss(actor, critic, entropy_bonus=False, critic_coeff=0.5, normalize_advantage=True)
optimizer = torch.optim.Adam(loss_module.parameters(), lr=1e-3)
start, curve = (time.perf_counter(), time.process_time()), []


@torch.no_grad()
def test(steps):
    """Print and keep the regret of the graphs that the policy ranks first on unseen sets, relative to random play."""
    unseen.set_seed(10_000 + arguments.seed)
    with set_exploration_type(ExplorationType.MODE):
        actions = actor(unseen.reset())["action"]
    means = torch.as_tensor(np.stack(unseen._env.get_attr("mean_rewards")))
    regret = means.max(dim=1).values - means.gather(1, actions.unsqueeze(1)).squeeze(1)
    relative = (regret.mean() / (means.max(dim=1).values - means.mean(dim=1)).mean()).item()
    seconds, cpu = time.perf_counter() - start[0], time.process_time() - start[1]
    curve.append(("torchrl-ppo", arguments.seed, 20, steps, round(relative, 5), round(seconds, 1), round(cpu, 1)))
    print(f"{steps:8,} rounds | {seconds:6.1f} s | {cpu:6.1f} s of CPU | regret {100 * relative:6.2f} % of random play")


test(steps=0)
envs.set_seed(arguments.seed)
batch = NUM_ENVS * max(1, min(NUM_STEPS, arguments.rounds // NUM_ENVS))
updates = max(1, arguments.rounds // batch)
buffer = TensorDictReplayBuffer(
    storage=LazyTensorStorage(batch), sampler=SamplerWithoutReplacement(), batch_size=min(MINIBATCH, batch)
)
collector = Collector(envs, actor, frames_per_batch=batch, total_frames=updates * batch)
for update, rounds in enumerate(collector, start=1):
    with torch.no_grad():
        advantages(rounds)
    buffer.extend(rounds.reshape(-1))
    for _ in range(EPOCHS):
        for minibatch in buffer:
            losses = loss_module(minibatch)
            optimizer.zero_grad()
            (losses["loss_objective"] + losses["loss_critic"]).backward()
            torch.nn.utils.clip_grad_norm_(loss_module.parameters(), 0.5)
            optimizer.step()
    if update % max(1, updates // 10) == 0 or update == updates:
        test(steps=update * batch)
collector.shutdown()

if arguments.out is not None:
    with arguments.out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("learner", "seed", "actions_per_round", "steps", "relative_regret", "seconds", "cpu_seconds"))
        writer.writerows(curve)
