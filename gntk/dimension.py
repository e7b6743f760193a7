"""How many directions a kernel has that matter."""

from __future__ import annotations

import math

import torch
from numpy.typing import ArrayLike
from torch import Tensor


def effective_dimension(kernel: ArrayLike | Tensor, horizon: int = 1000, ridge: float = 1.0) -> float:
    """Compute the effective dimension of a graph set.

        d~ = log det(I + T K / ridge) / log(1 + T rho_max / ridge),   ridge = m lambda
        [Wu & Amini 2024, Definition 4.1], rho_max the largest eigenvalue of K

    Args:
        kernel: `(K, K)`, read as float64, positive semi-definite.
        horizon: T >= 1.
        ridge: in units of the kernel (for a neural agent, width times its `regularization`).

    Returns:
        d~, between 0 (a zero kernel) and the rank of the kernel.

    Raises:
        ValueError: if `kernel` is not square, finite, symmetric and positive semi-definite, or `horizon` or `ridge` not
            positive and finite.
    """
    kernel = torch.as_tensor(kernel, dtype=torch.float64)
    if kernel.ndim != 2 or kernel.shape[0] != kernel.shape[1]:
        raise ValueError(f"Expected `kernel` of shape `(K, K)`. Got `{tuple(kernel.shape)}`.")
    if not kernel.isfinite().all():
        raise ValueError(f"Expected a finite `kernel`. Got {int((~kernel.isfinite()).sum())} entries that are not.")
    if not torch.allclose(kernel, kernel.T, rtol=1e-5, atol=1e-8):
        raise ValueError("Expected a symmetric `kernel`. Got one that is not.")
    if not 1 <= horizon < math.inf:
        raise ValueError(f"Expected `horizon` to be at least 1. Got {horizon!r}.")
    if not 0 < ridge < math.inf:
        raise ValueError(f"Expected `ridge` to be positive and finite. Got {ridge!r}.")
    eigenvalues = torch.linalg.eigvalsh(kernel)
    largest = eigenvalues[-1].item() if len(kernel) else 0.0
    if len(kernel) and eigenvalues[0] < -1e-6 * abs(largest):
        raise ValueError(f"Expected a positive semi-definite `kernel`. Got the eigenvalue {eigenvalues[0].item():.3g}.")
    if largest <= 0:
        return 0.0
    log_det = torch.log1p(horizon / ridge * eigenvalues.clamp(min=0)).sum().item()
    return log_det / math.log1p(horizon * largest / ridge)
