"""Read SMILES, columns and traits of a set of molecules, and atoms only where a round shows graphs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from agents.contract.inputs import read_graphs
from agents.contract.protocol import MoleculeSetLike
from agents.traits.scales import Scales
from agents.traits.traits import Traits

if TYPE_CHECKING:
    from torch_geometric.data import Batch, Data

UNKNOWN = 1e300  # stands for a number that is not known where states are compared
AT_A_TIME = 10_000  # SMILES that are joined to be hashed


@dataclass(frozen=True, eq=False)
class Molecules:
    """K molecules as an agent reads them.

    It stands for the batch of their graphs where a round shows graphs, which are then compared with these: only then
    are atoms and bonds made.
    """

    source: MoleculeSetLike
    """The set that was read."""
    smiles: Sequence[str]
    """SMILES of each molecule."""
    columns: NDArray[np.float64] | None
    """`(K, c)`. The user's own numbers; None: there are none."""
    column_names: Sequence[str]
    """Name of each column."""
    traits: Traits | None
    """Their traits; None: the agent computes them."""
    scales: Scales | None
    """The scales of the pool that they are from; None: they are the whole pool."""

    @staticmethod
    def of(source: MoleculeSetLike) -> Molecules:
        """Read a set of molecules.

        Raises:
            ValueError: if it brings traits of another number of molecules.
            TypeError: if its traits or scales are something else.
        """
        smiles = tuple(source.smiles)
        columns, traits, scales = (getattr(source, name, None) for name in ("columns", "traits", "scales"))
        for name, value, kind in (("traits", traits, Traits), ("scales", scales, Scales)):
            if value is not None and not isinstance(value, kind):
                raise TypeError(f"Expected `{name}` of molecules to be {kind.__name__}. Got {type(value).__name__}.")
        if traits is not None and len(traits) != len(smiles):
            raise ValueError(f"Expected traits of {len(smiles)} molecules. Got those of {len(traits)}.")
        names = tuple(getattr(source, "column_names", ()))
        return Molecules(source, smiles, columns, names, traits, scales)

    @property
    def num_graphs(self) -> int:
        """Return K."""
        return len(self.smiles)

    @cached_property
    def batch(self) -> Batch:
        """Return the graphs of atoms and bonds."""
        return read_graphs(None, self.source)

    @property
    def x(self) -> Tensor:
        """Return the features of all atoms."""
        nodes: Tensor = self.batch.x
        return nodes

    @property
    def edge_attr(self) -> Tensor | None:
        """Return the features of all bonds."""
        edges: Tensor | None = self.batch.edge_attr
        return edges

    def get_example(self, index: int) -> Data:
        """Return a molecule as a graph."""
        return self.batch.get_example(index)

    def digest(self) -> Tensor:
        """Return 32 bytes that tell SMILES, columns, scales and what was left out from others, `(32,)` uint8."""
        content = hashlib.sha256()
        if self.traits is not None and self.traits.left_out:
            content.update("".join(f"without {name}\n" for name in self.traits.left_out).encode())
        for start in range(0, len(self.smiles), AT_A_TIME):
            content.update("".join(f"{text}\n" for text in self.smiles[start : start + AT_A_TIME]).encode())
        for array in self._numbers():
            content.update(f"{array.dtype}{array.shape}".encode())
            content.update(np.ascontiguousarray(array).tobytes())
        return torch.frombuffer(bytearray(content.digest()), dtype=torch.uint8)

    def is_like(self, other: Molecules) -> bool:
        """Return whether SMILES, columns, traits and scales are those of the other."""
        same = self.traits is other.traits and self.scales is other.scales and self.smiles == other.smiles
        if not same or (self.columns is None) != (other.columns is None):
            return False
        if self.columns is None or other.columns is None:
            return True
        return np.array_equal(self.columns, other.columns, equal_nan=True)

    def _numbers(self) -> Iterable[NDArray[np.float64]]:
        if self.columns is not None:
            yield np.nan_to_num(self.columns, nan=UNKNOWN)
        if self.scales is not None:
            for name in sorted(self.scales.moments):
                scale = self.scales.moments[name].scale()
                yield from (scale.mean, scale.spread)
            yield from self.scales.ranks.values if self.scales.ranks else ()
