"""The default network that embeds a graph."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch_geometric.data import Batch

from gntk import aggregate_neighbours

WIDTH = 64
TYPICAL_NODES = 32  # divides a sum over nodes, to keep it of the order of a mean


class MeanNodeNetwork(nn.Module):
    """Embed graphs by a perceptron on their aggregated nodes, and a mean over these.

        z_i = ReLU(W [h_i, X_i] + b),   h_i = u(sum_{j in N(i)} X_j)      [h: Wu & Amini 2024, Section 3.1]
        e(G) = V [mean_i z_i, mean_i h_i, sum_i h_i / 32] + c

    Neighbours are summed before any weight is applied, so the matrix products of a pass grow with the number of nodes
    only. Sum and mean of h make the paper's linear reward a linear function of the embedding. Features of edges are
    ignored; if they matter, use your own network.

    Args:
        feature_dim: d, number of features of a node.
        edge_feature_dim: e, number of features of an edge; not used.
        out_dim: number of features of the embedding.
    """

    def __init__(self, feature_dim: int, edge_feature_dim: int, out_dim: int) -> None:
        super().__init__()
        self.nodes = nn.Linear(2 * feature_dim, WIDTH)
        self.head = nn.Linear(WIDTH + 2 * feature_dim, out_dim)

    def forward(self, batch: Batch) -> Tensor:
        """Embed the graphs of a batch: `(num_graphs, out_dim)` float32."""
        graphs = aggregate_neighbours(batch, own_count=True)
        values = torch.cat([self.nodes(torch.cat([graphs.nodes, batch.x], dim=1)).relu(), graphs.nodes], dim=1)
        sums = graphs.sum_over_nodes(values)
        pooled = [sums / graphs.divisors.unsqueeze(1), sums[:, WIDTH:] / TYPICAL_NODES]
        embeddings: Tensor = self.head(torch.cat(pooled, dim=1))
        return embeddings
