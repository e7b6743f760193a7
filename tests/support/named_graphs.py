"""Small graphs of other libraries, with values that only what they are named after tells."""

import networkx as nx
import numpy as np
import torch
from torch_geometric.data import Data

from graph_bandit_env.graphs import as_graph_set


def plain(count=40, seed=0):
    """Graphs of networkx without features; values are how many of their triples are triangles."""
    graphs = [nx.gnp_random_graph(9, 0.4, seed=1000 * seed + k) for k in range(count)]
    return graphs, np.array([nx.transitivity(graph) for graph in graphs])


def labelled(count=40, seed=0):
    """Rings of networkx with a number at each node; values are the sums of these."""
    random, graphs = np.random.default_rng(seed), [nx.cycle_graph(7) for _ in range(count)]
    for graph in graphs:
        nx.set_node_attributes(graph, dict(enumerate(random.normal(size=7))), "x")
    return graphs, np.array([sum(x for _, x in graph.nodes(data="x")) for graph in graphs])


def directed(count=40, seed=0):
    """Trees of networkx whose edges have random directions; values are how many nodes no edge leads to."""
    random, graphs = np.random.default_rng(seed), []
    for _ in range(count):
        graph = nx.DiGraph()
        graph.add_nodes_from(range(16))
        graph.add_edges_from((k, k - 1) if random.random() < 0.5 else (k - 1, k) for k in range(1, 16))
        graphs.append(graph)
    return graphs, np.array([float(sum(degree == 0 for _, degree in graph.in_degree)) for graph in graphs])


def with_bonds(count=40, seed=0):
    """Graphs of PyG whose edges have two features; values are sums of the first. Graph 3 has no edge."""
    torch.manual_seed(seed)
    ring = torch.stack([torch.arange(6), (torch.arange(6) + 1) % 6])
    both, graphs = torch.cat([ring, ring.flip(0)], dim=1), []
    for _ in range(count - 1):
        bonds = torch.rand(6, 2)
        graphs.append(Data(x=torch.ones(6, 1), edge_index=both, edge_attr=bonds.repeat(2, 1)))
    graphs.insert(3, Data(x=torch.ones(6, 1), edge_index=torch.zeros(2, 0, dtype=torch.int64)))
    return graphs, np.array([0.0 if graph.edge_attr is None else graph.edge_attr[:6, 0].sum() for graph in graphs])


def in_a_set(count=40, seed=0):
    """The labelled rings as a graph set, which has instances."""
    graphs, values = labelled(count, seed)
    return as_graph_set(graphs), values


KINDS = {kind.__name__: kind for kind in (plain, labelled, directed, with_bonds, in_a_set)}
"""Name of each kind, and the function that makes graphs of it."""
