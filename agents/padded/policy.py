"""A policy and its value on graph sets, as one module of plain torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gymnasium.spaces import Space
from torch import Tensor, nn

from agents.contract.protocol import GraphSetLike
from agents.padded.encoder import GraphSetEncoder, MeanNodeNetwork, NetworkFactory
from agents.padded.heads import GraphScorer, GraphSetValue, initialize_heads

HEAD_WIDTHS = (64,)


class GraphSetActorCritic(nn.Module):
    """Score each graph of an observation, and value the observation: what PPO and A2C of any library need.

    If the graphs are permuted, their scores are permuted in the same way and the value does not change. No weight
    depends on K, N or E, so `state_dict` loads into the policy of an environment with other sizes. A graph that is not
    on offer has the score -1e8, so that a categorical distribution gives it probability 0; where none is, all are 0.
    The parts can be called by themselves: `scorer` and `value` map the output of `encoder`, for any leading dimensions.

    Args:
        observation_space: observation space of an environment in `PaddedGraphSet` (of a vector environment,
            `single_observation_space`) or `GraphSetIndices`.
        network: function of d, e and `features_dim` that makes a torch module `Batch -> (num_graphs, features_dim)`.
        features_dim: number of features of the embedding of a graph.
        hidden: widths of the hidden layers of the scorer, and of those of the value.
        activation: activation between these layers.
        graph_set: for `GraphSetIndices`, the K graphs: any object with `to_pyg()`.

    Raises:
        TypeError: as `GraphSetEncoder`.
        ValueError: as `GraphSetEncoder`.
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
