"""A policy and its value on graph sets: heads on the embeddings of the graphs on offer, in plain torch."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import torch
from gymnasium.spaces import Space
from torch import Tensor, nn
from torch_geometric.utils import scatter

from agents.contract.protocol import GraphSetLike
from agents.padded.encoder import GraphSetEncoder, MeanNodeNetwork, NetworkFactory

HEAD_WIDTHS = (64,)
MASKED = -1e8  # score of a graph that is not on offer, with probability exactly 0


class Head(nn.Module):
    """A perceptron on two embeddings at a time, with a single output.

    Args:
        width: D, number of features of an embedding.
        hidden: widths of the hidden layers.
        activation: activation between the layers.
    """

    def __init__(self, width: int, hidden: Sequence[int], activation: type[nn.Module]) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for inputs, outputs in itertools.pairwise([2 * width, *hidden]):
            layers += [nn.Linear(inputs, outputs), activation()]
        self.layers = nn.Sequential(*layers, nn.Linear([2 * width, *hidden][-1], 1))


class GraphScorer(Head):
    """Score each graph on offer with shared weights, by its embedding and the mean embedding of all on offer.

    It maps `(..., K, D + 1)` to `(..., K)` float32. A graph that is not on offer has the score -1e8, or 0 if none is on
    offer.
    """

    def forward(self, features: Tensor) -> Tensor:
        """Return the scores."""
        rows, owner, offered = read_offered(features)
        means = scatter(rows, owner, 0, len(offered), "mean")
        scores = self.layers(torch.cat([rows, means[owner]], dim=1)).squeeze(1)
        filled = offered.any(1, keepdim=True).to(scores) * MASKED  # 0 if no graph is left
        return filled.expand(offered.shape).masked_scatter(offered, scores).view(features.shape[:-1])


class GraphSetValue(Head):
    """Compute one value from the mean and the maximum of the embeddings of the graphs on offer.

    It maps `(..., K, D + 1)` to `(..., 1)` float32.
    """

    def forward(self, features: Tensor) -> Tensor:
        """Return the values."""
        rows, owner, offered = read_offered(features)
        pooled = [scatter(rows, owner, 0, len(offered), how) for how in ("mean", "max")]  # 0 if no graph is on offer
        values: Tensor = self.layers(torch.cat(pooled, dim=1))
        return values.view(*features.shape[:-2], 1)


def read_offered(features: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return only the graphs on offer in B observations, so that padding cannot affect any result.

    Args:
        features: `(..., K, D + 1)`. Output of `GraphSetEncoder`, with the mask in its last channel.

    Returns:
        `(n, D)` float32. Embeddings of the graphs on offer.
        `(n,)` int64. The observation of each.
        `(B, K)` bool. Graphs on offer.
    """
    features = features.reshape(-1, *features.shape[-2:])
    offered = features[..., -1] > 0
    return features[..., :-1][offered], offered.nonzero()[:, 0], offered


def initialize_heads(scorer: GraphScorer, value: GraphSetValue) -> None:
    """Draw orthogonal weights, which make all graphs almost equally likely at the start  [Stable-Baselines3, PPO]."""
    for layers, gain in ((scorer.layers, 0.01), (value.layers, 1.0)):
        linear = [layer for layer in layers if isinstance(layer, nn.Linear)]
        for layer in linear:
            nn.init.orthogonal_(layer.weight, gain if layer is linear[-1] else 2**0.5)
            nn.init.zeros_(layer.bias)


class GraphSetActorCritic(nn.Module):
    """Score each graph of an observation, and value the observation, for PPO and A2C of any library.

    If the graphs are permuted, their scores are permuted in the same way and the value does not change. No weight
    depends on K, N or E, so `state_dict` loads into the policy of an environment with other sizes. A graph that is not
    on offer has the score -1e8, so that a categorical distribution gives it probability 0. Without graphs on offer, all
    scores are 0. The parts can be called directly: `scorer` and `value` map any output of `encoder`.

    Args:
        observation_space: observation space of an environment in `PaddedGraphSet` (of a vector environment,
            `single_observation_space`) or `GraphSetIndices`.
        network: function of d, e and `features_dim` that makes a torch module `Batch -> (num_graphs, features_dim)`.
        features_dim: number of features of the embedding of a graph.
        hidden: widths of the hidden layers of the scorer, and of those of the value.
        activation: activation between these layers.
        graph_set: for `GraphSetIndices`, the K graphs: any object with `to_pyg()`.

    Raises:
        TypeError: as in `GraphSetEncoder`.
        ValueError: as in `GraphSetEncoder`.
    """

    def __init__(
        self,
        observation_space: Space[object],
        network: NetworkFactory = MeanNodeNetwork,
        features_dim: int = 64,
        hidden: Sequence[int] = HEAD_WIDTHS,
        activation: type[nn.Module] = nn.Tanh,
        graph_set: GraphSetLike | None = None,
    ) -> None:
        super().__init__()
        self.encoder = GraphSetEncoder(observation_space, network, features_dim, graph_set)
        self.scorer = GraphScorer(features_dim, hidden, activation)
        self.value = GraphSetValue(features_dim, hidden, activation)
        initialize_heads(self.scorer, self.value)

    def forward(self, observations: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Return scores and values.

        Args:
            observations: the arrays of an observation as tensors of any number type, or of many: `mask` is `(..., K)`,
                and the other keys have the same leading dimensions.

        Returns:
            `(..., K)` float32. Scores of the graphs, the logits of a policy.
            `(...)` float32. A value of each observation.

        Raises:
            ValueError: if a mask does not consist of zeros and ones.
        """
        features = self.encoder(observations)
        return self.scorer(features), self.value(features).squeeze(-1)
