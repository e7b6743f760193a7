"""Thompson sampling: play the graph with the largest reward drawn from the posterior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

import torch
from torch import Tensor

from agents.beliefs.belief import Belief
from agents.beliefs.choices.largest import largest_of_draws, probability_of_largest
from agents.beliefs.rules.rule import Memoryless

Sampling: TypeAlias = Literal["independent", "joint"]


@dataclass(frozen=True, kw_only=True)
class SamplingSettings:
    """Settings of agents that play by `ThompsonSampling`."""

    sampling: Sampling = "independent"
    """Draw the rewards of the graphs independently (the paper), or from their joint posterior."""


@dataclass(frozen=True, kw_only=True)
class JointSampling(SamplingSettings):
    """Settings of agents whose draws are joint by default."""

    sampling: Sampling = "joint"


@dataclass
class ThompsonSampling(Memoryless):
    """Draw a reward for each graph from the posterior.

        r_hat(G) ~ N(f(G; theta_{t-1}), nu^2 sigma_t^2(G))      [Wu & Amini 2024, Eq. (4)]

    Rewards are drawn independently for each graph, as in the paper, or jointly: r_hat = f + R z. A joint draw gives
    similar graphs similar rewards, and explores less.
    """

    sampling: Sampling = "independent"
    """As in `SamplingSettings`."""

    draws_rewards: ClassVar[bool] = True

    @property
    def draws_jointly(self) -> bool:
        """Return whether the draw uses a root of the joint covariance."""
        return self.sampling == "joint"

    @property
    def algorithm(self) -> int:
        """Return 2 for joint draws, which use the symmetric root of the covariance."""
        return 2 if self.draws_jointly else 1

    def __call__(self, belief: Belief, action_mask: Tensor, generator: torch.Generator) -> Tensor:
        """Return r_hat of each graph."""
        if self.sampling == "independent":
            return torch.normal(belief.mean, belief.spread, generator=generator)
        return belief.mean + belief.deviation(generator)

    def choice_probabilities(
        self, belief: Belief, action_mask: Tensor, generator: torch.Generator, draws: int
    ) -> tuple[Tensor, Tensor]:
        """Return how likely the draw of each graph is the largest: by quadrature if independent, else from draws."""
        if self.sampling == "independent":
            values = torch.zeros_like(belief.mean)
            values[action_mask] = probability_of_largest(belief.mean[action_mask], belief.spread[action_mask])
            return values, torch.zeros_like(values)
        root = belief.joint_root()
        normal = torch.randn(draws, root.shape[1], generator=generator, dtype=root.dtype)
        return largest_of_draws(belief.mean + normal @ root.T, action_mask)
