"""Expected improvement: play the graph with the largest expected gain over the best graph so far."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from agents.beliefs.belief import Belief
from agents.beliefs.rules.rule import Memoryless

FAR = -1.0  # standardised gain below which `log_gain` uses the scaled complementary error function
RANGE = 100.0  # a graph whose log EI is farther below the largest is never played, however far that is


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
