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
import networkx as nx
import numpy as np
import pandas as pd

import registry
from graph_bandit_env import from_networkx

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--rounds", type=int, default=100)
parser.add_argument("--cells", type=int, default=1000, help="how many of the 15,625 cells to draw at random")
parser.add_argument("--csv", help="table with columns `cellstr` and `cifar10-val` (may be .gz)")
arguments = parser.parse_args()

# A cell has four tensors, 0 (its input) to 3 (its output), and an operation from each of them to each later one.
PAIRS = [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3)]
STRENGTHS = {"none": 0.0, "skip_connect": 0.5, "nor_conv_1x1": 0.7, "nor_conv_3x3": 1.0, "avg_pool_3x3": 0.2}
KINDS = ["input", "output", *(name for name in STRENGTHS if name != "none")]


def write_cell(names):
    """Write six operations, in the order of `PAIRS`, as NAS-Bench-201 does: |a~0|+|b~0|c~1|+|d~0|e~1|f~2|."""
    items = [f"{name}~{source}|" for name, (source, _) in zip(names, PAIRS, strict=True)]
    return "+".join("|" + "".join(items[begin:end]) for begin, end in ((0, 1), (1, 3), (3, 6)))


def read_cell(text):
    """Return the operation from each source to each target in a cell."""
    operations = {}
    for target, group in enumerate(text.split("+"), start=1):
        for item in group.strip("|").split("|"):
            name, source = item.split("~")
            operations[int(source), target] = name
    if sorted(operations) != sorted(PAIRS) or not set(operations.values()) <= set(STRENGTHS):
        raise ValueError(f"Expected a cell of NAS-Bench-201. Got {text!r}.")
    return operations


def as_graph(text):
    """Make a node of each operation except "none", joined to the operations that it feeds.

    Graphs are undirected here. A node therefore has the one-hot pair (source, target) in addition to its one-hot kind,
    so that the graph still describes the whole cell.
    """
    kinds = {pair: name for pair, name in read_cell(text).items() if name != "none"}
    kinds |= {(-1, 0): "input", (3, 4): "output"}
    graph = nx.Graph(name=text)
    for pair, kind in kinds.items():
        graph.add_node(pair, x=[float(kind == k) for k in KINDS] + [float(pair == p) for p in PAIRS])
    graph.add_edges_from((a, b) for a, b in itertools.permutations(kinds, 2) if a[1] == b[0])
    return graph


def stand_in(text):
    """Compute the value of a cell without training: log(1 + sum over paths of the product of strengths)."""
    flow = {0: 1.0, 1: 0.0, 2: 0.0, 3: 0.0}
    for (source, target), name in sorted(read_cell(text).items(), key=lambda item: item[0][1]):
        flow[target] += flow[source] * STRENGTHS[name]
    return math.log1p(flow[3])


if arguments.csv:
    table = pd.read_csv(arguments.csv).set_index("cellstr")["cifar10-val"]
else:
    cells = [write_cell(names) for names in itertools.product(STRENGTHS, repeat=6)]
    table = pd.Series({cell: stand_in(cell) for cell in cells})
    print("No table was given: values are computed from paths, and no network was trained.")
table = table.sample(min(arguments.cells, len(table)), random_state=0)
graphs = [as_graph(cell) for cell in table.index]
for graph, value in zip(graphs, table, strict=True):
    graph.graph["value"] = value
pool = from_networkx(graphs, target="value")  # the names of the graphs become ids

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
print(f"found {share:.0%} of the best {len(top)}; random play finds {len(played) / len(pool):.0%} on average")
