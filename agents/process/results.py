"""All results of a Gaussian process, the posterior given them, and the learned weights."""

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

MOST_BOUNDS = 1000  # maximum, sampled evenly: the cost grows as m^3
MATCHES = 3  # iterations of learning weights and matching bounds
SURE = 1.96  # standard deviations on either side of a 95 % interval


@dataclass(frozen=True)
class Learnt:
    """Learned parameters of the kernel."""

    weights: tuple[float, ...]
    """The weight of each part."""
    noise: float
    """Noise variance of a reward, in squared units of the targets."""
    count: int = 0
    """Number of results used for learning, 0 for the prior."""
    links: Links | None = None
    """Correlations of the sources with the rewards. None: sources do not count."""

    def is_due(self, count: int, settings: MixtureSettings) -> bool:
        """Return True after enough new results to relearn: a given share, or all results in memory."""
        forget = settings.forget
        window = math.inf if forget is None else forget if isinstance(forget, int) else round(1 / (1 - forget))
        return count >= min((1 + settings.refit_growth) * self.count, self.count + window)


@dataclass(frozen=True, eq=False)
class Quantity:
    """Results of one quantity at one time: of the rewards, or of a source."""

    history: History
    """Results of m graphs with learned noise."""
    partial: PartialResults
    """Censored results of these graphs, and results with known measurement noise."""
    graphs: Tensor
    """`(m,)` int64. Positions of these graphs among those of the process."""
    targets: Targets
    """The scale on which results are modelled."""
    name: str = ""
    """Name of a source."""

    @staticmethod
    def of_rewards(history: History, partial: PartialResults, settings: MixtureSettings) -> Quantity:
        """Return the rewards of all graphs."""
        joined, bounds = partial.join(history), partial.bounds
        targets = make_targets(joined, settings.standardize, settings.warp, partial)
        if settings.standardize and len(bounds.values) and not len(joined.seen):  # only shares below bounds are known
            targets = Standardised((bounds.values - targets.unit * levels_of(bounds)).mean().item(), targets.unit)
        return Quantity(history, partial, torch.arange(len(history.counts)), targets)

    @staticmethod
    def of_source(name: str, graphs: Tensor, values: Tensor, sides: Tensor, settings: MixtureSettings) -> Quantity:
        """Collect results of a source, possibly several per graph.

        Each source has its own unit, so its results are standardised even if rewards are not.

        Args:
            name: name of the source.
            graphs: `(q,)` int64. Graph of each result.
            values: `(q,)` float64.
            sides: `(q,)` int64. As in `agents.contract.SourceResults`.
            settings: determine if results are modelled by ranks.
        """
        own, places = graphs.unique(return_inverse=True)
        exact, history, partial = sides == 0, History(len(own)), PartialResults(len(own))
        history.add(places[exact], values[exact])
        partial.add(places[~exact], values[~exact], sides[~exact], torch.zeros_like(values[~exact]))
        targets = make_targets(history, True, settings.warp, partial) if bool(exact.any()) else Standardised()
        return Quantity(history, partial, own, targets, name)

    @cached_property
    def bounds(self) -> Bounds:
        """Return the tightest bounds, with graphs numbered as in the history."""
        return self.partial.bounds

    @cached_property
    def levels(self) -> Tensor:
        """Return the bounds on the scale of the targets, `(b,)` float64."""
        is_scaled = len(self.history.seen) or not self.name
        return self.targets.of(self.bounds.values) if is_scaled else levels_of(self.bounds)

    def rows(self) -> Rows:
        """Return a row for each graph with exact results, and one for each graph with results of known noise."""
        graphs, values, deviations = self.partial.merge()
        noisy = Rows.of_single(graphs, self.targets.of(values), variances_of(deviations, self.targets))
        rows = stack([Rows.of(self.history, self.targets), noisy])
        return rows._replace(graphs=self.graphs[rows.graphs])

    def guessed(self) -> Rows:
        """Return these rows and, for each bound, the mean of a standard normal variable beyond it as a value.

            E[z | s (z - x) > 0] = s phi(x) / Phi(-s x)

        Links are learned from these values. Pseudo results reflect the kernel's belief before any links, so with few
        rewards the links would not be found.
        """
        signs = self.bounds.signs
        away = signs * self.levels.clamp(-FARTHEST, FARTHEST)
        values = signs * math.sqrt(2 / math.pi) / torch.special.erfcx(away / math.sqrt(2))  # also far out
        guesses = Rows.of_single(self.graphs[self.bounds.graphs], values, torch.zeros_like(values))
        return stack([self.rows(), guesses])

    def thresholds(self, noise: float, first: int = 0) -> Thresholds:
        """Return the bounds, given the noise variance of a result, with graphs numbered from `first`."""
        signs = self.bounds.signs
        return Thresholds(first + self.graphs[self.bounds.graphs], self.levels, signs, torch.full_like(signs, noise))


