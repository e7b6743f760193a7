"""Draw the regret of an agent that forgets, and of one that does not, where mean rewards jump."""

import matplotlib.pyplot as plt
import numpy as np

import registry
from graph_bandit_lab import run_bandit
from graph_bandit_lab.analysis import mean_interval

env = registry.make_environment(
    num_graphs=20, num_nodes=12, reward_scale="unit", noise_std=0.3, horizon=250, drift="jump", drift_rate=0.01
)
figure, axes = plt.subplots()
for label, settings in {"remembers all": {}, "forget=0.97": {"forget": 0.97}}.items():
    agent = registry.make_agent("gntk-ucb", **settings)
    curves = np.array([run_bandit(env, agent, seed=seed).cumulative_regret for seed in range(6)])
    (line,) = axes.plot(curves.mean(axis=0), label=label)
    axes.fill_between(range(250), *mean_interval(curves), color=line.get_color(), alpha=0.2, linewidth=0)
axes.set(xlabel="round", ylabel="cumulative regret", title="Mean rewards that jump")
axes.legend(loc="upper left")
figure.savefig("drift.png")
