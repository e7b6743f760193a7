"""Results of other quantities, the graphs that they are of, and what they add to posterior and parts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from scipy.optimize import isotonic_regression
from torch import Tensor

from agents.beliefs.censoring import FARTHEST, Thresholds
from agents.beliefs.posterior import Kernel
from agents.beliefs.rewards import Bounds, History, PartialResults, Standardised, Targets, make_targets
from agents.contract.abilities import Correlation, SourceResults
from agents.contract.inputs import read_feedback
from agents.process.description import Description
from agents.process.likelihood import Rows
from agents.process.links import Links, link
from agents.process.settings import MixtureSettings

SURE = 1.96  # standard deviations on either side of a 95 % interval


@dataclass(frozen=True, eq=False)
class Source:
    """Results of another quantity."""

    name: str
    """Its name."""
    graphs: Tensor
    """`(m,)` int64. The graphs with results, among those of the set and of all sources."""
    history: History
    """Exact results of these m graphs."""
    bounds: Bounds
    """Results of these m graphs of which only a bound is known."""
    targets: Targets
    """The scale on which exact results are modelled: its own."""
    levels: Tensor
    """`(b,)` float64. The bounds on this scale."""

    @staticmethod
    def of(name: str, graphs: Tensor, values: Tensor, sides: Tensor, settings: MixtureSettings) -> Source:
        """Collect results, several of which may be of one graph.

        Args:
            name: name of the source.
            graphs: `(q,)` int64. Graph of each result.
            values: `(q,)` float64.
            sides: `(q,)` int64. As in `agents.contract.SourceResults`.
            settings: say whether results are modelled by ranks. A source has a unit of its own, so that its results are
                standardised also where rewards are not.
        """
        own, places = graphs.unique(return_inverse=True)
        exact, history, partial = sides == 0, History(len(own)), PartialResults(len(own))
        history.add(places[exact], values[exact])
        partial.add(places[~exact], values[~exact], sides[~exact], torch.zeros_like(values[~exact]))
        bounds = partial.bounds
        if not bool(exact.any()):
            return Source(name, own, history, bounds, Standardised(), levels_of(bounds))
        targets = make_targets(history, True, settings.warp, partial)
        return Source(name, own, history, bounds, targets, targets.of(bounds.values))

    def rows(self) -> Rows:
        """Return a row for each graph with exact results."""
        rows = Rows.of(self.history, self.targets)
        return rows._replace(graphs=self.graphs[rows.graphs])

    def guessed(self) -> Rows:
        """Return these rows with each bound as a value after them: the mean of a standard normal variable beyond it.

            E[z | s (z - x) > 0] = s phi(x) / Phi(-s x)

        Links are learnt from these. Pseudo results have what a kernel made of the bounds before there were links; with
        few rewards these would then not be found.
        """
        rows, signs = self.rows(), self.bounds.signs
        away = signs * self.levels.clamp(-FARTHEST, FARTHEST)
        values = signs * math.sqrt(2 / math.pi) / torch.special.erfcx(away / math.sqrt(2))  # also far out
        nothing = torch.zeros_like(values)
        more = Rows(self.graphs[self.bounds.graphs], torch.ones_like(values), values, nothing, nothing)
        return Rows(*(torch.cat(columns) for columns in zip(rows, more, strict=True)))

    def thresholds(self, noise: float) -> Thresholds:
        """Return the bounds, given the noise variance of a result, in squared units of the targets."""
        signs = self.bounds.signs
        return Thresholds(self.graphs[self.bounds.graphs], self.levels, signs, torch.full_like(signs, noise))


def levels_of(bounds: Bounds) -> Tensor:
    """Return where bounds lie on the scale of standard normal values, if there are bounds alone: `(b,)` float64.

        x = Phi^{-1}(F(bound)),   F increasing and nearest to the share of results below each bound

    F is the estimate of greatest likelihood [Ayer et al. 1955]. Without it, a class of few would count as one of half.
    """
    place = bounds.values.unique(return_inverse=True)[1]
    counts = place.bincount().double()
    below = place.bincount(weights=(bounds.signs < 0).double())
    shares = isotonic_regression((below / counts).numpy(), weights=counts.numpy()).x
    least = 0.5 / len(place)
    levels: Tensor = torch.special.ndtri(torch.from_numpy(shares).clamp(least, 1 - least))[place]
    return levels


def read_source(source: SourceResults) -> tuple[Tensor, Tensor]:
    """Return the values of a source, `(q,)` float64, and their sides, `(q,)` int64.

    Raises:
        ValueError: if they are not finite numbers, one for each graph, a side is none of -1, 0 and 1, or all results
            tell the same.
    """
    count = len(source.graphs)
    _, values = read_feedback(np.arange(count), source.values, count)
    given = np.zeros(count) if source.sides is None else np.asarray(source.sides)
    if given.shape != (count,) or not np.isin(given, (-1, 0, 1)).all():
        raise ValueError(f"Expected a side of -1, 0 or 1 for each of {count} results. Got {source.sides!r}.")
    sides = torch.from_numpy(given.astype(np.int64))
    exact = values[sides == 0]
    if not (exact != exact[:1]).any() and len(sides.unique()) < 2:
        raise ValueError(
            f"Expected a source with two results that tell something different: values, or bounds on either side. "
            f"`{source.name}` has none: leave it out."
        )
    return values, sides


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
            ValueError: see `agents.contract.ModelAgent`.
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
    return described.join(
        [[graph if isinstance(graph, str) else names[graph] for graph in some] for some in numbers], before
    )
