"""Results of sources, the graphs that they are of, and what they add to posterior and parts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np
import torch
from torch import Tensor

from agents.beliefs.censoring import NO_PSEUDO_RESULTS
from agents.beliefs.posterior import Kernel
from agents.beliefs.rewards import History, Targets, make_targets
from agents.contract.abilities import Correlation, SourceResults
from agents.contract.inputs import read_feedback
from agents.process.likelihood import Rows
from agents.process.parts.part import Description, Part
from agents.process.settings import MixtureSettings
from agents.process.sources.links import LinkedKernel, Links, OwnKernel

OWN = "what structures do not tell"
SURE = 1.96  # standard deviations on either side of a 95 % interval


@runtime_checkable
class Joinable(Description, Protocol):
    """Molecules that those of sources can join."""

    def join(
        self, others: Sequence[Sequence[str]], before: Description | None = None
    ) -> tuple[Description, list[Tensor]]:
        """See `agents.molecule.parts.MoleculeDescription.join`."""


@dataclass(frozen=True, eq=False)
class Source:
    """Results of another quantity."""

    name: str
    """Its name."""
    graphs: Tensor
    """`(m,)` int64. The graphs with results, among those of the set and of all sources."""
    history: History
    """Results of these m graphs."""
    targets: Targets
    """The scale on which they are modelled: its own."""

    @staticmethod
    def of(name: str, graphs: Tensor, values: Tensor, settings: MixtureSettings) -> Source:
        """Collect results, several of which may be of one graph.

        Args:
            name: name of the source.
            graphs: `(q,)` int64. Graph of each result.
            values: `(q,)` float64.
            settings: say on which scale results are modelled.
        """
        own, places = graphs.unique(return_inverse=True)
        history = History(len(own))
        history.add(places, values)
        return Source(name, own, history, make_targets(history, settings.standardizes, settings.warp))

    @property
    def squares(self) -> float:
        """Return the sum of squares within graphs, in squared units of the targets."""
        return float(self.history.squares.sum()) / self.targets.unit**2

    def rows(self) -> Rows:
        """Return a row for each graph."""
        rows = Rows.of(self.history, self.targets, NO_PSEUDO_RESULTS, NO_PSEUDO_RESULTS)
        return rows._replace(graphs=self.graphs[rows.graphs])


@dataclass(frozen=True, eq=False)
class Sources:
    """A set of graphs, those of sources after them, and the results of these."""

    described: Description
    """N graphs."""
    told: tuple[Source, ...] = ()
    """S sources; none: the graphs are those of the set."""

    @staticmethod
    def of(
        described: Description, results: Sequence[SourceResults], settings: MixtureSettings, before: Description | None
    ) -> Sources:
        """Join the graphs of sources to those of a set.

        Args:
            described: the set.
            results: results of each source.
            settings: say on which scale results are modelled.
            before: graphs of a set and of sources, which are taken if they are the same.

        Raises:
            ValueError: see `agents.contract.SourceLearner`.
        """
        names = [source.name for source in results]
        if len({*names}) < len(names):
            raise ValueError(f"Expected sources with different names. Got {', '.join(names)}.")
        if not isinstance(described, Joinable):
            raise ValueError("Expected molecules, of which alone other quantities teach. Got other graphs.")
        values = [read_values(source) for source in results]
        joined, places = described.join([source.smiles for source in results], before)
        told = (Source.of(*each, settings) for each in zip(names, places, values, strict=True))
        return Sources(joined, tuple(told))

    def kernel(self, mixture: Kernel, links: Links | None) -> Kernel:
        """Return the kernel between values of the N graphs in all quantities; of rewards alone before sources count."""
        return LinkedKernel(mixture, len(self.described.names), links) if links else mixture

    def rows(self, links: Links, noise: float) -> tuple[Tensor, Tensor, Tensor]:
        """Return what a posterior is given of sources: numbers of values as `LinkedKernel` has them, counts, targets.

        Args:
            links: what is learnt of the sources.
            noise: noise variance of a reward, in which a posterior counts.
        """
        graphs, counts, targets = [], [], []
        for number, (source, own) in enumerate(zip(self.told, links.noises, strict=True), start=1):
            rows = source.rows()
            graphs.append(rows.graphs + number * len(self.described.names))
            counts.append(rows.counts * noise / own)
            targets.append(rows.targets)
        return torch.cat(graphs), torch.cat(counts), torch.cat(targets)

    def parts(self, weights: Sequence[float], links: Links | None) -> tuple[Sequence[Part], Sequence[float]]:
        """Return the parts of `kernel`, and their weights."""
        if links is None:
            return self.described.parts, weights
        count, apart = len(self.described.names), replace(links, residual=0.0)
        parts = [replace(part, kernel=LinkedKernel(part.kernel, count, apart)) for part in self.described.parts]
        own = Part(OWN, links.residual, LinkedKernel(OwnKernel(), count, apart))
        return [*parts, own], [*weights, links.residual]

    def correlations(self, links: Links | None) -> dict[str, Correlation]:
        """Return how each source goes along with the rewards, by its name."""
        if links is None:
            return {source.name: Correlation(0.0, -1.0, 1.0) for source in self.told}
        ends = [
            Correlation(r, *(math.tanh(math.atanh(r) + side * SURE * error) for side in (-1, 1)))
            for r, error in zip(links.correlations, links.errors, strict=True)
        ]
        return dict(zip((source.name for source in self.told), ends, strict=True))

    def name_of(self, number: int) -> tuple[str, str]:
        """Return the source, and the graph in it, of the number of a value as `LinkedKernel` has it."""
        quantity, graph = divmod(number, len(self.described.names))
        return self.told[quantity - 1].name, self.described.names[graph]


def read_values(source: SourceResults) -> Tensor:
    """Return the values of a source, `(q,)` float64.

    Raises:
        ValueError: if they are not finite numbers, one for each graph.
    """
    count = len(source.smiles)
    _, values = read_feedback(np.arange(count), source.values, count)
    if len(values) < 2 or bool((values == values[0]).all()):
        raise ValueError(f"Expected a source with two results that differ. `{source.name}` has none: leave it out.")
    return values
