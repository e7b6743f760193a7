"""Draw what an agent believes about each graph after thirty rounds: the posterior mean, and two standard deviations."""

import matplotlib.pyplot as plt
import numpy as np

import registry
from graph_bandit_lab import run_bandit

env = registry.make_environment(num_graphs=60, num_nodes=15, reward_scale="unit", noise_std=0.3, horizon=30)
agent = registry.make_agent("gntk-ucb")
played = np.unique(run_bandit(env, agent, seed=3).actions)
means, belief = env.unwrapped.mean_rewards, agent.predict()
order, places = np.argsort(means), np.arange(60)
place_of = np.argsort(order)
mean, std = belief.mean[order], belief.std[order]
figure, axes = plt.subplots()
axes.fill_between(places, mean - 2 * std, mean + 2 * std, alpha=0.25, linewidth=0, label="mean ± 2 sd")
axes.plot(places, mean, label="posterior mean")
axes.plot(places, means[order], "k:", label="true mean reward")
axes.plot(place_of[played], means[played], "o", color="C1", label="played")
axes.set(xlabel="graphs, from the worst to the best", ylabel="mean reward", title="A belief after 30 rounds")
axes.legend()
figure.savefig("posterior.png")
