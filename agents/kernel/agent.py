"""Agents with an exact Gaussian process of one kernel: of a network, given, of subtrees, or of linear functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Self, TypeVar, cast

import torch
from numpy.typing import ArrayLike
from torch import Tensor
from torch_geometric.data import Batch

from agents.beliefs.rules.rule import AcquisitionRule
from agents.beliefs.structure import NodeFeatures
from agents.contract.protocol import GraphSetLike, State
from agents.contract.reading import DIRECTIONS, EDGE_FEATURES, NODE_FEATURES
from agents.kernel.features import FlatReader
from agents.kernel.given import GivenKernel, check_kernel
from agents.kernel.regression import FLAT, LinearFunctions
from agents.kernel.settings import KernelSettings, LinearSettings, OneKernelSettings, SubtreeSettings
from agents.process.description import GraphDescription
from agents.process.graphs import GraphAgent
from agents.process.kept import KeptColumns
from agents.process.parts import Reading
from agents.process.parts.itself import Itself
from agents.process.parts.network import FiniteNetwork, Network
from agents.process.parts.subtrees import Subtrees

P = TypeVar("P", bound=OneKernelSettings)
Read = Callable[[Batch, int], Reading]
"""A function that reads the graphs of `reset`, and takes the seed of the agent's weights, which it may not need."""

LOOKED_AT = 30  # graphs that all others are compared with, to find those that look equal
MOST_LOOKED_AT = 2000  # graphs of which this is found out
MOST_OF_FINITE_WIDTH = 5000


class KernelAgent(GraphAgent[P]):
    """Play by one kernel, whose scale is learnt with the noise.

        k = s k_1

    Where all graphs of `reset` are equal to the kernel, each is judged by its own rewards, too.

    Args:
        settings: settings of kernel and likelihood.
        make_rule: makes the acquisition rule.
        read: reads the graphs of `reset` for the kernel.
    """

    algorithm = 4

    def __init__(self, settings: P, make_rule: Callable[[], AcquisitionRule], read: Read) -> None:
        super().__init__(settings, make_rule)
        self._read = read

    @property
    def described(self) -> GraphDescription:
        """Return the graphs and what is read of them.

        Raises:
            RuntimeError: before the first `reset`.
        """
        return cast(GraphDescription, super().described)

    def blank(self) -> Self:
        """Return an agent with equal settings that was told nothing."""
        return type(self)(self.settings, self._make_rule, self._read)

    def begin(self, graphs: Batch, seed: int) -> None:
        """Read the graphs with this seed, and start with nothing measured."""
        self._seed = seed
        super().begin(graphs, seed)

    def describe(self, graphs: Batch) -> GraphDescription:
        """Read the graphs in one way."""
        share, count = self.settings.itself_weight if self.settings.known_weight is None else 0.0, graphs.num_graphs
        ways: list[tuple[float, Reading]] = [(1.0 - share, self._read(graphs, self._seed))]
        ways += [(share, Itself(count))] if share else []
        return GraphDescription.of(ways, count, self.settings.known_weight)

    @property
    def addition(self) -> str:  # type: ignore[override]
        """Return what was added to the features of the graphs of `reset`."""
        reading = self.described.readings[0]
        return reading.features.addition if isinstance(reading, Network) else ""

    def appearance(self) -> Tensor | None:
        """Return the kernel of some graphs with all, if there are not very many: graphs with equal rows look equal."""
        count = self.described.count
        if count > MOST_LOOKED_AT:
            return None
        some = torch.arange(count) if count <= LOOKED_AT else torch.arange(LOOKED_AT) * count // LOOKED_AT
        return self.described.readings[0].columns(some, torch.arange(count))[0].T


def gntk(
    settings: KernelSettings, make_rule: Callable[[], AcquisitionRule], *, kernel_matrix: ArrayLike | None = None
) -> KernelAgent[KernelSettings]:
    """The exact posterior of a Gaussian process on the graphs, with the kernel of a graph network.

    Args:
        settings: settings of kernel and likelihood.
        make_rule: makes the acquisition rule.
        kernel_matrix: `(K, K)`, read as float64, if `settings.kernel` is "custom"; else None.

    Raises:
        ValueError: if a kernel is given without `kernel="custom"` or missing with it; or as `check_kernel`.
    """
    if (kernel_matrix is not None) != (settings.kernel == "custom"):
        raise ValueError('Expected `kernel_matrix` together with `kernel="custom"`. Got one without the other.')
    if kernel_matrix is not None:
        return GivenKernelAgent(settings, make_rule, partial(read_given, settings, check_kernel(kernel_matrix)))
    family = KernelAgent if settings.kernel == "infinite" else FiniteNetworkAgent
    return family(settings, make_rule, partial(read_network, settings))


def read_network(settings: KernelSettings, batch: Batch, seed: int) -> Network:
    """Read graphs by the GNTK of a network with these settings, whose weights have this seed if it is finite."""
    features = NodeFeatures.of(batch, settings.node_features, settings.node_count)
    if settings.kernel == "infinite":
        return Network.of(batch, settings.depth, features.own_count, features)
    graphs = features.encode(batch, own_count=features.own_count)
    return FiniteNetwork(graphs, settings.depth, features.own_count, True, features, settings.width, seed)


