"""Gaussian processes by scikit-learn: of molecules, by counts of atom pairs, and of one-hot slots."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from rdkit import Chem, DataStructs
from rdkit.Chem import rdFingerprintGenerator
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import (
    ConstantKernel,
    GenericKernelMixin,
    Kernel,
    Matern,
    NormalizedKernelMixin,
    WhiteKernel,
)

from agents.contract import Prediction
from benchmarks.pools.screening import Floats, Indices
from graph_bandit_env import MoleculeSet, SlotSet

NOISE = 0.1  # initial noise variance of the likelihood fit, in variances of the values
BINS = 4096  # of the counts of atom pairs


class Tanimoto(GenericKernelMixin, NormalizedKernelMixin, Kernel):  # type: ignore[misc]
    """Similarities of K molecules by their pairs of atoms, computed a row at a time when needed, and kept.

        k(i, j) = sum_b min(a_ib, a_jb) / sum_b max(a_ib, a_jb)    [Ralaivola et al. 2005]

    The counts a are those of pairs by their kinds and distance, hashed into 4,096 bins. There are no hyperparameters.
    """

    def __init__(self, smiles: Sequence[str]) -> None:
        generator = rdFingerprintGenerator.GetAtomPairGenerator(fpSize=BINS)
        self.smiles, self._rows = smiles, dict[int, Floats]()
        self._prints = [generator.GetCountFingerprint(Chem.MolFromSmiles(text)) for text in smiles]

    def __call__(self, X: Indices, Y: Indices | None = None, eval_gradient: bool = False) -> Any:
        """Return the kernel `(len(X), len(Y))`, Y measured molecules (None: X), and perhaps the empty gradient."""
        kernel = np.stack([self._row(int(molecule))[X] for molecule in (X if Y is None else Y)], axis=1)
        return (kernel, np.empty((*kernel.shape, 0))) if eval_gradient else kernel

    def is_stationary(self) -> bool:
        """Return False: the kernel is not a function of a difference."""
        return False

    def __sklearn_clone__(self) -> Tanimoto:
        """Return this kernel itself: it has no fitted parameters, and a copy would compute all similarities again."""
        return self

    def _row(self, molecule: int) -> Floats:
        if molecule not in self._rows:
            row = np.array(DataStructs.BulkTanimotoSimilarity(self._prints[molecule], self._prints))
            row[molecule] = 1.0  # without any pair, too
            self._rows[molecule] = row
        return self._rows[molecule]


class KernelProcess:
    """A Gaussian process on a kernel, refitted each round.

    f ~ GP(0, c k),  y = f + N(0, noise),  c, noise and what k has maximise the marginal likelihood
                                               [Rasmussen & Williams 2006, Eqs. (2.25), (2.26) and (2.30)]

    Values are standardised by those measured so far.
    """

    kernel: Kernel
    """k."""
    inputs: Any
    """K rows that it compares."""

    def fit(self, measured: Indices, standardised: Floats) -> GaussianProcessRegressor:
        """Return the process with the maximum-likelihood hyperparameters for standardised values `(t,)`."""
        process = GaussianProcessRegressor(ConstantKernel() * self.kernel + WhiteKernel(NOISE), alpha=1e-8)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the best noise is often at its lower bound
            return process.fit(self.inputs[measured], standardised)

    def predict(self, measured: Indices, values: Floats) -> Prediction:
        """Return the posterior of f for all K graphs, in units of the values."""
        center, unit = values.mean(), values.std() or 1.0
        process = self.fit(measured, (values - center) / unit)
        mean, std = process.predict(self.inputs, return_std=True)
        noise = process.kernel_.k2.noise_level
        variance = np.maximum(std**2 - noise, 0.0)  # scikit-learn's std is that of y
        return Prediction(center + unit * mean, unit * np.sqrt(variance), float(unit * np.sqrt(noise)))


class TanimotoProcess(KernelProcess):
    """A process on molecules."""

    def begin(self, molecules: MoleculeSet, seed: int) -> None:
        """Count the atom pairs; this model uses no random numbers."""
        self.kernel, self.inputs = Tanimoto(molecules.smiles), np.arange(len(molecules))


class OneHotProcess(KernelProcess):
    """A process on actions of several slots, whose choices are one-hot: k = Matern-5/2."""

    def begin(self, actions: SlotSet, seed: int) -> None:
        """Encode the choices; this model uses no random numbers."""
        pairs = zip(actions.slots, actions.places.T, strict=True)
        hot = [np.eye(len(slot.choices))[places] for slot, places in pairs]
        self.kernel, self.inputs = Matern(nu=2.5), np.hstack(hot)
