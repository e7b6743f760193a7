"""A policy on graph sets for MaskablePPO of sb3-contrib, which the extra `sb3` installs."""

from __future__ import annotations

from sb3_contrib.common.maskable.policies import MaskableMultiInputActorCriticPolicy

from agents.sb3.policy import ByGraphs


class GraphSetMaskablePolicy(ByGraphs, MaskableMultiInputActorCriticPolicy):
    """Play a graph as `GraphSetPolicy` does, for `sb3_contrib.MaskablePPO` and with the same arguments.

    Plain PPO with `GraphSetPolicy` already obeys the mask in the observation. Here `action_masks` can exclude more
    graphs. Unlike plain PPO, the entropy of the loss and the buffer take the mask into account.
    """
