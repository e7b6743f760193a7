"""Draw how similar graphs of four kinds are to each other, by the graph neural tangent kernel."""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
from torch_geometric.data import Batch

from gntk import infinite_width_kernel
from graph_bandit_env.graphs import degree_features

kinds = {
    "rings": lambda seed: nx.connected_watts_strogatz_graph(24, 4, 0.05, seed=seed),
    "small worlds": lambda seed: nx.connected_watts_strogatz_graph(24, 4, 0.5, seed=seed),
    "random": lambda seed: nx.gnp_random_graph(24, 0.17, seed=seed),
    "hubs": lambda seed: nx.barabasi_albert_graph(24, 2, seed=seed),
}
graphs = degree_features([draw(seed) for draw in kinds.values() for seed in range(12)])
kernel = infinite_width_kernel(Batch.from_data_list(graphs.to_pyg())).numpy()
scale = np.sqrt(np.diag(kernel))
figure, axes = plt.subplots(figsize=(6, 5))
image = axes.imshow(kernel / np.outer(scale, scale), cmap="viridis")
axes.set(title="Similarity of 48 graphs", xticks=(), yticks=range(6, 48, 12), yticklabels=kinds)
figure.colorbar(image, shrink=0.8, label="kernel, 1 on the diagonal")
figure.savefig("kernel.png")
