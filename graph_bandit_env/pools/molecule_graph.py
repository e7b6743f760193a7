"""Features of a molecule's atoms and bonds: PyG's categories and their one-hot form. No torch."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from graph_bandit_env.checks import check_choice
from graph_bandit_env.graphs.packed_graphs import EVERY, Array, Floats, PackedGraphs

if TYPE_CHECKING:
    from rdkit.Chem import Mol

Features = Literal["one_hot", "categories"]

# PyG's categories (`torch_geometric.utils.smiles.x_map` and `e_map`), column by column.
ATOM_COLUMNS = (
    "atomic_num",
    "chirality",
    "degree",
    "formal_charge",
    "num_hs",
    "num_radical_electrons",
    "hybridization",
    "is_aromatic",
    "is_in_ring",
)
BOND_COLUMNS = ("bond_type", "stereo", "is_conjugated")
CATEGORIES = {"atom": (119, 9, 11, 12, 9, 5, 8, 2, 2), "bond": (22, 6, 2)}

_HYBRIDIZATIONS = ("UNSPECIFIED", "S", "SP", "SP2", "SP3", "SP3D", "SP3D2", "OTHER")
_STEREO = ("STEREONONE", "STEREOANY", "STEREOZ", "STEREOE", "STEREOCIS", "STEREOTRANS")

# Values that have a column of their own in the one-hot form; all others share one more column.
_ELEMENTS = (1, 5, 6, 7, 8, 9, 14, 15, 16, 17, 35, 53)
_ATOM_VALUES: tuple[tuple[int, ...], ...] = (
    _ELEMENTS,
    (1, 2),  # clockwise, counterclockwise
    (0, 1, 2, 3, 4),
    (4, 5, 6),  # charges -1, 0, 1
    (0, 1, 2, 3),
    (),
    (2, 3, 4),  # sp, sp2, sp3
    (),
    (),
)
_BOND_VALUES: tuple[tuple[int, ...], ...] = ((1, 2, 3, 12), (2, 3), ())  # single, double, triple, aromatic; Z, E
_SINGLE = {"atom": (5, 7, 8), "bond": (2,)}  # columns that stay numbers: radicals, aromatic, in a ring; conjugated


def to_categories(molecule: Mol) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Read the atoms and bonds of an RDKit molecule.

    Args:
        molecule: `rdkit.Chem.Mol` with at least one atom.

    Returns:
        Categories of atoms `(n, 9)` and of bonds `(E, 3)`, as PyG's `from_smiles` numbers them, and the bonds `(E, 2)`,
        each in one direction. A value that PyG has no number for (a rare hybridization) counts as other or unspecified.
    """
    atoms = [
        (
            atom.GetAtomicNum(),
            min(int(atom.GetChiralTag()), 8),
            min(atom.GetTotalDegree(), 10),
            min(max(atom.GetFormalCharge() + 5, 0), 11),
            min(atom.GetTotalNumHs(), 8),
            min(atom.GetNumRadicalElectrons(), 4),
            _index_of(str(atom.GetHybridization()), _HYBRIDIZATIONS, len(_HYBRIDIZATIONS) - 1),
            int(atom.GetIsAromatic()),
            int(atom.IsInRing()),
        )
        for atom in molecule.GetAtoms()
    ]
    bonds = [
        (
            min(int(bond.GetBondType()), 21),
            _index_of(str(bond.GetStereo()), _STEREO, 0),
            int(bond.GetIsConjugated()),
            bond.GetBeginAtomIdx(),
            bond.GetEndAtomIdx(),
        )
        for bond in molecule.GetBonds()
    ]
    table = np.array(bonds, np.int64).reshape(-1, 5)
    return np.array(atoms, np.int64).reshape(-1, 9), table[:, :3], table[:, 3:]


def to_one_hot(categories: NDArray[np.integer], kind: str) -> Floats:
    """Convert categories to columns of 0 and 1: one for each common value, and one for all others.

    Args:
        categories: `(n, 9)` of atoms or `(E, 3)` of bonds, from 0 to 255.
        kind: "atom" or "bond".

    Returns:
        `(n, columns)`: 0 and 1, except the number of radical electrons.
    """
    blocks = _one_hot_blocks(kind)
    features = np.empty((len(categories), sum(block.shape[1] for block in blocks)), np.float32)
    start = 0
    for column, block in enumerate(blocks):
        features[:, start : start + block.shape[1]] = block[categories[:, column]]
        start += block.shape[1]
    return features


@cache
def _one_hot_blocks(kind: str) -> tuple[Floats, ...]:
    """Return the columns of each category: the row of each value that a byte can have."""
    common, every = _ATOM_VALUES if kind == "atom" else _BOND_VALUES, np.arange(256)[:, None]
    blocks = []
    for column, values in enumerate(common):
        matches = every == np.array(values)
        others = ~matches.any(axis=1, keepdims=True)
        blocks.append(every if column in _SINGLE[kind] else np.hstack([matches, others]))
    return tuple(block.astype(np.float32) for block in blocks)


@cache
def one_hot_names(kind: str) -> tuple[str, ...]:
    """Return the names of the columns of the one-hot form: `atomic_num=6`, `atomic_num=other`, `is_aromatic`, ..."""
    names = ATOM_COLUMNS if kind == "atom" else BOND_COLUMNS
    common = _ATOM_VALUES if kind == "atom" else _BOND_VALUES
    columns = []
    for column, (name, values) in enumerate(zip(names, common, strict=True)):
        if column in _SINGLE[kind]:
            columns.append(name)
        else:
            columns += [*(f"{name}={value}" for value in values), f"{name}=other"]
    return tuple(columns)


def count_columns(features: Features) -> tuple[int, int]:
    """Return the number of columns of atoms and of bonds.

    Raises:
        ValueError: if `features` is unknown.
    """
    if check_choice("features", features, get_args(Features)) == "one_hot":
        return len(one_hot_names("atom")), len(one_hot_names("bond"))
    return len(ATOM_COLUMNS), len(BOND_COLUMNS)


@dataclass(frozen=True, eq=False)
class PackedMolecules(PackedGraphs):
    """Graphs of molecules as categories, a byte each: a small part of the features that are made of them."""

    form: Features = "one_hot"
    """Form of the features."""

    @property
    def feature_dim(self) -> int:
        """Return the number of features of an atom."""
        return count_columns(self.form)[0]

    @property
    def edge_feature_dim(self) -> int:
        """Return the number of features of a bond."""
        return count_columns(self.form)[1]

    def node_features(self, rows: slice = EVERY) -> Floats:
        """Make the features of atoms."""
        return self._features(self.nodes[rows], "atom")

    def edge_features(self, rows: slice = EVERY) -> Floats | None:
        """Make the features of bonds."""
        return None if self.edges is None else self._features(self.edges[rows], "bond")

    def is_like(self, others: PackedGraphs) -> bool:
        """Return whether the arrays of both mean the same."""
        return isinstance(others, PackedMolecules) and self.form == others.form

    def _features(self, categories: Array, kind: str) -> Floats:
        return (
            to_one_hot(categories.astype(np.uint8, copy=False), kind)
            if self.form == "one_hot"
            else categories.astype(np.float32)
        )


def _index_of(value: str, values: tuple[str, ...], otherwise: int) -> int:
    return values.index(value) if value in values else otherwise
