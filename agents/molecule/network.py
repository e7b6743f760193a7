"""The default network for molecules, a plain PyG module."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Batch
from torch_geometric.nn import GINEConv, global_add_pool

from gntk.engines import OwnedLayer, linear_tangent_features


class MolecularNetwork(nn.Module):
    """Predict a number for each graph from its atoms and bonds.

        h^0 = W x,   h^l = h^(l-1) + MLP_l(h^(l-1)_i + sum_{j in N(i)} ReLU(h^(l-1)_j + W_l e_ij))      [Hu et al. 2020]
        F(G) = MLP(sum_i h^L_i / sqrt(size))

    On one-hot columns a linear map is an embedding of each category. All parameters belong to linear layers, and no
    normalisation looks at other graphs, so that one backward pass gives all tangent features.

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

    @property
    def num_features(self) -> int:
        """Return p, the number of tangent features, which is the number of parameters."""
        return sum(parameter.numel() for parameter in self.parameters())

    def tangent_features(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return F `(K,)` and dF/dtheta `(K, p)` of a batch, float32."""
        of_nodes, of_edges = batch.batch, batch.batch[batch.edge_index[0]]
        of_graphs = torch.arange(len(batch.ptr) - 1)
        layers: list[OwnedLayer] = [(self.embed, of_nodes)]
        convolution: Any
        for convolution in self.convolutions:
            layers += [(convolution.lin, of_edges), (convolution.nn[0], of_nodes), (convolution.nn[-1], of_nodes)]
        layers += [(self.hidden, of_graphs), (self.output, of_graphs)]
        return linear_tangent_features(lambda: self(batch), layers, len(of_graphs))
