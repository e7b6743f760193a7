"""Policies for Stable-Baselines3 that choose among the graphs of an observation.

They are made of the networks of `agents.padded`. Only `GraphSetMaskablePolicy` needs sb3-contrib, which the extra `sb3`
installs.
"""

from typing import TYPE_CHECKING, Any

from agents.sb3.policy import GraphSetPolicy

if TYPE_CHECKING:
    from agents.sb3.maskable import GraphSetMaskablePolicy

__all__ = ["GraphSetMaskablePolicy", "GraphSetPolicy"]


def __getattr__(name: str) -> Any:
    if name == "GraphSetMaskablePolicy":
        from agents.sb3.maskable import GraphSetMaskablePolicy

        return GraphSetMaskablePolicy
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
