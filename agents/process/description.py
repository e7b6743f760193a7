"""Read a set of graphs by all applicable parts of the kernel, and combine them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from agents.contract.reading import edge_features_vary, with_both_directions
from agents.process.kernels import FEW, Kernels, Mixture
from agents.process.parts.linear import LinearFunctions
from agents.process.parts.measured import Measured
from agents.process.parts.network import Network
from agents.process.parts.nodes import measure_layers, measure_means, measure_sums
from agents.process.parts.part import GraphReading, Itself, Part, typical_variance
from agents.process.parts.structure import measure_edges, measure_structure
from agents.process.parts.subtrees import Subtrees
from agents.process.settings import GraphProcessSettings

if TYPE_CHECKING:
    from torch_geometric.data import Batch, Data

SAMPLE = 500  # evenly spaced graphs whose differences represent all graphs


@dataclass(frozen=True, eq=False)
class Description:
    """The graphs in the representation of a Gaussian process. It is immutable."""

    kernels: Kernels
    """The kernels of the parts."""
    parts: Sequence[Part]
    """The parts of the kernel."""
    ties: Tensor | None = field(default=None, kw_only=True)
    """`(P, r)`. Ties between the weights of P parts, as in `Likelihood`. None: independent weights."""

    @staticmethod
    def of(
        ways: Sequence[tuple[float, GraphReading]],
        count: int,
        known_weight: float | None = None,
        few: float = FEW,
        ties: Tensor | None = None,
    ) -> Description:
        """Drop kernels that are constant on the set, and weigh the others.

        The remaining weights add up to 1, in units of the typical variance of each kernel. If all kernels are constant,
        all stay, because graphs of later rounds may differ, and the graphs of the set are distinguished by their own
        rewards. The same holds without any kernel, for example if all weights belong to inapplicable parts.

        Args:
            ways: weights, and the readings of K graphs.
            count: K.
            known_weight: given weight of the only kernel, or None.
            few: as in `Kernels`.
            ties: as in `Likelihood`.
        """
        if not any(len(reading.shares) for _, reading in ways):
            ways = [*ways, (1.0, Itself(count))]
        kernels = Kernels([reading for _, reading in ways], count, few=few)
        typical = _typical(kernels)
        chosen = (typical > 0).nonzero().squeeze(1).tolist() if known_weight is None else [0]
        if not chosen:
            ties = None
            ways = [*ways, (1.0, Itself(count))]
            kernels = Kernels([reading for _, reading in ways], count)
            own, chosen = kernels.diagonals.mean(1), list(range(len(kernels.wanted)))
            typical = own.where(own > 0, 1.0)
        names = [reading.name for _, reading in ways for _ in reading.shares]
        weights = [weight * share for weight, reading in ways for share in reading.shares]
        total = sum(weights[k] for k in chosen)
        variances = typical.tolist()
        medians = [known_weight or weights[k] / total / variances[k] for k in chosen]
        parts = [Part(names[k], median, variances[k]) for k, median in zip(chosen, medians, strict=True)]
        return Description(kernels.only(chosen), parts, ties=None if ties is None else ties[chosen])

    @property
    def count(self) -> int:
        """Return the number of graphs."""
        return self.kernels.count

    @property
    def readings(self) -> Sequence[Any]:
        """Return the readings of the graphs."""
        return self.kernels.readings

    @property
    def shares(self) -> Sequence[float] | None:
        """Return the share of each part in the variance of the mean rewards over the set, before any result."""
        return [part.weight * part.typical for part in self.parts]

    @cached_property
    def names(self) -> Sequence[str]:
        """Return a name of each graph, its position, which breaks ties between equal graphs."""
        return [str(k) for k in range(self.count)]

    def mixture(self, weights: Sequence[float]) -> Mixture:
        """Return the sum of the parts with these weights."""
        return Mixture(self.kernels, weights)

    def numbers(self, weights: Sequence[float]) -> tuple[Tensor, float] | None:
        """Return phi `(K, d)` and u with mixture phi^T phi' + u 1[x = x'], or None if there is no such form."""
        pairs = [(reading, w) for (reading, _), w in zip(self.kernels.sources, weights, strict=False)]
        linear = [math.sqrt(w) * reading.numbers for reading, w in pairs if isinstance(reading, LinearFunctions)]
        own = [w for reading, w in pairs if isinstance(reading, Itself)]
        return (torch.cat(linear, dim=1), sum(own)) if linear and len(linear) + len(own) == len(weights) else None

    def own(self, weights: Sequence[float]) -> float:
        """Return the prior variance of the graph-specific part, with these weights of the parts."""
        pairs = zip(self.kernels.sources, weights, strict=False)
        return sum(weight for (reading, _), weight in pairs if isinstance(reading, Itself))

    def exchange(self, kept: Tensor, graphs: Sequence[Data]) -> Description:
        """Return the graphs in the slots `kept` `(n,)` int64, followed by new ones, compared by the same parts.

        Raises:
            ValueError: if these graphs cannot change.
        """
        from torch_geometric.data import Batch

        batch = Batch.from_data_list(list(graphs)) if graphs else None
        readings = [reading.exchange(kept, batch) for reading in self.readings]
        return Description(self.kernels.exchanged(readings, kept, len(graphs)), self.parts)

    def known(self) -> list[Tensor]:
        """Return tensors that identify the graphs to the kernel."""
        return [tensor for reading in self.readings for tensor in reading.known()]

    def join(
        self, others: Sequence[Sequence[str]], before: Description | None = None
    ) -> tuple[Description, list[Tensor]]:
        """Return these graphs followed by molecules of sources (see `agents.molecule.parts.MoleculeDescription`).

        Raises:
            ValueError: if these graphs are not molecules.
        """
        raise ValueError(
            "Expected indices of the graphs in a source, since this agent does not compare molecules. Got SMILES. "
            "Choose one of the `molecule-` or `gp-` agents for results of molecules."
        )


def _typical(kernels: Kernels) -> Tensor:
    """Return the typical variance of each kernel, `(e,)`, on `SAMPLE` graphs that are evenly spaced."""
    size = min(kernels.count, SAMPLE)
    some = torch.arange(size) * kernels.count // size
    if size == kernels.count:
        return typical_variance(kernels.columns(some, some).transpose(0, 1))
    return torch.cat([typical_variance(reading.columns(some, some)) for reading in kernels.readings])


def read_graphs(batch: Batch, settings: GraphProcessSettings) -> Sequence[tuple[float, GraphReading]]:
    """Read K graphs by all applicable parts with a weight, and return each reading with its weight."""
    sizes_differ = len(batch.ptr.diff().unique()) > 1
    edges_differ, directed = edge_features_vary(batch), with_both_directions(batch) is not batch
    means, sums = partial(measure_means, directed=directed), partial(measure_sums, directed=directed)
    ways: list[tuple[float, bool, Callable[[], GraphReading]]] = [
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
