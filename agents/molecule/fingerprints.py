"""Compute fingerprints of molecules and their Tanimoto similarity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack
from torch import Tensor

from gntk.engines import compile_loop

BINS = 4096
Kind = Literal["atom_pairs", "morgan"]


def read_molecules(smiles: Sequence[str]) -> list[Any]:
    """Return the molecules as `rdkit.Chem.Mol`.

    Raises:
        ImportError: if RDKit is not installed.
        ValueError: if RDKit cannot read a SMILES.
    """
    from rdkit import Chem

    molecules = [Chem.MolFromSmiles(text) for text in smiles]
    for number, molecule in enumerate(molecules):
        if molecule is None:
            raise ValueError(f"Expected SMILES. Got number {number}, {smiles[number]!r}, which RDKit cannot read.")
    return molecules


class FingerprintCounts:
    """Count how often each feature occurs in each molecule, by RDKit, hashed to 4096 bins; stored as a sparse matrix.

    Args:
        molecules: K `rdkit.Chem.Mol`.
        kind: "atom_pairs", pairs of atom types at a distance (Carhart, Smith & Venkataraghavan 1985), or "morgan",
            neighbourhoods of up to three bonds around an atom (Rogers & Hahn 2010).
    """

    def __init__(self, molecules: Sequence[Any], kind: Kind) -> None:
        from rdkit.Chem.rdFingerprintGenerator import GetAtomPairGenerator, GetMorganGenerator

        generator = (
            GetAtomPairGenerator(fpSize=BINS) if kind == "atom_pairs" else GetMorganGenerator(radius=3, fpSize=BINS)
        )
        columns, counts, offsets = [], [], [0]
        for molecule in molecules:
            bins = generator.GetCountFingerprint(molecule).GetNonzeroElements()
            columns += bins.keys()
            counts += bins.values()
            offsets.append(len(columns))
        parts = np.array(counts, np.float32), np.array(columns, np.int32), np.array(offsets, np.int64)
        self.counts = csr_array(parts, shape=(len(molecules), BINS))

    @classmethod
    def stack(cls, parts: Sequence[FingerprintCounts]) -> FingerprintCounts:
        """Concatenate the molecules of some parts."""
        stacked = cls.__new__(cls)
        stacked.counts = csr_array(vstack([part.counts for part in parts]))
        return stacked

    def similarity(self, left: Tensor, right: Tensor) -> Tensor:
        """Compute the Tanimoto similarity of counts.

            T(x, y) = sum_b min(x_b, y_b) / sum_b max(x_b, y_b)      [a kernel: Gower 1971; Ralaivola et al. 2005]

        Args:
            left: `(n,)` int64. Molecules of the rows.
            right: `(m,)` int64. Molecules of the columns.

        Returns:
            `(n, m)` float64; 1 if both molecules have equal counts, which includes two without any feature.
        """
        mine, theirs = self.counts[left.numpy()], self.counts[right.numpy()]
        return torch.from_numpy(tanimoto(mine.toarray(), theirs.indptr, theirs.indices, theirs.data))


@compile_loop
def tanimoto(
    dense: NDArray[np.float32], offsets: NDArray[np.int64], columns: NDArray[np.int32], counts: NDArray[np.float32]
) -> NDArray[np.float64]:
    """Compare the rows of a dense matrix of counts with those of a sparse one."""
    result = np.empty((len(dense), len(offsets) - 1))
    totals = np.empty(len(offsets) - 1)
    for other in range(len(totals)):
        totals[other] = counts[offsets[other] : offsets[other + 1]].sum()
    for row in range(len(dense)):
        total = dense[row].sum()
        for other in range(len(totals)):
            common = 0.0
            for entry in range(offsets[other], offsets[other + 1]):
                common += min(counts[entry], dense[row, columns[entry]])
            union = total + totals[other] - common
            result[row, other] = common / union if union > 0 else 1.0
    return result
