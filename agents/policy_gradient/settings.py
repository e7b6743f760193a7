"""Settings of the agent `sb3-ppo`."""

from __future__ import annotations

from dataclasses import dataclass

from agents.contract.settings import check_fields


@dataclass(frozen=True, kw_only=True)
class PPOSettings:
    """Settings of `sb3-ppo`: Proximal Policy Optimization of Stable-Baselines3 on the agent's own rounds.

    Raises:
        ValueError: if a field is out of its range.
    """

    rollout: int = 8
    """Rounds between two updates of the policy; each update learns from these rounds only. At least 2."""
    epochs: int = 10
    """Passes over the rounds of an update."""
    batch_size: int = 8
    """Rounds in a step of the optimizer; at least 2."""
    learning_rate: float = 0.01
    """Of Adam."""
    clip_range: float = 0.2
    """By how much an update may change the probability of what was played, relatively."""
    entropy_weight: float = 0.0
    """Weight of the policy's entropy in the objective: what keeps it from settling."""
    value_weight: float = 0.5
    """Weight of the squared error of the value, which is the mean reward of the policy."""
    max_grad_norm: float = 0.5
    """Longer gradients are shortened to this."""
    embedding: int = 64
    """Features of the embedding of a graph."""

    def __post_init__(self) -> None:
        check_fields(self)
        for name in ("rollout", "batch_size"):
            if getattr(self, name) < 2:
                raise ValueError(f"Expected `{name}` to be an integer >= 2. Got {getattr(self, name)}.")
