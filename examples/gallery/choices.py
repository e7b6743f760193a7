"""Draw which graphs three agents play as the rounds go by."""

import matplotlib.pyplot as plt
import numpy as np

import registry
from graph_bandit_lab import run_bandit

env = registry.make_environment(num_graphs=20, num_nodes=15, reward_scale="unit", noise_std=0.5, horizon=200)
names = ("gntk-ucb", "gnn-ts", "ucb1")
figure, panels = plt.subplots(1, 3, figsize=(6, 4), sharey=True)
for axes, name in zip(panels, names, strict=True):
    actions = run_bandit(env, registry.make_agent(name), seed=1).actions
    rank = np.argsort(np.argsort(env.unwrapped.mean_rewards))
    counts, *_ = np.histogram2d(rank[actions], np.arange(200), bins=(20, 20), range=((-0.5, 19.5), (0, 200)))
    image = axes.imshow(counts / 10, origin="lower", aspect="auto", cmap="Blues", extent=(0, 200, 0, 20), vmax=1)
    axes.set(title=name, xlabel="round", xticks=(0, 100, 200), yticks=(0, 10, 20))
panels[0].set_ylabel("graphs, from the worst to the best")
figure.colorbar(image, ax=panels, label="share of ten rounds", aspect=40, pad=0.02)
figure.savefig("choices.png")
