"""Phased elimination: play the most uncertain of the graphs that may still be the best."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeAlias

import torch
from torch import Tensor

from agents.beliefs.belief import Belief
from agents.contract.protocol import State

Elimination: TypeAlias = Literal["running", "doubling"]


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

    candidates: Tensor | None = field(default=None, init=False)
    rounds: int = field(default=0, init=False)
    eliminates: ClassVar[bool] = True

    def __call__(self, belief: Belief, action_mask: Tensor, generator: torch.Generator) -> Tensor:
        """Return the spread of the candidates, and minus infinity for the others."""
        new_set = self.candidates is None or len(self.candidates) == 0
        if self.candidates is None or new_set:
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
        self.candidates = None if self.candidates is None else self.candidates[:0]

    def state_dict(self) -> State:
        """Return the candidates and the number of rounds."""
        return {"candidates": None if self.candidates is None else self.candidates.clone(), "rounds": self.rounds}

    def load_state_dict(self, state: State) -> None:
        """Replace the candidates and the number of rounds."""
        self.candidates = None if state["candidates"] is None else state["candidates"].clone()
        self.rounds = state["rounds"]
