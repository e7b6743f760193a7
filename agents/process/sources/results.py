"""Results of all sources, the graphs that they are of, and what they add to posterior and parts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from agents.beliefs.censoring import Thresholds
from agents.beliefs.posterior import Kernel
from agents.contract.abilities import Correlation, SourceResults
from agents.process.parts.part import Description, Part
from agents.process.settings import MixtureSettings
from agents.process.sources.links import LinkedKernel, Links, OwnKernel, link
from agents.process.sources.source import Source, read_source

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
        read = [read_source(source) for source in results]
        joined, places = _locate(described, [source.graphs for source in results], before)
        told = (Source.of(name, at, *each, settings) for name, at, each in zip(names, places, read, strict=True))
        return Sources(joined, tuple(told))

    @property
    def count(self) -> int:
        """Return N."""
        return len(self.described.names)

    def kernel(self, mixture: Kernel, links: Links | None) -> Kernel:
        """Return the kernel between values of the N graphs in all quantities; of rewards alone before sources count."""
        return link(mixture, self.count, links)

    def rows(self, links: Links, noise: float) -> tuple[Tensor, Tensor, Tensor]:
        """Return what a posterior is given of sources: numbers of values as `LinkedKernel` has them, counts, targets.

        Args:
            links: what is learnt of the sources.
            noise: noise variance of a reward, in which a posterior counts.
        """
        graphs, counts, targets = [], [], []
        for number, (source, own) in enumerate(zip(self.told, links.noises, strict=True), start=1):
            rows = source.rows()
            graphs.append(rows.graphs + number * self.count)
            counts.append(rows.counts * noise / own)
            targets.append(rows.targets)
        return torch.cat(graphs), torch.cat(counts), torch.cat(targets)

    def thresholds(self, links: Links | None) -> list[Thresholds]:
        """Return the bounds of sources, of numbers of values as `LinkedKernel` has them, once they count."""
        if links is None:
            return []
        pairs = zip(self.told, links.noises, strict=True)
        told = [source.thresholds(noise) for source, noise in pairs]
        return [
            bounds._replace(graphs=bounds.graphs + number * self.count) for number, bounds in enumerate(told, start=1)
        ]

    def parts(self, weights: Sequence[float], links: Links | None) -> tuple[Sequence[Part], Sequence[float]]:
        """Return the parts of `kernel`, and their weights."""
        if links is None:
            return self.described.parts, weights
        count, apart = self.count, replace(links, residual=0.0)
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
        quantity, graph = divmod(number, self.count)
        return self.told[quantity - 1].name, self.described.names[graph]


def _locate(
    described: Description, lists: Sequence[Sequence[int | str]], before: Description | None
) -> tuple[Description, list[Tensor]]:
    """Return the graphs of a set and the molecules of some lists after them, and where those of each list stand."""
    names = described.names
    texts, numbers = set[str](), list[list[int | str]]()
    for graphs in lists:
        numbers.append([graph if isinstance(graph, str) else int(graph) for graph in graphs])
        outside = [graph for graph in numbers[-1] if isinstance(graph, int) and not 0 <= graph < len(names)]
        if outside:
            raise ValueError(f"Expected graphs from 0 to {len(names) - 1} in a source. Got {outside[0]}.")
        texts |= {graph for graph in numbers[-1] if isinstance(graph, str)}
    if not texts:
        return described, [torch.tensor(graphs) for graphs in numbers]
    if not isinstance(described, Joinable):
        raise ValueError(
            "Expected indices of the graphs in a source, since this agent does not compare molecules. Got SMILES. "
            "Choose one of the `molecule-` or `gp-` agents for results of molecules."
        )
    return described.join(
        [[graph if isinstance(graph, str) else names[graph] for graph in some] for some in numbers], before
    )
