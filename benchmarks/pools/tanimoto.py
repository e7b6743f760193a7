"""A Gaussian process on molecules by scikit-learn, with a Tanimoto kernel on counts of atom pairs."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import (
    ConstantKernel,
    GenericKernelMixin,
    Kernel,
    NormalizedKernelMixin,
    WhiteKernel,
)

from benchmarks.pools.minmax import MinMax, atom_pair_counts
from benchmarks.pools.screening import Floats, Indices
from graph_bandit_env.pools.molecule_set import MoleculeSet

SCALE = 0.5  # of the upper confidence bound
NOISE = 0.1  # at which the likelihood is first evaluated, in variances of the values
CHUNK = 2000  # molecules whose covariance with those measured is held at a time


class Tanimoto(GenericKernelMixin, NormalizedKernelMixin, Kernel):  # type: ignore[misc]
    """k(i, j) = min-max similarity of molecules i and j, given by their indices. It has no hyperparameters."""

    def __init__(self, similarities: MinMax) -> None:
        self.similarities = similarities

    def __call__(self, X: Indices, Y: Indices | None = None, eval_gradient: bool = False) -> Any:
        """Return `(len(X), len(Y))`, where Y are molecules measured (None: X are), and the gradient, which is empty."""
        found = self.similarities.between(X, X if Y is None else Y)
        return (found, np.empty((*found.shape, 0))) if eval_gradient else found

    def is_stationary(self) -> bool:
        """Return False: it is no function of a difference."""
        return False

    def __sklearn_clone__(self) -> Tanimoto:
        """Return itself, for nothing is fitted here: a copy would have to compute all similarities again."""
        return self


class TanimotoProcess:
    """A Gaussian process on molecules, fitted anew each round.

    f ~ GP(0, c k),  y = f + N(0, noise),  c and noise where the marginal likelihood is largest
                                               [Rasmussen & Williams 2006, Eqs. (2.25), (2.26) and (2.30)]

    Values are standardised by those measured so far.
    """

    def begin(self, molecules: MoleculeSet, seed: int) -> None:
        """Count the atom pairs; there is no chance in this model."""
        self._kernel = Tanimoto(MinMax(atom_pair_counts(molecules.smiles)))
        self._num_molecules = len(molecules)

    def fit(self, measured: Indices, standardised: Floats) -> GaussianProcessRegressor:
        """Return the process with the hyperparameters that standardised values `(t,)` make likely."""
        process = GaussianProcessRegressor(ConstantKernel() * self._kernel + WhiteKernel(NOISE), alpha=1e-8)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the best noise may well be at its lower bound
            return process.fit(measured, standardised)

    def predict(self, measured: Indices, values: Floats) -> tuple[Floats, Floats]:
        """Return the posterior mean of f and its standard deviation, of all K molecules, in units of the values."""
        center, unit = values.mean(), values.std() or 1.0
        process = self.fit(measured, (values - center) / unit)
        chunks = np.array_split(np.arange(self._num_molecules), -(-self._num_molecules // CHUNK))
        found = [process.predict(chunk, return_std=True) for chunk in chunks]
        mean, std = (np.concatenate(column) for column in zip(*found, strict=True))
        variance = std**2 - process.kernel_.k2.noise_level  # scikit-learn's is that of y
        return center + unit * mean, unit * np.sqrt(np.maximum(variance, 0.0))
