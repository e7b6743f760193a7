"""Graphs as kernels read them: encoded for the kernel of a network, or with a kernel that is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor
from torch_geometric.data import Batch, Data

from agents.beliefs.encoding import encode_more
from agents.contract.protocol import State
from agents.kernel.settings import KernelSettings
from gntk import (
    AggregatedGraphs,
    GraphMLP,
    aggregate_neighbours,
    empirical_kernel,
    gram,
    infinite_width_kernel,
    select_graphs,
    tangent_features,
)

BLOCK = 8  # graphs of which the kernel is computed at a time where only its diagonal is wanted


class KernelGraphs(Protocol):
    """M graphs as a kernel reads them. They never change."""

    def exchange(self, kept: Tensor, graphs: Sequence[Data]) -> KernelGraphs:
        """Return the graphs in the slots `kept`, `(n,)` int64, and then new ones.

        Raises:
            ValueError: if the kernel is not known for other graphs.
        """

    def rows(self, slots: Tensor | None = None) -> Tensor:
        """Return the kernel of the graphs in `slots`, `(n,)` int64, or of all graphs, with all: `(n, M)` float64."""

    def diagonal(self) -> Tensor:
        """Return the kernel of each graph with itself, `(M,)` float64."""

    def known(self) -> list[Tensor]:
        """Return tensors that identify the graphs."""

    def state(self) -> State:
        """Return what the kernel of other graphs depends on, apart from settings and graphs."""

    def restored(self, state: State) -> KernelGraphs:
        """Return the same graphs with what `state` returned."""


Encode = Callable[[Batch, int], KernelGraphs]
"""A function that takes in the graphs of `reset`, and the seed of the initial weights."""


@dataclass(frozen=True, eq=False)
class NetworkGraphs:
    """Graphs with a GNTK, of infinite or finite width."""

    settings: KernelSettings
    """Settings of the network."""
    graphs: AggregatedGraphs
    """The graphs, with aggregated nodes."""
    seed: int
    """Seed of the initial weights of a network of finite width."""

    def exchange(self, kept: Tensor, graphs: Sequence[Data]) -> NetworkGraphs:
        """Return the graphs that stay, and then new ones."""
        own_count = self.settings.node_count == "own"
        return replace(self, graphs=encode_more(aggregate_neighbours, self.graphs, kept, graphs, own_count))

    def rows(self, slots: Tensor | None = None) -> Tensor:
        """Return the kernel of some graphs, or of all, with all."""
        some = self.graphs if slots is None else select_graphs(self.graphs, slots)
        if self.settings.kernel == "infinite":
            return infinite_width_kernel(some, self.settings.depth, others=None if slots is None else self.graphs)
        model = GraphMLP(self.graphs.feature_dim, self.settings.width, self.settings.depth, seed=self.seed)
        if slots is None:
            return empirical_kernel(model, self.graphs)
        return gram(tangent_features(model, some), tangent_features(model, self.graphs))

    def diagonal(self) -> Tensor:
        """Return the kernel of each graph with itself, in blocks of a few graphs."""
        blocks = (select_graphs(self.graphs, slots) for slots in torch.arange(len(self.graphs)).split(BLOCK))
        return torch.cat([replace(self, graphs=block).rows().diagonal() for block in blocks])

    def known(self) -> list[Tensor]:
        """Return the aggregated graphs; the state of an agent holds the kernel, which may depend on the seed."""
        return _parts_of(self.graphs)

    def state(self) -> State:
        """Return the seed if there are weights."""
        return {"seed": self.seed} if self.settings.kernel == "empirical" else {}

    def restored(self, state: State) -> NetworkGraphs:
        """Return the same graphs with the seed of a state."""
        return replace(self, seed=state.get("seed", self.seed))


@dataclass(frozen=True, eq=False)
class GivenGraphs:
    """Graphs with a kernel of which only the matrix is known."""

    graphs: AggregatedGraphs
    """The graphs, with aggregated nodes."""
    kernel: Tensor
    """`(K, K)` float64."""

    def exchange(self, kept: Tensor, graphs: Sequence[Data]) -> GivenGraphs:
        """Refuse other graphs."""
        raise ValueError(
            "Expected the graphs of `reset` in each observation, because a given `kernel_matrix` is that of these "
            'graphs. Got other graphs. Make the agent with kernel="infinite" or "empirical".'
        )

    def rows(self, slots: Tensor | None = None) -> Tensor:
        """Return rows of the matrix."""
        return self.kernel if slots is None else self.kernel[slots]

    def diagonal(self) -> Tensor:
        """Return the diagonal of the matrix."""
        return self.kernel.diagonal()

    def known(self) -> list[Tensor]:
        """Return the aggregated graphs."""
        return _parts_of(self.graphs)

    def state(self) -> State:
        """Return an empty dict."""
        return {}

    def restored(self, state: State) -> GivenGraphs:
        """Return the same graphs."""
        return self


def encode_network(settings: KernelSettings, graphs: Batch, seed: int) -> NetworkGraphs:
    """Return graphs with the GNTK of a network with these settings and this seed."""
    return NetworkGraphs(settings, aggregate_neighbours(graphs, own_count=settings.node_count == "own"), seed)


def encode_given(settings: KernelSettings, kernel: Tensor, graphs: Batch, seed: int) -> GivenGraphs:
    """Return graphs with a given kernel `(K, K)`; no seed has an effect.

    Raises:
        ValueError: if there are not K graphs.
    """
    if len(kernel) != graphs.num_graphs:
        raise ValueError(f"Expected a kernel of {graphs.num_graphs} graphs. Got {len(kernel)}.")
    return GivenGraphs(aggregate_neighbours(graphs, own_count=settings.node_count == "own"), kernel)


def check_kernel(kernel: ArrayLike) -> Tensor:
    """Return a kernel as `(K, K)` float64.

    Raises:
        ValueError: if it is not finite, symmetric and positive semi-definite.
    """
    array = np.asarray(kernel, np.float64)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or not np.isfinite(array).all():
        count = int((~np.isfinite(array)).sum())
        raise ValueError(
            f"Expected a finite kernel of shape `(K, K)`. Got shape `{array.shape}`, with {count} entries that are not "
            "finite."
        )
    if not np.allclose(array, array.T) or np.linalg.eigvalsh(array)[0] < -1e-8 * np.abs(array).max():
        raise ValueError("Expected a symmetric and positive semi-definite kernel. Got one that is not.")
    return torch.from_numpy((array + array.T) / 2)


def _parts_of(graphs: AggregatedGraphs) -> list[Tensor]:
    return [graphs.nodes, graphs.offsets, graphs.divisors]
