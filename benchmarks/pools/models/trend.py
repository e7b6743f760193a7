"""Sort molecules by one property: the trend that a chemist may see in a few results."""

from __future__ import annotations

import numpy as np
from scipy.stats import spearmanr

from agents.contract import Prediction
from agents.molecule import compute_descriptors
from benchmarks.pools.screening import Floats, Indices
from graph_bandit_env import MoleculeSet

NAMES = ("mass", "tpsa", "hbd", "hba", "rotors", "rings", "aromatic", "sp3", "hetero", "kappa", "chi", "hall", "logp")
"""The thirteen properties of `agents.descriptors`, in order."""


class Trend:
    """Rank molecules by one property, upwards or downwards as the results suggest.

    Args:
        name: of `NAMES`.
    """

    def __init__(self, name: str) -> None:
        self._column = NAMES.index(name)

    def begin(self, molecules: MoleculeSet, seed: int) -> None:
        """Compute the property."""
        numbers = compute_descriptors(molecules.smiles, ["properties"]).numbers["properties"]
        self._property = numbers[:, self._column].astype(np.float64)

    def predict(self, measured: Indices, values: Floats) -> Prediction:
        """Return the property, with the sign of its rank correlation with the results, for all K molecules."""
        sign = np.sign(np.nan_to_num(spearmanr(self._property[measured], values).statistic, nan=1.0))
        return Prediction(sign * self._property, np.zeros(len(self._property)), noise_std=0.0)
