"""Acquisition rules: from belief to the index whose largest entry is played. One class a rule, for every family."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Belief:
    """What an agent believes of the mean rewards of the K graphs, in the units of its targets; all float64.

    Attributes:
        mean: `(K,)`. f(G).
        spread: `(K,)`. nu sigma(G), a standard deviation.
        root: returns R, `(K, r)`, where R R^T is nu^2 times the joint covariance of the graphs. Only a rule that calls
            it pays for it.
    """

    mean: Tensor
    spread: Tensor
    root: Callable[[], Tensor]


class AcquisitionRule(Protocol):
    """A rule, made anew at each `reset`. One that remembers says what in `state_dict`; the others return {}."""

    def __call__(self, belief: Belief, action_mask: Tensor, generator: torch.Generator) -> Tensor:
        """Return the index of each graph.

        Args:
            belief: about the K graphs.
            action_mask: `(K,)` bool. Graphs of this round.
            generator: of all the agent's randomness.

        Returns:
            `(K,)` float64, no NaN: the largest among the allowed graphs is played, ties at random.
        """

    def state_dict(self) -> dict[str, Any]:
        """Return what the rule remembers."""

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Replace what the rule remembers."""


class Memoryless:
    """Nothing to remember."""

    def state_dict(self) -> dict[str, Any]:
        """Return nothing."""
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Replace nothing."""


class ThompsonSampling(Memoryless):
    """Draw a reward for each graph from the posterior.

    r_hat(G) ~ N(f(G; theta_{t-1}), nu^2 sigma_t^2(G))      [Wu & Amini 2024, Eq. (4)]

    independently for each graph, as in the paper, or jointly: r_hat = f + R z. A joint draw agrees with itself on
    graphs that share most of their kernel, and explores less.
    """

    draws_rewards = True  # what it returns are rewards, r_hat

    def __init__(self, sampling: Literal["independent", "joint"] = "independent") -> None:
        self.sampling = sampling

    def __call__(self, belief: Belief, action_mask: Tensor, generator: torch.Generator) -> Tensor:
        """Return r_hat of each graph."""
        if self.sampling == "independent":
            return torch.normal(belief.mean, belief.spread, generator=generator)
        root = belief.root()
        return belief.mean + root @ torch.randn(root.shape[1], generator=generator, dtype=root.dtype)


class UpperConfidenceBound(Memoryless):
    """Be optimistic: f(G) + nu sigma(G)      [Zhou et al. 2020; Kassraie et al. 2022]."""

    def __call__(self, belief: Belief, action_mask: Tensor, generator: torch.Generator) -> Tensor:
        """Return the upper bound of each graph."""
        return belief.mean + belief.spread


class Greedy(Memoryless):
    """Trust the mean: f(G)."""

    def __call__(self, belief: Belief, action_mask: Tensor, generator: torch.Generator) -> Tensor:
        """Return the mean of each graph."""
        return belief.mean


class EpsilonGreedy(Memoryless):
    """Play any graph with probability epsilon, else trust the mean."""

    def __init__(self, epsilon: float) -> None:
        self.epsilon = epsilon

    def __call__(self, belief: Belief, action_mask: Tensor, generator: torch.Generator) -> Tensor:
        """Return the means, or now and then nothing but ties."""
        explore = torch.rand((), generator=generator) < self.epsilon
        return torch.zeros_like(belief.mean) if explore else belief.mean


class PhasedElimination:
    """Play the most uncertain graph among those that may still be the best      [Kassraie et al. 2022, Algorithm 2].

        candidates <- {G in candidates: f(G) + nu sigma(G) >= max over candidates of f - nu sigma}

    An eliminated graph stays out. The graph with the best lower bound always stays in, so that the set cannot become
    empty. Where a round offers no candidate, its best upper bound is played.

    Args:
        elimination: "running": after every round; "doubling": after episodes of 1, 2, 4, ... rounds, as Kassraie et al.
    """

    def __init__(self, elimination: Literal["running", "doubling"] = "running") -> None:
        self.elimination = elimination
        self.candidates: Tensor | None = None
        self.rounds = 0

    def __call__(self, belief: Belief, action_mask: Tensor, generator: torch.Generator) -> Tensor:
        """Return the spread of the candidates, and minus infinity of the others."""
        if self.candidates is None:
            self.candidates = torch.ones_like(action_mask)
        upper, lower = belief.mean + belief.spread, belief.mean - belief.spread
        episode_is_over = (self.rounds + 1).bit_count() == 1  # before the rounds 0, 1, 3, 7, ...
        if self.elimination == "running" or episode_is_over:
            self.candidates = self.candidates & (upper >= lower[self.candidates].max())
        self.rounds += 1
        if not (self.candidates & action_mask).any():
            return upper
        return belief.spread.where(self.candidates, -torch.inf)

    def state_dict(self) -> dict[str, Any]:
        """Return the candidates and the number of rounds."""
        return {"candidates": None if self.candidates is None else self.candidates.clone(), "rounds": self.rounds}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Replace the candidates and the number of rounds."""
        self.candidates = None if state["candidates"] is None else state["candidates"].clone()
        self.rounds = state["rounds"]
