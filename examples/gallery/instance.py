"""Draw the graphs of an instance in the order of their mean rewards."""

import matplotlib.pyplot as plt
import numpy as np

import registry
from graph_bandit_env.rendering import draw_graph

env = registry.make_environment(
    graph_model="mixed", num_graphs=9, num_nodes=14, reward_model="transitivity", reward_scale="unit"
)
env.reset(seed=0)
means = env.unwrapped.mean_rewards
figure, panels = plt.subplots(3, 3, figsize=(9, 7.5))
for axes, index in zip(panels.flat, np.argsort(-means), strict=True):
    draw_graph(axes, env.unwrapped.graph_set, index)
    axes.set(xlim=(-1.25, 1.25), ylim=(-1.25, 1.25))
    axes.set_title(f"{means[index]:+.2f}", fontsize=18)
    axes.axis("off")
figure.suptitle("Nine graphs and their mean rewards", fontweight="bold", fontsize=19)
figure.savefig("instance.png", dpi=95)
