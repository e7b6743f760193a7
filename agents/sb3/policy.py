"""A policy for PPO and A2C on graph sets."""

from __future__ import annotations

from typing import Any

from gymnasium.spaces import Discrete
from stable_baselines3.common.policies import MultiInputActorCriticPolicy
from stable_baselines3.common.torch_layers import MlpExtractor
from stable_baselines3.common.type_aliases import Schedule

from agents.padded import GraphSetEncoder
from agents.padded.policy import HEAD_WIDTHS, GraphScorer, GraphSetValue, initialize_heads


class ByGraphs:
    """The parts of an actor-critic policy on graph sets: a `GraphSetEncoder`, and the heads of `GraphSetActorCritic`.

    Args:
        *spaces_and_schedule: arguments of the policy of Stable-Baselines3.
        **settings: its settings.
    """

    def __init__(self, *spaces_and_schedule: Any, **settings: Any) -> None:
        settings = {"net_arch": [*HEAD_WIDTHS], "features_extractor_class": GraphSetEncoder, **settings}
        super().__init__(*spaces_and_schedule, **settings)

    def _build(self, lr_schedule: Schedule) -> None:
        policy: Any = self
        graphs, actions = policy.features_extractor.num_graphs, policy.action_space
        if not isinstance(actions, Discrete) or actions.n != graphs:
            raise ValueError(f"Expected `Discrete({graphs})`, an action for each graph. Got {actions}.")
        of_heads, activation, width = policy.net_arch, policy.activation_fn, policy.features_dim - 1  # without the mask
        widths = of_heads if isinstance(of_heads, dict) else {"pi": of_heads, "vf": of_heads}
        policy.mlp_extractor = MlpExtractor(policy.features_dim, [], activation, policy.device)  # the identity
        policy.action_net = GraphScorer(width, widths.get("pi", []), activation)
        policy.value_net = GraphSetValue(width, widths.get("vf", []), activation)
        if policy.ortho_init:
            initialize_heads(policy.action_net, policy.value_net)
        policy.optimizer = policy.optimizer_class(policy.parameters(), lr=lr_schedule(1), **policy.optimizer_kwargs)


class GraphSetPolicy(ByGraphs, MultiInputActorCriticPolicy):
    """Play a graph by the scores that shared weights give to the graphs on offer.

    If the graphs are permuted, their probabilities are permuted in the same way and the value does not change. No
    weight depends on K, N or E, so `state_dict` loads into the policy of an environment with other sizes. A graph that
    is not on offer has probability 0. The network keeps the weights from its factory. The heads start with
    orthogonal weights. Saving a model saves the graph set in its `policy_kwargs`, if it has one. To `load` a model for
    another set, pass new `policy_kwargs` as `custom_objects`.

    Args:
        observation_space: observation space of `PaddedGraphSet` or `GraphSetIndices`.
        action_space: `Discrete(K)`.
        lr_schedule: learning rate as a function of the remaining progress, from 1 to 0.
        net_arch: widths of the hidden layers of the scorer (`pi`) and of the value (`vf`), or of both; default `[64]`.
        features_extractor_kwargs: arguments of `agents.padded.GraphSetEncoder`, which embeds the graphs.
        **settings: settings of `ActorCriticPolicy`.

    Raises:
        TypeError: as in `GraphSetEncoder`.
        ValueError: as in `GraphSetEncoder`, or if there is not one action for each graph.
    """
