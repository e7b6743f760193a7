"""The root of a covariance that changes as little as the covariance does."""

from __future__ import annotations

import torch
from torch import Tensor


def symmetric_root(covariance: Tensor) -> Tensor:
    """Compute the symmetric root of a positive semi-definite matrix.

        R = V sqrt(Lambda) V^T,   C = V Lambda V^T

    R is a continuous function of C. V sqrt(Lambda) is another root, but a solver may give an eigenvector either sign
    and equal eigenvalues any basis, so that two covariances which differ in their last bits have roots far apart. Of a
    singular C half the digits are kept: an error of 1e-16 in C is one of 1e-8 in R.

    Args:
        covariance: `(K, K)` float64, symmetric but for rounding. Negative eigenvalues are taken as 0.

    Returns:
        `(K, K)` float64. R, symmetric, with R R^T = C.
    """
    values, vectors = torch.linalg.eigh((covariance + covariance.T) / 2)
    root: Tensor = (vectors * values.clamp(min=0).sqrt()) @ vectors.T
    return root
