"""Compute properties of whole molecules from their structure, and a kernel on these properties."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


class DescriptorKernel:
    """Gaussian kernel on twelve properties: mass, polar surface, donors, acceptors, rotatable bonds, rings and shape.

        k(G, G') = exp(-|z - z'|^2 / (8 D)),   z the properties, standardised over the set, D = 12

    Args:
        values: `(K, 12)` float64, from `compute_descriptors`.
    """

    def __init__(self, values: NDArray[np.float64]) -> None:
        spread = values.std(axis=0)
        self._points = torch.from_numpy((values - values.mean(axis=0)) / np.where(spread > 0, spread, 1))

    def columns(self, rows: Tensor, index: Tensor) -> tuple[Tensor, Tensor]:
        """Return similarities `(q, n)`, and ones `(n,)`."""
        squares = torch.cdist(self._points[rows], self._points[index]).square()
        return torch.exp(-squares / (8 * self._points.shape[1])), torch.ones(len(index), dtype=torch.float64)


def compute_descriptors(molecules: Sequence[Any]) -> NDArray[np.float64]:
    """Compute twelve properties of each `rdkit.Chem.Mol` by RDKit: `(K, 12)` float64."""
    from rdkit.Chem import Descriptors, rdMolDescriptors

    rd: Any = rdMolDescriptors

    functions = (
        *(Descriptors.MolWt, rd.CalcTPSA, rd.CalcNumHBD, rd.CalcNumHBA),  # type: ignore[attr-defined]
        *(rd.CalcNumRotatableBonds, rd.CalcNumRings, rd.CalcNumAromaticRings, rd.CalcFractionCSP3),
        *(rd.CalcNumHeteroatoms, rd.CalcKappa2, rd.CalcChi1v, rd.CalcHallKierAlpha),
    )
    return np.array([[function(molecule) for function in functions] for molecule in molecules], np.float64)
