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

    def __post_init__(self) -> None:
        check_fields(self)
        for name in ("output_scale", "noise_variance"):
            if getattr(self, name) == 0:
                raise ValueError(f"Expected `{name}` to be positive or None. Got 0.")
