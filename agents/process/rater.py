"""Rate graphs outside the agent's set by its posterior."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Generic, Protocol, Self, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from agents.beliefs.posterior import DualPosterior
from agents.beliefs.rewards import Targets, predict
from agents.beliefs.rules.priced import PRICE_WEIGHT
from agents.contract.graph_memory import make_like
from agents.contract.protocol import Prediction
from agents.contract.reading import with_both_directions
from agents.process.description import Description
from agents.process.kernels import Mixture
from agents.process.links import LinkedKernel, Links
from agents.process.parts.measured import Measured
from agents.process.parts.subtrees import Subtrees
from gntk import one_thread, symmetric_root

if TYPE_CHECKING:
    from torch_geometric.data import Data

Floats = NDArray[np.float64]
Given = TypeVar("Given", bound="Sliced")

AT_A_TIME, ROWS_AT_A_TIME = 2048, 256  # graphs joined with those with results; of these, rated at a time


@dataclass(frozen=True, eq=False)
class Rating:
    """Posterior of n graphs, in units of the targets."""

    mean: Floats
    """`(n,)`. Posterior means."""
    std: Floats
    """`(n,)`. Posterior standard deviations, without noise."""
    targets: Targets
    """The scale on which values are modelled."""
    noise: float
    """Noise variance of one more result, in squared units of the targets."""

    @property
    def upper(self) -> Floats:
        """Return mean + 2 sigma `(n,)`, the criterion of the agents' short list."""
        return self.mean + 2 * self.std

    def index(self, prices: Floats | None = None) -> Floats:
        """Return the ranking criterion of the short list, `(n,)`: `upper` minus w log price, if there are prices.

        Args:
            prices: `(n,)`, positive, with NaN for unknown prices. None: prices do not count.
        """
        return self.upper if prices is None else self.upper - PRICE_WEIGHT * np.log(prices)

    def exceeds(self, value: float) -> Floats:
        """Return the probability that one more result of each graph exceeds a value, `(n,)`, as in `prediction`.

        Args:
            value: in reward units.
        """
        spread = torch.from_numpy(np.sqrt(self.std**2 + self.noise))
        return self.targets.exceeded(value, torch.from_numpy(self.mean), spread).numpy()

    @cached_property
    def prediction(self) -> Prediction:
        """Return the prediction of each value, as `predict` of an agent returns it."""
        return predict(self.targets, torch.from_numpy(self.mean), torch.from_numpy(self.std), self.noise)


@dataclass(frozen=True, eq=False)
class JointRating:
    """Joint posterior of n graphs, in units of the targets."""

    mean: Tensor
    """`(n,)` float64. Posterior means."""
    covariance: Tensor
    """`(n, n)` float64. Posterior covariance, without noise."""
    targets: Targets
    """The scale on which values are modelled."""

    def covariance_of_rewards(self) -> Floats:
        """Return the joint covariance of the mean rewards, `(n, n)`, in squared reward units."""
        return self.targets.covariance(self.mean, self.covariance).numpy()

    @one_thread()
    def draw_rewards(self, count: int, generator: torch.Generator) -> Floats:
        """Return joint draws of the mean rewards, `(count, n)`, in reward units."""
        normal = torch.randn(count, len(self.mean), generator=generator, dtype=torch.float64)
        return self.targets.to_rewards(self.mean + normal @ symmetric_root(self.covariance).T).numpy()


