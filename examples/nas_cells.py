"""Search for a neural network: each action is a cell of NAS-Bench-201, and no cell is trained twice.

python examples/nas_cells.py --rounds 100
python examples/nas_cells.py --rounds 100 --csv nasbench201.csv     # columns `cellstr` and `cifar10-val`

Without a table, the value of a cell is a number computed from its paths (see `stand_in`), which says nothing about the
accuracy of a trained network.
"""

import argparse
import itertools
import math

import gymnasium as gym
import numpy as np

import registry
from graph_bandit_env.files import from_nas_cells, read_pool

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--rounds", type=int, default=100)
parser.add_argument("--cells", type=int, default=1000, help="how many of the 15,625 cells to draw at random")
parser.add_argument("--csv", help="table with columns `cellstr` and `cifar10-val` (may be .gz)")
arguments = parser.parse_args()

# A cell has four tensors, 0 (its input) to 3 (its output), and an operation from each of them to each later one.
PAIRS = [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3)]
STRENGTHS = {"none": 0.0, "skip_connect": 0.5, "nor_conv_1x1": 0.7, "nor_conv_3x3": 1.0, "avg_pool_3x3": 0.2}


def write_cell(names):
    """Write six operations, in the order of `PAIRS`, as NAS-Bench-201 does."""
    return "|{}~0|+|{}~0|{}~1|+|{}~0|{}~1|{}~2|".format(*names)


def stand_in(names):
    """Compute the value of a cell without training: log(1 + sum over paths of the product of strengths)."""
    flow = [1.0, 0.0, 0.0, 0.0]
    for name, (source, target) in zip(names, PAIRS, strict=True):
        flow[target] += flow[source] * STRENGTHS[name]
    return math.log1p(flow[3])


if arguments.csv:
    pool = read_pool(arguments.csv, "cifar10-val")
else:
    operations = list(itertools.product(STRENGTHS, repeat=6))
    pool = from_nas_cells([write_cell(names) for names in operations], [stand_in(names) for names in operations])
    print("No table was given: values are computed from paths, and no network was trained.")
pool = pool.take(np.random.default_rng(0).permutation(len(pool))[: arguments.cells])

env = gym.make(
    "GraphActionBandit-v0",
    graphs=pool,
    reward_model=pool.targets,
    noise_std=0.0,
    replacement=False,
    horizon=min(arguments.rounds, len(pool)),
    observe="indices",
)
agent = registry.make_agent("gp-ei", warp="normal_scores")  # reads the directions of edges
observation, info = env.reset(seed=0)
agent.reset(observation, seed=0, graph_set=pool)
played, over = [], False
while not over:
    action = agent.select_action(observation, info["action_mask"])
    following, reward, terminated, truncated, info = env.step(action)
    agent.update(observation, action, reward)
    observation, over = following, terminated or truncated
    played.append(action)

best = max(played, key=lambda k: pool.targets[k])
top = np.argsort(-pool.targets)[: max(1, len(pool) // 100)]
share = np.isin(top, played).mean()
print(f"best of {len(played)} cells out of {len(pool)}: {pool.ids[best]}, {pool.targets[best]:.4g}")
print(f"found {share:.0%} of the best {len(top)}; random play finds {len(played) / len(pool):.0%} on average")
