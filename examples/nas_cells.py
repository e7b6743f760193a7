"""Search for a neural network: each action is a cell of NAS-Bench-201, and none is trained twice.

python examples/nas_cells.py --rounds 100
python examples/nas_cells.py --rounds 100 --csv nasbench201.csv     # columns `cellstr` and `cifar10-val`

Without a table no network was trained: a cell is then worth a number that is computed from its paths (see `stand_in`),
which says nothing about accuracy.
"""

import argparse
import itertools
import math

import gymnasium as gym
import networkx as nx
import numpy as np
import pandas as pd

import registry
from graph_bandit_env import from_networkx

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--rounds", type=int, default=100)
parser.add_argument("--cells", type=int, default=1000, help="play a random part of the 15,625 cells")
parser.add_argument("--csv", help="table with columns `cellstr` and `cifar10-val` (may be .gz)")
arguments = parser.parse_args()

# A cell has four tensors, 0 (its input) to 3 (its output), and an operation from each to each later one.
PLACES = [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3)]
STRENGTHS = {"none": 0.0, "skip_connect": 0.5, "nor_conv_1x1": 0.7, "nor_conv_3x3": 1.0, "avg_pool_3x3": 0.2}
KINDS = ["input", "output", *(name for name in STRENGTHS if name != "none")]


def write_cell(names):
    """Write six operations, in the order of `PLACES`, as NAS-Bench-201 does: |a~0|+|b~0|c~1|+|d~0|e~1|f~2|."""
    items = [f"{name}~{source}|" for name, (source, _) in zip(names, PLACES, strict=True)]
    return "+".join("|" + "".join(items[begin:end]) for begin, end in ((0, 1), (1, 3), (3, 6)))


def read_cell(text):
    """Return the operation at each place (source, target) of a cell."""
    found = {}
    for target, group in enumerate(text.split("+"), start=1):
        for item in group.strip("|").split("|"):
            name, source = item.split("~")
            found[int(source), target] = name
    if sorted(found) != sorted(PLACES) or not set(found.values()) <= set(STRENGTHS):
        raise ValueError(f"Expected a cell of NAS-Bench-201. Got {text!r}.")
    return found


def as_graph(text):
    """Make a node of each operation, joined with those that it feeds; "none" is no node, for it feeds nothing.

    Graphs are undirected here, so a node has its place beside its kind, both one-hot: nothing of the cell is lost.
    """
    kinds = {place: name for place, name in read_cell(text).items() if name != "none"}
    kinds |= {(-1, 0): "input", (3, 4): "output"}
    graph = nx.Graph(name=text)
    for place, kind in kinds.items():
        graph.add_node(place, x=[float(kind == one) for one in KINDS] + [float(place == one) for one in PLACES])
    graph.add_edges_from((a, b) for a, b in itertools.permutations(kinds, 2) if a[1] == b[0])
    return graph


def stand_in(text):
    """Compute what a cell is worth where nothing was trained: log(1 + sum over paths of the product of strengths)."""
    flow = {0: 1.0, 1: 0.0, 2: 0.0, 3: 0.0}
    for (source, target), name in sorted(read_cell(text).items(), key=lambda item: item[0][1]):
        flow[target] += flow[source] * STRENGTHS[name]
    return math.log1p(flow[3])


if arguments.csv:
    table = pd.read_csv(arguments.csv).set_index("cellstr")["cifar10-val"]
else:
    cells = [write_cell(names) for names in itertools.product(STRENGTHS, repeat=6)]
    table = pd.Series({cell: stand_in(cell) for cell in cells})
    print("No table: values are computed from paths, no network was trained.")
table = table.sample(min(arguments.cells, len(table)), random_state=0)
graphs = [as_graph(cell) for cell in table.index]
for graph, value in zip(graphs, table, strict=True):
    graph.graph["value"] = value
pool = from_networkx(graphs, target="value")  # whose names are the cells

env = gym.make(
    "GraphActionBandit-v0",
    graphs=pool,
    reward_model=pool.targets,
    noise_std=0.0,
    replacement=False,
    horizon=min(arguments.rounds, len(pool)),
    observe="indices",
)
agent = registry.make_agent("gnn-ts", width=256)
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
print(f"found {share:.0%} of the best {len(top)}; random play would expect {len(played) / len(pool):.0%}")
