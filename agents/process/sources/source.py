"""Results of one other quantity: values, bounds and classes of graphs, on a scale of their own."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from scipy.optimize import isotonic_regression
from torch import Tensor

from agents.beliefs.censoring import FARTHEST, NO_PSEUDO_RESULTS, Thresholds
from agents.beliefs.rewards import Bounds, History, Standardised, Targets, make_targets
from agents.contract.abilities import SourceResults
from agents.contract.inputs import read_feedback
from agents.process.likelihood import Rows
from agents.process.settings import MixtureSettings


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
        exact, history, bounds = sides == 0, History(len(own)), Bounds(len(own))
        history.add(places[exact], values[exact])
        bounds.add(places[~exact], values[~exact], sides[~exact] > 0)
        if not bool(exact.any()):
            return Source(name, own, history, bounds, Standardised(), levels_of(bounds))
        targets = make_targets(history, True, settings.warp, bounds)
        return Source(name, own, history, bounds, targets, targets.of(bounds.values))

    @property
    def squares(self) -> float:
        """Return the sum of squares within graphs, in squared units of the targets."""
        return float(self.history.squares.sum()) / self.targets.unit**2

    def rows(self) -> Rows:
        """Return a row for each graph with exact results."""
        rows = Rows.of(self.history, self.targets, NO_PSEUDO_RESULTS, NO_PSEUDO_RESULTS)
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
        more = Rows(self.graphs[self.bounds.graphs], torch.ones_like(values), values, torch.zeros_like(values))
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
