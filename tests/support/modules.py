"""Modules of a user's, for the tests of agents on any network."""

import torch
from torch import nn
from torch_geometric.nn import GATConv, GCNConv, GINConv, GINEConv, Sequential, global_add_pool, global_mean_pool

from support.graphs import ragged_graphs


class Pooled(nn.Module):
    """Layers on nodes, a pooling, and a linear head."""

    def __init__(self, layers, width, pool=global_mean_pool):
        super().__init__()
        self.layers, self.head, self.pool = nn.ModuleList(layers), nn.Linear(width, 1), pool

    def forward(self, batch):
        x = batch.x
        for layer in self.layers:
            x = layer(x, batch.edge_index).relu()
        return self.head(self.pool(x, batch.batch)).squeeze(-1)


def gin():
    perceptrons = [nn.Sequential(nn.Linear(d, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 8)) for d in (4, 8, 8)]
    return Pooled([GINConv(perceptron) for perceptron in perceptrons], 8, global_add_pool)


def gcn():
    return Pooled([GCNConv(4, 8), Sequential("x, edges", [(GCNConv(8, 8), "x, edges -> x"), nn.Dropout()])], 8)


def gat():
    return Pooled([GATConv(4, 4, heads=2), GATConv(8, 8)], 8)


class Molecules(nn.Module):
    """A 3-layer GIN with embeddings of categorical node and edge features."""

    def __init__(self):
        super().__init__()
        self.nodes, self.edges = nn.Embedding(5, 8), nn.Embedding(3, 8)
        self.layers = nn.ModuleList([GINEConv(nn.Linear(8, 8)) for _ in range(3)])
        self.head = nn.Linear(8, 1)

    def forward(self, batch):
        x, edges = self.nodes(batch.x[:, 0].long()), self.edges(batch.edge_attr[:, 0].long())
        for layer in self.layers:
            x = layer(x, batch.edge_index, edges).relu()
        return self.head(global_add_pool(x, batch.batch)).squeeze(-1)


def molecules():
    graphs = ragged_graphs(sizes=(6, 1, 9, 4, 5, 7, 3, 8, 6, 5))
    generator = torch.Generator().manual_seed(0)
    for graph in graphs:
        graph.x = torch.randint(5, (graph.num_nodes, 1), generator=generator)
        graph.edge_attr = torch.randint(3, (graph.num_edges, 1), generator=generator)
    return graphs


GRAPHS = ragged_graphs(sizes=(5, 1, 7, 3, 6, 2, 9, 4, 4, 5, 8))  # more than one block of gradients
CASES = {"gin": (gin, GRAPHS), "gcn": (gcn, GRAPHS), "gat": (gat, GRAPHS), "molecules": (Molecules, molecules())}
