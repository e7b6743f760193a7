"""Compute numbers that describe each molecule from its structure, by RDKit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from rdkit.Chem import Mol

ROTATABLE_BONDS = 18  # which of the molecular quantum numbers they are; RDKit takes 80 us to count them again


def compute_properties(molecules: Sequence[Mol], rotatable: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
    """Compute twelve properties by RDKit: mass, polar surface, donors, acceptors, rotatable bonds, rings and shape.

    Args:
        molecules: K `rdkit.Chem.Mol`.
        rotatable: `(K,)`. Numbers of rotatable bonds, where they are known; None: they are counted.

    Returns:
        `(K, 12)`.
    """
    from rdkit.Chem import rdMolDescriptors

    rd: Any = rdMolDescriptors
    before = rd._CalcMolWt, rd.CalcTPSA, rd.CalcNumHBD, rd.CalcNumHBA
    after = (
        *(rd.CalcNumRings, rd.CalcNumAromaticRings, rd.CalcFractionCSP3, rd.CalcNumHeteroatoms),
        *(rd.CalcKappa2, rd.CalcChi1v, rd.CalcHallKierAlpha),
    )
    bonds = [rd.CalcNumRotatableBonds(molecule) for molecule in molecules] if rotatable is None else rotatable
    rows = [
        [*(function(molecule) for function in before), count, *(function(molecule) for function in after)]
        for molecule, count in zip(molecules, bonds, strict=True)
    ]
    return np.array(rows, np.float32).reshape(-1, len(before) + 1 + len(after))


def compute_descriptors(molecules: Sequence[Mol]) -> NDArray[np.float32]:
    """Compute 78 descriptors by RDKit.

    They are 42 molecular quantum numbers, counts of atoms, bonds and rings [Nguyen et al. 2009]; and the surface of
    atoms by their share of charge, refractivity and logP, in 36 intervals [Labute 2000].

    Args:
        molecules: K `rdkit.Chem.Mol`.

    Returns:
        `(K, 78)`.
    """
    from rdkit.Chem import rdMolDescriptors

    rd: Any = rdMolDescriptors
    functions = (rd.MQNs_, rd.PEOE_VSA_, rd.SMR_VSA_, rd.SlogP_VSA_)
    rows = [[number for function in functions for number in function(molecule)] for molecule in molecules]
    return np.array(rows, np.float32).reshape(-1, 78)
