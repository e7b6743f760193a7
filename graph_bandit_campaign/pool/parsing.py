"""Parse canonical SMILES once, though several rooms look at a molecule one after the other."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rdkit.Chem import Mol

KEPT = 4096  # molecules: those of a block of a pool; one takes some 10 kB


@lru_cache(maxsize=KEPT)
def molecule_of(smiles: str) -> Mol:
    """Return the molecule of a canonical SMILES, which must not be changed."""
    from rdkit import Chem, rdBase

    with rdBase.BlockLogs():
        return Chem.MolFromSmiles(smiles)
