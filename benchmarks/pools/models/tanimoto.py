"""A Gaussian process on molecules, by scikit-learn, with a Tanimoto kernel on counts of atom pairs."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numba import njit
from rdkit import Chem
from rdkit.Chem import rdFingerprintGenerator
from scipy.sparse import csr_array
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

SCALE = 0.5  # scale of the upper confidence bound
NOISE = 0.1  # initial noise variance of the likelihood fit, in variances of the values
BINS = 4096  # bins of the counts of atom pairs
CHUNK = 2000  # molecules predicted at a time, which bounds the memory


def atom_pair_counts(smiles: tuple[str, ...]) -> csr_array:
    """Count the pairs of atoms of each molecule by their kinds and distance, hashed into 4,096 bins.

    Returns:
        `(K, 4096)`, float64; a molecule of n heavy atoms has n(n - 1)/2 pairs.
    """
    generator = rdFingerprintGenerator.GetAtomPairGenerator(fpSize=BINS)
    rows = [generator.GetCountFingerprintAsNumPy(Chem.MolFromSmiles(text)) for text in smiles]
    filled = [np.flatnonzero(row) for row in rows]
    counts = np.concatenate([row[bins] for row, bins in zip(rows, filled, strict=True)])
    offsets = np.concatenate([[0], np.cumsum([len(bins) for bins in filled])])
    return csr_array((counts.astype(np.float64), np.concatenate(filled), offsets), shape=(len(smiles), BINS))


class MinMax:
    """Similarities of K molecules, computed a row at a time when needed, and kept.

        s(a, b) = sum_i min(a_i, b_i) / sum_i max(a_i, b_i),  and 1 if both are 0    [Ralaivola et al. 2005]

    Args:
        counts: `(K, D)`, not negative.
    """

    def __init__(self, counts: csr_array) -> None:
        self._counts = counts
        self._bins = counts.indices.astype(np.int64), counts.indptr.astype(np.int64)
        self._sums = np.asarray(counts.sum(axis=1), np.float64)
        self._rows: dict[int, Floats] = {}

    def between(self, some: Indices, kept: Indices) -> Floats:
        """Return `(len(some), len(kept))`; the rows of `kept` are stored, so these should be the fewer molecules."""
        return np.stack([self._row(int(molecule))[some] for molecule in kept], axis=1)

    def _row(self, molecule: int) -> Floats:
        if molecule not in self._rows:
            own = self._counts[[molecule]].toarray()[0]
            self._rows[molecule] = _similarities(own, self._counts.data, *self._bins, self._sums)
        return self._rows[molecule]


def _compile(function: Any) -> Any:
    """Compile at import, so that no player's time includes it; cache the result on disk if possible."""
    signature = "float64[::1](float64[::1], float64[::1], int64[::1], int64[::1], float64[::1])"
    try:
        return njit(signature, cache=True)(function)
    except RuntimeError:  # no folder is writable, as in many containers
        return njit(signature)(function)


@_compile
def _similarities(own, data, indices, offsets, sums):  # type: ignore[no-untyped-def]
    """Return the similarities of a dense molecule with K sparse ones, by sum max = sum a + sum b - sum min."""
    total, similarities = own.sum(), np.empty(len(sums))
    for k in range(len(sums)):
        smaller = 0.0
        for entry in range(offsets[k], offsets[k + 1]):
            smaller += min(own[indices[entry]], data[entry])
        larger = total + sums[k] - smaller
        similarities[k] = smaller / larger if larger > 0 else 1.0
    return similarities


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
        self._kernel = Tanimoto(MinMax(atom_pair_counts(molecules.smiles)))
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
