"""Draw the interquartile mean of the relative regret of six agents over four environments, with 95 % intervals."""

import itertools
import tempfile

import matplotlib.pyplot as plt

from graph_bandit_lab import AgentSpec, EnvironmentSettings, Grid, Sweep, load_results, run_sweep
from graph_bandit_lab.analysis import aggregate_agents, fields_of

agents = tuple(map(AgentSpec.parse, ("gntk-ucb", "gp-ucb", "lin-ucb", "squarecb", "ucb1", "random")))
kinds = itertools.product(("er", "mixed"), ("linear", "transitivity"))
common = {"num_graphs": 20, "num_nodes": 12, "reward_scale": "unit", "noise_std": 0.3, "horizon": 40}
environments = tuple(EnvironmentSettings(graph_model=graphs, reward_model=reward, **common) for graphs, reward in kinds)
with tempfile.TemporaryDirectory() as folder:
    sweep = Sweep(title="gallery", grids=(Grid(environments, agents),), seeds=(1, 2, 3))
    run_sweep(sweep, folder, progress=False, report=False)
    (field,) = fields_of(load_results(folder))
figure, axes = plt.subplots()
for place, each in enumerate(aggregate_agents(field.trials)):
    axes.plot((each.low, each.high), (place, place), linewidth=10, alpha=0.35, solid_capstyle="butt")
    axes.plot(each.middle, place, "ko")
    axes.text(each.high, place, f"  {each.label}", va="center")
axes.set(xlabel="relative regret (interquartile mean)", yticks=(), xlim=(0, 1.2), title="Agents on four environments")
figure.savefig("ranking.png")
