"""Settings of the agent `sb3-ppo`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from agents.contract.settings import Must, check_fields

Several = Annotated[int, Must(lambda count: count >= 2, "an integer >= 2")]


@dataclass(frozen=True, kw_only=True)
class PPOSettings:
    """Settings of `sb3-ppo`: Proximal Policy Optimization of Stable-Baselines3 on the agent's own rounds.

    Raises:
        ValueError: if a field is out of its range.
    """

    rollout: Several = 8
    """Rounds between two updates of the policy; an update learns only from these rounds. At least 2."""
    epochs: int = 10
    """Passes over the rounds of an update."""
    batch_size: Several = 8
    """Rounds in a step of the optimizer; at least 2."""
    learning_rate: float = 0.01
    """Learning rate of Adam."""
    clip_range: float = 0.2
    """Largest relative change of the probability of a played graph in an update."""
    entropy_weight: float = 0.0
    """Weight of the policy's entropy in the objective; more of it keeps the policy exploring."""
    value_weight: float = 0.5
    """Weight of the squared error of the value, which predicts the mean reward of the policy."""
    max_grad_norm: float = 0.5
    """Largest norm of a gradient; longer ones are shortened to it."""
    embedding: int = 64
    """Number of features of the embedding of a graph."""

    def __post_init__(self) -> None:
        check_fields(self)
