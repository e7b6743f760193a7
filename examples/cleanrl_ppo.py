"""Train PPO in one file, in the style of CleanRL, on graph sets that are new in each round; test it on unseen sets.

python examples/cleanrl_ppo.py --rounds 8192 --out curve.csv

Everything that PPO does is written out here, in torch: change what you like. Only the environment and the network that
scores graphs are imported. https://github.com/vwxyzjn/cleanrl explains the form.
"""

import csv
import time
from dataclasses import dataclass
from pathlib import Path

import gymnasium as gym
import numpy as np
import torch
import tyro
from torch import nn
from torch.distributions import Categorical

from agents.padded import GraphSetActorCritic


@dataclass
class Args:
    """Settings of PPO."""

    rounds: int = 8_192
    """total rounds of training"""
    seed: int = 0
    """seed of the reward function, the graphs and the weights"""
    num_envs: int = 16
    """the number of bandits that step together"""
    num_steps: int = 32
    """rounds that each bandit plays between two updates"""
    learning_rate: float = 1e-3
    """the learning rate of Adam, which falls to zero"""
    gamma: float = 0.0
    """the discount; 0, since no action of a bandit changes later rounds (but with `replacement=False` it does)"""
    gae_lambda: float = 0.95
    """the lambda of generalized advantage estimation"""
    num_minibatches: int = 2
    """parts into which the rounds of an update are split"""
    update_epochs: int = 4
    """passes over the rounds of an update"""
    clip_coef: float = 0.2
    """the most that an update changes the probability of an action, as a share of it"""
    ent_coef: float = 0.0
    """weight of the entropy"""
    vf_coef: float = 0.5
    """weight of the error of the values"""
    max_grad_norm: float = 0.5
    """the largest norm of a gradient"""
    test_sets: int = 200
    """unseen graph sets of a test"""
    out: Path | None = None
    """CSV file for the learning curve"""


def make_envs(count):
    """Make bandits that share a reward function; each episode is one round with new graphs."""
    return gym.make_vec(
        "graph_bandit_env:GraphActionBanditPadded-v0",
        num_envs=count,
        autoreset_mode="SameStep",
        num_graphs=20,
        num_nodes=20,
        max_edges=300,  # both directions counted; 380 are possible, 152 expected
        resample_graphs=True,
        reward_seed=args.seed,
        horizon=1,
    )


def as_tensors(observation):
    """Return an observation of the vector environment as tensors."""
    return {key: torch.as_tensor(array) for key, array in observation.items()}


@torch.no_grad()
def test(steps):
    """Print and keep the regret of the graphs that the policy ranks first on unseen sets, relative to random play."""
    observation, _ = unseen.reset(seed=10_000 + args.seed)
    means = np.stack(unseen.get_attr("mean_rewards"))
    actions = agent(as_tensors(observation))[0].argmax(dim=1).numpy()
    regret = means.max(axis=1) - means[np.arange(len(means)), actions]
    relative = (regret.mean() / (means.max(axis=1) - means.mean(axis=1)).mean()).item()
    seconds, cpu = time.perf_counter() - start[0], time.process_time() - start[1]
    curve.append(("cleanrl-ppo", args.seed, 20, steps, round(relative, 5), round(seconds, 1), round(cpu, 1)))
    print(f"{steps:8,} rounds | {seconds:6.1f} s | {cpu:6.1f} s of CPU | regret {100 * relative:6.2f} % of random play")


args = tyro.cli(Args, description=__doc__)
torch.set_num_threads(1)  # on batches this small, more threads are several times slower
torch.manual_seed(args.seed)
args.num_steps = max(1, min(args.num_steps, args.rounds // args.num_envs))
batch_size = args.num_envs * args.num_steps
num_updates = max(1, args.rounds // batch_size)

envs, unseen = make_envs(args.num_envs), make_envs(args.test_sets)
agent = GraphSetActorCritic(envs.single_observation_space)
optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
start, curve = (time.perf_counter(), time.process_time()), []
test(steps=0)

# Storage of the rounds between two updates
shape = args.num_steps, args.num_envs
obs = {
    key: torch.zeros(args.num_steps, *space.shape, dtype=torch.as_tensor(np.zeros(1, space.dtype)).dtype)
    for key, space in envs.observation_space.items()
}
actions = torch.zeros(shape, dtype=torch.int64)
logprobs, rewards, dones, values = (torch.zeros(shape) for _ in range(4))

next_obs, _ = envs.reset(seed=args.seed)
next_obs, next_done = as_tensors(next_obs), torch.zeros(args.num_envs)
for update in range(1, num_updates + 1):
    optimizer.param_groups[0]["lr"] = (1 - (update - 1) / num_updates) * args.learning_rate
    for step in range(args.num_steps):
        for key, stored in obs.items():
            stored[step] = next_obs[key]
        dones[step] = next_done
        with torch.no_grad():
            logits, values[step] = agent(next_obs)
            policy = Categorical(logits=logits)  # a graph that is not on offer has probability 0
            actions[step] = policy.sample()
            logprobs[step] = policy.log_prob(actions[step])
        next_obs, reward, terminated, truncated, _ = envs.step(actions[step].numpy())
        rewards[step] = torch.as_tensor(reward)
        next_obs, next_done = as_tensors(next_obs), torch.as_tensor(terminated | truncated).float()

    with torch.no_grad():  # generalized advantage estimation
        next_value, advantages, last = agent(next_obs)[1], torch.zeros(shape), torch.zeros(args.num_envs)
        for t in reversed(range(args.num_steps)):
            after = next_value if t == args.num_steps - 1 else values[t + 1]
            goes_on = 1.0 - (next_done if t == args.num_steps - 1 else dones[t + 1])
            delta = rewards[t] + args.gamma * after * goes_on - values[t]
            advantages[t] = last = delta + args.gamma * args.gae_lambda * goes_on * last
        returns = (advantages + values).flatten()

    b_obs = {key: stored.flatten(0, 1) for key, stored in obs.items()}
    b_actions, b_logprobs, b_advantages = actions.flatten(), logprobs.flatten(), advantages.flatten()
    for _ in range(args.update_epochs):
        for rows in torch.randperm(batch_size).chunk(args.num_minibatches):
            logits, new_values = agent({key: stored[rows] for key, stored in b_obs.items()})
            policy = Categorical(logits=logits)
            ratio = (policy.log_prob(b_actions[rows]) - b_logprobs[rows]).exp()
            advantage = b_advantages[rows]
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
            clipped = ratio.clamp(1 - args.clip_coef, 1 + args.clip_coef)
            policy_loss = -torch.min(advantage * ratio, advantage * clipped).mean()
            value_loss = 0.5 * (new_values - returns[rows]).square().mean()
            loss = policy_loss - args.ent_coef * policy.entropy().mean() + args.vf_coef * value_loss
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
            optimizer.step()
    if update % max(1, num_updates // 10) == 0 or update == num_updates:
        test(steps=update * batch_size)

if args.out is not None:
    with args.out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("learner", "seed", "actions_per_round", "steps", "relative_regret", "seconds", "cpu_seconds"))
        writer.writerows(curve)
