"""A Gaussian process on molecules, by scikit-learn, with a Tanimoto kernel on counts of atom pairs."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from rdkit import Chem
from rdkit.Chem import rdFingerprintGenerator
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import (
    ConstantKernel,
    GenericKernelMixin,
    Kernel,
    NormalizedKernelMixin,
    WhiteKernel,
)

from agents.contract import Prediction
from benchmarks.pools.screening import Floats, Indices
from graph_bandit_env import MoleculeSet

NOISE = 0.1  # initial noise variance of the likelihood fit, in variances of the values
BINS = 4096  # bins of the counts of atom pairs
CHUNK = 2000  # molecules predicted at a time, which bounds the memory


class MinMax:
    """Similarities of K molecules by their pairs of atoms, computed a row at a time when needed, and kept.

        s(a, b) = sum_i min(a_i, b_i) / sum_i max(a_i, b_i),  and 1 if both are 0    [Ralaivola et al. 2005]

    The counts a are those of pairs by their kinds and distance, hashed into 4,096 bins.
    """

    def __init__(self, smiles: Sequence[str]) -> None:
        generator = rdFingerprintGenerator.GetAtomPairGenerator(fpSize=BINS)
        rows = [generator.GetCountFingerprintAsNumPy(Chem.MolFromSmiles(text)).astype(np.uint16) for text in smiles]
        self._counts = np.asfortranarray(rows)  # a bin of all molecules lies together
        self._sums = self._counts.sum(axis=1, dtype=np.float64)
        self._rows: dict[int, Floats] = {}

    def between(self, some: Indices, kept: Indices) -> Floats:
        """Return `(len(some), len(kept))`; the rows of `kept` are stored, so these should be the fewer molecules."""
        return np.stack([self._row(int(molecule))[some] for molecule in kept], axis=1)

    def _row(self, molecule: int) -> Floats:
        if molecule not in self._rows:
            bins = np.flatnonzero(self._counts[molecule])
            smaller = np.minimum(self._counts[:, bins], self._counts[molecule, bins]).sum(axis=1, dtype=np.float64)
            larger = self._sums[molecule] + self._sums - smaller
            self._rows[molecule] = np.divide(smaller, larger, out=np.ones_like(larger), where=larger > 0)
        return self._rows[molecule]


class Tanimoto(GenericKernelMixin, NormalizedKernelMixin, Kernel):  # type: ignore[misc]
    """k(i, j) = min-max similarity of the molecules with indices i and j. There are no hyperparameters."""

    def __init__(self, similarities: MinMax) -> None:
        self.similarities = similarities

    def __call__(self, X: Indices, Y: Indices | None = None, eval_gradient: bool = False) -> Any:
        """Return the kernel `(len(X), len(Y))`, Y measured molecules (None: X), and perhaps the empty gradient."""
        kernel = self.similarities.between(X, X if Y is None else Y)
        return (kernel, np.empty((*kernel.shape, 0))) if eval_gradient else kernel

    def is_stationary(self) -> bool:
        """Return False: the kernel is not a function of a difference."""
        return False

    def __sklearn_clone__(self) -> Tanimoto:
        """Return this kernel itself: it has no fitted parameters, and a copy would compute all similarities again."""
        return self


class TanimotoProcess:
    """A Gaussian process on molecules, refitted each round.

    f ~ GP(0, c k),  y = f + N(0, noise),  c and noise maximise the marginal likelihood
                                               [Rasmussen & Williams 2006, Eqs. (2.25), (2.26) and (2.30)]

    Values are standardised by those measured so far.
    """

    def begin(self, molecules: MoleculeSet, seed: int) -> None:
        """Count the atom pairs; this model uses no random numbers."""
        self._kernel = Tanimoto(MinMax(molecules.smiles))
        self._num_molecules = len(molecules)

    def fit(self, measured: Indices, standardised: Floats) -> GaussianProcessRegressor:
        """Return the process with the maximum-likelihood hyperparameters for standardised values `(t,)`."""
        process = GaussianProcessRegressor(ConstantKernel() * self._kernel + WhiteKernel(NOISE), alpha=1e-8)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the best noise is often at its lower bound
            return process.fit(measured, standardised)

    def predict(self, measured: Indices, values: Floats) -> Prediction:
        """Return the posterior of f for all K molecules, in units of the values."""
        center, unit = values.mean(), values.std() or 1.0
        process = self.fit(measured, (values - center) / unit)
        chunks = np.array_split(np.arange(self._num_molecules), -(-self._num_molecules // CHUNK))
        predictions = [process.predict(chunk, return_std=True) for chunk in chunks]
        mean, std = (np.concatenate(column) for column in zip(*predictions, strict=True))
        noise = process.kernel_.k2.noise_level
        variance = np.maximum(std**2 - noise, 0.0)  # scikit-learn's std is that of y
        return Prediction(center + unit * mean, unit * np.sqrt(variance), float(unit * np.sqrt(noise)))
