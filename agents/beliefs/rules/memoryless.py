"""Acquisition rules that remember nothing: the largest mean, upper bound, draw or expected gain; and random plays."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

import torch
from torch import Tensor

from agents.beliefs.belief import Belief
from agents.beliefs.choices import largest_of_draws, probability_of_largest
from agents.beliefs.rules.rule import Memoryless

FAR = -1.0  # standardised gain below which `log_gain` uses the scaled complementary error function
RANGE = 100.0  # a graph whose log EI is farther below the largest is never played, however far that is

Sampling: TypeAlias = Literal["independent", "joint"]


@dataclass
class Greedy(Memoryless):
    """Play the graph of largest mean f(G)."""

    def __call__(self, belief: Belief, action_mask: Tensor, generator: torch.Generator) -> Tensor:
        """Return the mean of each graph."""
        return belief.mean


@dataclass
class UpperConfidenceBound(Memoryless):
    """Play the largest upper bound: f(G) + nu sigma(G)      [Zhou et al. 2020; Kassraie et al. 2022]."""

    def __call__(self, belief: Belief, action_mask: Tensor, generator: torch.Generator) -> Tensor:
        """Return the upper bound of each graph."""
        return belief.mean + belief.spread


@dataclass
class EpsilonGreedy(Memoryless):
    """Play a random graph with probability epsilon, else the graph of largest mean.

    Raises:
        ValueError: if `epsilon` is not a probability.
    """

    epsilon: float = 0.1
    """Probability of playing a random graph."""

    def __post_init__(self) -> None:
        if not 0 <= self.epsilon <= 1:
            raise ValueError(f"Expected `epsilon` to be between 0 and 1. Got {self.epsilon}.")

    def __call__(self, belief: Belief, action_mask: Tensor, generator: torch.Generator) -> Tensor:
        """Return the means; with probability epsilon, zeros, so that all graphs tie."""
        explore = torch.rand((), generator=generator) < self.epsilon
        return torch.zeros_like(belief.mean) if explore else belief.mean

    def choice_probabilities(
        self, belief: Belief, action_mask: Tensor, generator: torch.Generator, draws: int
    ) -> tuple[Tensor, Tensor]:
        """Return epsilon / n + (1 - epsilon) where the mean is largest, and epsilon / n for the others on offer."""
        best, _ = largest_of_draws(belief.mean.unsqueeze(0), action_mask)
        values = self.epsilon * action_mask.double() / action_mask.sum() + (1 - self.epsilon) * best
        return values, torch.zeros_like(values)


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


@dataclass
class ExpectedImprovement(Memoryless):
    """Play the graph with the largest expected gain over the best graph played so far      [Jones et al. 1998].

        EI(G) = E max(r - r*, 0) = spread (phi(z) + z Phi(z)),   z = (mean - r*) / spread,   r ~ N(mean, spread^2)

    Here r* is the largest mean among the graphs played; before the first reward, among all graphs. The index is log EI
    [Ament et al. 2023], which still ranks graphs when EI itself is 0 in floating point. The best graph so far has
    z = 0, so its value depends on its own uncertainty alone. No index is farther below the largest than `RANGE`: what
    counts as a tie depends on the size of the indices, and a graph whose mean is certain, such as one without edges for
    a graph network, has one of -1e24.
    """

    price_weight: ClassVar[float] = 1.0  # log EI less log price: expected improvement for the money
    algorithm: ClassVar[int] = 3

    def __call__(self, belief: Belief, action_mask: Tensor, generator: torch.Generator) -> Tensor:
        """Return log EI of each graph."""
        best = belief.mean.max().item() if belief.best is None else belief.best
        spread = belief.spread.clamp(min=1e-12)
        index = log_gain((belief.mean - best) / spread) + spread.log()
        return index.clamp(min=index[action_mask].max().item() - RANGE)


def log_gain(z: Tensor) -> Tensor:
    """Compute log(phi(z) + z Phi(z)) without cancellation.

        phi(z) + z Phi(z) = phi(z) (1 - |z| sqrt(pi / 2) erfcx(|z| / sqrt(2)))   for z < 0

    Args:
        z: float64 of any shape, finite.

    Returns:
        Float64 of the same shape. Falls as -z^2 / 2 - 2 log|z| for z far below 0.
    """
    near = z.clamp(min=FAR)
    density = torch.exp(-(near**2) / 2) / math.sqrt(2 * math.pi)
    plain = (density + near * torch.special.ndtr(near)).log()
    far = z.clamp(max=FAR)
    ratio = -far * math.sqrt(math.pi / 2) * torch.special.erfcx(-far / math.sqrt(2))
    # Near 1 the ratio has lost its digits; 1 - ratio is then the asymptotic series z^-2 - 3 z^-4.
    rest = torch.where(far > -1e3, (-ratio).log1p(), (-3 / far**2).log1p() - 2 * (-far).log())
    return torch.where(z > FAR, plain, -(far**2) / 2 - math.log(2 * math.pi) / 2 + rest)
