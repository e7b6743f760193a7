"""All results that a Gaussian process learns from: the posterior given them, and the weights that they teach."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import torch
from scipy.optimize import isotonic_regression
from torch import Tensor

from agents.beliefs.censoring import FARTHEST, PseudoResults, Thresholds, match_bounds
from agents.beliefs.posterior import DualPosterior, Kernel, PrimalPosterior
from agents.beliefs.rewards import (
    Bounds,
    History,
    PartialResults,
    Standardised,
    Targets,
    make_targets,
    stack,
    thin_out,
    variances_of,
)
from agents.contract.abilities import Correlation, SourceResults
from agents.contract.inputs import read_feedback
from agents.process.description import Description
from agents.process.likelihood import MOST_RESULTS, PRIOR_NOISE, Rows, likelihood_of
from agents.process.links import LinkedKernel, Links
from agents.process.settings import MixtureSettings

MOST_BOUNDS = 1000  # evenly spaced ones stand for more of them: the cost grows as m^3
MATCHES = 3  # times that weights are learnt and bounds matched in turn
SURE = 1.96  # standard deviations on either side of a 95 % interval


@dataclass(frozen=True)
class Learnt:
    """What the results have taught about the kernel."""

    weights: tuple[float, ...]
    """The weight of each part."""
    noise: float
    """Noise variance of a reward, in squared units of the targets."""
    count: int = 0
    """Number of results from which it was learnt; 0: it is the prior."""
    links: Links | None = None
    """How results of sources go along with the rewards; None: they do not count."""

    def is_due(self, count: int, settings: MixtureSettings) -> bool:
        """Return whether there are enough new results to learn again: a share more, or all that are remembered."""
        forget = settings.forget
        window = math.inf if forget is None else forget if isinstance(forget, int) else round(1 / (1 - forget))
        return count >= min((1 + settings.refit_growth) * self.count, self.count + window)


@dataclass(frozen=True, eq=False)
class Quantity:
    """Results of one quantity: of the rewards, or of a source. It is one table at one time."""

    history: History
    """Results of m graphs whose noise is learnt."""
    partial: PartialResults
    """Results of these graphs of which only a bound is known, or whose measuring noise is known."""
    graphs: Tensor
    """`(m,)` int64. These graphs, among those of the process."""
    targets: Targets
    """The scale on which results are modelled."""
    name: str = ""
    """Name of a source."""

    @staticmethod
    def of_rewards(history: History, partial: PartialResults, settings: MixtureSettings) -> Quantity:
        """Return the rewards of all graphs."""
        joined, bounds = partial.join(history), partial.bounds
        targets = make_targets(joined, settings.standardize, settings.warp, partial)
        if settings.standardize and len(bounds.values) and not len(joined.seen):  # only the shares below are known
            targets = Standardised((bounds.values - targets.unit * levels_of(bounds)).mean().item(), targets.unit)
        return Quantity(history, partial, torch.arange(len(history.counts)), targets)

    @staticmethod
    def of_source(name: str, graphs: Tensor, values: Tensor, sides: Tensor, settings: MixtureSettings) -> Quantity:
        """Collect results of a source, several of which may be of one graph.

        It has a unit of its own, so that its results are standardised even if rewards are not.

        Args:
            name: name of the source.
            graphs: `(q,)` int64. Graph of each result.
            values: `(q,)` float64.
            sides: `(q,)` int64. As in `agents.contract.SourceResults`.
            settings: say whether results are modelled by ranks.
        """
        own, places = graphs.unique(return_inverse=True)
        exact, history, partial = sides == 0, History(len(own)), PartialResults(len(own))
        history.add(places[exact], values[exact])
        partial.add(places[~exact], values[~exact], sides[~exact], torch.zeros_like(values[~exact]))
        targets = make_targets(history, True, settings.warp, partial) if bool(exact.any()) else Standardised()
        return Quantity(history, partial, own, targets, name)

    @cached_property
    def bounds(self) -> Bounds:
        """Return the tightest bounds; their graphs are numbered as those of the history."""
        return self.partial.bounds

    @cached_property
    def levels(self) -> Tensor:
        """Return the bounds on the scale of the targets, `(b,)` float64."""
        is_scaled = len(self.history.seen) or not self.name
        return self.targets.of(self.bounds.values) if is_scaled else levels_of(self.bounds)

    def rows(self) -> Rows:
        """Return a row for each graph with exact results, and one for each with results whose noise is known."""
        graphs, values, deviations = self.partial.merge()
        noisy = Rows.of_single(graphs, self.targets.of(values), variances_of(deviations, self.targets))
        rows = stack([Rows.of(self.history, self.targets), noisy])
        return rows._replace(graphs=self.graphs[rows.graphs])

    def guessed(self) -> Rows:
        """Return these rows with each bound as a value after them: the mean of a standard normal variable beyond it.

            E[z | s (z - x) > 0] = s phi(x) / Phi(-s x)

        Links are learnt from these. Pseudo results have what a kernel made of the bounds before there were links; with
        few rewards these would then not be found.
        """
        signs = self.bounds.signs
        away = signs * self.levels.clamp(-FARTHEST, FARTHEST)
        values = signs * math.sqrt(2 / math.pi) / torch.special.erfcx(away / math.sqrt(2))  # also far out
        guesses = Rows.of_single(self.graphs[self.bounds.graphs], values, torch.zeros_like(values))
        return stack([self.rows(), guesses])

    def thresholds(self, noise: float, first: int = 0) -> Thresholds:
        """Return the bounds, given the noise variance of a result, with graphs that are numbered from `first`."""
        signs = self.bounds.signs
        return Thresholds(first + self.graphs[self.bounds.graphs], self.levels, signs, torch.full_like(signs, noise))


@dataclass(frozen=True, eq=False)
class Results:
    """All results, and the graphs that they are of."""

    described: Description
    """N graphs: those of the set, and then those of sources."""
    rewards: Quantity
    """Results that are rewards."""
    sources: tuple[Quantity, ...] = field(default=())
    """Results of S other quantities."""

    @property
    def num_results(self) -> int:
        """Return the number of results that are rewards."""
        return self.rewards.history.num_results + len(self.rewards.partial)

    @property
    def differ(self) -> bool:
        """Return whether two results differ by more than rounding errors: equal ones tell nothing of the kernel."""
        joined = self.rewards.partial.join(self.rewards.history)
        if not len(joined.seen):  # with bounds alone, there are to be some on either side
            return len(self.rewards.bounds.signs.unique()) > 1
        means = joined.means[joined.seen]
        return bool((means - means[:1]).abs().gt(joined.resolution).any())

    @property
    def typical_noise(self) -> float:
        """Return the median of the known noise variances of all rewards, in squared units of the targets.

        That of a reward whose measuring noise is not known counts as 0 here.
        """
        known = self.rewards.partial.deviations[self.rewards.partial.sides == 0]
        every = torch.cat([known, known.new_zeros(len(self.rewards.history))])
        return variances_of(every.median().unsqueeze(0), self.rewards.targets).item() if len(known) else 0.0

    def known_noise(self, settings: MixtureSettings) -> float | None:
        """Return the noise variance in squared units of the targets if it is known, else None."""
        return None if settings.noise_variance is None else settings.noise_variance / self.rewards.targets.unit**2

    def condition(self, mixture: Kernel, learnt: Learnt) -> DualPosterior | PrimalPosterior:
        """Return the posterior given all results; those of sources count if it has been learnt how.

        It is in primal form if there are more graphs with rewards than numbers in which the mixture is linear.

        Args:
            mixture: the sum of the parts.
            learnt: what is learnt of it.

        Raises:
            ArithmeticError, LinAlgError: as `match_bounds`.
        """
        linear = None if self.sources or len(self.rewards.partial) else self.described.numbers(learnt.weights)
        if linear and linear[0].shape[1] < len(self.rewards.history.seen):
            rows = self.rewards.rows()
            return PrimalPosterior(*linear, mixture, learnt.noise, rows.graphs, rows.counts, rows.targets)
        exact = self._given(mixture, learnt)
        own, *others = (
            quantity.thresholds(noise, number * self.described.count)
            for number, quantity, noise in self._counting(learnt)
        )
        bounds = thin_out(own, MOST_BOUNDS)
        if others:
            most = max(MOST_BOUNDS // 2, MOST_BOUNDS - len(bounds.graphs))
            bounds = stack([bounds, thin_out(stack(others), most)])
        return self._given(mixture, learnt, match_bounds(exact, bounds)) if len(bounds.graphs) else exact

    def learn(self, settings: MixtureSettings) -> Learnt:
        """Return the weights, the noise and the links that maximise the marginal likelihood of all results.

        Raises:
            ArithmeticError, LinAlgError: as `match_bounds`.
        """
        described, medians = self.described, [part.weight for part in self.described.parts]
        known_noise, shares = self.known_noise(settings), described.shares
        if shares is None and self.sources:
            shares = [median / sum(medians) for median in medians]
        links = Links.unknown(len(self.sources)) if self.sources else None
        learnt, bounds = Learnt(tuple(medians), known_noise or PRIOR_NOISE, links=links), self.rewards.bounds
        for _ in range(MATCHES if len(bounds.graphs) else 1):
            spread, rewards = settings.weight_spread, self.rewards.rows()
            if len(bounds.graphs):
                exact = self._given(described.mixture(learnt.weights), learnt)
                pseudo = match_bounds(exact, thin_out(self.rewards.thresholds(learnt.noise), MOST_RESULTS))
                rewards = stack([rewards, Rows.of_single(*pseudo, torch.inf)])
            told = [source.guessed() for source in self.sources]
            likelihood = likelihood_of(described.kernels, medians, spread, rewards, told, shares, described.ties)
            weights, noise, links = likelihood.fit(known_noise, settings.output_scale is not None)
            learnt = Learnt(tuple(weights), noise, self.num_results, links)
        return learnt

    def correlations(self, links: Links | None) -> dict[str, Correlation]:
        """Return how each source goes along with the rewards, by its name."""
        found = zip(links.correlations, links.errors, strict=True) if links else [(0.0, math.inf)] * len(self.sources)
        return {
            source.name: Correlation(r, *(math.tanh(math.atanh(r) + side * SURE * error) for side in (-1, 1)))
            for source, (r, error) in zip(self.sources, found, strict=True)
        }

    def name_of(self, number: int) -> tuple[str, str]:
        """Return the source, and the graph in it, of the number of a value as `LinkedKernel` has it."""
        quantity, graph = divmod(number, self.described.count)
        return self.sources[quantity - 1].name, self.described.names[graph]

    def _counting(self, learnt: Learnt) -> list[tuple[int, Quantity, float]]:
        """Return number, results and noise of the quantities that count."""
        noises = learnt.noise, *(learnt.links.noises if learnt.links else ())
        return [*zip(range(1 + len(self.sources)), (self.rewards, *self.sources), noises, strict=False)]

    def _given(self, mixture: Kernel, learnt: Learnt, *pseudo: PseudoResults) -> DualPosterior:
        """Return the posterior given pseudo results for bounds, if there are any, and all exact results."""
        tables, count = [Rows.of_single(*some, torch.inf) for some in pseudo], self.described.count
        for number, quantity, noise in self._counting(learnt):
            rows = quantity.rows()
            noises = noise / rows.counts + rows.noises
            tables.append(rows._replace(graphs=number * count + rows.graphs, noises=noises))
        kernel = LinkedKernel(mixture, count, learnt.links) if learnt.links else mixture
        rows = stack(tables)
        return DualPosterior(kernel, learnt.noise, rows.graphs, learnt.noise / rows.noises, rows.targets)


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


def read_sources(
    given: Sequence[SourceResults], described: Description, before: Description | None, settings: MixtureSettings
) -> tuple[Description, tuple[Quantity, ...]]:
    """Return the graphs of a set with those of sources after them, and the results of these.

    Args:
        given: results of each source.
        described: the set.
        before: graphs of the set and of sources, which are taken if they are the same.
        settings: say on which scale results are modelled.

    Raises:
        ValueError: see `agents.contract.ModelAgent`.
    """
    names = [source.name for source in given]
    if len({*names}) < len(names):
        raise ValueError(f"Expected sources with different names. Got {', '.join(names)}.")
    read = [_read_results(source) for source in given]
    known, lists = described.names, list[list[int | str]]()
    for source in given:
        lists.append([graph if isinstance(graph, str) else int(graph) for graph in source.graphs])
        outside = [graph for graph in lists[-1] if isinstance(graph, int) and not 0 <= graph < len(known)]
        if outside:
            raise ValueError(f"Expected graphs from 0 to {len(known) - 1} in a source. Got {outside[0]}.")
    if any(isinstance(graph, str) for graphs in lists for graph in graphs):
        texts = [[graph if isinstance(graph, str) else known[graph] for graph in graphs] for graphs in lists]
        joined, places = described.join(texts, before)
    else:
        joined, places = described, [torch.tensor(graphs) for graphs in lists]
    quantities = zip(names, places, read, strict=True)
    return joined, tuple(Quantity.of_source(name, at, *each, settings) for name, at, each in quantities)


def _read_results(source: SourceResults) -> tuple[Tensor, Tensor]:
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
