"""The training step, the scores and the infinite-width kernel in their simplest form: autograd, and no tricks.

The code is written for clarity; tests also compare the compiled loops with it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch_geometric.nn import global_add_pool

from gntk import AggregatedGraphs


class PlainNetwork(nn.Module):
    """f(G) = (1/N) sum_i w^T ReLU(W h_i) / sqrt(m), on aggregated nodes h_i."""

    def __init__(self, weights: Sequence[Tensor]) -> None:
        super().__init__()
        self.hidden, self.last = (nn.Parameter(weight.clone()) for weight in weights)

    def forward(self, nodes: Tensor, graph_index: Tensor, divisors: Tensor) -> Tensor:
        """Return the predictions of the graphs that the nodes belong to."""
        outputs = (nodes @ self.hidden.T).relu() @ self.last.T / len(self.hidden) ** 0.5
        sums: Tensor = global_add_pool(outputs, graph_index, len(divisors))
        return sums.squeeze(1) / divisors


class PlainFit:
    """Stochastic gradient descent with torch.optim on the penalised squared loss."""

    def __init__(
        self, weights: Sequence[Tensor], graphs: AggregatedGraphs, learning_rate: float, penalty: float
    ) -> None:
        self.network, self.penalty = PlainNetwork(weights), penalty
        self.centers = [weight.clone() for weight in weights]
        self.nodes, self.divisors = graphs.nodes.split(graphs.sizes.tolist()), graphs.divisors
        self.optimizer = torch.optim.SGD(self.network.parameters(), lr=learning_rate)

    def step(self, index: Sequence[int], targets: Tensor) -> None:
        """Take one step on a batch of graphs."""
        nodes = [self.nodes[k] for k in index]
        graph_index = torch.repeat_interleave(torch.arange(len(index)), torch.tensor([len(h) for h in nodes]))
        values = self.network(torch.cat(nodes), graph_index, self.divisors[list(index)])
        distance = sum((w - c).square().sum() for w, c in zip(self.network.parameters(), self.centers, strict=True))
        loss = (values - targets).square().mean() / 2 + self.penalty / 2 * distance
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


def one_backward_per_graph(
    weights: Sequence[Tensor], graphs: AggregatedGraphs, precision: Tensor
) -> tuple[Tensor, Tensor]:
    """Return predictions and weighted squares of tangent features, computed as in public code for this problem."""
    network, values, squares = PlainNetwork(weights), [], []
    for nodes, divisor in zip(graphs.nodes.split(graphs.sizes.tolist()), graphs.divisors, strict=True):
        value = network(nodes, torch.zeros(len(nodes), dtype=torch.int64), divisor[None]).squeeze()
        gradients = torch.autograd.grad(value, list(network.parameters()))
        feature = torch.cat([gradient.flatten() for gradient in gradients])
        values.append(value.detach())
        squares.append(feature.square() @ precision)
    return torch.stack(values), torch.stack(squares)


def infinite_width_kernel_in_torch(graphs: AggregatedGraphs) -> Tensor:
    """Return the kernel at L = 2: an arc cosine of each pair of nodes, each graph with those before it, in blocks."""
    nodes, divisors = graphs.nodes.double(), graphs.divisors.double()
    lengths = nodes.norm(dim=1)
    units = nodes / lengths.where(lengths > 0, 1.0).unsqueeze(1)
    kernel = nodes.new_zeros(len(graphs), len(graphs))
    for k, (start, stop) in enumerate(zip(graphs.offsets[:-1].tolist(), graphs.offsets[1:].tolist(), strict=True)):
        for index in torch.arange(stop).split(max(1, (1 << 18) // (stop - start))):
            block = slice(int(index[0]), int(index[-1]) + 1)
            cosine = (units[start:stop] @ units[block].T).clamp_(-1, 1)
            rest = torch.arccos(cosine).neg_().add_(math.pi)
            following = (1 - cosine.square()).sqrt_().addcmul_(rest, cosine).div_(math.pi)
            pairs = (cosine * rest).div_(2 * math.pi).add_(following, alpha=0.5)
            kernel[k].index_add_(0, graphs.graph_index[block], lengths[start:stop] @ pairs * lengths[block])
    return (kernel.tril() + kernel.tril(-1).T) / torch.outer(divisors, divisors)
