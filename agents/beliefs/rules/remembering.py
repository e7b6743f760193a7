"""Acquisition rules that remember: the number of rounds, or which graphs may still be the best."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeAlias

import torch
from torch import Tensor

from agents.beliefs.belief import Belief
from agents.contract.protocol import State

Elimination: TypeAlias = Literal["running", "doubling"]


@dataclass
class CountsRounds:
    """A rule that remembers the number of rounds, and nothing of single graphs."""

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
        """Return the upper bound of each graph; infinite if the graph has no reward yet."""
        self.rounds += 1
        return belief.mean + math.sqrt(2 * math.log(self.rounds + 1)) * belief.spread


@dataclass(frozen=True, kw_only=True)
class GapSettings:
    """Settings of agents that play by `InverseGapWeighting`."""

    gap_weight: float = 5.0
    """gamma_0; gaps between predictions weigh gamma_t = gamma_0 sqrt(K t) in round t, with K graphs on offer. A larger
    one explores less."""


@dataclass
class InverseGapWeighting(CountsRounds):
    """Draw the graph to play: the further it is predicted behind the best, the less likely      [SquareCB].

        gamma_t = gamma_0 sqrt(K t)      [Foster & Rakhlin 2020, Algorithm 1 and Theorem 1, with t for the horizon]

    The spread of the belief does not count: the prediction is the oracle of the paper. An index is log p plus noise of
    Gumbel's distribution, of which the largest belongs to each graph with probability p.
    """

    gap_weight: float = 5.0
    """As in `GapSettings`."""

    price_weight: ClassVar[float] = 1.0  # the index is a log probability

    def __call__(self, belief: Belief, action_mask: Tensor, generator: torch.Generator) -> Tensor:
        """Return log p of each graph, plus noise; minus infinity if the graph is not on offer."""
        shares, _ = self.choice_probabilities(belief, action_mask, generator)
        self.rounds += 1
        waiting = torch.empty_like(belief.mean).exponential_(generator=generator)
        return shares.log() - waiting.log()

    def choice_probabilities(
        self, belief: Belief, action_mask: Tensor, generator: torch.Generator, draws: int = 0
    ) -> tuple[Tensor, Tensor]:
        """Return the probability of each graph in the next round, which is exact."""
        gamma = self.gap_weight * math.sqrt(int(action_mask.sum()) * (self.rounds + 1))
        shares = inverse_gap_weights(belief.mean, action_mask, gamma)
        return shares, torch.zeros_like(shares)


def inverse_gap_weights(mean: Tensor, action_mask: Tensor, gamma: float) -> Tensor:
    """Compute the probability with which each graph is played.

        p_a = 1 / (K + gamma (y_b - y_a))   for a other than b,   p_b = 1 - sum_a p_a
        [Abe & Long 1999; Foster & Rakhlin 2020, Algorithm 1, with mu = K]

    Here b is the graph of the largest prediction y among the K graphs on offer.

    Args:
        mean: `(n,)` float64. y, the predicted mean rewards of all graphs.
        action_mask: `(n,)` bool. The graphs on offer, at least one.
        gamma: at least 0, per unit of the predictions; 0: all graphs are equally likely.

    Returns:
        `(n,)` float64. Probabilities; 0 where a graph is not on offer.
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
    """Play the most uncertain graph among those that may still be the best      [Kassraie et al. 2022, Algorithm 2].

        candidates <- {G in candidates: f(G) + nu sigma(G) >= max over candidates of f - nu sigma}

    An eliminated graph never returns while the graph set stays the same. On another set all graphs are candidates
    again, and its first round eliminates. The graph with the largest lower bound is never eliminated, so the set cannot
    become empty. In a round that offers no candidate, the graph with the largest upper bound is played.
    """

    elimination: Elimination = "running"
    """As in `EliminationSettings`."""

    candidates: Tensor = field(default_factory=lambda: torch.zeros(0, dtype=torch.bool), init=False)
    """`(K,)` bool; empty before the first round on a set."""
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
