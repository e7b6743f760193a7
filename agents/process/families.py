"""Families of agents with an exact Gaussian process on any graphs, each with its parts of the kernel."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import torch
from numpy.typing import ArrayLike
from torch import Tensor

from agents.beliefs.flat_features import FlatReader
from agents.beliefs.rules import AcquisitionRule
from agents.beliefs.structure import NodeFeatures
from agents.contract.graph_memory import GraphMemory
from agents.contract.protocol import GraphSetLike, MoleculeSetLike, SlotSetLike
from agents.contract.reading import DIRECTIONS, EDGE_FEATURES, NODE_FEATURES, READABLE, with_both_directions
from agents.descriptors.molecules import Molecules
from agents.process.agent import ProcessAgent
from agents.process.description import Description, read_graphs
from agents.process.parts import GraphReading
from agents.process.parts.linear import FLAT, LinearFunctions
from agents.process.parts.network import Network
from agents.process.parts.part import GivenKernel, Itself, check_kernel
from agents.process.parts.slots import FEW, Actions
from agents.process.parts.subtrees import Subtrees
from agents.process.rater import GraphRater, digest_of
from agents.process.results import Learnt
from agents.process.settings import (
    PARTS,
    ChangingSettings,
    GraphProcessSettings,
    KernelSettings,
    LinearSettings,
    OneKernelSettings,
    SubtreeSettings,
)
from gntk import one_thread

if TYPE_CHECKING:
    from torch_geometric.data import Batch, Data

P = TypeVar("P", bound=ChangingSettings)
K = TypeVar("K", bound=OneKernelSettings)
Read: TypeAlias = "Callable[[Batch], GraphReading]"
"""A function that reads the graphs of `reset`."""


class GraphAgent(ProcessAgent[P]):
    """Play graphs that may change between rounds, and rate unseen graphs."""

    def meet(self, kept: Tensor, graphs: Sequence[Data]) -> None:
        """Describe new graphs on the scales of those of `reset`, and condition on all results of the remaining ones.

        Raises:
            ValueError: if there are sources, whose graphs are those of `reset`, or these graphs cannot change.
        """
        if self.sources:
            raise ValueError("Expected the graphs of `reset` while there are sources. Got others: leave sources out.")
        before = vars(self).copy()
        try:
            count = self.results.num_results
            self.history, self.partial = copy.deepcopy(self.history), copy.deepcopy(self.partial)
            for results in (self.history, self.partial):
                results.exchange(kept, len(graphs))
            if self.results.num_results < count:  # the remaining rewards may have another scale
                self.learnt = Learnt(self.learnt.weights, self.learnt.noise)
            self._described = self.described.exchange(kept, graphs)
            self._every = torch.arange(self.num_graphs) if self.offered is None else self.offered
            self._condition()
        except BaseException:
            vars(self).update(before)
            raise
        self.rule.forget_graphs()
        self._ranked = None

    def worth_keeping(self) -> Tensor:
        """Return the slots of the graphs with results, the last `memory` of them."""
        seen: Tensor = self.seen.unique()
        return seen[-self.settings.memory :]

    @one_thread()
    def rater(self) -> GraphRater:
        """Return a rater for other graphs, with the current posterior.

        Raises:
            RuntimeError: before the first `reset`.
            ValueError: if graphs are described by external data, as molecules are by their SMILES, or there are results
                of other quantities.
        """
        self.check_reset()
        if type(self.described) is not Description or self.sources:
            raise ValueError(
                "Expected graphs that are compared by what is read of them, and results of one quantity. Got "
                f"{'sources' if self.sources else 'others'}. The `molecule-` agents make raters of molecules."
            )
        known = self._memory or GraphMemory.of(self._first)
        seen, positions = self.posterior.seen.unique(return_inverse=True)
        directed = with_both_directions(self._first.batch) is not self._first.batch
        kept = seen if len(seen) else seen.new_zeros(1)  # before any result, one graph represents the scales of all
        described = self.described.exchange(kept, ())
        return GraphRater(
            described=described,
            digests=tuple(digest_of(known.graphs[slot]) for slot in kept.tolist()),
            empty=self._first.empty,
            directed=directed if DIRECTIONS in self.reads else None,
            weights=self.learnt.weights,
            posterior=self.posterior.within(described.mixture(self.learnt.weights), positions),
            targets=self.targets,
            noise=self.result_noise,
        )


class KernelAgent(GraphAgent[K]):
    """Play by one kernel, with learned scale and noise.

        k = s k_1

    If the kernel does not distinguish the graphs of `reset`, each is also judged by its own rewards.

    Args:
        settings: settings of kernel and likelihood.
        make_rule: makes the acquisition rule.
        read: reads the graphs of `reset` for the kernel.
        reads: the parts of a graph that it reads, out of `agents.contract.READABLE`.
    """

    algorithm = 8

    def __init__(
        self, settings: K, make_rule: Callable[[], AcquisitionRule], read: Read, reads: Iterable[str] = (NODE_FEATURES,)
    ) -> None:
        super().__init__(settings, make_rule)
        self._read, self.reads = read, frozenset(reads)

    def describe(self, graphs: Batch) -> Description:
        """Read the graphs by the kernel, and add a graph-specific part."""
        share, count = self.settings.itself_weight if self.settings.output_scale is None else 0.0, graphs.num_graphs
        ways: list[tuple[float, GraphReading]] = [(1.0 - share, self._read(graphs))]
        ways += [(share, Itself(count))] if share else []
        return Description.of(ways, count, self.settings.output_scale)

    @property
    def addition(self) -> str:  # type: ignore[override]
        """Return a sentence about the features added to the graphs of `reset`."""
        reading = self.described.readings[0]
        return reading.features.addition if isinstance(reading, Network) else ""

    def reads_here(self) -> frozenset[str]:
        """Return the parts of these graphs that the agent reads. Subtrees read edge features only if integer."""
        reading = self.described.readings[0]
        labelled = not isinstance(reading, Subtrees) or reading.labelling.reads_edges
        return self.reads if labelled else self.reads - {EDGE_FEATURES}


def gntk(
    settings: KernelSettings, make_rule: Callable[[], AcquisitionRule], *, kernel_matrix: ArrayLike | None = None
) -> KernelAgent[KernelSettings]:
    """The exact posterior of a Gaussian process on the graphs, with the kernel of a graph network.

    Args:
        settings: settings of kernel and likelihood.
        make_rule: makes the acquisition rule.
        kernel_matrix: `(K, K)`, read as float64. Required if `settings.kernel` is "custom", otherwise None.

    Raises:
        ValueError: if a kernel is given without `kernel="custom"` or missing with it, or as in `check_kernel`.
    """
    if (kernel_matrix is not None) != (settings.kernel == "custom"):
        raise ValueError('Expected `kernel_matrix` together with `kernel="custom"`. Got one without the other.')
    if kernel_matrix is not None:
        read = partial(GivenKernel.of, check_kernel(kernel_matrix))
        return KernelAgent(settings, make_rule, read, (NODE_FEATURES, EDGE_FEATURES, DIRECTIONS))
    return KernelAgent(settings, make_rule, partial(read_network, settings))


def read_network(settings: KernelSettings, batch: Batch) -> Network:
    """Read graphs by the GNTK of a network with these settings."""
    features = NodeFeatures.of(batch, settings.node_features, settings.node_count)
    return Network.of(batch, settings.depth, features.own_count, features)


def wl(settings: SubtreeSettings, make_rule: Callable[[], AcquisitionRule]) -> KernelAgent[SubtreeSettings]:
    """The exact posterior of a Gaussian process, with the kernel of Weisfeiler-Lehman subtrees.

    Args:
        settings: settings of kernel and likelihood.
        make_rule: makes the acquisition rule.
    """
    cosine = settings.similarity == "cosine"
    read = partial(Subtrees.of, iterations=settings.iterations, bins=settings.bins, cosine=cosine)
    return KernelAgent(settings, make_rule, read, (NODE_FEATURES, EDGE_FEATURES))


class LinearAgent(KernelAgent[LinearSettings]):
    """Model mean rewards as linear in flat features of the graphs.

    Args:
        settings: settings of the regression.
        make_rule: makes the acquisition rule.
        reader: reads the features.
    """

    def __init__(self, settings: LinearSettings, make_rule: Callable[[], AcquisitionRule], reader: FlatReader) -> None:
        super().__init__(settings, make_rule, partial(read_numbers, reader), reader.reads)
        self._reader, self.uses_columns = reader, settings.features == "columns"

    def read(self, observation: object, graph_set: GraphSetLike | None) -> Batch:
        """Return the graphs, and read the columns of the set."""
        self._reader.look(graph_set)
        return super().read(observation, graph_set)


def linear(
    settings: LinearSettings, make_rule: Callable[[], AcquisitionRule], *, feature_matrix: ArrayLike | None = None
) -> LinearAgent:
    """Bayesian linear regression on mean nodes and sizes of the graphs, or on the user's features.

    Args:
        settings: settings of the regression.
        make_rule: makes the acquisition rule.
        feature_matrix: `(K, d)`, read as float64. Required if `settings.features` is "custom", otherwise None.

    Raises:
        ValueError: as in `FlatReader`.
    """
    return LinearAgent(settings, make_rule, FlatReader(settings, feature_matrix))


def read_numbers(reader: FlatReader, batch: Batch) -> LinearFunctions:
    """Describe graphs by flat features."""
    scaled, own = reader.settings.scale_features, reader.settings.features != "means"
    name = "given features" if own else LinearFunctions.name
    return LinearFunctions(reader.read(batch), FLAT if scaled else 0.0, name)


class GraphProcessAgent(GraphAgent[GraphProcessSettings]):
    """Play by a sum of kernels that read node features, edge features, directions and structure.

    Molecules are compared by structural descriptors, as by the `molecule-` agents. Actions of several slots are
    compared slot by slot, and by sets of slots.
    """

    reads = frozenset(READABLE)
    algorithm = 7
    uses_columns = True

    def read(self, observation: object, graph_set: GraphSetLike | None) -> Batch | Molecules | Actions:
        """Return the graphs, or molecules and actions of slots without making their graphs."""
        if isinstance(graph_set, MoleculeSetLike):
            return Molecules.of(graph_set)
        return Actions.of(graph_set) if isinstance(graph_set, SlotSetLike) else super().read(observation, graph_set)

    def describe(self, graphs: Batch | Molecules | Actions) -> Description:
        """Read the graphs by all applicable parts.

        Raises:
            ValueError: if a setting of how graphs are read is changed for molecules.
        """
        if isinstance(graphs, Actions):
            return Description.of(graphs.ways(), graphs.num_graphs, few=FEW, ties=graphs.ties())
        if isinstance(graphs, Molecules):
            from agents.molecule import MoleculeSettings
            from agents.molecule.parts import MoleculeDescription

            names = (*(f"{name}_weight" for name in PARTS), "depth", "bins")
            changed = [name for name in names if getattr(self.settings, name) != getattr(GraphProcessSettings, name)]
            if changed:
                raise ValueError(
                    f"Expected `{changed[0]}` at its default on molecules, which are compared by what is computed from "
                    "their SMILES. Leave it out, or choose a `molecule-` agent, whose settings weigh that."
                )
            return MoleculeDescription.of_molecules(graphs, MoleculeSettings(), before=self._described)
        return Description.of(read_graphs(graphs, self.settings), graphs.num_graphs)


def gp(settings: GraphProcessSettings, make_rule: Callable[[], AcquisitionRule]) -> GraphProcessAgent:
    """An exact Gaussian process on all readable parts of a graph, with weights learned from the rewards.

    Args:
        settings: settings of kernel, likelihood and choice.
        make_rule: makes the acquisition rule.
    """
    return GraphProcessAgent(settings, make_rule)
