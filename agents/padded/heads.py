"""Heads that compute a score of each graph on offer, and one value of all, from their embeddings."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

MASKED = -1e8  # score of a graph that is not on offer; its probability is exactly 0


@dataclass(frozen=True, eq=False)
class OfferedRows:
    """Only the graphs on offer in B observations, so that padding cannot affect any result.

    Attributes:
        rows: `(n, D)` float32. Embeddings of the graphs on offer.
        position: `(n,)` int64. Their positions among the B K graphs.
        offered: `(B, K)` bool. Graphs on offer.
    """

    rows: Tensor
    position: Tensor
    offered: Tensor

    @staticmethod
    def read(features: Tensor) -> OfferedRows:
        """Read the output `(..., K, D + 1)` of `GraphSetEncoder`, with the mask in its last channel."""
        features = features.reshape(-1, *features.shape[-2:])
        offered = features[..., -1] > 0
        position = offered.flatten().nonzero().squeeze(1)
        return OfferedRows(features[..., :-1].flatten(0, 1)[position], position, offered)

    @property
    def owner(self) -> Tensor:
        """Return the observation that each row belongs to, `(n,)` int64."""
        return torch.div(self.position, self.offered.shape[1], rounding_mode="floor")

    def mean(self) -> Tensor:
        """Return the mean over each observation's graphs on offer, `(B, D)`; 0 if there are none."""
        sums = self._zeros().index_add(0, self.owner, self.rows)
        return sums / self.offered.sum(1, keepdim=True).clamp(min=1)

    def max(self) -> Tensor:
        """Return the maximum over each observation's graphs on offer, `(B, D)`; 0 if there are none."""
        owner = self.owner.unsqueeze(1).expand_as(self.rows)
        return self._zeros().scatter_reduce(0, owner, self.rows, "amax", include_self=False)

    def _zeros(self) -> Tensor:
        return self.rows.new_zeros(len(self.offered), self.rows.shape[1])


class GraphScorer(nn.Module):
    """Score each graph on offer with shared weights, by its embedding and the mean embedding of all on offer.

    It maps `(..., K, D + 1)` to `(..., K)` float32. A graph that is not on offer has the score -1e8, or 0 if none is on
    offer.

    Args:
        width: D, number of features of an embedding.
        hidden: widths of the hidden layers.
        activation: activation between the layers.
    """

    def __init__(self, width: int, hidden: Sequence[int], activation: type[nn.Module]) -> None:
        super().__init__()
        self.layers = perceptron(2 * width, hidden, activation)

    def forward(self, features: Tensor) -> Tensor:
        """Return the scores."""
        graphs = OfferedRows.read(features)
        scores = self.layers(torch.cat([graphs.rows, graphs.mean()[graphs.owner]], dim=1)).squeeze(1)
        filled = graphs.offered.any(1, keepdim=True).to(scores) * MASKED  # 0 if no graph is left
        flat = filled.expand(graphs.offered.shape).flatten().index_copy(0, graphs.position, scores)
        return flat.view(features.shape[:-1])


class GraphSetValue(nn.Module):
    """Compute one value from the mean and the maximum of the embeddings of the graphs on offer.

    It maps `(..., K, D + 1)` to `(..., 1)` float32.

    Args:
        width: D, number of features of an embedding.
        hidden: widths of the hidden layers.
        activation: activation between the layers.
    """

    def __init__(self, width: int, hidden: Sequence[int], activation: type[nn.Module]) -> None:
        super().__init__()
        self.layers = perceptron(2 * width, hidden, activation)

    def forward(self, features: Tensor) -> Tensor:
        """Return the values."""
        graphs = OfferedRows.read(features)
        values: Tensor = self.layers(torch.cat([graphs.mean(), graphs.max()], dim=1))
        return values.view(*features.shape[:-2], 1)


def perceptron(width: int, hidden: Sequence[int], activation: type[nn.Module]) -> nn.Sequential:
    """Make linear layers of these widths with an activation between them, and a single output."""
    layers: list[nn.Module] = []
    for inputs, outputs in itertools.pairwise([width, *hidden]):
        layers += [nn.Linear(inputs, outputs), activation()]
    return nn.Sequential(*layers, nn.Linear([width, *hidden][-1], 1))


def initialize_heads(scorer: GraphScorer, value: GraphSetValue) -> None:
    """Draw orthogonal weights, which make all graphs almost equally likely at the start  [Stable-Baselines3, PPO]."""
    for layers, gain in ((scorer.layers, 0.01), (value.layers, 1.0)):
        linear = [layer for layer in layers if isinstance(layer, nn.Linear)]
        for layer in linear:
            nn.init.orthogonal_(layer.weight, gain if layer is linear[-1] else 2**0.5)
            nn.init.zeros_(layer.bias)
