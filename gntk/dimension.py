"""Compute the effective dimension, the information gain and the RKHS norm under a kernel."""

from __future__ import annotations

import math

import torch
from numpy.typing import ArrayLike
from torch import Tensor


def effective_dimension(kernel: ArrayLike | Tensor, horizon: float = 1000, ridge: float = 1.0) -> float:
    """Compute the effective dimension of a graph set.

        d~ = log det(I + T K / ridge) / log(1 + T rho_max / ridge),   ridge = m lambda
        [Wu & Amini 2024, Definition 4.1], rho_max the largest eigenvalue of K

    Args:
        kernel: `(K, K)`, read as float64, positive semi-definite.
        horizon: T >= 1; where rewards have weights, their sum.
        ridge: in units of the kernel (for a neural agent, width times its `regularization`).

    Returns:
        d~, between 0 (a zero kernel) and the rank of the kernel.

    Raises:
        ValueError: if `kernel` is not square, finite, symmetric and positive semi-definite, if `horizon` is below 1 or
            infinite, or if `ridge` is not positive and finite.
    """
    kernel = _read_kernel(kernel)
    if not 1 <= horizon < math.inf:
        raise ValueError(f"Expected `horizon` to be at least 1. Got {horizon!r}.")
    if not 0 < ridge < math.inf:
        raise ValueError(f"Expected `ridge` to be positive and finite. Got {ridge!r}.")
    eigenvalues = torch.linalg.eigvalsh(kernel).clamp(min=0)
    largest = eigenvalues[-1:].sum().item()
    if largest == 0:
        return 0.0
    return torch.log1p(horizon / ridge * eigenvalues).sum().item() / math.log1p(horizon * largest / ridge)


def information_gain(kernel: ArrayLike | Tensor, ridge: float) -> float:
    """Compute the information that t noisy rewards carry about the mean rewards.

        gamma_t = (1/2) log det(I + K_t / ridge)      [Srinivas et al. 2010]

    Args:
        kernel: `(t, t)`, read as float64, positive semi-definite. Kernel of the graphs played, repeats included; t may
            be 0.
        ridge: in units of the kernel (for a neural agent, width times its `regularization`).

    Returns:
        gamma_t >= 0, in nats.

    Raises:
        ValueError: if `kernel` is not square, finite, symmetric and positive semi-definite, or `ridge` is not positive
            and finite.
    """
    kernel = _read_kernel(kernel)
    if not 0 < ridge < math.inf:
        raise ValueError(f"Expected `ridge` to be positive and finite. Got {ridge!r}.")
    return 0.5 * torch.log1p(torch.linalg.eigvalsh(kernel).clamp(min=0) / ridge).sum().item()


def rkhs_norm(kernel: ArrayLike | Tensor, means: ArrayLike | Tensor, cutoff: float = 1e-10) -> float:
    """Compute the norm of mean rewards in the reproducing kernel Hilbert space of a kernel.

        |mu|_K = sqrt(mu^T K^+ mu)      [B of Wu & Amini 2024, Assumption 4.2, bounds it]

    Args:
        kernel: `(K, K)`, read as float64, positive semi-definite.
        means: `(K,)`, read as float64, in reward units. mu.
        cutoff: eigenvalues below `cutoff` times the largest one count as 0. The part of mu in their directions is left
            out: the result is the norm of the nearest function in the space.

    Returns:
        The norm, in reward units over the root of the kernel's.

    Raises:
        ValueError: if `kernel` is not square, finite, symmetric and positive semi-definite, if `means` is not `(K,)`
            and finite, or if `cutoff` is not in [0, 1).
    """
    kernel, means = _read_kernel(kernel), torch.as_tensor(means, dtype=torch.float64)
    if means.shape != kernel.shape[:1] or not means.isfinite().all():
        raise ValueError(f"Expected finite `means` of shape `({len(kernel)},)`. Got {means.tolist()}.")
    if not 0 <= cutoff < 1:
        raise ValueError(f"Expected `cutoff` to be in [0, 1). Got {cutoff!r}.")
    values, vectors = torch.linalg.eigh(kernel)
    kept = values > cutoff * values[-1:].clamp(min=0)
    return float(((vectors.T @ means)[kept].square() / values[kept]).sum().sqrt())


def _read_kernel(kernel: ArrayLike | Tensor) -> Tensor:
    kernel = torch.as_tensor(kernel, dtype=torch.float64)
    if kernel.ndim != 2 or kernel.shape[0] != kernel.shape[1]:
        raise ValueError(f"Expected `kernel` of shape `(K, K)`. Got `{tuple(kernel.shape)}`.")
    if not kernel.isfinite().all():
        raise ValueError("Expected a finite `kernel`. Got entries that are not finite.")
    if not torch.allclose(kernel, kernel.T, rtol=1e-5, atol=1e-8):
        raise ValueError("Expected a symmetric `kernel`. Got one that is not symmetric.")
    if len(kernel):
        eigenvalues = torch.linalg.eigvalsh(kernel)
        smallest = eigenvalues[0].item()
        if smallest < -1e-6 * eigenvalues[-1].abs().item():
            raise ValueError(f"Expected a positive semi-definite `kernel`. Got the eigenvalue {smallest:.3g}.")
    return kernel
