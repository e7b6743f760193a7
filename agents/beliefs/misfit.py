"""Watch how far rewards lie from what an agent forecasts, and notice a model that is wrong."""

from __future__ import annotations

import math
from dataclasses import dataclass

from agents.contract.reading import BlindAgentWarning

FIRST = 32  # rewards after which forecasts count: before, scale and noise are learnt from too few
WIDER = 3.0  # standard deviation of the residuals of a model that is wrong
FARTHEST = 5.0  # a residual farther away counts as this far: no single one may say that a model is wrong
ENOUGH = 20.0  # log likelihood ratio


class MisfitWarning(BlindAgentWarning):
    """The rewards are not what an agent forecasts: its model is wrong."""


@dataclass
class Watch:
    """The standardised residuals z of one forecast after the other.

    S_t = max(0, S_{t-1} + log N(z_t; 0, 3^2) - log N(z_t; 0, 1)),   the model is wrong if S_t >= 20
    [Page 1954]

    A model that can refit scale and noise does so first, and S_t restarts at 0.
    """

    count: int = 0
    """Number of residuals."""
    squares: float = 0.0
    """Sum of their squares."""
    evidence: float = 0.0
    """S_t."""
    is_wrong: bool = False
    """Whether a misfit was reported."""
    mended_at: int = 0
    """Number of rewards at the last refit because of S_t; 0: there was none."""

    def add(self, residual: float) -> bool:
        """Add a residual; return whether S_t is large enough."""
        square = min(residual**2, FARTHEST**2)
        self.count, self.squares = self.count + 1, self.squares + square
        self.evidence = max(0.0, self.evidence + square * (1 - WIDER**-2) / 2 - math.log(WIDER))
        return self.evidence >= ENOUGH

    @property
    def misfit(self) -> float:
        """Return the root mean square of the residuals: 1 is expected, and `nan` if there are none."""
        return math.sqrt(self.squares / self.count) if self.count else math.nan
