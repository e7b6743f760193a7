"""Molecules in shared arrays, and the cache that keeps them. No torch."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graph_bandit_env.storage import ArrayCache

FORMAT = 3  # of the cache; raise it when its content changes
SLACK, BYTES_PER_CHARACTER = 1 << 20, 64  # more than the arrays of any molecules need


@dataclass(frozen=True, eq=False)
class ParsedMolecules:
    """M molecules in shared arrays: molecule k has the rows from offset k to offset k + 1."""

    canonical: tuple[str, ...]
    """M canonical SMILES; empty where a text is not a molecule, or a molecule without atoms."""
    atoms: NDArray[np.uint8]
    """`(sum n, 9)`: categories."""
    atom_offsets: NDArray[np.int64]
    """`(M + 1,)`."""
    bonds: NDArray[np.uint8]
    """`(sum E, 3)`: categories, both directions of each bond."""
    links: NDArray[np.unsignedinteger]
    """`(sum E, 2)`: atoms of each bond, sorted; the smallest integers that hold them."""
    bond_offsets: NDArray[np.int64]
    """`(M + 1,)`."""

    def __len__(self) -> int:
        return len(self.canonical)


class Cache:
    """The file of some SMILES in the cache folder, as this version of RDKit parses them.

    Args:
        smiles: M texts that were or will be parsed.
    """

    def __init__(self, smiles: Sequence[str]) -> None:
        import rdkit

        key = json.dumps(["molecules", FORMAT, rdkit.__version__, *smiles]).encode()
        self.file = ArrayCache(key, SLACK + BYTES_PER_CHARACTER * len(key))
        self._count = len(smiles)

    def load(self) -> ParsedMolecules | None:
        """Return the molecules; None if there is no file, or not the one that `save` wrote for the same SMILES."""
        arrays = self.file.load()
        try:
            text = arrays.pop("canonical").tobytes().decode() if arrays else ""
            parsed = ParsedMolecules(tuple(text.split("\n")), **arrays)  # type: ignore[arg-type] # they are checked next
            return parsed if _is_sound(parsed, self._count) else None
        except (TypeError, ValueError, AttributeError, KeyError, IndexError):  # somebody forged them
            return None

    def save(self, parsed: ParsedMolecules) -> None:
        """Replace the file atomically; do nothing where no file can be kept."""
        text = np.frombuffer("\n".join(parsed.canonical).encode(), np.uint8)
        self.file.save(vars(parsed) | {"canonical": text})


def _is_sound(parsed: ParsedMolecules, count: int) -> bool:
    """Return whether arrays are M molecules, by their kinds and shapes, the order of offsets and the atoms of bonds."""
    atoms, bonds = len(parsed.atoms), len(parsed.bonds)
    kinds = (
        (parsed.atoms, np.uint8, (atoms, 9)),
        (parsed.bonds, np.uint8, (bonds, 3)),
        (parsed.links, np.min_scalar_type(parsed.links.max(initial=0)), (bonds, 2)),
        (parsed.atom_offsets, np.int64, (count + 1,)),
        (parsed.bond_offsets, np.int64, (count + 1,)),
    )
    if parsed.links.dtype.kind != "u" or len(parsed) != count:
        return False
    if any(array.dtype != kind or array.shape != shape for array, kind, shape in kinds):
        return False
    for offsets, total in ((parsed.atom_offsets, atoms), (parsed.bond_offsets, bonds)):
        if offsets[0] != 0 or offsets[-1] != total or (np.diff(offsets) < 0).any():
            return False
    most = np.repeat(np.diff(parsed.atom_offsets), np.diff(parsed.bond_offsets))[:, None]
    return bool((parsed.links < most).all())
