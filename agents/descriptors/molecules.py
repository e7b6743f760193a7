"""Read SMILES, columns and descriptors of a set of molecules."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from agents.contract.protocol import MoleculeSetLike
from agents.descriptors.descriptors import Descriptors
from agents.descriptors.scales import Scales

UNKNOWN = 1e300  # replaces unknown numbers in comparisons of states


@dataclass(frozen=True, eq=False)
class Molecules:
    """The agent's view of K molecules, without atoms and bonds."""

    source: MoleculeSetLike
    """The set of molecules."""
    smiles: Sequence[str]
    """SMILES of each molecule."""
    columns: NDArray[np.float64] | None
    """`(K, c)`. The user's numbers, or None."""
    column_names: Sequence[str]
    """Name of each column."""
    descriptors: Descriptors | None
    """Their descriptors. None: the agent computes them."""
    scales: Scales | None
    """The scales of the pool that contains the molecules. None: they are the whole pool."""

    @staticmethod
    def of(source: MoleculeSetLike) -> Molecules:
        """Read a set of molecules."""
        smiles = tuple(source.smiles)
        columns, descriptors, scales = (getattr(source, name, None) for name in ("columns", "descriptors", "scales"))
        names = tuple(getattr(source, "column_names", ()))
        return Molecules(source, smiles, columns, names, descriptors, scales)

    @property
    def num_graphs(self) -> int:
        """Return K."""
        return len(self.smiles)

    @cached_property
    def digest(self) -> Tensor:
        """Return a 32-byte digest of SMILES, columns, scales and excluded descriptors, `(32,)` uint8."""
        left_out = () if self.descriptors is None else self.descriptors.left_out
        content = hashlib.sha256("".join(f"without {name}\n" for name in left_out).encode())
        for text in self.smiles:
            content.update(f"{text}\n".encode())
        arrays = [] if self.columns is None else [np.nan_to_num(self.columns, nan=UNKNOWN)]
        if self.scales is not None:
            for _, moments in sorted(self.scales.moments.items()):
                arrays += [moments.scale().mean, moments.scale().spread]
            arrays += self.scales.ranks.values if self.scales.ranks else ()
        for array in arrays:
            content.update(f"{array.dtype}{array.shape}".encode())
            content.update(np.ascontiguousarray(array).tobytes())
        return torch.frombuffer(bytearray(content.digest()), dtype=torch.uint8)

    def is_like(self, other: Molecules) -> bool:
        """Return True if SMILES, columns, descriptors and scales equal those of the other."""
        same = self.descriptors is other.descriptors and self.scales is other.scales
        return same and torch.equal(self.digest, other.digest)
