"""All results that a Gaussian process learns from, the posterior given them, and the weights that they teach."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import torch
from torch import Tensor

from agents.beliefs.censoring import NO_PSEUDO_RESULTS, PseudoResults, Thresholds, match_bounds
from agents.beliefs.posterior import DualPosterior, Kernel
from agents.beliefs.rewards import (
    History,
    PartialResults,
    Targets,
    make_targets,
    variances_of,
)
from agents.process.likelihood import MOST_RESULTS, PRIOR_NOISE, Rows, likelihood_of
from agents.process.links import Links
from agents.process.settings import MixtureSettings
from agents.process.sources import Sources

MOST_BOUNDS = 1000  # evenly spaced ones stand for more of them: the cost grows as m^3
MATCHES = 3  # times that weights are learnt and bounds matched in turn


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
        due = count >= (1 + settings.refit_growth) * self.count
        forget = settings.forget
        if forget is None or due:
            return due
        return count >= self.count + (forget if isinstance(forget, int) else round(1 / (1 - forget)))


@dataclass(frozen=True, eq=False)
class Results:
    """Rewards, bounds, and results whose noise is known."""

    history: History
    """Results whose noise is learnt."""
    partial: PartialResults
    """Results of which only a bound is known, or whose measuring noise is known."""

    @property
    def num_results(self) -> int:
        """Return the number of results told."""
        return self.history.num_results + len(self.partial)

    @property
    def differ(self) -> bool:
        """Return whether two results differ by more than rounding errors: equal ones tell nothing of the kernel."""
        joined = self.partial.join(self.history)
        means = joined.means[joined.seen]
        return len(means) > 0 and bool((means - means[:1]).abs().gt(joined.resolution).any())

    def exchanged(self, kept: Tensor, added: int) -> Results:
        """Return the results of the graphs in the slots `kept` `(n,)`, which are followed by new graphs."""
        other = copy.deepcopy(self)
        for results in (other.history, other.partial):
            results.exchange(kept, added)
        return other

    def targets(self, settings: MixtureSettings) -> Targets:
        """Return the scale on which they are modelled."""
        return make_targets(self.partial.join(self.history), settings.standardizes, settings.warp, self.partial)

    def merge(self, targets: Targets) -> PseudoResults:
        """Return the results whose measuring noise is known, one for each graph, in units of the targets."""
        merged = self.partial.merge()
        return PseudoResults(merged.graphs, targets.of(merged.values), variances_of(merged.deviations, targets))

    def typical_noise(self, targets: Targets) -> float:
        """Return the median of the known noise variances of all results, in squared units of the targets.

        That of a result whose measuring noise is not known counts as 0 here.
        """
        known = self.partial.deviations[self.partial.sides == 0]
        every = torch.cat([known, known.new_zeros(len(self.history))])
        return variances_of(every.median().unsqueeze(0), targets).item() if len(known) else 0.0


def condition(sources: Sources, mixture: Kernel, learnt: Learnt, results: Results, targets: Targets) -> DualPosterior:
    """Return the posterior given all results; those of sources count if it has been learnt how.

    Args:
        sources: the graphs, and results of other quantities.
        mixture: the sum of the parts.
        learnt: what is learnt of it.
        results: the results.
        targets: their scale.

    Raises:
        ArithmeticError, LinAlgError: as `match_bounds`.
    """
    exact = _given(sources, mixture, learnt, results, targets, NO_PSEUDO_RESULTS)
    bounds = _bounds_of(sources, learnt, results, targets)
    if not len(bounds.graphs):
        return exact
    return _given(sources, mixture, learnt, results, targets, match_bounds(exact, bounds))


def noise_in_units(settings: MixtureSettings, targets: Targets) -> float | None:
    """Return the noise variance in squared units of the targets if it is known, else None."""
    return None if settings.noise_variance is None else settings.noise_variance / targets.unit**2


def learn_weights(sources: Sources, results: Results, settings: MixtureSettings) -> Learnt:
    """Return the weights, the noise and the links that maximise the marginal likelihood of all results.

    Args:
        sources: the graphs, and results of other quantities.
        results: the results.
        settings: settings of kernel and likelihood.

    Raises:
        ArithmeticError, LinAlgError: as `match_bounds`.
    """
    described, targets, are_known = sources.described, results.targets(settings), settings.known_weight is not None
    medians, known_noise = [part.weight for part in described.parts], noise_in_units(settings, targets)
    shares = described.shares
    if shares is None and sources.told:
        shares = [median / sum(medians) for median in medians]
    links = Links.unknown(len(sources.told)) if sources.told else None
    learnt = Learnt(tuple(medians), known_noise or PRIOR_NOISE, links=links)
    bounds = results.partial.bounds
    for _ in range(MATCHES if len(bounds.graphs) else 1):
        pseudo, noisy = NO_PSEUDO_RESULTS, results.merge(targets)
        if len(bounds.graphs):
            exact = _given(sources, described.mixture(learnt.weights), learnt, results, targets, NO_PSEUDO_RESULTS)
            pseudo = match_bounds(exact, Thresholds.of(bounds, targets, learnt.noise).some(MOST_RESULTS))
        rewards, told = Rows.of(results.history, targets, pseudo, noisy), [source.guessed() for source in sources.told]
        likelihood = likelihood_of(described.kernels, medians, settings.weight_spread, rewards, told, shares)
        weights, noise, links = likelihood.fit(known_noise, are_known)
        learnt = Learnt(tuple(weights), noise, results.num_results, links)
    return learnt


def _given(
    sources: Sources,
    mixture: Kernel,
    learnt: Learnt,
    results: Results,
    targets: Targets,
    pseudo: PseudoResults,
) -> DualPosterior:
    """Return the posterior given all rewards, exact results of sources, and pseudo results for the bounds of both."""
    counted, noise = results.history.counts, learnt.noise
    seen, noisy = counted.nonzero().squeeze(1), results.merge(targets)
    graphs = [seen, noisy.graphs, pseudo.graphs]
    weights = [counted[seen].double(), noise / (noise + noisy.noises), noise / pseudo.noises]
    values = [targets.of(results.history.means[seen]), noisy.values, pseudo.values]
    if learnt.links:
        for rows, more in zip((graphs, weights, values), sources.rows(learnt.links, noise), strict=True):
            rows.append(more)
    kernel = sources.kernel(mixture, learnt.links)
    return DualPosterior(kernel, noise, torch.cat(graphs), torch.cat(weights), torch.cat(values))


def _bounds_of(sources: Sources, learnt: Learnt, results: Results, targets: Targets) -> Thresholds:
    """Return bounds of the rewards, and as many of those of sources as these leave of the most, or half as many."""
    own = Thresholds.of(results.partial.bounds, targets, learnt.noise).some(MOST_BOUNDS)
    others = sources.thresholds(learnt.links)
    if not others:
        return own
    most = max(MOST_BOUNDS // 2, MOST_BOUNDS - len(own.graphs))
    return Thresholds.join([own, Thresholds.join(others).some(most)])
