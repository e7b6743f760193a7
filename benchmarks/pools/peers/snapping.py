"""Play a pool by an optimiser of numbers: what it proposes is the nearest molecule that was not measured."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from rdkit import Chem
from rdkit.Chem import Descriptors
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from benchmarks.pools.screening import Floats, Indices

COMPONENTS = 10
FARTHEST = 5.0  # standard deviations, at which descriptors with long tails are cut off


class Proposer(Protocol):
    """An optimiser of numbers between 0 and 1, of which large values are wanted."""

    def begin(self, dimensions: int, seed: int) -> None:
        """Forget everything."""

    def tell(self, point: Floats, value: float) -> None:
        """Take in the value at a point, `(d,)`."""

    def propose(self, count: int) -> Floats:
        """Return `(count, d)` points to try at once."""


class SnappingPlayer:
    """Measure the molecules nearest to the points that an optimiser proposes, and tell it where they really lie.

    Molecules are points: the first `COMPONENTS` principal components of RDKit's standardised descriptors, each scaled
    to [0, 1] over the pool.

    Args:
        proposer: the optimiser.
    """

    def __init__(self, proposer: Proposer) -> None:
        self._proposer = proposer

    def begin(self, graphs: Any, seed: int) -> None:
        """Place the molecules."""
        self._points, self._told = place(graphs.smiles), 0
        self._proposer.begin(self._points.shape[1], seed)

    def choose(self, measured: Indices, values: Floats, count: int) -> Indices:
        """Return the nearest molecule to each proposal, each once."""
        for index, value in zip(measured[self._told :], values[self._told :], strict=True):
            self._proposer.tell(self._points[index], float(value))
        self._told, taken = len(measured), set(measured.tolist())
        for proposal in self._proposer.propose(count):
            near = np.argsort(((self._points - proposal) ** 2).sum(1), kind="stable")
            taken.add(next(int(index) for index in near if int(index) not in taken))
        return np.array(sorted(taken - set(measured.tolist())), np.int64)


@lru_cache(maxsize=1)
def place(smiles: tuple[str, ...]) -> Floats:
    """Return molecules as points between 0 and 1, `(K, COMPONENTS)`."""
    functions = [function for _, function in Descriptors.descList]
    rows = [[function(molecule) for function in functions] for molecule in map(Chem.MolFromSmiles, smiles)]
    scaled = StandardScaler().fit_transform(np.nan_to_num(np.array(rows, np.float64), posinf=0.0, neginf=0.0))
    points = PCA(COMPONENTS, random_state=0).fit_transform(np.clip(scaled, -FARTHEST, FARTHEST))
    low, high = points.min(0), points.max(0)
    return np.asarray((points - low) / (high - low), np.float64)
