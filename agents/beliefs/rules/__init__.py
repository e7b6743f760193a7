"""Acquisition rules with and without memory, each defined next to its settings.

Every rule works with every model, with one exception: a rule that remembers graphs needs a model that always ranks all
graphs of the set, and the model for molecules does not rank them all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeAlias

import torch
from torch import Tensor

from agents.beliefs.belief import AcquisitionRule, Belief, Memoryless
from agents.beliefs.choices import largest_of_draws, probability_of_largest
from agents.contract.protocol import State

FAR = -1.0  # standardised gain below which `log_gain` uses the scaled complementary error function
RANGE = 100.0  # graphs whose log EI is farther below the largest are never played, regardless of the distance

Sampling: TypeAlias = Literal["independent", "joint"]
Elimination: TypeAlias = Literal["running", "doubling"]

__all__ = [
    "AcquisitionRule",
    "CountBonus",
    "EliminationSettings",
    "EpsilonGreedy",
    "ExpectedImprovement",
    "GapSettings",
    "Greedy",
    "InverseGapWeighting",
    "JointSampling",
    "Memoryless",
    "PhasedElimination",
    "SamplingSettings",
    "ThompsonSampling",
    "UpperConfidenceBound",
]


@dataclass
class Greedy(Memoryless):
    """Play the graph with the largest mean f(G)."""

    def __call__(self, belief: Belief, action_mask: Tensor, generator: torch.Generator) -> Tensor:
        """Return the mean of each graph."""
        return belief.mean


@dataclass
class UpperConfidenceBound(Memoryless):
    """Play the graph with the largest upper bound f(G) + nu sigma(G)    [Zhou et al. 2020; Kassraie et al. 2022]."""

    def __call__(self, belief: Belief, action_mask: Tensor, generator: torch.Generator) -> Tensor:
        """Return the upper bound of each graph."""
        return belief.mean + belief.spread


@dataclass
class EpsilonGreedy(Memoryless):
    """Play a random graph with probability epsilon, otherwise the graph with the largest mean.

    Raises:
        ValueError: if `epsilon` is not a probability.
    """

    epsilon: float = 0.1
    """Probability of playing a random graph."""

    def __post_init__(self) -> None:
        if not 0 <= self.epsilon <= 1:
            raise ValueError(f"Expected `epsilon` to be between 0 and 1. Got {self.epsilon}.")

    def __call__(self, belief: Belief, action_mask: Tensor, generator: torch.Generator) -> Tensor:
        """Return the means or, with probability epsilon, zeros, so that all graphs tie."""
        explore = torch.rand((), generator=generator) < self.epsilon
        return torch.zeros_like(belief.mean) if explore else belief.mean

    def choice_probabilities(
        self, belief: Belief, action_mask: Tensor, generator: torch.Generator, draws: int
    ) -> tuple[Tensor, Tensor]:
        """Return epsilon / n + (1 - epsilon) for the largest mean, and epsilon / n for the other graphs on offer."""
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
    similar graphs similar rewards, which reduces exploration.
    """

    sampling: Sampling = "independent"
    """As in `SamplingSettings`."""

    draws_rewards: ClassVar[bool] = True

    @property
    def draws_jointly(self) -> bool:
        """Return True if the draw uses a root of the joint covariance."""
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
        """Return the probability that each draw is the largest: by quadrature if independent, otherwise from draws."""
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

    Here r* is the largest mean among the graphs played, or among all graphs before the first reward. The index is log
    EI [Ament et al. 2023], which still ranks graphs when EI itself is 0 in floating point. The best graph so far has z
    = 0, so its value depends only on its own uncertainty. Indices are clipped at `RANGE` below the largest, because the
    tolerance for ties depends on the size of the indices. A graph with a certain mean, such as one without edges for a
    graph network, would have an index of -1e24.
    """

    price_weight: ClassVar[float] = 1.0  # log EI minus log price: expected improvement per unit of cost
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
    # Near 1 the ratio loses its digits; 1 - ratio is then the asymptotic series z^-2 - 3 z^-4.
    rest = torch.where(far > -1e3, (-ratio).log1p(), (-3 / far**2).log1p() - 2 * (-far).log())
    return torch.where(z > FAR, plain, -(far**2) / 2 - math.log(2 * math.pi) / 2 + rest)


@dataclass
class CountsRounds:
    """A rule that remembers only the number of rounds."""

    rounds: int = field(default=0, init=False)

    def forget_graphs(self) -> None:
        """Do nothing: the rule counts rounds only."""

    def state_dict(self) -> State:
        """Return the number of rounds."""
        return {"rounds": self.rounds}

    def load_state_dict(self, state: State) -> None:
        """Replace the number of rounds."""
        self.rounds = state["rounds"]


@dataclass
class CountBonus(CountsRounds):
    """Add a bonus that grows with the round: mean + sqrt(2 log t) spread      [UCB1 of Auer et al. 2002]."""

    def __call__(self, belief: Belief, action_mask: Tensor, generator: torch.Generator) -> Tensor:
        """Return the upper bound of each graph, infinite for a graph without rewards."""
        self.rounds += 1
        return belief.mean + math.sqrt(2 * math.log(self.rounds + 1)) * belief.spread


@dataclass(frozen=True, kw_only=True)
class GapSettings:
    """Settings of agents that play by `InverseGapWeighting`."""

    gap_weight: float = 5.0
    """gamma_0. Gaps between predictions are multiplied by gamma_t = gamma_0 sqrt(K t) in round t, with K graphs on
    offer. Larger values reduce exploration."""


@dataclass
class InverseGapWeighting(CountsRounds):
    """Draw the graph to play, with lower probability the farther its prediction is below the best      [SquareCB].

        gamma_t = gamma_0 sqrt(K t)      [Foster & Rakhlin 2020, Algorithm 1 and Theorem 1, with t for the horizon]

    The spread of the belief is ignored: the prediction is the oracle of the paper. The index is log p plus Gumbel
    noise, so that each graph has the largest index with probability p.
    """

    gap_weight: float = 5.0
    """As in `GapSettings`."""

    price_weight: ClassVar[float] = 1.0  # the index is a log probability

    def __call__(self, belief: Belief, action_mask: Tensor, generator: torch.Generator) -> Tensor:
        """Return log p of each graph plus noise, or minus infinity for a graph that is not on offer."""
        shares, _ = self.choice_probabilities(belief, action_mask, generator)
        self.rounds += 1
        waiting = torch.empty_like(belief.mean).exponential_(generator=generator)
        return shares.log() - waiting.log()

    def choice_probabilities(
        self, belief: Belief, action_mask: Tensor, generator: torch.Generator, draws: int = 0
    ) -> tuple[Tensor, Tensor]:
        """Return the exact probability of each graph in the next round."""
        gamma = self.gap_weight * math.sqrt(int(action_mask.sum()) * (self.rounds + 1))
        shares = inverse_gap_weights(belief.mean, action_mask, gamma)
        return shares, torch.zeros_like(shares)


def inverse_gap_weights(mean: Tensor, action_mask: Tensor, gamma: float) -> Tensor:
    """Compute the probability of playing each graph.

        p_a = 1 / (K + gamma (y_b - y_a))   for a other than b,   p_b = 1 - sum_a p_a
        [Abe & Long 1999; Foster & Rakhlin 2020, Algorithm 1, with mu = K]

    Here b is the graph of the largest prediction y among the K graphs on offer.

    Args:
        mean: `(n,)` float64. y, the predicted mean rewards of all graphs.
        action_mask: `(n,)` bool. The graphs on offer, at least one.
        gamma: at least 0, per unit of the predictions. At 0 all graphs are equally likely.

    Returns:
        `(n,)` float64. Probabilities, 0 for graphs that are not on offer.
    """
    offered = mean.masked_fill(~action_mask, -torch.inf)
    best = int(offered.argmax())
    gaps = torch.where(action_mask, mean[best] - mean, 0.0)
    shares = torch.where(action_mask, 1 / (int(action_mask.sum()) + gamma * gaps), 0.0)
    shares[best] = 0.0
    shares[best] = 1 - shares.sum()
    return shares


@dataclass(frozen=True, kw_only=True)
class EliminationSettings:
    """Settings of agents that play by `PhasedElimination`."""

    elimination: Elimination = "running"
    """Drop candidates after every round, or after episodes of 1, 2, 4, ... rounds."""


@dataclass(eq=False)
class PhasedElimination:
    """Play the most uncertain of the graphs that may still be the best    [Kassraie et al. 2022, Algorithm 2].

        candidates <- {G in candidates: f(G) + nu sigma(G) >= max over candidates of f - nu sigma}

    An eliminated graph never returns while the graph set stays the same. On another set all graphs become candidates
    again, and elimination restarts in its first round. The graph with the largest lower bound is never eliminated, so
    the set cannot become empty. If no candidate is on offer, the graph with the largest upper bound is played.
    """

    elimination: Elimination = "running"
    """As in `EliminationSettings`."""

    candidates: Tensor = field(default_factory=lambda: torch.zeros(0, dtype=torch.bool), init=False)
    """`(K,)` bool, empty before the first round on a set."""
    rounds: int = field(default=0, init=False)
    eliminates: ClassVar[bool] = True

    def __call__(self, belief: Belief, action_mask: Tensor, generator: torch.Generator) -> Tensor:
        """Return the spread of the candidates, and minus infinity for the others."""
        if new_set := not len(self.candidates):
            self.candidates = torch.ones_like(action_mask)
        upper, lower = belief.mean + belief.spread, belief.mean - belief.spread
        episode_is_over = (self.rounds + 1).bit_count() == 1  # before the rounds 0, 1, 3, 7, ...
        if self.elimination == "running" or episode_is_over or new_set:
            self.candidates = self.candidates & (upper >= lower[self.candidates].max())
        self.rounds += 1
        if not (self.candidates & action_mask).any():
            return upper
        return belief.spread.where(self.candidates, -torch.inf)

    def forget_graphs(self) -> None:
        """Make all graphs of the next round candidates."""
        self.candidates = self.candidates[:0]

    def state_dict(self) -> State:
        """Return the candidates and the number of rounds."""
        return {"candidates": self.candidates.clone(), "rounds": self.rounds}

    def load_state_dict(self, state: State) -> None:
        """Replace the candidates and the number of rounds."""
        self.candidates, self.rounds = state["candidates"].clone(), state["rounds"]
