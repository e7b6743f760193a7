"""Draw what a log of another agent says a policy would have been paid, by four methods, and the truth."""

import matplotlib.pyplot as plt
import numpy as np

import registry
from graph_bandit_lab.logged import METHODS, evaluate, log_episode

env = registry.make_environment(num_graphs=8, num_nodes=8, reward_scale="unit", noise_std=0.5, horizon=600)
log = log_episode(env, registry.make_agent("gaussian-ts"), seed=0, floor=0.2)
means, policy = env.unwrapped.mean_rewards, np.array([0.3, 0.2, 0.1, 0.1, 0.1, 0.1, 0.05, 0.05])
figure, axes = plt.subplots()
for place, method in enumerate(METHODS):
    estimate = evaluate(log, policy, method)
    axes.plot((estimate.low, estimate.high), (place, place), color="C0" if estimate.is_valid else "C6")
    axes.plot(estimate.value, place, "o", color="C0" if estimate.is_valid else "C6", markersize=9)
axes.axvline(policy @ means, color="black", linestyle=":", label="truth")
axes.set(yticks=range(len(METHODS)), yticklabels=METHODS, xlabel="mean reward", ylim=(-0.6, 3.6))
axes.set_title("Estimated reward of another policy")
axes.legend()
figure.savefig("logged.png")
