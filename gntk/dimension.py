"""Compute the effective dimension, information gain and RKHS norm under a kernel, and bounds on variance and regret."""

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
        horizon: T >= 1. For weighted rewards, the sum of the weights.
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
        kernel: `(t, t)`, read as float64, positive semi-definite. Kernel of the graphs played, with repeats. t may
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
        cutoff: eigenvalues below `cutoff` times the largest one count as 0. The part of mu in their directions is
            ignored: the result is the norm of the nearest function in the space.

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


def elliptical_potential(variances: ArrayLike | Tensor) -> tuple[Tensor, Tensor]:
    """Compute the accumulated variance of the graphs played, and the log-determinant that bounds it.

        sum_{s<=t} min{1, sigma_s^2}  <=  2 sum_{s<=t} log(1 + sigma_s^2)  =  2 log det(U_t / ridge)
        [Abbasi-Yadkori et al. 2011, Lemma 11],   det U_t = det U_{t-1} (1 + psi_t^T U_{t-1}^{-1} psi_t)

    The inequality holds term by term for any variances. The equality needs an exact U with sigma_s^2 = psi_s^T
    U_{s-1}^{-1} psi_s and U_s = U_{s-1} + psi_s psi_s^T, and the same psi_s in both. That is so for features that never
    change, and for features that move if U keeps each as it was when played (history "frozen"), but not if past
    features are refreshed. If only the diagonal of U is stored, the sum is at most 2 log det(diag(U_t) / ridge). With
    features that never change, it stays below 2 log det(I + T K / ridge) in any T rounds, K the kernel of the graph
    set.

    Args:
        variances: `(t,)`, read as float64. sigma_s^2 of the graph played in round s, just before it was played, in
            units of the noise variance. t may be 0.

    Returns:
        The left and the right side after each round, both `(t,)` float64.

    Raises:
        ValueError: if `variances` is not `(t,)`, finite and non-negative.
    """
    variances = torch.as_tensor(variances, dtype=torch.float64)
    if variances.ndim != 1 or not (variances.isfinite() & (variances >= 0)).all():
        raise ValueError(f"Expected finite `variances` of at least 0, `(t,)`. Got {variances.tolist()}.")
    return variances.clamp(max=1).cumsum(0), 2 * variances.log1p().cumsum(0)


def regret_bound(
    *,
    effective_dimension: float,
    horizon: int,
    num_graphs: int,
    ridge: float,
    norm_bound: float,
    largest_eigenvalue: float,
    noise_std: float = 1.0,
) -> float:
    """Bound the expected cumulative regret of Thompson sampling on a finite graph set, up to a constant.

        R_T <= C max{(1 + c_T) nu_T, 2 B sqrt(rho_max)} sqrt(2 T D),     D = d~ log(1 + T rho_max / ridge)
        c_T = sqrt(4 log T + 2 log |G|),     nu_T = B sqrt(ridge) + noise_std c_T

    The bound is of the order of Wu & Amini 2024, Theorem 4.1: sqrt(d~ T) up to logarithms. Its form and its steps are
    those of Agrawal & Goyal 2013 and Zhang et al. 2021, for r_hat ~ N(f, nu_T^2 sigma^2):

    1. |f - mu| <= nu_T sigma for all graphs and rounds, except with probability of order 1/T. The two terms of nu_T are
       the bias of ridge regression and its noise.
    2. |r_hat - f| <= c_T nu_T sigma for all graphs, except with probability 1/T^2 per round.
    3. r_hat(G*) > mu(G*) with probability at least 1 / (4 e sqrt(pi)). A round therefore costs in expectation at most
       C E min{(1 + c_T) nu_T sigma_t, 2 B sqrt(rho_max)}, and no graph costs more than the second term.
    4. sum_t min{1, sigma_t} <= sqrt(2 T D), by Cauchy-Schwarz and `elliptical_potential`: D = log det(I + T K / ridge).

    C is a product of plain numbers, some hundreds in all. The result, with C = 1, shows how the bound scales, not its
    value. The error of a finite network is ignored. Step 1 as stated is proven for plays that do not depend on the
    noise (Vakili et al. 2021). For plays that do, Abbasi-Yadkori et al. 2011 prove it with sqrt(D + 2 log T) in place
    of the c_T in nu_T, which makes the order d~ sqrt(T).

    Args:
        effective_dimension: d~ >= 0, at this horizon and ridge.
        horizon: T >= 1.
        num_graphs: |G| >= 1.
        ridge: in units of the kernel (for a neural agent, width times its `regularization`).
        norm_bound: B >= 0, at least the `rkhs_norm` of the mean rewards, in reward units over the root of the kernel's.
        largest_eigenvalue: rho_max >= 0, largest eigenvalue of the kernel of the graph set, in units of the kernel.
        noise_std: sigma_eps, in reward units (for sub-Gaussian noise, the root of its variance proxy).

    Returns:
        The bound, in reward units.

    Raises:
        ValueError: if an argument is not finite or is below its least value, or `ridge` is not positive.
    """
    for name, value, least in (
        ("effective_dimension", effective_dimension, 0),
        ("horizon", horizon, 1),
        ("num_graphs", num_graphs, 1),
        ("norm_bound", norm_bound, 0),
        ("largest_eigenvalue", largest_eigenvalue, 0),
        ("noise_std", noise_std, 0),
    ):
        if not least <= value < math.inf:
            raise ValueError(f"Expected `{name}` to be finite and at least {least}. Got {value!r}.")
    if not 0 < ridge < math.inf:
        raise ValueError(f"Expected `ridge` to be positive and finite. Got {ridge!r}.")
    log_determinant = effective_dimension * math.log1p(horizon * largest_eigenvalue / ridge)
    deviations = math.sqrt(4 * math.log(horizon) + 2 * math.log(num_graphs))
    exploration_scale = norm_bound * math.sqrt(ridge) + noise_std * deviations
    largest_cost = max((1 + deviations) * exploration_scale, 2 * norm_bound * math.sqrt(largest_eigenvalue))
    return largest_cost * math.sqrt(2 * horizon * log_determinant)
