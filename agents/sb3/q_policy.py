"""The Q-function of DQN on graph sets."""

from __future__ import annotations

from gymnasium.spaces import Discrete
from stable_baselines3.common.policies import BasePolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.dqn.policies import DQNPolicy, QNetwork
from torch import nn

from agents.padded.heads import GraphScorer
from agents.padded.policy import HEAD_WIDTHS
from agents.sb3.policy import ByGraphs, check_actions
from agents.sb3.types import AnySpace


class GraphSetQNetwork(QNetwork):
    """Q of each graph: the scorer of `GraphSetPolicy`, with -1e8 for a graph that is not on offer.

    Neither the greedy choice nor the maximum in the target can then be such a graph. If no graph is on offer, all Q are
    0.

    Args:
        observation_space: observation space of `PaddedGraphSet` or `GraphSetIndices`.
        action_space: `Discrete(K)`.
        features_extractor: a `GraphSetExtractor`.
        features_dim: number of its features for each graph, including the mask.
        net_arch: widths of the hidden layers.
        activation_fn: activation between the layers.
        normalize_images: not used, because there are no images.

    Raises:
        ValueError: if there is not one action for each graph.
    """

    def __init__(
        self,
        observation_space: AnySpace,
        action_space: Discrete,
        features_extractor: BaseFeaturesExtractor,
        features_dim: int,
        net_arch: list[int] | None = None,
        activation_fn: type[nn.Module] = nn.ReLU,
        normalize_images: bool = True,
    ) -> None:
        check_actions(action_space, features_extractor)
        # QNetwork.__init__ would draw weights for K outputs, and all weights drawn later would depend on K.
        BasePolicy.__init__(
            self,
            observation_space,
            action_space,
            features_extractor=features_extractor,
            normalize_images=normalize_images,
        )
        self.net_arch = list(HEAD_WIDTHS) if net_arch is None else net_arch
        self.activation_fn, self.features_dim = activation_fn, features_dim
        self.q_net = GraphScorer(features_dim - 1, self.net_arch, activation_fn)  # type: ignore[assignment]


class GraphSetDQNPolicy(ByGraphs, DQNPolicy):
    """Play the graph of largest Q, for `GraphSetDQN`; symmetries and sizes are as in `GraphSetPolicy`.

    Args:
        observation_space: observation space of `PaddedGraphSet` or `GraphSetIndices`.
        action_space: `Discrete(K)`.
        lr_schedule: learning rate as a function of the remaining progress, from 1 to 0.
        net_arch: widths of the hidden layers of the scorer; default `[64]`.
        features_extractor_class: `GraphSetExtractor`, or a class with the same output.
        **settings: settings of `DQNPolicy`; `features_extractor_kwargs` holds the arguments of `GraphSetExtractor`.

    Raises:
        TypeError: as `GraphSetPolicy`.
        ValueError: as `GraphSetPolicy`.
    """

    def make_q_net(self) -> GraphSetQNetwork:
        """Make a Q-function with its own extractor."""
        settings = self._update_features_extractor(self.net_args, features_extractor=None)
        return GraphSetQNetwork(**settings).to(self.device)
