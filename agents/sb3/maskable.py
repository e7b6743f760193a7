"""A policy for MaskablePPO of sb3-contrib on graph sets; the extra `sb3` installs it."""

from __future__ import annotations

from sb3_contrib.common.maskable.policies import MaskableMultiInputActorCriticPolicy

from agents.sb3.policy import ByGraphs


class GraphSetMaskablePolicy(ByGraphs, MaskableMultiInputActorCriticPolicy):
    """Play a graph as `GraphSetPolicy` does, for `sb3_contrib.MaskablePPO`; the arguments are the same.

    Plain PPO with `GraphSetPolicy` already obeys the mask in the observation; here `action_masks` can rule out more
    graphs. The two also differ in the entropy of the loss and in the buffer, which take the mask into account here.
    """
