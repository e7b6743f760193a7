"""A policy for MaskablePPO of sb3-contrib on graph sets; the extra `sb3` installs it."""

from __future__ import annotations

from sb3_contrib.common.maskable.policies import MaskableMultiInputActorCriticPolicy
from stable_baselines3.common.type_aliases import Schedule

from agents.sb3.policy import ByGraphs, build_heads


class GraphSetMaskablePolicy(ByGraphs, MaskableMultiInputActorCriticPolicy):
    """Play a graph as `GraphSetPolicy` does, for `sb3_contrib.MaskablePPO`.

    Plain PPO with `GraphSetPolicy` already obeys the mask in the observation; here `action_masks` can rule out more
    graphs. The two also differ in the entropy of the loss and in the buffer, which take the mask into account here.

    Args:
        observation_space: observation space of `PaddedGraphSet` or `GraphSetIndices`.
        action_space: `Discrete(K)`.
        lr_schedule: learning rate as a function of the remaining progress, from 1 to 0.
        net_arch: widths of the hidden layers of the scorer (`pi`) and of the value (`vf`), or of both; default `[64]`.
        features_extractor_class: `GraphSetExtractor`, or a class with the same output.
        **settings: settings of `MaskableActorCriticPolicy`.

    Raises:
        TypeError: as `GraphSetPolicy`.
        ValueError: as `GraphSetPolicy`.
    """

    def _build(self, lr_schedule: Schedule) -> None:
        build_heads(self, lr_schedule)
