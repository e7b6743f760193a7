"""Fingerprints of molecules, and their Tanimoto similarity as a part of the kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack
from torch import Tensor

from gntk.engines import compile_loop

if TYPE_CHECKING:
    from rdkit.Chem import Mol

BINS = 4096
Kind = Literal["atom_pairs", "morgan", "torsions", "roles"]


def read_molecules(smiles: Sequence[str]) -> list[Mol]:
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
        kind: "atom_pairs", pairs of atom types at a distance [Carhart, Smith & Venkataraghavan 1985]; "morgan",
            neighbourhoods of up to three bonds around an atom [Rogers & Hahn 2010]; "torsions", paths of four atoms
            [Nilakantan et al. 1987]; or "roles", neighbourhoods of up to two bonds of what atoms do (donor,
            acceptor, acid, base, halogen, aromatic) instead of what they are.
        stereo: whether stereoisomers differ.
    """

    def __init__(self, molecules: Sequence[Mol], kind: Kind, stereo: bool = False) -> None:
        generator = _generator(kind, stereo)
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

    def columns(self, rows: Tensor, index: Tensor) -> Tensor:
        """Compute the Tanimoto similarity of counts.

            T(x, y) = sum_b min(x_b, y_b) / sum_b max(x_b, y_b)      [a kernel: Gower 1971; Ralaivola et al. 2005]

        Args:
            rows: `(q,)` int64. Molecules of the rows.
            index: `(n,)` int64. Molecules of the columns.

        Returns:
            `(q, n)` float64; 1 if both molecules have equal counts, which includes two without any feature.
        """
        mine, theirs = self.counts[rows.numpy()], self.counts[index.numpy()]
        dense = mine.T.toarray(order="C")
        return torch.from_numpy(tanimoto(dense, theirs.indptr, theirs.indices, theirs.data)).T

    def diagonal(self, index: Tensor) -> Tensor:
        """Return ones."""
        return torch.ones(len(index), dtype=torch.float64)


def _generator(kind: Kind, stereo: bool) -> Any:
    from rdkit.Chem import rdFingerprintGenerator

    fingerprints: Any = rdFingerprintGenerator
    options = {"fpSize": BINS, "includeChirality": stereo}
    if kind == "atom_pairs":
        return fingerprints.GetAtomPairGenerator(**options)
    if kind == "torsions":
        return fingerprints.GetTopologicalTorsionGenerator(**options)
    if kind == "morgan":
        return fingerprints.GetMorganGenerator(radius=3, **options)
    roles = fingerprints.GetMorganFeatureAtomInvGen()
    return fingerprints.GetMorganGenerator(radius=2, atomInvariantsGenerator=roles, **options)


@compile_loop
def tanimoto(
    dense: NDArray[np.float32], offsets: NDArray[np.int64], columns: NDArray[np.int32], counts: NDArray[np.float32]
) -> NDArray[np.float64]:
    """Compare the n rows of a sparse matrix of counts with the q columns of a dense one `(bins, q)`: `(n, q)`.

    The innermost loop runs over neighbours in memory.
    """
    width = dense.shape[1]
    result = np.empty((len(offsets) - 1, width))
    totals = np.zeros(width, np.float32)
    for bin_ in range(len(dense)):
        for row in range(width):
            totals[row] += dense[bin_, row]
    common = np.empty(width, np.float32)
    for other in range(len(result)):
        common[:] = 0
        total = counts[offsets[other] : offsets[other + 1]].sum()
        for entry in range(offsets[other], offsets[other + 1]):
            count, those = counts[entry], dense[columns[entry]]
            for row in range(width):
                common[row] += those[row] if those[row] < count else count
        for row in range(width):
            union = 1.0 * total + totals[row] - common[row]  # 1.0 * makes it float64
            result[other, row] = common[row] / union if union > 0 else 1.0
    return result
