"""Write the networks of two benchmarks of architecture search as graphs, or search such networks one at a time.

python examples/nas_cells.py nasbench201.csv cells.jsonl             # column `cellstr` (NAS-Bench-201)
python examples/nas_cells.py nasbenchgraph.csv networks.jsonl        # columns `link` and `ops` (NAS-Bench-Graph)
python examples/nas_cells.py --rounds 100                            # a search that needs no table

Each line of the `.jsonl` file is a directed graph with all numbers of its row, for `--graphs` and `--target`. The
search is on cells of NAS-Bench-201 whose values are computed from their paths: no network was trained.
"""

import argparse
import itertools
import json
import math
from pathlib import Path

import gymnasium as gym
import networkx as nx
import numpy as np
import pandas as pd

import registry
from graph_bandit_env import from_networkx

# A cell has four tensors, 0 (its input) to 3 (its output), and an operation from each of them to each later one.
PAIRS = ((0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3))
CELL = "|{}~0|+|{}~0|{}~1|+|{}~0|{}~1|{}~2|"
STRENGTHS = {"none": 0.0, "skip_connect": 0.5, "nor_conv_1x1": 0.7, "nor_conv_3x3": 1.0, "avg_pool_3x3": 0.2}
CELL_KINDS = ("input", "output", *[*STRENGTHS][1:])  # "none" is no node
OPERATIONS = ("gcn", "gat", "sage", "gin", "cheb", "arma", "graph", "fc", "skip")
KINDS = ("input", *OPERATIONS, "output")


def cell_graph(text):
    """Return a cell: a node for each operation but "none", for the input and the output, with its kind and its pair."""
    names = [part.split("~")[0] for part in text.replace("+", "").split("|") if part]
    if CELL.format(*names) != text or not set(names) <= set(STRENGTHS):
        raise ValueError(f"Expected a cell of NAS-Bench-201. Got {text!r}.")
    places = [(pair, name) for pair, name in zip(PAIRS, names, strict=True) if name != "none"]
    places += [((-1, 0), "input"), ((3, 4), "output")]
    graph = nx.DiGraph(id=text)
    for node, (pair, name) in enumerate(places):
        graph.add_node(node, x=[float(kind == name) for kind in CELL_KINDS] + [float(other == pair) for other in PAIRS])
    ends = [*enumerate(pair for pair, _ in places)]
    graph.add_edges_from((i, j) for i, (_, end) in ends for j, (start, _) in ends if end == start)
    return graph


def network_graph(link, ops):
    """Return a network: its input, four operations that each read one parent, and the output of what nobody reads."""
    parents, names = [int(digit) for digit in link.zfill(4)], ops.split("|")
    if len(names) != 4 or not set(names) <= set(OPERATIONS) or any(p > k for k, p in enumerate(parents)):
        raise ValueError(f"Expected an architecture of NAS-Bench-Graph. Got {link!r} and {ops!r}.")
    graph = nx.DiGraph(id=f"{link.zfill(4)}|{ops}")
    for node, name in enumerate(["input", *names, "output"]):
        graph.add_node(node, x=[float(kind == name) for kind in KINDS])
    graph.add_edges_from((parent, child) for child, parent in enumerate(parents, start=1))
    graph.add_edges_from((node, 5) for node in range(1, 5) if node not in parents)
    return graph


def write_table(source, out):
    """Write the graphs of a table, a line each."""
    table = pd.read_csv(source, dtype={"link": str})
    numbers = table.select_dtypes("number")
    with Path(out).open("w", encoding="utf-8") as file:
        for row, values in zip(table.to_dict("records"), numbers.to_dict("records"), strict=True):
            graph = cell_graph(row["cellstr"]) if "cellstr" in row else network_graph(row["link"], row["ops"])
            graph.graph.update(values)
            file.write(json.dumps(nx.node_link_data(graph, edges="edges")) + "\n")
    print(f"{len(table)} graphs in {out}; --target takes {', '.join(numbers.columns)}")


def path_value(names):
    """Return log(1 + sum over the paths of a cell of the product of the strengths of their operations)."""
    flow = [1.0, 0.0, 0.0, 0.0]
    for name, (source, target) in zip(names, PAIRS, strict=True):
        flow[target] += flow[source] * STRENGTHS[name]
    return math.log1p(flow[3])


def search(rounds, cells=1000):
    """Play cells, each at most once."""
    every = list(itertools.product(STRENGTHS, repeat=6))
    chosen = [every[k] for k in np.random.default_rng(0).permutation(len(every))[:cells]]
    graphs = [cell_graph(CELL.format(*names)) for names in chosen]
    pool = from_networkx(graphs, ids=[graph.graph["id"] for graph in graphs])
    settings = {"noise_std": 0.0, "replacement": False, "horizon": rounds, "observe": "indices"}
    values = np.array([path_value(names) for names in chosen])
    env = gym.make("GraphActionBandit-v0", graphs=pool, reward_model=values, **settings)
    agent = registry.make_agent("gp-ei", warp="normal_scores")  # reads the directions of edges
    observation, info = env.reset(seed=0)
    agent.reset(observation, seed=0, graph_set=pool)
    played = []
    for _ in range(rounds):
        action = agent.select_action(observation, info["action_mask"])
        following, reward, _, _, info = env.step(action)
        agent.update(observation, action, reward)
        observation = following
        played.append(action)
    best = max(played, key=lambda k: values[k])
    print(f"best of {len(played)} cells out of {cells}: {pool.ids[best]}, {values[best]:.4g}")
    print(f"{(values > values[best]).sum()} cells have more")


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("table", nargs="?", help="a .csv file (also .gz) of a benchmark")
parser.add_argument("out", nargs="?", help="the .jsonl file to write")
parser.add_argument("--rounds", type=int, default=100, help="of a search without a table")
arguments = parser.parse_args()
if arguments.table:
    write_table(arguments.table, arguments.out or "graphs.jsonl")
else:
    search(arguments.rounds)
