"""The record of one round of an episode."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundRecord:
    """One round of an episode, as `run_bandit` hands it to `on_round`. Agents never see it."""

    seed: int
    """Seed of the episode."""
    round: int
    """t, which begins at 1."""
    action: int
    """The graph played."""
    reward: float
    """y_t, the reward observed."""
    mean_reward: float | None
    """mu(G_t), noise-free; None where it is not known."""
    regret: float
    """mu(G*_t) - mu(G_t)."""
    cumulative_regret: float
    """R_t, the sum of the regret so far."""
    best_found: float | None
    """The largest mu of the graphs played so far; None where the graphs change from round to round."""