def read_given(settings: KernelSettings, matrix: Tensor, batch: Batch, seed: int) -> GivenKernel:
    """Join graphs and the kernel `matrix` of them, `(K, K)`; no seed has an effect."""
    return GivenKernel.of(batch, matrix, settings.node_count == "own")


class GivenKernelAgent(KernelAgent[KernelSettings]):
    """Play by a given kernel, which may tell anything of the graphs."""

    reads = frozenset({NODE_FEATURES, EDGE_FEATURES, DIRECTIONS})


class FiniteNetworkAgent(KernelAgent[KernelSettings]):
    """Play by the kernel of a network of finite width, which is computed as a whole."""

    def check_size(self, num_graphs: int) -> None:
        """Refuse more graphs than a whole kernel can hold."""
        if num_graphs > MOST_OF_FINITE_WIDTH:
            raise ValueError(
                f"Expected at most {MOST_OF_FINITE_WIDTH:,} graphs. Got {num_graphs:,}: the kernel of a network of "
                f'finite width is computed as a whole, {8 * num_graphs**2 / 1e9:.1f} GB. Use kernel="infinite".'
            )

    def state(self) -> State:
        """Return the state of any such agent, and the scale of the kernel on the graphs of `reset`."""
        part = self.described.parts[0]
        return {**super().state(), "weight": part.weight, "typical": part.typical}

    def restore(self, state: State) -> None:
        """Continue from a state, with the weights of its seed."""
        described, part = self.described, self.described.parts[0]
        reading = described.readings[0]
        if isinstance(reading, FiniteNetwork) and state["seed"] != self._seed:
            reading = reading.seeded(state["seed"])
            part = replace(part, weight=state["weight"], typical=state["typical"])
            seeded = replace(described, parts=[part, *described.parts[1:]])
            self._described = seeded.with_kernels(KeptColumns([reading, *described.readings[1:]], described.count))
        super().restore(state)


class SubtreeAgent(KernelAgent[SubtreeSettings]):
    """Play by the kernel of subtrees."""

    reads = frozenset({NODE_FEATURES, EDGE_FEATURES})
    algorithm = 5

    def reads_here(self) -> frozenset[str]:
        """Return what it reads of these graphs: features of edges only if they are integers."""
        reading = self.described.readings[0]
        labelled = isinstance(reading, Subtrees) and reading.labelling.reads_edges
        return self.reads if labelled else self.reads - {EDGE_FEATURES}


def wl(settings: SubtreeSettings, make_rule: Callable[[], AcquisitionRule]) -> SubtreeAgent:
    """The exact posterior of a Gaussian process, with the kernel of Weisfeiler-Lehman subtrees.

    Args:
        settings: settings of kernel and likelihood.
        make_rule: makes the acquisition rule.
    """
    return SubtreeAgent(settings, make_rule, partial(read_subtrees, settings))


def read_subtrees(settings: SubtreeSettings, batch: Batch, seed: int) -> Subtrees:
    """Read graphs by their subtree patterns; no seed has an effect."""
    return Subtrees.of(batch, settings.iterations, settings.bins, cosine=settings.similarity == "cosine")


class LinearAgent(KernelAgent[LinearSettings]):
    """Believe that mean rewards are linear in flat features of the graphs.

    Args:
        settings: settings of the regression.
        make_rule: makes the acquisition rule.
        reader: reads the features.
    """

    algorithm = 2

    def __init__(self, settings: LinearSettings, make_rule: Callable[[], AcquisitionRule], reader: FlatReader) -> None:
        super().__init__(settings, make_rule, partial(read_numbers, reader))
        self._reader = reader

    @property
    def reads(self) -> frozenset[str]:  # type: ignore[override]
        """Return what its features may tell of graphs."""
        return self._reader.reads

    @property
    def uses_columns(self) -> bool:
        """Return whether it reads columns of the graph set."""
        return self.settings.features == "columns"

    def blank(self) -> Self:
        """Return an agent with equal settings that was told nothing."""
        return type(self)(self.settings, self._make_rule, self._reader)

    def read(self, observation: object, graph_set: GraphSetLike | None) -> Batch:
        """Return the graphs, and look at the columns of the set."""
        self._reader.look(graph_set)
        return super().read(observation, graph_set)


def linear(
    settings: LinearSettings, make_rule: Callable[[], AcquisitionRule], *, feature_matrix: ArrayLike | None = None
) -> LinearAgent:
    """Bayesian linear regression on mean nodes and sizes of the graphs, or on features of the user's own.

    Args:
        settings: settings of the regression.
        make_rule: makes the acquisition rule.
        feature_matrix: `(K, d)`, read as float64, if `settings.features` is "custom"; else None.

    Raises:
        ValueError: as `FlatReader`.
    """
    return LinearAgent(settings, make_rule, FlatReader(settings, feature_matrix))


def read_numbers(reader: FlatReader, batch: Batch, seed: int) -> LinearFunctions:
    """Describe graphs by flat features; no seed has an effect."""
    scaled, own = reader.settings.scale_features, reader.settings.features != "means"
    name = "given features" if own else LinearFunctions.name
    return LinearFunctions(reader.read(batch), FLAT if scaled else 0.0, name)
