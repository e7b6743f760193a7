"""Draw the cumulative regret of four agents, with the 95 % interval of its mean over six instances."""

import matplotlib.pyplot as plt
import numpy as np

import registry
from graph_bandit_lab import run_bandit
from graph_bandit_lab.analysis import mean_interval

env = registry.make_environment(
    num_graphs=50, num_nodes=20, reward_scale="unit", noise_std=0.5, horizon=120, observe="indices"
)
figure, axes = plt.subplots()
for name in ("random", "ucb1", "gnn-ts", "gntk-ucb"):
    agent = registry.make_agent(name)
    curves = np.array([run_bandit(env, agent, seed=seed).cumulative_regret for seed in range(6)])
    (line,) = axes.plot(curves.mean(axis=0), label=name)
    axes.fill_between(range(120), *mean_interval(curves), color=line.get_color(), alpha=0.2, linewidth=0)
axes.set(xlabel="round", ylabel="cumulative regret", title="Value of structure")
axes.legend()
figure.savefig("regret.png")
