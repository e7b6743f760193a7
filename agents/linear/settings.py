"""Settings of the linear agents."""

from __future__ import annotations

from dataclasses import dataclass

from agents.contract.settings import check_fields


@dataclass(frozen=True, kw_only=True)
class LinearSettings:
    """Settings of Bayesian linear regression on features of graphs."""

    exploration_scale: float = 1.0
    """nu, multiplies sigma."""
    output_scale: float | None = None
    """Prior variance of a weight, in squared units of the targets; None: by marginal likelihood, as the noise."""
    noise_variance: float | None = None
    """Noise variance of the rewards, in their squared units; None: by marginal likelihood, at rounds 1, 2, 4, ..."""
    forget: int | float | None = None
    """What is forgotten of earlier rewards, where mean rewards drift. None: nothing; an integer W: all but the last W;
    a number gamma below 1: the reward told d rewards ago counts gamma^d, and all in sum at most 1 / (1 - gamma)."""

    def __post_init__(self) -> None:
        check_fields(self)
        for name in ("output_scale", "noise_variance"):
            if getattr(self, name) == 0:
                raise ValueError(f"Expected `{name}` to be positive or None. Got 0.")
