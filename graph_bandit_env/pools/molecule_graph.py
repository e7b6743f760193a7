"""Features of a molecule's atoms and bonds: categories as bytes, and their one-hot form. No torch."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graph_bandit_env.graphs.packed_graphs import EVERY, Array, Floats, PackedGraphs

if TYPE_CHECKING:
    from rdkit.Chem import Mol

# Values with a separate column in the one-hot form. All others share one more column.
_ATOM_VALUES: tuple[tuple[int, ...], ...] = (
    (1, 5, 6, 7, 8, 9, 14, 15, 16, 17, 35, 53),  # elements
    (1, 2),  # chirality: clockwise, counterclockwise
    (0, 1, 2, 3, 4),  # neighbours, including hydrogens
    (4, 5, 6),  # charges -1, 0, 1
    (0, 1, 2, 3),  # hydrogens
    (),  # radical electrons
    (2, 3, 4),  # sp, sp2, sp3
    (),  # aromatic
    (),  # in a ring
)
_BOND_VALUES: tuple[tuple[int, ...], ...] = ((1, 2, 3, 12), (2, 3), ())  # single, double, triple, aromatic; Z, E
_SINGLE = {"atom": (5, 7, 8), "bond": (2,)}  # columns that remain numbers; for bonds, 1 if conjugated


def to_categories(molecule: Mol) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Read the atoms and bonds of an RDKit molecule.

    Args:
        molecule: `rdkit.Chem.Mol` with at least one atom.

    Returns:
        Categories of atoms `(n, 9)` and of bonds `(E, 3)`, and the bonds `(E, 2)`, each in one direction.
    """
    atoms = [
        (
            atom.GetAtomicNum(),
            int(atom.GetChiralTag()),
            atom.GetTotalDegree(),
            atom.GetFormalCharge() + 5,
            atom.GetTotalNumHs(),
            min(atom.GetNumRadicalElectrons(), 4),
            int(atom.GetHybridization()),
            atom.GetIsAromatic(),
            atom.IsInRing(),
        )
        for atom in molecule.GetAtoms()
    ]
    bonds = [
        (
            int(bond.GetBondType()),
            int(bond.GetStereo()),
            bond.GetIsConjugated(),
            bond.GetBeginAtomIdx(),
            bond.GetEndAtomIdx(),
        )
        for bond in molecule.GetBonds()
    ]
    table = np.array(bonds, np.int64).reshape(-1, 5)
    return np.array(atoms, np.int64).reshape(-1, 9), table[:, :3], table[:, 3:]


def to_one_hot(categories: Array, kind: str) -> Floats:
    """Convert categories to columns of 0 and 1: one for each common value, and one for all others.

    Args:
        categories: `(n, 9)` of atoms or `(E, 3)` of bonds, from 0 to 255.
        kind: "atom" or "bond".

    Returns:
        `(n, columns)`: 0 and 1, except the number of radical electrons.
    """
    blocks = [block[categories[:, column]] for column, block in enumerate(_one_hot_blocks(kind))]
    return np.concatenate(blocks, axis=1)


@cache
def _one_hot_blocks(kind: str) -> tuple[Floats, ...]:
    """Return the one-hot rows of each category for every value of a byte."""
    common, every = _ATOM_VALUES if kind == "atom" else _BOND_VALUES, np.arange(256)[:, None]
    blocks = []
    for column, values in enumerate(common):
        matches = every == np.array(values)
        others = ~matches.any(axis=1, keepdims=True)
        blocks.append(every if column in _SINGLE[kind] else np.hstack([matches, others]))
    return tuple(block.astype(np.float32) for block in blocks)


@dataclass(frozen=True, eq=False)
class PackedMolecules(PackedGraphs):
    """Graphs of molecules as categories of a byte each, much smaller than the features computed from them."""

    @property
    def feature_dim(self) -> int:
        """Return the number of features of an atom."""
        return sum(block.shape[1] for block in _one_hot_blocks("atom"))

    @property
    def edge_feature_dim(self) -> int:
        """Return the number of features of a bond."""
        return sum(block.shape[1] for block in _one_hot_blocks("bond"))

    def node_features(self, rows: slice = EVERY) -> Floats:
        """Compute the features of atoms."""
        return to_one_hot(self.nodes[rows], "atom")

    def edge_features(self, rows: slice = EVERY) -> Floats | None:
        """Compute the features of bonds."""
        return None if self.edges is None else to_one_hot(self.edges[rows], "bond")
