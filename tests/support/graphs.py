"""Graphs to test with."""

import torch
from torch_geometric.data import Data
from torch_geometric.utils import erdos_renyi_graph


def ragged_graphs(sizes=(5, 1, 7, 3), feature_dim=4, seed=0):
    """Random graphs of these node counts; the last node of each is isolated."""
    torch.manual_seed(seed)
    return [Data(x=torch.randn(n, feature_dim), edge_index=erdos_renyi_graph(max(n - 1, 1), 0.6)) for n in sizes]
