"""Bayesian linear regression from sums over rounds, which take no more memory or time as rounds go on."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from agents.beliefs.rewards.history import SMALLEST_SCALE
from agents.beliefs.rewards.likelihood import MarginalLikelihood
from gntk import symmetric_root

FLAT = 100.0  # prior variance of the constant, in units of that of a weight
SMALLEST = 1e-12  # eigenvalues and variances below it, relative to the largest, are rounding errors


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums over the t rounds so far. The last of the p features is 1, so that the sums of the others are here, too.

    Rewards are counted from an origin c, such as the first of them: their squares would lose what tells them apart if
    all are large.
    """

    gram: Tensor
    """`(p, p)` float64. sum_i phi_i phi_i^T; its last entry is t."""
    products: Tensor
    """`(p,)` float64. sum_i (y_i - c) phi_i; its last entry is sum_i (y_i - c)."""
    squares: float
    """sum_i (y_i - c)^2."""
    origin: float = 0.0
    """c."""

    @staticmethod
    def empty(num_features: int, origin: float = 0.0) -> Sums:
        """Return the sums over no rounds."""
        zeros = torch.zeros(num_features, num_features, dtype=torch.float64)
        return Sums(zeros, zeros[0].clone(), 0.0, origin)

    def add(self, features: Tensor, rewards: Tensor) -> Sums:
        """Return the sums with more rounds: features `(n, p)` and rewards `(n,)`."""
        rewards = rewards - self.origin
        gram, products = self.gram + features.T @ features, self.products + features.T @ rewards
        return Sums(gram, products, self.squares + float(rewards @ rewards), self.origin)

    def times(self, factor: float) -> Sums:
        """Return the sums in which each round counts so much less."""
        return Sums(factor * self.gram, factor * self.products, factor * self.squares, self.origin)

    def counted_from(self, origin: float) -> Sums:
        """Return the sums of the same rewards, counted from another origin."""
        return replace(self.standardised(origin, 1.0), origin=origin)

    @property
    def rounds(self) -> float:
        """Return t, or the sum of the weights of all rounds."""
        return self.gram[-1, -1].item()

    def location_and_unit(self) -> tuple[float, float]:
        """Return mean and standard deviation of the rewards; 1 where they differ by rounding errors only."""
        if not self.rounds:
            return 0.0, 1.0
        mean = float(self.products[-1]) / self.rounds
        location, variance = self.origin + mean, self.squares / self.rounds - mean**2
        rounding = max(SMALLEST * mean**2, (SMALLEST * location) ** 2, SMALLEST_SCALE**2)
        return location, variance**0.5 if variance > rounding else 1.0

    def standardised(self, location: float, unit: float) -> Sums:
        """Return the sums for the targets (y - location) / unit."""
        shift = location - self.origin
        products = (self.products - shift * self.gram[-1]) / unit
        squares = (self.squares - 2 * shift * float(self.products[-1]) + shift**2 * self.rounds) / unit**2
        return Sums(self.gram, products, max(0.0, squares))


@dataclass(frozen=True, eq=False)
class Weights:
    """Posterior N(mean, covariance) of the weights."""

    mean: Tensor
    """`(p,)` float64."""
    covariance: Tensor
    """`(p, p)` float64."""

    def variance(self, features: Tensor) -> Tensor:
        """Return phi^T covariance phi of each row phi of features `(n, p)`, `(n,)`."""
        return ((features @ self.covariance) * features).sum(1).clamp(min=0)

    def root(self) -> Tensor:
        """Return the symmetric root of the covariance, `(p, p)`."""
        return symmetric_root(self.covariance)


def prior(num_features: int) -> Tensor:
    """Return the prior variances of the weights, `(p,)` float64, in units of the output scale."""
    variances = torch.ones(num_features, dtype=torch.float64)
    variances[-1] = FLAT
    return variances


def posterior(sums: Sums, scale: float, noise: float) -> Weights:
    """Compute the posterior of the weights.

        P = diag(s p)^{-1} + sum_i phi_i phi_i^T / n,   mean = P^{-1} sum_i y_i phi_i / n      [Bishop 2006, Sec. 3.3]

    Args:
        sums: of standardised targets.
        scale: s, prior variance of a weight; the constant has `FLAT` times that.
        noise: n, noise variance.
    """
    root = (scale * prior(len(sums.gram))).sqrt()  # P = root^{-1} (I + root gram root / n) root^{-1}
    inner = torch.outer(root, root) * sums.gram / noise
    inner.diagonal().add_(1)
    covariance = torch.outer(root, root) * torch.cholesky_inverse(torch.linalg.cholesky(inner))
    return Weights(covariance @ sums.products / noise, covariance)


def likelihood(sums: Sums) -> MarginalLikelihood:
    """Return the marginal likelihood of all targets, as a function of output scale and noise."""
    root = prior(len(sums.gram)).sqrt()
    values, vectors = torch.linalg.eigh(torch.outer(root, root) * sums.gram)
    values = values.clamp(min=0)
    sure = values > SMALLEST * values.max()
    coordinates = torch.where(sure, vectors.T @ (root * sums.products) / values.where(sure, 1.0).sqrt(), 0.0)
    within = max(0.0, sums.squares - float(coordinates.square().sum()))
    return MarginalLikelihood.of_coordinates(
        values.where(sure, 0.0).numpy(), coordinates.numpy(), sums.rounds - len(values), within
    )