@dataclass(frozen=True, eq=False)
class Results:
    """All results and their graphs."""

    described: Description
    """N graphs: those of the set, followed by those of sources."""
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
        """Return True if two results differ by more than rounding errors. Equal results are uninformative."""
        joined = self.rewards.partial.join(self.rewards.history)
        if not len(joined.seen):  # bounds alone must include both sides
            return len(self.rewards.bounds.signs.unique()) > 1
        means = joined.means[joined.seen]
        return bool((means - means[:1]).abs().gt(joined.resolution).any())

    @property
    def typical_noise(self) -> float:
        """Return the median of the known noise variances of all rewards, in squared units of the targets.

        Rewards with unknown measurement noise count as 0 here.
        """
        known = self.rewards.partial.deviations[self.rewards.partial.sides == 0]
        every = torch.cat([known, known.new_zeros(len(self.rewards.history))])
        return variances_of(every.median().unsqueeze(0), self.rewards.targets).item() if len(known) else 0.0

    def known_noise(self, settings: MixtureSettings) -> float | None:
        """Return the known noise variance in squared units of the targets, or None."""
        return None if settings.noise_variance is None else settings.noise_variance / self.rewards.targets.unit**2

    def condition(self, mixture: Kernel, learnt: Learnt) -> DualPosterior | PrimalPosterior:
        """Return the posterior given all results. Those of sources count once their links are learned.

        It is in primal form if there are more graphs with rewards than numbers in which the mixture is linear.

        Args:
            mixture: the sum of the parts.
            learnt: its learned parameters.

        Raises:
            ArithmeticError, LinAlgError: as in `match_bounds`.
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
            ArithmeticError, LinAlgError: as in `match_bounds`.
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
        """Return the correlation of each source with the rewards, by its name."""
        found = zip(links.correlations, links.errors, strict=True) if links else [(0.0, math.inf)] * len(self.sources)
        return {
            source.name: Correlation(r, *(math.tanh(math.atanh(r) + side * SURE * error) for side in (-1, 1)))
            for source, (r, error) in zip(self.sources, found, strict=True)
        }

    def name_of(self, number: int) -> tuple[str, str]:
        """Return the source and the graph in it for a number of `LinkedKernel`."""
        quantity, graph = divmod(number, self.described.count)
        return self.sources[quantity - 1].name, self.described.names[graph]

    def _counting(self, learnt: Learnt) -> list[tuple[int, Quantity, float]]:
        """Return number, results and noise of the quantities that count."""
        noises = learnt.noise, *(learnt.links.noises if learnt.links else ())
        return [*zip(range(1 + len(self.sources)), (self.rewards, *self.sources), noises, strict=False)]

    def _given(self, mixture: Kernel, learnt: Learnt, *pseudo: PseudoResults) -> DualPosterior:
        """Return the posterior given pseudo results for bounds, if any, and all exact results."""
        tables, count = [Rows.of_single(*some, torch.inf) for some in pseudo], self.described.count
        for number, quantity, noise in self._counting(learnt):
            rows = quantity.rows()
            noises = noise / rows.counts + rows.noises
            tables.append(rows._replace(graphs=number * count + rows.graphs, noises=noises))
        kernel = LinkedKernel(mixture, count, learnt.links) if learnt.links else mixture
        rows = stack(tables)
        return DualPosterior(kernel, learnt.noise, rows.graphs, learnt.noise / rows.noises, rows.targets)


def levels_of(bounds: Bounds) -> Tensor:
    """Return bounds on the scale of standard normal values, if there are bounds alone: `(b,)` float64.

        x = Phi^{-1}(F(bound)),   F increasing and nearest to the share of results below each bound

    F is the maximum likelihood estimate [Ayer et al. 1955]. Without it, a rare class would be treated as half of all.
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
    """Return the graphs of a set followed by those of sources, and the results of the sources.

    Args:
        given: results of each source.
        described: the set.
        before: earlier graphs of the set and of sources, reused if they are the same.
        settings: determine the scale on which results are modelled.

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
        ValueError: if they are not finite numbers, one for each graph, a side is not -1, 0 or 1, or all results are
            equally informative.
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
