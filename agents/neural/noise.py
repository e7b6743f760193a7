"""Estimate the noise variance of rewards where the prior covariance is a kernel in units of it."""

from __future__ import annotations

import torch
from torch import Tensor

from agents.beliefs.rewards import History, Targets

PRIOR_ROUNDS = 2.0  # number of observations that the prior of the noise variance is worth


def fit_noise(kernel: Tensor, history: History, targets: Targets, ridge: float) -> float:
    """Estimate the noise variance n if the prior covariance is (n / ridge) K, as for tangent features.

        n = (y^T (K / ridge + D^{-1})^{-1} y + SS + P ridge) / (t + P),   D = diag(counts),   P = `PRIOR_ROUNDS`

    y are the mean targets of the graphs seen, and SS is the sum of squares within graphs. The prior is worth P rewards
    with noise variance `ridge`, at which the prior covariance is K. Without it, a single reward or equal rewards would
    give a noise of 0.

    Args:
        kernel: K, `(q, q)` float64. Kernel of the graphs seen, in the order of the set.
        history: the rewards observed.
        targets: the scale on which the rewards are modelled.
        ridge: the noise variance at which the prior covariance is K.
    """
    seen = history.counts > 0
    means = targets.of(history.means[seen]).unsqueeze(1)
    inner = kernel / ridge
    inner.diagonal().add_(1 / history.counts[seen].double())
    between = (means * torch.cholesky_solve(means, torch.linalg.cholesky(inner))).sum().item()
    within = history.squares.sum().item() / targets.unit**2
    return (between + within + PRIOR_ROUNDS * ridge) / (history.rounds + PRIOR_ROUNDS)
