"""A network for molecules, a plain PyG module for the neural agents."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch_geometric.data import Batch
from torch_geometric.nn import GINEConv, global_add_pool


class MolecularNetwork(nn.Module):
    """Predict a number for each graph from its atoms and bonds.

        h^0 = W x,   h^l = h^(l-1) + MLP_l(h^(l-1)_i + sum_{j in N(i)} ReLU(h^(l-1)_j + W_l e_ij))      [Hu et al. 2020]
        F(G) = MLP(sum_i h^L_i / sqrt(size))

    On one-hot columns a linear map is an embedding of each category. No normalisation looks at other graphs.

    Args:
        feature_dim: number of columns of `batch.x`.
        edge_feature_dim: number of columns of `batch.edge_attr`.
        width: units of each layer; 56 units make some 26,000 parameters for molecules.
        depth: L, rounds of messages.
        size: typical number of nodes of a graph.
    """

    def __init__(
        self, feature_dim: int, edge_feature_dim: int, width: int = 56, depth: int = 3, size: float = 25.0
    ) -> None:
        super().__init__()
        self.size = size
        self.embed = nn.Linear(feature_dim, width)
        convolutions = [
            GINEConv(
                nn.Sequential(
                    nn.Linear(width, width),
                    nn.LayerNorm(width, elementwise_affine=False),
                    nn.ReLU(),
                    nn.Linear(width, width),
                ),
                edge_dim=edge_feature_dim,
            )
            for _ in range(depth)
        ]
        self.convolutions = nn.ModuleList(convolutions)
        self.hidden = nn.Linear(width, width)
        self.output = nn.Linear(width, 1)

    def forward(self, batch: Batch) -> Tensor:
        """Return F of each graph of a batch, `(K,)`."""
        nodes = self.embed(batch.x)
        for convolution in self.convolutions:
            nodes = nodes + convolution(nodes, batch.edge_index, batch.edge_attr)
        pooled = global_add_pool(nodes, batch.batch, size=len(batch.ptr) - 1) / self.size**0.5
        values: Tensor = self.output(torch.relu(self.hidden(pooled))).squeeze(1)
        return values
