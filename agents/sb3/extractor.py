"""The features of Stable-Baselines3: the embeddings of graphs."""

from __future__ import annotations

from stable_baselines3.common.torch_layers import BaseFeaturesExtractor

from agents.contract.protocol import GraphSetLike
from agents.padded.encoder import GraphSetEncoder, MeanNodeNetwork, NetworkFactory
from agents.sb3.types import AnySpace


class GraphSetExtractor(GraphSetEncoder, BaseFeaturesExtractor):
    """Embed each graph on offer with one network, as `agents.padded.GraphSetEncoder` does.

    Observations of `PaddedGraphSet` contain their graphs; for those of `GraphSetIndices`, the extractor holds the graph
    set. Saving a model saves the set in its `policy_kwargs`. To `load` a model for another set, pass new
    `policy_kwargs` as `custom_objects`.

    Args:
        observation_space: observation space of an environment in `PaddedGraphSet` or `GraphSetIndices`.
        network: function of d, e and `features_dim` that makes a torch module `Batch -> (num_graphs, features_dim)`.
        features_dim: number of features of the embedding of a graph. Those of Stable-Baselines3 are one more, the mask.
        graph_set: for `GraphSetIndices`, the K graphs: any object with `to_pyg()`, such as `env.unwrapped.graph_set`.

    Raises:
        TypeError: as `GraphSetEncoder`.
        ValueError: as `GraphSetEncoder`.
    """

    def __init__(
        self,
        observation_space: AnySpace,
        network: NetworkFactory = MeanNodeNetwork,
        features_dim: int = 64,
        graph_set: GraphSetLike | None = None,
    ) -> None:
        BaseFeaturesExtractor.__init__(self, observation_space, features_dim + 1)
        self.build(observation_space, network, features_dim, graph_set)
