"""Min-max similarity of molecules by their counts of atom pairs, of one molecule with all others at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from rdkit import Chem
from rdkit.Chem import rdFingerprintGenerator
from scipy.sparse import csr_array

from benchmarks.pools.screening import Floats, Indices

BINS = 4096


def atom_pair_counts(smiles: tuple[str, ...]) -> csr_array:
    """Count the pairs of atoms of each molecule by their kinds and distance, hashed into 4,096 bins.

    Returns:
        `(K, 4096)`, float64; a molecule of n heavy atoms has n(n - 1)/2 pairs.
    """
    generator = rdFingerprintGenerator.GetAtomPairGenerator(fpSize=BINS)
    rows = [generator.GetCountFingerprintAsNumPy(Chem.MolFromSmiles(text)) for text in smiles]
    filled = [np.flatnonzero(row) for row in rows]
    counts = np.concatenate([row[places] for row, places in zip(rows, filled, strict=True)])
    offsets = np.concatenate([[0], np.cumsum([len(places) for places in filled])])
    return csr_array((counts.astype(np.float64), np.concatenate(filled), offsets), shape=(len(smiles), BINS))


class MinMax:
    """Similarity of K molecules, computed where it is asked for, a row at a time, and kept.

        s(a, b) = sum_i min(a_i, b_i) / sum_i max(a_i, b_i),  and 1 where both are 0    [Ralaivola et al. 2005]

    Args:
        counts: `(K, D)`, not negative.
    """

    def __init__(self, counts: csr_array) -> None:
        self._counts = counts
        self._places = counts.indices.astype(np.int64), counts.indptr.astype(np.int64)
        self._sums = np.asarray(counts.sum(axis=1), np.float64)
        self._rows: dict[int, Floats] = {}

    def between(self, some: Indices, kept: Indices) -> Floats:
        """Return `(len(some), len(kept))`; rows are kept of the second, which should be the fewer."""
        return np.stack([self._row(int(molecule))[some] for molecule in kept], axis=1)

    def _row(self, molecule: int) -> Floats:
        if molecule not in self._rows:
            own = self._counts[[molecule]].toarray()[0]
            self._rows[molecule] = _similarities(own, self._counts.data, *self._places, self._sums)
        return self._rows[molecule]


def _compile(function: Any) -> Any:
    """Compile at import, so that no player's time has it; keep the result on disk where a folder can be written."""
    signature = "float64[::1](float64[::1], float64[::1], int64[::1], int64[::1], float64[::1])"
    try:
        return njit(signature, cache=True)(function)
    except RuntimeError:  # no folder can be written, as in many containers
        return njit(signature)(function)


@_compile
def _similarities(own, data, indices, offsets, sums):  # type: ignore[no-untyped-def]
    """Return the similarity of a molecule, dense, with each of K sparse ones: sum max = sum a + sum b - sum min."""
    total, found = own.sum(), np.empty(len(sums))
    for k in range(len(sums)):
        smaller = 0.0
        for place in range(offsets[k], offsets[k + 1]):
            smaller += min(own[indices[place]], data[place])
        larger = total + sums[k] - smaller
        found[k] = smaller / larger if larger > 0 else 1.0
    return found
