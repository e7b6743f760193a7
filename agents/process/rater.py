"""Rate graphs that an agent was not given, by all that it has learnt of those that it was given."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from agents.beliefs.posterior import DualPosterior
from agents.beliefs.rewards import Targets
from agents.contract.graph_memory import make_like
from agents.contract.reading import with_both_directions
from agents.process.description import GraphDescription
from agents.process.parts.measured import Measured
from agents.process.parts.subtrees import Subtrees
from agents.process.rating import JointRating, Rating
from gntk import one_thread

if TYPE_CHECKING:
    from torch_geometric.data import Data

Floats = NDArray[np.float64]

AT_A_TIME = 512  # graphs that are joined with those that have results


@dataclass(frozen=True, eq=False, kw_only=True)
class GraphRater:
    """Rate graphs by the posterior of an agent, which `GraphAgent.rater` makes.

    It holds the graphs with results, and everything that was chosen for the graphs of `reset`: scales, labels of nodes,
    widths. So the rating of a graph does not depend on the others that are rated with it. A graph whose arrays are
    those of one with results is known again. A rater can be pickled.
    """

    described: GraphDescription
    """The q graphs with results, and what describes them."""
    digests: tuple[bytes, ...]
    """What tells these graphs from others: `digest_of`."""
    empty: Mapping[str, Tensor]
    """Tensors like those of a graph, without nodes or edges."""
    directed: bool | None
    """Whether edges have directions; else each must be there in both. None: they are not read, and each counts in both.
    """
    weights: tuple[float, ...]
    """Weights of the parts of the kernel."""
    posterior: DualPosterior
    """The posterior given all results, on these q graphs."""
    targets: Targets
    """The scale on which values are modelled."""
    noise: float
    """Noise variance of one more result, in squared units of the targets."""

    @one_thread()
    def __call__(self, graphs: Sequence[Data]) -> Rating:
        """Rate n graphs, in blocks.

        Raises:
            ValueError: if graphs have other numbers of features than those of the agent, or directions where those have
                none.
        """
        mean, std = np.empty(len(graphs)), np.empty(len(graphs))
        for start in range(0, len(graphs), AT_A_TIME):
            block = slice(start, start + AT_A_TIME)
            posterior, places = self._join(graphs[block])
            means, variances = posterior.mean_and_variance(places)
            mean[block], std[block] = means.numpy(), variances.sqrt().numpy()
        return Rating(mean, std, self.targets, self.noise)

    @one_thread()
    def joint(self, graphs: Sequence[Data]) -> JointRating:
        """Rate n graphs jointly; errors are those of a call."""
        posterior, places = self._join(graphs)
        return JointRating(posterior.mean_of(posterior.explained(places)), posterior.covariance(places), self.targets)

    @one_thread()
    def kernel(self, first: Sequence[Data], second: Sequence[Data]) -> Floats:
        """Return the kernel between graphs, `(n, m)`, with the weights of the agent; errors are those of a call."""
        described, places = self._describe([*first, *second])
        rows, index = places.split([len(first), len(second)])
        return described.mixture(self.weights).columns(rows, index).numpy()

    @one_thread()
    def measure(self, graphs: Sequence[Data], bits: int) -> dict[str, Floats]:
        """Return what the parts of the kernel that compare numbers measure of n graphs; errors are those of a call.

        Args:
            graphs: n graphs.
            bits: number of columns of the counts of subtrees.

        Returns:
            `(n, D)` for each of these parts by its name, NaN where a number cannot be told; also for "subtrees".
        """
        from torch_geometric.data import Batch

        measured, given = dict[str, Floats](), self._check(graphs)
        batch, nothing = Batch.from_data_list(given), torch.zeros(0, dtype=torch.int64)
        for reading in self.described.readings:
            if isinstance(reading, Measured):
                measured[reading.name] = reading.measure(batch)
            elif isinstance(reading, Subtrees):
                measured[reading.name] = reading.exchange(nothing, batch).counts.fold(bits)
        return measured

    def _join(self, graphs: Sequence[Data]) -> tuple[DualPosterior, Tensor]:
        """Join some graphs with those that have results: return the posterior on all of them, and where these stand."""
        described, places = self._describe(graphs)
        return self.posterior.within(described.mixture(self.weights), self.posterior.seen), places

    def _describe(self, graphs: Sequence[Data]) -> tuple[GraphDescription, Tensor]:
        """Describe the graphs with results and then others; equal graphs have one place."""
        place_of, places = dict(self._places), list[int]()
        new: list[Data] = []
        for graph, read in zip(graphs, self._check(graphs), strict=True):
            place = place_of.setdefault(digest_of(make_like(graph, self.empty)), len(place_of))
            places.append(place)
            new += [read] if place == len(self.digests) + len(new) else []
        every = torch.arange(len(self.digests))
        return self.described.exchange(every, new), torch.tensor(places, dtype=torch.int64)

    def _check(self, graphs: Sequence[Data]) -> list[Data]:
        """Refuse graphs that are not like those of the agent; return the others as it reads them."""
        read: list[Data] = []
        for number, graph in enumerate(graphs):
            known = make_like(graph, self.empty)
            both = known if self.directed else with_both_directions(known)
            if self.directed is False and both is not known:
                raise ValueError(
                    f"Expected graphs without directions, as those of `reset`. Graph {number} has edges in one "
                    "direction alone. Give each edge in both, or learn from graphs some of which have directions."
                )
            read.append(both)
        return read

    @cached_property
    def _places(self) -> dict[bytes, int]:
        return {digest: place for place, digest in enumerate(self.digests)}


def digest_of(graph: Data) -> bytes:
    """Return 16 bytes that tell the arrays of a graph from those of others: nodes, edges and their order."""
    content = hashlib.blake2b(digest_size=16)
    for name in ("x", "edge_index", "edge_attr"):
        tensor = getattr(graph, name)
        if tensor is not None:
            array = tensor.contiguous().numpy()
            content.update(f"{name}{array.dtype}{array.shape}".encode())
            content.update(array.tobytes())
    return content.digest()
