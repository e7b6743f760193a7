"""Judge a policy by the log of another one, and compare with the truth, which only a simulation knows.

python examples/logged_data.py --rounds 400
"""

import argparse

import numpy as np

import registry
from graph_bandit_lab import run_bandit
from graph_bandit_lab.logged import METHODS, FixedPolicy, evaluate, log_episode, replay


def main(rounds: int) -> None:
    """Print what a log says of a policy, and of an agent that learns."""
    env = registry.make_environment(
        num_graphs=8, num_nodes=8, feature_dim=4, reward_scale="unit", noise_std=0.5, horizon=rounds
    )
    log = log_episode(env, registry.make_agent("gaussian-ts"), seed=0, floor=0.2)
    means, graphs = env.unwrapped.mean_rewards, env.unwrapped.graph_set
    print(f"log: {log.num_rounds} rounds, least probability {log.least:.3f}, mean reward {log.rewards.mean():.2f}")

    policy = np.array([0.3, 0.2, 0.1, 0.1, 0.1, 0.1, 0.05, 0.05])
    played = run_bandit(env, FixedPolicy(policy), seed=0).rewards
    print(f"a fixed policy: truth {policy @ means:.3f}, played itself {played.mean():.3f}")
    for method in METHODS:
        print(f"  {evaluate(log, policy, method)}")
    predicts = registry.make_agent("gntk-greedy")
    print(f"  by a model of graphs, {evaluate(log, policy, 'weighted', predicts, graphs)}")

    print(f"gntk-ucb, which learns: {replay(registry.make_agent('gntk-ucb'), log, graphs)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=400)
    main(parser.parse_args().rounds)
