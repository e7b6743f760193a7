"""Compare building blocks of one slot: half by identity, half by structure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

RADIUS, BITS = 2, 1024  # of the Morgan fingerprints of blocks
IDENTITY = 0.5  # share of the identity in the kernel: what a block adds is not only what its structure says


@dataclass(frozen=True, eq=False)
class BlockKernel:
    """The kernel of the B building blocks of a slot, with unit diagonal.

    k(a, b) = 1/2 [a = b] + 1/2 |A and B| / |A or B|,   A and B the bits of Morgan fingerprints
    """

    bits: NDArray[np.float32]
    """`(B, D)`, zeros and ones: the fingerprint of each block."""

    @classmethod
    def of_smiles(cls, smiles: Sequence[str]) -> Self:
        """Compute the fingerprints of molecules.

        Args:
            smiles: B canonical SMILES.
        """
        from rdkit import Chem, rdBase
        from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator

        generator = GetMorganGenerator(radius=RADIUS, fpSize=BITS)
        with rdBase.BlockLogs():
            prints = [generator.GetFingerprintAsNumPy(Chem.MolFromSmiles(text)) for text in smiles]
        return cls(np.array(prints, np.float32).reshape(-1, BITS))

    def __len__(self) -> int:
        return len(self.bits)

    def columns(self, blocks: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the kernel of all blocks with some of them, `(B, q)`.

        Args:
            blocks: `(q,)`, which of them.
        """
        both = self.bits @ self.bits[blocks].T
        either = self._counts[:, None] + self._counts[blocks] - both
        kernel = np.asarray((1 - IDENTITY) * both / np.maximum(either, 1), np.float32)
        kernel[blocks, np.arange(len(blocks))] = 1.0  # that of a block without bits, too
        return kernel

    @cached_property
    def _counts(self) -> NDArray[np.float32]:
        return np.asarray(self.bits.sum(axis=1), np.float32)
