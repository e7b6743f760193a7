"""A Gaussian process on two assays of the same molecules, of which one is cheaper."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor

from benchmarks.pools.screening import Floats

MOST_RESULTS = 500  # parameters are learnt from as many results, evenly spaced: the cost grows as their cube
FARTHEST = 5.0  # a weight stays within a factor of e^5 of its median
STARTS = (3e-3, 3e-2, 3e-1)  # noise variances from which the best is chosen to begin with
# What is learnt besides the weights: logarithms of the noise, the residual, the cheap noise, the slope and the offset,
# and the logit of the correlation.
MEDIANS = np.array([*np.log([1e-2, 1e-2, 1e-1, 1.0, 1.0]), 0.5])
SPREADS = np.array([3.0, 3.0, 2.0, 0.5, 1.0, 1.5])  # standard deviations of the same
BOUNDS = ((math.log(1e-6), math.log(4)),) * 3 + ((-2.0, 2.0), (-5.0, 2.0), (-6.0, 8.0))


class Results(NamedTuple):
    """Results of both assays, each scaled by itself."""

    molecules: Tensor
    """`(q,)` int64. The molecule of each; a molecule may have one result in each assay."""
    cheap: Tensor
    """`(q,)` bool. Whether it is of the cheap assay."""
    values: Tensor
    """`(q,)` float64."""


class Link(NamedTuple):
    """What is learnt from the results: two values of a molecule, and how they go along with each other.

        cov(dear(x), dear(x')) = k(x, x') + u 1[x = x'],   k = sum_p w_p k_p
        cov(dear(x), cheap(x')) = s (r k(x, x') + u 1[x = x'])
        cov(cheap(x), cheap(x')) = s^2 (k(x, x') + u 1[x = x']) + v

    The structure tells k. What it does not tell, but both assays share, is u: without it, the result of a molecule in
    the cheap assay would say no more of its dear one than those of its likes [Bonilla et al. 2007, and the errors that
    tasks share]. With r = 1 it is the autoregressive model of Kennedy & O'Hagan (2000).
    """

    weights: Tensor
    """w, `(P,)` float64."""
    noise: float
    """Noise variance of a dear result."""
    residual: float
    """u."""
    cheap_noise: float
    """Noise variance of a cheap result: its error, and what is particular to a molecule in the cheap assay."""
    slope: float
    """s, standard deviations of the cheap results to those of the dear ones."""
    offset: float
    """v."""
    correlation: float
    """r, from 0 to 1."""


class LinkedLikelihood:
    """Marginal likelihood of the results of both assays, times weak priors, as a function of what is learnt.

        2 NLL = log|A| + y^T A^{-1} y,   d 2 NLL / dA = A^{-1} - A^{-1} y y^T A^{-1}      [Rasmussen & Williams 2006]

    Args:
        kernels: `(P, q, q)` float64. Each kernel between the molecules of the results.
        medians: P numbers. The weights before any result.
        results: q results.
    """

    def __init__(self, kernels: Tensor, medians: Sequence[float], results: Results) -> None:
        self._kernels, self._medians, self._results = kernels, torch.tensor(medians, dtype=torch.float64), results
        self._same = (results.molecules.unsqueeze(1) == results.molecules).double()
        of_cheap = results.cheap.double()
        self._cheap = torch.outer(of_cheap, of_cheap)
        self._dear = torch.outer(1 - of_cheap, 1 - of_cheap)
        self._mixed = 1 - self._cheap - self._dear

    def link(self, numbers: Floats) -> Link:
        """Return what numbers stand for, `(P + 6,)`: logarithms of weights over medians, then those of `MEDIANS`."""
        count = len(self._medians)
        weights = self._medians * torch.from_numpy(numbers[:count]).exp()
        noise, residual, cheap_noise, slope, offset = np.exp(numbers[count:-1]).tolist()
        return Link(weights, noise, residual, cheap_noise, slope, offset, 1 / (1 + math.exp(-numbers[-1])))

    def __call__(self, numbers: Floats) -> tuple[float, Floats]:
        """Return 2 NLL, up to a constant, and its gradient."""
        link, values = self.link(numbers), self._results.values
        s, r, u = link.slope, link.correlation, link.residual
        structure = torch.tensordot(link.weights, self._kernels, dims=1)
        of_structure = self._dear + s * r * self._mixed + s * s * self._cheap
        of_residual = self._dear + s * self._mixed + s * s * self._cheap
        matrix = structure * of_structure + u * self._same * of_residual + link.offset * self._cheap
        matrix.diagonal().add_(_either(self._results.cheap, link.cheap_noise, link.noise))
        matrix.diagonal().add_(torch.finfo(matrix.dtype).eps * matrix.trace())
        factor = torch.linalg.cholesky(matrix)
        inverse = torch.cholesky_inverse(factor)
        solved = inverse @ values
        slope = inverse - torch.outer(solved, solved)
        by_structure, by_residual = slope * structure, u * slope * self._same
        gradient = [
            *(link.weights * (self._kernels.flatten(1) @ (slope * of_structure).flatten())).tolist(),
            link.noise * slope.diagonal()[~self._results.cheap].sum().item(),
            (by_residual * of_residual).sum().item(),
            link.cheap_noise * slope.diagonal()[self._results.cheap].sum().item(),
            s * (by_structure * (r * self._mixed + 2 * s * self._cheap)).sum().item()
            + s * (by_residual * (self._mixed + 2 * s * self._cheap)).sum().item(),
            link.offset * (slope * self._cheap).sum().item(),
            s * r * (1 - r) * (by_structure * self._mixed).sum().item(),
        ]
        count = len(self._medians)
        away = np.concatenate([numbers[:count], (numbers[count:] - MEDIANS) / SPREADS])
        per = np.concatenate([np.ones(count), SPREADS])
        value = 2 * factor.diagonal().log().sum() + values @ solved
        return value.item() + float(away @ away), np.array(gradient) + 2 * away / per

    def fit(self) -> Link:
        """Minimise 2 NLL."""
        count = len(self._medians)
        begins = [np.concatenate([np.zeros(count), MEDIANS]) for _ in STARTS]
        for begin, noise in zip(begins, STARTS, strict=True):
            begin[count], begin[count + 2] = math.log(noise), math.log(max(noise, STARTS[1]))
        begin = min(begins, key=lambda numbers: self(numbers)[0])
        bounds = [(-FARTHEST, FARTHEST)] * count + [*BOUNDS]
        return self.link(minimize(self, begin, jac=True, method="L-BFGS-B", bounds=bounds).x)


class LinkedModel:
    """Learn the link from results, and predict both assays.

    Args:
        kernels: `(P, K, K)` float64. Each kernel between all molecules.
        medians: P numbers. The weights before any result.
    """

    link: Link
    """What the last `fit` learnt."""

    def __init__(self, kernels: Tensor, medians: Sequence[float]) -> None:
        self._kernels, self._medians = kernels, medians

    def fit(self, results: Results) -> None:
        """Learn the link, and condition on all results."""
        rows = torch.arange(len(results.values))
        if len(rows) > MOST_RESULTS:
            rows = torch.linspace(0, len(rows) - 1, MOST_RESULTS, dtype=torch.float64).round().long()
        kept = Results(*(column[rows] for column in results))
        within = self._kernels[:, kept.molecules][:, :, kept.molecules]
        self.link, self._results = LinkedLikelihood(within, self._medians, kept).fit(), results
        self._structure = torch.tensordot(self.link.weights, self._kernels, dims=1)

    def predict(self, molecules: Tensor) -> tuple[Tensor, Tensor]:
        """Return mean and covariance of the values of some molecules, before noise: the dear ones, then the cheap ones.

        Args:
            molecules: `(n,)` int64.

        Returns:
            `(2 n,)` and `(2 n, 2 n)` float64.
        """
        cheap = torch.arange(2 * len(molecules)) >= len(molecules)
        asked, measured = (torch.cat([molecules, molecules]), cheap), (self._results.molecules, self._results.cheap)
        inner = self._covariance(*measured, *measured)
        inner.diagonal().add_(_either(self._results.cheap, self.link.cheap_noise, self.link.noise))
        inner.diagonal().add_(torch.finfo(inner.dtype).eps * inner.trace())
        factor = torch.linalg.cholesky(inner)
        explained = torch.linalg.solve_triangular(factor, self._covariance(*measured, *asked), upper=False)
        whitened = torch.linalg.solve_triangular(factor, self._results.values.unsqueeze(1), upper=False).squeeze(1)
        return explained.T @ whitened, self._covariance(*asked, *asked) - explained.T @ explained

    def _covariance(self, rows: Tensor, rows_cheap: Tensor, columns: Tensor, columns_cheap: Tensor) -> Tensor:
        """Return the prior covariance of values of molecules in assays with others."""
        link = self.link
        structure = self._structure[rows][:, columns]
        same = (rows.unsqueeze(1) == columns).double()
        mixed = rows_cheap.unsqueeze(1) != columns_cheap
        slopes = [_either(cheap, link.slope, 1.0) for cheap in (rows_cheap, columns_cheap)]
        shared = _either(mixed, link.correlation, 1.0) * structure + link.residual * same
        both = torch.outer(rows_cheap.double(), columns_cheap.double())
        covariance: Tensor = torch.outer(*slopes) * shared + link.offset * both
        return covariance


def _either(condition: Tensor, yes: float, no: float) -> Tensor:
    """Return `yes` where a place is True, else `no`, in float64; `torch.where` on two numbers returns float32."""
    return torch.where(condition, torch.tensor(yes, dtype=torch.float64), torch.tensor(no, dtype=torch.float64))
