"""Ratings of graphs by a posterior, one by one and jointly, in units of the targets and of the rewards."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from agents.beliefs.rewards import Targets, predict
from agents.beliefs.rules import PRICE_WEIGHT
from agents.contract.protocol import Prediction
from gntk import one_thread, symmetric_root

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Rating:
    """What a posterior says of n graphs, in units of the targets."""

    mean: Floats
    """`(n,)`. Posterior means."""
    std: Floats
    """`(n,)`. Posterior standard deviations, without noise."""
    targets: Targets
    """The scale on which values are modelled."""
    noise: float
    """Noise variance of one more result, in squared units of the targets."""

    @property
    def upper(self) -> Floats:
        """Return mean + 2 sigma `(n,)`, by which the agents choose their short list."""
        return self.mean + 2 * self.std

    def index(self, prices: Floats | None = None) -> Floats:
        """Return by what the short list is chosen, `(n,)`: `upper` less w log price, where there are prices.

        Args:
            prices: `(n,)`, positive; NaN where a price is not known. None: they do not count.
        """
        return self.upper if prices is None else self.upper - PRICE_WEIGHT * np.log(prices)

    def exceeds(self, value: float) -> Floats:
        """Return the probability that one more result of each graph exceeds a value, `(n,)`; as in `prediction`.

        Args:
            value: in reward units.
        """
        spread = torch.from_numpy(np.sqrt(self.std**2 + self.noise))
        return self.targets.exceeded(value, torch.from_numpy(self.mean), spread).numpy()

    @cached_property
    def prediction(self) -> Prediction:
        """Return the prediction of each value, as `predict` of an agent returns it."""
        return predict(self.targets, torch.from_numpy(self.mean), torch.from_numpy(self.std), self.noise)


@dataclass(frozen=True, eq=False)
class JointRating:
    """What a posterior says of n graphs jointly, in units of the targets."""

    mean: Tensor
    """`(n,)` float64. Posterior means."""
    covariance: Tensor
    """`(n, n)` float64. Posterior covariance, without noise."""
    targets: Targets
    """The scale on which values are modelled."""

    def covariance_of_rewards(self) -> Floats:
        """Return the joint covariance of the mean rewards, `(n, n)`, in squared reward units."""
        return self.targets.covariance(self.mean, self.covariance).numpy()

    @one_thread()
    def draw_rewards(self, count: int, generator: torch.Generator) -> Floats:
        """Return joint draws of the mean rewards, `(count, n)`, in reward units."""
        normal = torch.randn(count, len(self.mean), generator=generator, dtype=torch.float64)
        return self.targets.to_rewards(self.mean + normal @ symmetric_root(self.covariance).T).numpy()
