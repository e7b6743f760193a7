"""What turns embeddings of the graphs on offer into a score of each, and into one value of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from stable_baselines3.common.torch_layers import create_mlp
from torch import Tensor, nn

MASKED = -1e8  # of a graph that is not on offer: its probability is exactly 0


@dataclass(frozen=True, eq=False)
class OfferedRows:
    """The graphs on offer in B observations, without those that are not: padding cannot touch what is computed.

    Attributes:
        rows: `(n, D)` embeddings of the graphs on offer.
        place: `(n,)` int64. Their places among the B K graphs.
        offered: `(B, K)` bool.
    """

    rows: Tensor
    place: Tensor
    offered: Tensor

    @staticmethod
    def read(features: Tensor) -> OfferedRows:
        """Take apart what `GraphSetExtractor` returns: `(B, K, D + 1)`, the mask in the last channel."""
        offered = features[..., -1] > 0
        place = offered.flatten().nonzero().squeeze(1)
        return OfferedRows(features[..., :-1].flatten(0, 1)[place], place, offered)

    @property
    def owner(self) -> Tensor:
        """Return the observation that each row belongs to, `(n,)` int64."""
        return torch.div(self.place, self.offered.shape[1], rounding_mode="floor")

    def mean(self) -> Tensor:
        """Return the mean over each observation's graphs on offer, `(B, D)`; 0 where there is none."""
        sums = self._empty(0.0).index_add(0, self.owner, self.rows)
        return sums / self.offered.sum(1, keepdim=True).clamp(min=1)

    def max(self) -> Tensor:
        """Return the maximum over each observation's graphs on offer, `(B, D)`; 0 where there is none."""
        owner = self.owner.unsqueeze(1).expand_as(self.rows)
        return self._empty(0.0).scatter_reduce(0, owner, self.rows, "amax", include_self=False)

    def _empty(self, fill: float) -> Tensor:
        return self.rows.new_full((len(self.offered), self.rows.shape[1]), fill)


class GraphScorer(nn.Module):
    """Score each graph on offer by its embedding and the mean embedding of all on offer, with the same weights.

    Args:
        width: D, features of an embedding.
        hidden: widths of the hidden layers.
        activation: between them.

    Shapes:
        `(B, K, D + 1)` to `(B, K)` float32. A graph not on offer has -1e8, or 0 where none is on offer.
    """

    def __init__(self, width: int, hidden: Sequence[int], activation: type[nn.Module]) -> None:
        super().__init__()
        self.layers = nn.Sequential(*create_mlp(2 * width, 1, list(hidden), activation))

    def forward(self, features: Tensor) -> Tensor:
        """Return the scores."""
        graphs = OfferedRows.read(features)
        scores = self.layers(torch.cat([graphs.rows, graphs.mean()[graphs.owner]], dim=1)).squeeze(1)
        filled = graphs.offered.any(1, keepdim=True).to(scores) * MASKED  # 0: after the last graph nothing follows
        return filled.expand(graphs.offered.shape).flatten().index_copy(0, graphs.place, scores).view_as(graphs.offered)


class GraphSetValue(nn.Module):
    """Value the graphs on offer by the mean and the maximum of their embeddings.

    Args:
        width: D, features of an embedding.
        hidden: widths of the hidden layers.
        activation: between them.

    Shapes:
        `(B, K, D + 1)` to `(B, 1)` float32.
    """

    def __init__(self, width: int, hidden: Sequence[int], activation: type[nn.Module]) -> None:
        super().__init__()
        self.layers = nn.Sequential(*create_mlp(2 * width, 1, list(hidden), activation))

    def forward(self, features: Tensor) -> Tensor:
        """Return the values."""
        graphs = OfferedRows.read(features)
        values: Tensor = self.layers(torch.cat([graphs.mean(), graphs.max()], dim=1))
        return values


def initialize_heads(scorer: GraphScorer, value: GraphSetValue) -> None:
    """Draw orthogonal weights as Stable-Baselines3 does: at the start all graphs are almost equally likely."""
    for layers, gain in ((scorer.layers, 0.01), (value.layers, 1.0)):
        linear = [layer for layer in layers if isinstance(layer, nn.Linear)]
        for layer in linear:
            nn.init.orthogonal_(layer.weight, gain if layer is linear[-1] else 2**0.5)
            nn.init.zeros_(layer.bias)
