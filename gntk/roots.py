"""Compute a root of a covariance matrix that is a continuous function of the matrix."""

from __future__ import annotations

import torch
from torch import Tensor


def symmetric_root(covariance: Tensor) -> Tensor:
    """Compute the symmetric root of a positive semi-definite matrix.

        R = V sqrt(Lambda) V^T,   C = V Lambda V^T

    R is a continuous function of C. V sqrt(Lambda) is another root, but a solver may give an eigenvector either sign
    and equal eigenvalues any basis. Two covariances that differ in their last bits can then have roots far apart. For a
    singular C, R keeps half of the digits: an error of 1e-16 in C becomes one of 1e-8 in R.

    Args:
        covariance: `(K, K)` float64, symmetric up to rounding. Negative eigenvalues count as 0.

    Returns:
        `(K, K)` float64. R, symmetric, with R R^T = C.
    """
    values, vectors = torch.linalg.eigh((covariance + covariance.T) / 2)
    root: Tensor = (vectors * values.clamp(min=0).sqrt()) @ vectors.T
    return root