class Sliced(Protocol):
    """A sequence of graphs that supports slices."""

    def __getitem__(self, block: slice, /) -> Self:
        """Return the graphs of a block."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PosteriorRater(Generic[Given]):
    """Rate other graphs by an agent's posterior. A rater can be pickled and sent to other processes.

    It stores the graphs with results and all choices made for the graphs of `reset`, so that a rating does not depend
    on the other rated graphs. A subclass defines how others are described.
    """

    weights: tuple[float, ...]
    """Weights of the parts of the kernel."""
    posterior: DualPosterior
    """The posterior given all results, on the q graphs with results."""
    targets: Targets
    """The scale on which values are modelled."""
    noise: float
    """Noise variance of one more result, in squared units of the targets."""
    links: Links | None = None
    """Correlations of the sources with the rewards. None: sources do not count."""

    @property
    def known(self) -> int:
        """Return q."""
        raise NotImplementedError

    def describe(self, given: Given) -> tuple[Mixture, Tensor]:
        """Return the kernel of the graphs with results and others, and the positions of the others, `(n,)` int64."""
        raise NotImplementedError

    def rate(self, given: Given, count: int) -> Rating:
        """Rate n graphs, in blocks."""
        mean, std = np.empty(count), np.empty(count)
        for start in range(0, count, AT_A_TIME):
            block = slice(start, min(start + AT_A_TIME, count))
            posterior, places = self._join(given[block])
            means, variances = posterior.mean_and_variance(places, ROWS_AT_A_TIME)
            mean[block], std[block] = means.numpy(), variances.sqrt().numpy()
        return Rating(mean, std, self.targets, self.noise)

    def rate_jointly(self, given: Given) -> JointRating:
        """Rate n graphs jointly."""
        posterior, places = self._join(given)
        return JointRating(posterior.mean_of(posterior.explained(places)), posterior.covariance(places), self.targets)

    def _join(self, given: Given) -> tuple[DualPosterior, Tensor]:
        """Return the posterior on the graphs with results and on others, and the positions of the others."""
        mixture, places = self.describe(given)
        count, numbers = mixture.kernels.count, self.posterior.seen
        numbers = numbers // self.known * count + numbers % self.known
        kernel = LinkedKernel(mixture, count, self.links) if self.links else mixture
        return self.posterior.within(kernel, numbers), places


@dataclass(frozen=True, eq=False, kw_only=True)
class GraphRater(PosteriorRater["list[Data]"]):
    """Rate graphs by the posterior of an agent. `GraphAgent.rater` makes it.

    A graph with the same arrays as one with results is recognised.
    """

    described: Description
    """The q graphs with results, and their description."""
    digests: tuple[bytes, ...]
    """Digests that identify these graphs (see `digest_of`)."""
    empty: Mapping[str, Tensor]
    """Tensors of an empty graph with the same fields, without nodes or edges."""
    directed: bool | None
    """True if edges have directions, False if each edge must exist in both. None: directions are ignored, and each edge
    counts in both."""

    @one_thread()
    def __call__(self, graphs: Sequence[Data]) -> Rating:
        """Rate n graphs.

        Raises:
            ValueError: if graphs have other numbers of features than those of the agent, or directions although those
                have none.
        """
        return self.rate([*graphs], len(graphs))

    @one_thread()
    def joint(self, graphs: Sequence[Data]) -> JointRating:
        """Rate n graphs jointly, with the errors of a call."""
        return self.rate_jointly([*graphs])

    @one_thread()
    def kernel(self, first: Sequence[Data], second: Sequence[Data]) -> Floats:
        """Return the kernel between graphs, `(n, m)`, with the weights of the agent. Errors are those of a call."""
        mixture, places = self.describe([*first, *second])
        rows, index = places.split([len(first), len(second)])
        return mixture.columns(rows, index).numpy()

    @one_thread()
    def measure(self, graphs: Sequence[Data], bits: int) -> dict[str, Floats]:
        """Return the numbers that parts of the kernel measure for n graphs. Errors are those of a call.

        Args:
            graphs: n graphs.
            bits: number of columns of the counts of subtrees.

        Returns:
            `(n, D)` for each of these parts by its name, with NaN for undefined numbers, and also for "subtrees".
        """
        from torch_geometric.data import Batch

        measured, given = dict[str, Floats](), self._check(graphs)
        batch, nothing = Batch.from_data_list(given), torch.zeros(0, dtype=torch.int64)
        for reading in self.described.readings:
            if isinstance(reading, Measured):
                measured[reading.name] = reading.exchange(nothing, batch).values.astype(np.float64)
            elif isinstance(reading, Subtrees):
                measured[reading.name] = reading.exchange(nothing, batch).counts.fold(bits)
        return measured

    @property
    def known(self) -> int:
        """Return the number of graphs with results."""
        return len(self.digests)

    def describe(self, given: Sequence[Data]) -> tuple[Mixture, Tensor]:
        """Return the kernel of the graphs with results, then distinct others, and the positions of the others."""
        place_of, places = {digest: place for place, digest in enumerate(self.digests)}, list[int]()
        new: list[Data] = []
        for graph in given:
            place = place_of.setdefault(digest_of(make_like(graph, self.empty)), len(place_of))
            places.append(place)
            new += [self._check([graph])[0]] if place == self.known + len(new) else []
        described = self.described.exchange(torch.arange(self.known), new)
        return described.mixture(self.weights), torch.tensor(places, dtype=torch.int64)

    def _check(self, graphs: Sequence[Data]) -> list[Data]:
        """Check that graphs match those of the agent, and return them as it reads them."""
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


def digest_of(graph: Data) -> bytes:
    """Return a 16-byte digest of the arrays of a graph: nodes, edges and their order."""
    content = hashlib.blake2b(digest_size=16)
    for name in ("x", "edge_index", "edge_attr"):
        tensor = getattr(graph, name)
        if tensor is not None:
            array = tensor.contiguous().numpy()
            content.update(f"{name}{array.dtype}{array.shape}".encode())
            content.update(array.tobytes())
    return content.digest()
