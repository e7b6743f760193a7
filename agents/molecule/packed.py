"""Pack graphs into long tensors, from which a batch of any of them is cut quickly."""

from __future__ import annotations

import torch
from torch import Tensor
from torch_geometric.data import Batch


class PackedGraphs:
    """Hold K graphs in long tensors; `take` cuts some out without touching the others.

    Args:
        batch: K graphs, with or without `edge_attr`.
    """

    def __init__(self, batch: Batch) -> None:
        self.x = batch.x.float()
        self.edge_index = batch.edge_index
        edge_attr = batch.edge_attr
        self.edge_attr = torch.ones(self.edge_index.shape[1], 1) if edge_attr is None else edge_attr.float()
        self.nodes = torch.bincount(batch.batch, minlength=batch.num_graphs)
        self.edges = torch.bincount(batch.batch[self.edge_index[0]], minlength=batch.num_graphs)
        self._first_node = self.nodes.cumsum(0) - self.nodes
        self._first_edge = self.edges.cumsum(0) - self.edges

    def __len__(self) -> int:
        return len(self.nodes)

    def take(self, index: Tensor) -> Batch:
        """Return the graphs `index` `(n,)` as one PyG batch, in that order."""
        nodes, owner_of_node, first_node = _spans(self._first_node[index], self.nodes[index])
        edges, owner_of_edge, _ = _spans(self._first_edge[index], self.edges[index])
        shift = first_node - self._first_node[index]
        return Batch(
            x=self.x[nodes],
            edge_index=self.edge_index[:, edges] + shift[owner_of_edge],
            edge_attr=self.edge_attr[edges],
            batch=owner_of_node,
            ptr=torch.cat([first_node, torch.tensor([len(nodes)])]),
        )


def _spans(first: Tensor, counts: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the positions in some spans, the span of each position, and where each span begins in the result."""
    owners = torch.repeat_interleave(torch.arange(len(counts)), counts)
    begins = counts.cumsum(0) - counts
    return torch.arange(len(owners)) - begins[owners] + first[owners], owners, begins
