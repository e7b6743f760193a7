"""What the mean reward of each graph differs by from what a model says of it: a part that is each graph's own."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from agents.beliefs.rewards import History, Targets

PRIOR_NOISE, PRIOR_ROUNDS = 0.1, 2.0  # noise variance before any replicate, and the rewards that it is worth


@dataclass(frozen=True, eq=False)
class Residual:
    """The posterior of delta, independent between graphs, given the values f of a model.

        y = f(G) + delta_G + e,   delta_G ~ N(0, s),   e ~ N(0, n)
        E delta_G = g (ybar_G - f(G)),   Var delta_G = (1 - g) s,   g = t_G s / (t_G s + n)

    t_G are the rewards of G and ybar_G is their mean. The noise n is that within graphs, and `PRIOR_NOISE` before any
    graph has been played twice.
    """

    history: History
    """The rewards."""
    targets: Targets
    """The scale on which they are modelled."""
    variance: float
    """s, in squared units of the targets; 0: there is no such part."""

    def mean(self, values: Tensor) -> Tensor:
        """Return E delta of each slot, `(K,)` float64, given f `(K,)`."""
        history = self.history
        gain = 1 - self.spread(history.counts).square() / self.variance if self.variance else 0.0
        shift = gain * (self.targets.of(history.means) - values.double())
        return torch.where(history.counts > 0, shift, 0.0)

    def spread(self, counts: Tensor) -> Tensor:
        """Return the standard deviation of delta after `counts` `(K,)` rewards of each slot, `(K,)` float64."""
        return (self.variance / (1 + counts.double() * (self.variance / self.noise))).sqrt()

    @property
    def noise(self) -> float:
        """Return n, pooled over the graphs."""
        history = self.history
        replicates = history.rounds - len(history.seen)
        within = history.squares.sum().item() / self.targets.unit**2
        return (within + PRIOR_ROUNDS * PRIOR_NOISE) / (replicates + PRIOR_ROUNDS)
