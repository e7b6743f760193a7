"""Read a set of graphs in all ways that apply to it, and join them into the parts of the kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from agents.contract.reading import edge_features_vary, with_both_directions
from agents.process.kept import KeptColumns, KeptKernel, KeptMixture
from agents.process.parts.edges import measure_edges
from agents.process.parts.itself import Itself
from agents.process.parts.layers import measure_layers
from agents.process.parts.measured import Measured
from agents.process.parts.network import Network
from agents.process.parts.nodes import measure_means, measure_sums
from agents.process.parts.part import Part, Reading, typical_variance
from agents.process.parts.structure import measure_structure
from agents.process.parts.subtrees import Subtrees
from agents.process.settings import GraphProcessSettings

if TYPE_CHECKING:
    from torch_geometric.data import Batch, Data

SAMPLE = 500  # graphs, evenly spaced, whose differences stand for those of all


@dataclass(frozen=True, eq=False)
class GraphDescription:
    """Graphs, and the parts of the kernel that tell them apart."""

    kept: KeptColumns
    """The kernels of the parts, with the columns asked for."""
    parts: Sequence[Part]
    """The parts of the kernel."""

    @staticmethod
    def of(ways: Sequence[tuple[float, Reading]], count: int, known_weight: float | None = None) -> GraphDescription:
        """Leave out kernels that are constant on the set, and weigh the others.

        The weights that are left add up to 1, in units of the typical variance of each kernel. If no kernel differs,
        all stay, because graphs of later rounds may differ, and those of the set are told apart by their own rewards;
        so they are if there is no kernel at all, as with weights of parts that do not apply.

        Args:
            ways: weights, and what is read of K graphs.
            count: K.
            known_weight: weight of the only kernel, if it is given.
        """
        if not any(len(reading.shares) for _, reading in ways):
            ways = [*ways, (1.0, Itself(count))]
        kept = KeptColumns([reading for _, reading in ways], count)
        typical = _typical(kept)
        chosen = (typical > 0).nonzero().squeeze(1).tolist()
        if not chosen and known_weight is None:
            ways = [*ways, (1.0, Itself(count))]
            kept = KeptColumns([reading for _, reading in ways], count)
            own, chosen = kept.diagonals.mean(1), list(range(len(kept.wanted)))
            typical = own.where(own > 0, 1.0)
        names = [reading.name for _, reading in ways for _ in reading.shares]
        weights = [weight * share for weight, reading in ways for share in reading.shares]
        total = sum(weights[k] for k in chosen)
        if known_weight is None:
            kept = kept.only(chosen)
            medians = [weights[k] / total / float(typical[k]) for k in chosen]
        else:
            chosen, medians = [0], [known_weight]
        parts = [
            Part(names[k], median, KeptKernel(kept, index), float(typical[k]))
            for index, (k, median) in enumerate(zip(chosen, medians, strict=True))
        ]
        return GraphDescription(kept, parts)

    @property
    def count(self) -> int:
        """Return the number of graphs."""
        return self.kept.count

    @property
    def readings(self) -> Sequence[Reading]:
        """Return what is read of the graphs."""
        return self.kept.readings

    @property
    def shares(self) -> Sequence[float]:
        """Return the share of each part in the variance of the mean rewards over the set, before any result."""
        return [part.weight * part.typical for part in self.parts]

    @cached_property
    def names(self) -> Sequence[str]:
        """Return the positions of the graphs."""
        return [str(k) for k in range(self.count)]

    def mixture(self, weights: Sequence[float]) -> KeptMixture:
        """Return the sum of the parts."""
        return KeptMixture(self.kept, weights)

    def exchange(self, kept: Tensor, graphs: Sequence[Data]) -> GraphDescription:
        """Return the graphs that stay, and new ones."""
        from torch_geometric.data import Batch

        batch = Batch.from_data_list(list(graphs)) if graphs else None
        readings = [reading.exchange(kept, batch) for reading in self.readings]
        return self.with_kernels(self.kept.exchanged(readings, kept, len(graphs)))

    def with_kernels(self, kept: KeptColumns) -> GraphDescription:
        """Return the same parts with the kernels of other graphs."""
        parts = [replace(part, kernel=KeptKernel(kept, index)) for index, part in enumerate(self.parts)]
        return GraphDescription(kept, parts)

    def known(self) -> list[Tensor]:
        """Return what identifies the graphs to each part."""
        return [tensor for reading in self.readings for tensor in reading.known()]


def _typical(kept: KeptColumns) -> Tensor:
    """Return the typical variance of each kernel, `(e,)`, on `SAMPLE` graphs that are evenly spaced."""
    size = min(kept.count, SAMPLE)
    some = torch.arange(size) * kept.count // size
    if size == kept.count:
        return typical_variance(kept.columns(some, some).transpose(0, 1))
    return torch.cat([typical_variance(reading.columns(some, some)) for reading in kept.readings])


def read_graphs(batch: Batch, settings: GraphProcessSettings) -> Sequence[tuple[float, Reading]]:
    """Read K graphs in all ways that apply to them and have a weight, and return each with its weight."""
    sizes_differ = len(batch.ptr.diff().unique()) > 1
    edges_differ, directed = edge_features_vary(batch), with_both_directions(batch) is not batch
    means, sums = partial(measure_means, directed=directed), partial(measure_sums, directed=directed)
    ways: list[tuple[float, bool, Callable[[], Reading]]] = [
        (settings.network_weight, True, lambda: Network.of(batch, settings.depth, own_count=False)),
        (settings.means_weight, sizes_differ, lambda: Network.of(batch, settings.depth, own_count=True)),
        (settings.subtrees_weight, True, lambda: Subtrees.of(batch, 2, settings.bins, directed)),
        (settings.nodes_weight, True, lambda: Measured.of("node features", means, batch)),
        (settings.sums_weight, True, lambda: Measured.of("sums of node features", sums, batch)),
        (settings.structure_weight, True, lambda: Measured.of("structure", measure_structure, batch)),
        (settings.edges_weight, edges_differ, lambda: Measured.of("edge features", measure_edges, batch)),
        (settings.layers_weight, directed, lambda: Measured.of("directions", measure_layers, batch)),
        (settings.itself_weight, True, lambda: Itself(batch.num_graphs)),
    ]
    return [(weight, read()) for weight, applies, read in ways if weight > 0 and applies]
