"""Compute roots of a covariance matrix that are continuous functions of the matrix."""

from __future__ import annotations

import torch
from torch import Tensor

NOISE = 1e-10  # in a quick root, as a share of the mean variance


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


def quick_root(covariance: Tensor) -> Tensor:
    """Compute the lower triangular root of a covariance matrix plus a little noise, in a tenth of the time.

        L L^T = C + e I,   e = `NOISE` times the mean variance      [Cholesky]

    The noise makes L a continuous function of C even for singular C: an error of 1e-16 in C at a pivot of sqrt(e)
    becomes one of 1e-11 in L.

    Args:
        covariance: `(K, K)` float64, positive semi-definite, symmetric up to rounding.

    Returns:
        `(K, K)` float64. L.

    Raises:
        LinAlgError: if C + e I is not positive definite.
    """
    noisy = (covariance + covariance.T) / 2
    noisy.diagonal().add_(NOISE * noisy.diagonal().mean())
    root: Tensor = torch.linalg.cholesky(noisy)
    return root
