"""Compute numbers that describe each molecule from its structure, by RDKit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from rdkit.Chem import Mol


def compute_properties(molecules: Sequence[Mol]) -> NDArray[np.float64]:
    """Compute twelve properties by RDKit: mass, polar surface, donors, acceptors, rotatable bonds, rings and shape.

    Args:
        molecules: K `rdkit.Chem.Mol`.

    Returns:
        `(K, 12)`.
    """
    from rdkit.Chem import Descriptors, rdMolDescriptors

    rd: Any = rdMolDescriptors

    functions = (
        *(Descriptors.MolWt, rd.CalcTPSA, rd.CalcNumHBD, rd.CalcNumHBA),  # type: ignore[attr-defined]
        *(rd.CalcNumRotatableBonds, rd.CalcNumRings, rd.CalcNumAromaticRings, rd.CalcFractionCSP3),
        *(rd.CalcNumHeteroatoms, rd.CalcKappa2, rd.CalcChi1v, rd.CalcHallKierAlpha),
    )
    return np.array([[function(molecule) for function in functions] for molecule in molecules], np.float64)


def compute_descriptors(molecules: Sequence[Mol]) -> NDArray[np.float64]:
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
    rows = [np.concatenate([function(molecule) for function in functions]) for molecule in molecules]
    return np.array(rows, np.float64)
