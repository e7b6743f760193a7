"""Read a set of graphs in all ways that apply to it, and join them into the parts of the kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from agents.contract.reading import edge_features_vary, with_both_directions
from agents.process.kept import KeptColumns
from agents.process.mixture import Mixture
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

WHOLE = 500  # graphs of which the kernels are computed as a whole


@dataclass(frozen=True, eq=False)
class GraphDescription:
    """Graphs, and the parts of the kernel that tell them apart."""

    count: int
    """Number of graphs."""
    readings: Sequence[Reading]
    """What is read of them, in those ways that apply."""
    parts: Sequence[Part]
    """The parts of the kernel, of which the columns asked for are kept."""
    chosen: Sequence[tuple[int, int]]
    """Reading and kernel of each part, by their positions."""

    @staticmethod
    def of(ways: Sequence[tuple[float, Reading]], count: int, known_weight: float | None = None) -> GraphDescription:
        """Leave out kernels that are constant on the set, and weigh the others.

        The weights that are left add up to 1, in units of the typical variance of each kernel. If no kernel differs,
        all stay, because graphs of later rounds may differ, and those of the set are told apart by their own rewards.

        Args:
            ways: weights, and what is read of K graphs.
            count: K.
            known_weight: weight of the only kernel, if it is given.
        """
        if known_weight is not None:
            ((place, part),) = _kernels_of(ways, count)
            return GraphDescription(count, [ways[0][1]], [replace(part, weight=known_weight)], [place])
        found = [(place, part) for place, part in _kernels_of(ways, count) if part.typical > 0]
        if not found:
            ways = [*ways, (1.0, Itself(count))]
            found = [(place, replace(part, typical=_own(part, count))) for place, part in _kernels_of(ways, count)]
        total = sum(part.weight for _, part in found)
        parts = [replace(part, weight=part.weight / total / part.typical) for _, part in found]
        return GraphDescription(count, [reading for _, reading in ways], parts, [place for place, _ in found])

    @property
    def names(self) -> Sequence[str]:
        """Return the positions of the graphs."""
        return [str(k) for k in range(self.count)]

    def mixture(self, weights: Sequence[float]) -> KeptColumns:
        """Return the sum of the parts, of which the columns asked for are kept."""
        kernel = Mixture([part.kernel for part in self.parts], weights)
        return KeptColumns(kernel, self.count, self.count <= WHOLE)

    def exchange(self, kept: Tensor, graphs: Sequence[Data]) -> GraphDescription:
        """Return the graphs that stay, and new ones."""
        batch = Batch.from_data_list(list(graphs)) if graphs else None
        readings = [reading.exchange(kept, batch) for reading in self.readings]
        kernels = [reading.kernels() for reading in readings]
        parts = [
            replace(part, kernel=part.kernel.exchanged(kernels[place][each][1], kept, len(graphs)))
            for part, (place, each) in zip(self.parts, self.chosen, strict=True)
            if isinstance(part.kernel, KeptColumns)
        ]
        return GraphDescription(len(kept) + len(graphs), readings, parts, self.chosen)

    def known(self) -> list[Tensor]:
        """Return what identifies the graphs to each part."""
        return [tensor for reading in self.readings for tensor in reading.known()]


def _kernels_of(ways: Sequence[tuple[float, Reading]], count: int) -> Iterator[tuple[tuple[int, int], Part]]:
    """Yield the kernels with their positions; their weights are shares, not yet scaled."""
    for place, (weight, reading) in enumerate(ways):
        for each, (share, kernel) in enumerate(reading.kernels()):
            whole = count <= WHOLE or getattr(kernel, "at_once", False)
            kept = KeptColumns(kernel, count, whole)
            typical = typical_variance(kept if whole else kernel, count)
            yield (place, each), Part(reading.name, weight * share, kept, typical)


def _own(part: Part, count: int) -> float:
    """Return the mean of a kernel of graphs with themselves; 1 if it is 0."""
    return float(part.kernel.diagonal(torch.arange(count)).mean()) or 1.0


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
