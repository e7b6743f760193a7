"""Forecasts of a Gaussian process: predictions, joint draws, and what they are sums of."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from agents.beliefs.agent import BatchBeliefAgent
from agents.beliefs.belief import Belief, Imagine
from agents.beliefs.choices.probabilities import choice_probabilities
from agents.beliefs.posterior import DualPosterior, Marginals
from agents.beliefs.rewards import NormalScores, Targets, predict, predict_chosen
from agents.beliefs.rewards import worth_of_results as weigh_results
from agents.contract.abilities import ActionProbabilities, BoundsImaginer, Explanation
from agents.contract.protocol import Prediction
from agents.process.kept import KeptMixture
from agents.process.parts.part import Description, Part
from agents.process.results import Learnt
from agents.process.settings import MixtureSettings
from agents.process.sources import Sources
from gntk import one_thread, quick_root, symmetric_root

PLAYING, SEARCHING = 2.0, 1.0  # nu by default
LARGE = 300  # graphs whose covariance takes too long to decompose in each round

S = TypeVar("S", bound=MixtureSettings)


class ProcessForecaster(BatchBeliefAgent[S]):
    """An agent that can tell all that its posterior knows about graphs; a subclass builds the posterior."""

    posterior: DualPosterior
    """The posterior of the targets, given all results."""
    targets: Targets
    """The scale on which values are modelled."""
    result_noise: float
    """Noise variance of one more result, in squared units of the targets."""
    learnt: Learnt
    """The weights of the parts, and the noise."""
    _searches: bool = False  # no graph that was played is on offer
    _every: Tensor
    _marginals: Marginals | None
    _believed: tuple[Tensor, Tensor] | None

    @property
    @abstractmethod
    def described(self) -> Description:
        """Return the graphs and what describes them."""

    @property
    @abstractmethod
    def sources(self) -> Sources:
        """Return the graphs, and results of other quantities."""

    @abstractmethod
    def _near(
        self, mask: Tensor, count: int, pending: Sequence[int], ratios: Tensor
    ) -> tuple[Tensor, Tensor, Sequence[int]]:
        """Return the graphs that the rule ranks, which of them are on offer, and where those under way stand."""

    @property
    def seen(self) -> Tensor:
        """Return the graphs of the results, `(q,)` int64, without those of results of sources."""
        seen = self.posterior.seen
        return seen[seen < len(self.history.counts)]

    @property
    def nu(self) -> float:
        """Return nu, which multiplies sigma."""
        scale = self.settings.exploration_scale
        return scale if scale is not None else SEARCHING if self._searches else PLAYING

    def belief(self) -> Belief:
        """Return posterior mean and nu times standard deviation of each graph of the round, in units of the targets."""
        return self._believe(torch.arange(self.num_graphs))[0]

    def imagine(self) -> Imagine:
        """Return a function that takes graphs, and returns the belief about all after measuring them."""
        return self._believe(torch.arange(self.num_graphs))[1]

    def best_seen(self, mean: Tensor) -> float | None:
        """Return the largest entry of `mean` `(K,)` among the graphs with a result; None if graphs change."""
        if self.offered is not None:
            return None
        seen = self.seen
        return mean[seen].max().item() if len(seen) else None

    def weigh_choices(self, mask: Tensor, draws: int) -> ActionProbabilities:
        """Return with which probability each graph would be played; 0 outside the short list."""
        values = torch.zeros(2, self.num_graphs, dtype=torch.float64)
        near, offered, _ = self._near(mask, 1, (), values[0])
        weighed = choice_probabilities(self.rule, self._believe(near)[0], offered, self.generator, draws)
        values[:, near] = torch.from_numpy(np.stack([weighed.values, weighed.errors]))
        return ActionProbabilities(*values.numpy())

    def expect(self) -> Prediction:
        """Return the prediction of each graph's mean reward, and the noise of a measurement."""
        mean, variance = self._mean_and_variance()
        return predict(self.targets, mean, variance.sqrt(), self.result_noise)

    @one_thread()
    def predict_chosen(self, count: int, offered: int) -> Prediction:
        """Return what is expected of graphs that are chosen for it; see `agents.contract.ChoiceForecaster`.

        Raises:
            ValueError: if `count` is not from 1 to `offered`.
            RuntimeError: before the first `reset`.
        """
        self.check_reset()
        if not 1 <= count <= offered:
            raise ValueError(f"Expected `count` from 1 to {offered}. Got {count}.")
        mean, variance = self._mean_and_variance()
        results = len(self.seen.unique())
        return predict_chosen(self.targets, mean, variance.sqrt(), self.result_noise, results, count, offered)

    @one_thread()
    def draw_gains(self, index: Sequence[int], value: float, count: int, seed: int) -> NDArray[np.float64]:
        """Return joint draws of by how much the values of some graphs exceed a value: `(count, n)`, else 0.

        Raises:
            ValueError: if an index is not one of a graph.
            RuntimeError: before the first `reset`.
        """
        near, root = self._joint(index)
        generator = torch.Generator().manual_seed(seed)
        return self.targets.gains(value, self._mean_and_variance()[0][near], root, count, generator).numpy()

    @one_thread()
    def draw_rewards(self, index: Sequence[int], count: int, seed: int) -> NDArray[np.float64]:
        """Return joint draws of the values of some graphs: `(count, n)`.

        Raises:
            ValueError: if an index is not one of a graph.
            RuntimeError: before the first `reset`.
        """
        near, root = self._joint(index)
        generator = torch.Generator().manual_seed(seed)
        normal = torch.randn(count, len(near), generator=generator, dtype=torch.float64)
        return self.targets.to_rewards(self._mean_and_variance()[0][near] + normal @ root.T).numpy()

    @one_thread()
    def imagine_bounds(self, index: Sequence[int], pending: Sequence[int] = ()) -> BoundsImaginer:
        """Return a function that imagines results; see `agents.contract.GainForecaster`.

        Raises:
            ValueError: if an index is not one of a graph.
            RuntimeError: before the first `reset`.
        """
        count = len(index)
        belief, imagine = self._believe(self._read_index([*index, *pending]))
        for position in range(count, count + len(pending)):
            belief = imagine(position)
        latest = [belief]

        @one_thread()
        def bounds(position: int | None = None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
            latest[0] = latest[0] if position is None else imagine(position)
            mean, spread = latest[0].mean[:count], latest[0].spread[:count]
            return self.targets.to_rewards(mean - spread).numpy(), self.targets.to_rewards(mean + spread).numpy()

        return bounds

    @one_thread()
    def worth_of_results(self, index: Sequence[int], named: Sequence[int], times: int = 1) -> NDArray[np.float64]:
        """Return what results of some graphs are worth, `(n,)`; see `agents.contract.ResultsWeigher`.

        Raises:
            ValueError: if an index is not one of a graph, or `times` is smaller than 1.
            RuntimeError: before the first `reset`.
        """
        if times < 1:
            raise ValueError(f"Expected `times` of at least 1. Got {times}.")
        near = self._read_index([*index, *named])
        mean, covariance = self._mean_and_variance()[0][near], self.posterior.covariance(self._every[near])
        noise, old = self.result_noise / times, list(range(len(index), len(near)))
        places = [torch.tensor([*old, k] if graph not in named else old) for k, graph in enumerate(index)]
        worth = [weigh_results(self.targets, mean, covariance, noise, k, given) for k, given in enumerate(places)]
        return np.array(worth)

    @one_thread()
    def explain(self, index: Sequence[int]) -> Explanation:
        """Return what the predictions of some graphs are sums of; see `agents.contract.Explainer`.

        Raises:
            ValueError: if an index is not one of a graph.
            RuntimeError: before the first `reset`.
        """
        by_rank = isinstance(self.targets, NormalScores)
        graphs = self._every[self._read_index(index)]
        parts, weights = self.sources.parts(self.learnt.weights, self.learnt.links)
        explanation = explain_means(self.posterior, parts, weights, graphs, by_rank)
        own = explanation.seen < len(self.history.counts)
        others = tuple(map(self.sources.name_of, explanation.seen[~own].tolist()))
        return replace(explanation, seen=explanation.seen[own], others=others)

    def shares(self) -> dict[str, float]:
        """Return the share of each part of the kernel in the prior variance, by what it compares; the shares add to 1.

        The prior variance is what the rewards of the graphs are expected to vary by before any result.
        """
        shares: dict[str, float] = {}
        variances = [part.typical * w for part, w in zip(self.described.parts, self.learnt.weights, strict=True)]
        for part, variance in zip(self.described.parts, variances, strict=True):
            shares[part.name] = shares.get(part.name, 0.0) + variance / sum(variances)
        return shares

    @property
    def _are_many(self) -> bool:
        """Return whether graphs are chosen from a short list."""
        return True

    def _read_index(self, index: Sequence[int]) -> Tensor:
        self.check_reset()
        if not all(0 <= graph < self.num_graphs for graph in index):
            raise ValueError(f"Expected indices from 0 to {self.num_graphs - 1}. Got {list(index)}.")
        return torch.tensor(index, dtype=torch.int64)

    def _joint(self, index: Sequence[int]) -> tuple[Tensor, Tensor]:
        """Return graphs as a tensor, and a root of the joint covariance of their targets."""
        near = self._read_index(index)
        return near, symmetric_root(self.posterior.covariance(self._every[near]))

    def _mean_and_variance(self) -> tuple[Tensor, Tensor]:
        """Return posterior mean and variance of each graph, computed once for each posterior."""
        self._believed = self._believed or self.posterior.mean_and_variance(self._every)
        return self._believed

    def _believe(self, index: Tensor) -> tuple[Belief, Imagine]:
        """Return the belief about the graphs `index` `(n,)`, and the function of `imagine` for these alone."""
        means, variances = self._mean_and_variance()
        mean, nu, posterior, graphs = means[index], self.nu, self.posterior, self._every[index]
        kernel, marginals, latest = posterior.kernel, self._marginals, list[Marginals]()
        whole = len(index) == self.num_graphs and not self._are_many and self.offered is None
        deviate = None
        if whole and isinstance(kernel, KeptMixture):
            root = cache(lambda: nu * posterior.root(kernel.root))
            deviate = partial(_deviate, nu, posterior, kernel, marginals)
        else:
            root = cache(lambda: nu * _root_of(posterior, graphs))
        best, count = self.best_seen(means), self.learnt.noise / self.result_noise

        def imagine(*actions: int) -> Belief:
            """Condition on more measurements that equal the mean."""
            explained = None if marginals is None or latest else marginals.explained[:, index]
            imagined = latest.pop() if latest else Marginals(posterior, graphs, explained)
            for action in actions:
                imagined = imagined.given(action, count, imagined.mean[action].item())
            latest.append(imagined)
            return Belief(mean, nu * imagined.variance.sqrt(), root, best, deviate)

        return Belief(mean, nu * variances[index].sqrt(), root, best, deviate), imagine


def _deviate(
    nu: float, posterior: DualPosterior, kernel: KeptMixture, marginals: Marginals | None, generator: torch.Generator
) -> Tensor:
    """Draw by how much nu times the mean rewards of a whole set differ from their means: a draw from the prior, given
    the results.
    """
    normal = torch.randn(kernel.kept.count + len(posterior.seen), generator=generator, dtype=torch.float64)
    of_graphs, of_results = normal.split([kernel.kept.count, len(posterior.seen)])
    noises = (posterior.noise / posterior.counts.double()).sqrt() * of_results
    explained = None if marginals is None else marginals.explained
    draw = posterior.conditioned((kernel.root @ of_graphs).unsqueeze(1), noises.unsqueeze(1), explained)
    return nu * draw.squeeze(1)


def _root_of(posterior: DualPosterior, graphs: Tensor) -> Tensor:
    """Return a root of the joint covariance of graphs."""
    covariance = posterior.covariance(graphs)
    if isinstance(posterior.kernel, KeptMixture) and len(graphs) > LARGE:
        with suppress(torch.linalg.LinAlgError):  # type: ignore[attr-defined]  # then the other root, ten times slower
            return quick_root(covariance)
    return symmetric_root(covariance)


def explain_means(
    posterior: DualPosterior, parts: Sequence[Part], weights: Sequence[float], index: Tensor, by_rank: bool
) -> Explanation:
    """Return what the posterior means of some graphs are sums of, over the parts and over the results.

        m = sum_p w_p k_p(., seen) alpha,   alpha = A^{-1} y,   A = k(seen, seen) + noise
        m = sum_i (A^{-1} k(seen, .))_i y_i

    Both are exact. The terms k(., i) alpha_i would also add up to m, but alpha_i is not the result of a graph: it is
    what the other results leave over, so that large terms of like graphs cancel each other.

    Parts of one name are added, and so are the results of one graph, as with a bound on either side.

    Args:
        posterior: posterior of the sum of the parts; its scale is 1.
        parts: the parts of the kernel.
        weights: w, one for each part.
        index: `(n,)` int64. The graphs.
        by_rank: whether targets are normal scores of ranks.
    """
    alpha, added = posterior.dual_weights(), dict[str, Tensor]()
    for part, weight in zip(parts, weights, strict=True):
        term = weight * (alpha @ part.kernel.columns(posterior.seen, index))
        added[part.name] = added.get(part.name, 0.0) + term
    seen, row = posterior.seen.unique(return_inverse=True)
    terms = posterior.target_weights(index) * posterior.targets.unsqueeze(1)
    pulls = torch.zeros(len(seen), len(index), dtype=torch.float64).index_add(0, row, terms)
    return Explanation({name: term.numpy() for name, term in added.items()}, seen.numpy(), pulls.numpy(), by_rank)
