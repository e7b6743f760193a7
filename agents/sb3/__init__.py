"""Policies for Stable-Baselines3 that choose among the graphs of an observation.

They are made of the networks of `agents.padded`. Only `GraphSetMaskablePolicy` needs sb3-contrib, which the extra `sb3`
installs.
"""

from typing import TYPE_CHECKING, Any

from agents.sb3.dqn import GraphSetDQN
from agents.sb3.extractor import GraphSetExtractor
from agents.sb3.policy import GraphSetPolicy
from agents.sb3.q_policy import GraphSetDQNPolicy
from agents.sb3.vec_env import SB3VecEnv

if TYPE_CHECKING:
    from agents.sb3.maskable import GraphSetMaskablePolicy

__all__ = [
    "GraphSetDQN",
    "GraphSetDQNPolicy",
    "GraphSetExtractor",
    "GraphSetMaskablePolicy",
    "GraphSetPolicy",
    "SB3VecEnv",
]


def __getattr__(name: str) -> Any:
    if name == "GraphSetMaskablePolicy":
        try:
            from agents.sb3.maskable import GraphSetMaskablePolicy
        except ModuleNotFoundError as error:
            if (error.name or "").split(".")[0] != "sb3_contrib":
                raise
            raise ImportError(
                "Expected sb3-contrib for `GraphSetMaskablePolicy`. Install it with pip install "
                "'graph-bandit-env[sb3]', or use `GraphSetPolicy`, which also obeys the mask."
            ) from error
        return GraphSetMaskablePolicy
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
