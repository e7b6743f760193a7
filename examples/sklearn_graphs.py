"""Compare a Gaussian process of graphs with a random forest on their numbers, by scikit-learn's cross-validation.

python examples/sklearn_graphs.py --rounds 40
"""

import argparse

import networkx as nx
import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline

from graph_bandit_bridges import GraphFeatures, GraphKernel, GraphProcessRegressor


def main(rounds: int) -> None:
    """Predict how well networks conduct from three measurements a round."""
    random = np.random.default_rng(0)
    graphs = [draw_network(random) for _ in range(3 * rounds)]
    values = np.array([measure(graph, random) for graph in graphs])
    models = {
        "Gaussian process": GraphProcessRegressor(),
        "its kernel in a ridge regression": make_pipeline(GraphKernel(), KernelRidge(0.1, kernel="precomputed")),
        "random forest on its numbers": make_pipeline(GraphFeatures(), RandomForestRegressor(random_state=0)),
    }
    for name, model in models.items():
        scores = cross_val_score(model, graphs, values, cv=KFold(5, shuffle=True, random_state=0))
        print(f"{name}: R2 {scores.mean():.2f} on {len(graphs)} networks")
    process = GraphProcessRegressor().fit(graphs[1:], values[1:])
    low, high = process.predict_interval(graphs[:1])[0]
    print(f"the first network: {values[0]:.2f}, predicted by the others from {low:.2f} to {high:.2f}")
    print("most of it by its", max(process.shares_, key=process.shares_.__getitem__))


def draw_network(random: np.random.Generator) -> nx.Graph:
    """Draw a network whose weights are the conductances of its edges."""
    graph = nx.watts_strogatz_graph(int(random.integers(12, 30)), 4, random.random(), seed=int(random.integers(2**31)))
    nx.set_edge_attributes(graph, {edge: 0.1 + random.gamma(1.0) for edge in graph.edges}, "weight")
    return graph


def measure(graph: nx.Graph, random: np.random.Generator) -> float:
    """Stand in for a measurement: the logarithm of the mean resistance between two nodes, and an error."""
    pairs = len(graph) * (len(graph) - 1) / 2
    resistance = nx.effective_graph_resistance(graph, weight="weight", invert_weight=False)
    return float(np.log(resistance / pairs) + random.normal(scale=0.02))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=40)
    main(parser.parse_args().rounds)
