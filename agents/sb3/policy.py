"""A policy for PPO and A2C on graph sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gymnasium.spaces import Discrete
from stable_baselines3.common.policies import MultiInputActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor, MlpExtractor
from stable_baselines3.common.type_aliases import Schedule

from agents.padded.heads import GraphScorer, GraphSetValue, initialize_heads
from agents.padded.policy import HEAD_WIDTHS
from agents.sb3.extractor import GraphSetExtractor
from agents.sb3.types import AnySpace

if TYPE_CHECKING:
    from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy

    ActorCritic = MultiInputActorCriticPolicy | MaskableActorCriticPolicy

Widths = list[int] | dict[str, list[int]]


class ByGraphs:
    """Defaults of every policy on graph sets: one hidden layer of 64 units, behind a `GraphSetExtractor`."""

    def __init__(
        self,
        observation_space: AnySpace,
        action_space: AnySpace,
        lr_schedule: Schedule,
        net_arch: Widths | None = None,
        features_extractor_class: type[BaseFeaturesExtractor] = GraphSetExtractor,
        **settings: Any,
    ) -> None:
        super().__init__(
            observation_space,  # type: ignore[call-arg]
            action_space,
            lr_schedule,
            net_arch=list(HEAD_WIDTHS) if net_arch is None else net_arch,
            features_extractor_class=features_extractor_class,
            **settings,
        )


class GraphSetPolicy(ByGraphs, MultiInputActorCriticPolicy):
    """Play a graph by the scores that shared weights give to the graphs on offer.

    If the graphs are permuted, their probabilities are permuted in the same way and the value does not change. No
    weight depends on K, N or E, so `state_dict` loads into the policy of an environment with other sizes. A graph that
    is not on offer has probability 0. The network keeps the weights that its factory gave it; the heads start with
    orthogonal weights.

    Args:
        observation_space: observation space of `PaddedGraphSet` or `GraphSetIndices`.
        action_space: `Discrete(K)`.
        lr_schedule: learning rate as a function of the remaining progress, from 1 to 0.
        net_arch: widths of the hidden layers of the scorer (`pi`) and of the value (`vf`), or of both; default `[64]`.
        features_extractor_class: `GraphSetExtractor`, or a class with the same output.
        **settings: settings of `ActorCriticPolicy`; `features_extractor_kwargs` holds the arguments of
            `GraphSetExtractor`.

    Raises:
        TypeError: as `GraphSetExtractor`.
        ValueError: as `GraphSetExtractor`; also if there is not one action for each graph.
    """

    def _build(self, lr_schedule: Schedule) -> None:
        build_heads(self, lr_schedule)


def build_heads(policy: ActorCritic, lr_schedule: Schedule) -> None:
    """Give an actor-critic policy that already has its extractor the heads, and the optimizer of all its weights.

    Raises:
        ValueError: if there is not one action for each graph.
    """
    check_actions(policy.action_space, policy.features_extractor)
    widths = policy.net_arch if isinstance(policy.net_arch, dict) else {"pi": policy.net_arch, "vf": policy.net_arch}
    width = policy.features_dim - 1  # the last channel is the mask
    policy.mlp_extractor = MlpExtractor(policy.features_dim, [], policy.activation_fn, policy.device)  # the identity
    scorer = GraphScorer(width, widths.get("pi", []), policy.activation_fn)
    value = GraphSetValue(width, widths.get("vf", []), policy.activation_fn)
    if policy.ortho_init:
        initialize_heads(scorer, value)
    policy.action_net = scorer
    policy.value_net = value  # type: ignore[assignment]
    make_optimizer: Any = policy.optimizer_class
    policy.optimizer = make_optimizer(policy.parameters(), lr=lr_schedule(1), **policy.optimizer_kwargs)


def check_actions(action_space: AnySpace, extractor: BaseFeaturesExtractor) -> None:
    """Refuse an action space that does not have one action for each graph.

    Raises:
        ValueError: if it is not `Discrete(K)`.
    """
    graphs = getattr(extractor, "num_graphs", None)
    if not isinstance(action_space, Discrete) or (graphs is not None and action_space.n != graphs):
        raise ValueError(f"Expected `Discrete({graphs})`, an action for each graph. Got {action_space}.")
