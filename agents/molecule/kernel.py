"""Kernels on the molecules of a set: fingerprints, tangent features of a network, and sums of both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import torch
from torch import Tensor

from agents.molecule.fingerprints import FingerprintCounts
from agents.molecule.network import MolecularNetwork
from agents.molecule.packed import PackedGraphs

BLOCK = 256  # molecules with tangent features in memory at a time: 27 MB at 26,000 features
HELD_BYTES = 1 << 27  # largest float32 tangent features that are kept in memory: those of a thousand molecules
TYPICAL = 256  # molecules over which squared features are averaged for the unit of the tangent kernel


class Kernel(Protocol):
    """A positive semi-definite function of two molecules, given by their indices in the set."""

    def columns(self, rows: Tensor, index: Tensor) -> tuple[Tensor, Tensor]:
        """Return the kernel between two lists of molecules, and its diagonal for the second.

        Args:
            rows: `(q,)` int64. Molecules of the rows.
            index: `(n,)` int64. Molecules of the columns.

        Returns:
            `(q, n)` float64, k(rows, index); and `(n,)` float64, k of each molecule of `index` with itself.
        """


class TanimotoKernel:
    """Tanimoto similarity of counts."""

    def __init__(self, fingerprints: FingerprintCounts) -> None:
        self.fingerprints = fingerprints

    def columns(self, rows: Tensor, index: Tensor) -> tuple[Tensor, Tensor]:
        """Return similarities `(q, n)`, and ones `(n,)`."""
        return self.fingerprints.similarity(rows, index), torch.ones(len(index), dtype=torch.float64)


class TangentKernel:
    """Inner products of tangent features at the current weights of a network.

        k(G, G') = <psi(G), psi(G')> / c,   c the mean of |psi|^2 over some molecules of the set

    Features are kept in memory if those of the whole set take at most `HELD_BYTES`. Otherwise they are computed in
    blocks at each call, and only those of the rows are kept for the next call with the same rows. Products are summed
    in float32.

    Args:
        network: the network, which must not be trained any further.
        graphs: the molecules of the set.
    """

    def __init__(self, network: MolecularNetwork, graphs: PackedGraphs) -> None:
        self.network, self.graphs = network, graphs
        self._kept: tuple[Tensor, Tensor] | None = None
        self._held: Tensor | None = None
        typical = torch.linspace(0, len(graphs) - 1, min(TYPICAL, len(graphs))).long()
        self._unit = 1.0
        self._unit = self.columns(typical[:0], typical)[1].mean().item() or 1.0

    def columns(self, rows: Tensor, index: Tensor) -> tuple[Tensor, Tensor]:
        """Return products of features `(q, n)`, and their squared lengths `(n,)`."""
        if self._kept is None or not torch.equal(self._kept[0], rows):
            self._kept = rows, torch.cat([torch.empty(0, self.network.num_features), *self._blocks(rows)])
        mine = self._kept[1]
        products, squares = [torch.empty(len(rows), 0)], [torch.empty(0)]
        for theirs in self._blocks(index):
            products.append(mine @ theirs.T)
            squares.append(torch.linalg.vecdot(theirs, theirs))
        return torch.cat(products, dim=1).double() / self._unit, torch.cat(squares).double() / self._unit

    def _blocks(self, index: Tensor) -> Iterator[Tensor]:
        if 4 * self.network.num_features * len(self.graphs) > HELD_BYTES:
            yield from self._make(index)
            return
        if self._held is None:
            self._held = torch.cat(list(self._make(torch.arange(len(self.graphs)))))
        yield self._held[index]

    def _make(self, index: Tensor) -> Iterator[Tensor]:
        for block in index.split(BLOCK):
            yield self.network.tangent_features(self.graphs.take(block))[1]


class SumKernel:
    """A weighted sum of kernels."""

    def __init__(self, parts: Sequence[tuple[float, Kernel]]) -> None:
        self.parts = tuple(parts)

    def columns(self, rows: Tensor, index: Tensor) -> tuple[Tensor, Tensor]:
        """Return the weighted sums of the parts."""
        columns = [(weight, *part.columns(rows, index)) for weight, part in self.parts]
        cross = torch.stack([weight * products for weight, products, _ in columns]).sum(0)
        return cross, torch.stack([weight * squares for weight, _, squares in columns]).sum(0)
