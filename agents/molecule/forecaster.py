"""Forecasts of a Gaussian process on molecules: predictions, joint draws, and what they are sums of."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from agents.beliefs.agent import BatchBeliefAgent
from agents.beliefs.belief import Belief, Imagine
from agents.beliefs.posterior import DualPosterior
from agents.beliefs.rewards import NormalScores, Targets, predict, predict_chosen
from agents.beliefs.rewards import worth_of_results as weigh_results
from agents.contract.abilities import BoundsImaginer, Explanation
from agents.contract.protocol import Prediction
from agents.molecule.explanation import explain_means
from agents.molecule.parts import Part
from agents.molecule.settings import MoleculeSettings
from gntk import one_thread, symmetric_root


class MoleculeForecaster(BatchBeliefAgent[MoleculeSettings]):
    """An agent that can tell all that its posterior knows about molecules; a subclass builds the posterior."""

    posterior: DualPosterior
    """The posterior of the targets, given all results."""
    targets: Targets
    """The scale on which values are modelled."""
    result_noise: float
    """Noise variance of one more result, in squared units of the targets."""
    _parts: Sequence[Part]
    _weights: Sequence[float]
    _every: Tensor
    _believed: tuple[Tensor, Tensor] | None

    def best_seen(self, mean: Tensor) -> float | None:
        """Return the largest entry of `mean` `(K,)` among the molecules with a result or a bound."""
        seen = self.posterior.seen
        return mean[seen].max().item() if len(seen) else None

    def expect(self) -> Prediction:
        """Return the prediction of each molecule's value, and the noise of a measurement."""
        mean, variance = self._mean_and_variance()
        return predict(self.targets, mean, variance.sqrt(), self.result_noise)

    @one_thread()
    def predict_chosen(self, count: int, offered: int) -> Prediction:
        """Return what is expected of molecules that are chosen for it; see `agents.contract.ChoiceForecaster`.

        Raises:
            ValueError: if `count` is not from 1 to `offered`.
            RuntimeError: before the first `reset`.
        """
        self.check_reset()
        if not 1 <= count <= offered:
            raise ValueError(f"Expected `count` from 1 to {offered}. Got {count}.")
        mean, variance = self._mean_and_variance()
        results = len(self.posterior.seen.unique())
        return predict_chosen(self.targets, mean, variance.sqrt(), self.result_noise, results, count, offered)

    @one_thread()
    def draw_gains(self, index: Sequence[int], value: float, count: int, seed: int) -> NDArray[np.float64]:
        """Return joint draws of by how much the values of some molecules exceed a value: `(count, n)`, else 0.

        Raises:
            ValueError: if an index is not one of a molecule.
            RuntimeError: before the first `reset`.
        """
        near, root = self._joint(index)
        generator = torch.Generator().manual_seed(seed)
        return self.targets.gains(value, self._mean_and_variance()[0][near], root, count, generator).numpy()

    @one_thread()
    def draw_rewards(self, index: Sequence[int], count: int, seed: int) -> NDArray[np.float64]:
        """Return joint draws of the values of some molecules: `(count, n)`.

        Raises:
            ValueError: if an index is not one of a molecule.
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
            ValueError: if an index is not one of a molecule.
            RuntimeError: before the first `reset`.
        """
        count = len(index)
        belief, imagine = self._believe(self._read_index([*index, *pending]))
        for place in range(count, count + len(pending)):
            belief = imagine(place)
        latest = [belief]

        @one_thread()
        def bounds(place: int | None = None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
            latest[0] = latest[0] if place is None else imagine(place)
            mean, spread = latest[0].mean[:count], latest[0].spread[:count]
            return self.targets.to_rewards(mean - spread).numpy(), self.targets.to_rewards(mean + spread).numpy()

        return bounds

    @one_thread()
    def worth_of_results(self, index: Sequence[int], named: Sequence[int], times: int = 1) -> NDArray[np.float64]:
        """Return what results of some molecules are worth, `(n,)`; see `agents.contract.ResultsWeigher`.

        Raises:
            ValueError: if an index is not one of a molecule, or `times` is smaller than 1.
            RuntimeError: before the first `reset`.
        """
        if times < 1:
            raise ValueError(f"Expected `times` of at least 1. Got {times}.")
        near = self._read_index([*index, *named])
        mean, covariance = self._mean_and_variance()[0][near], self.posterior.covariance(near)
        noise, old = self.result_noise / times, list(range(len(index), len(near)))
        places = [torch.tensor([*old, k] if each not in named else old) for k, each in enumerate(index)]
        worth = [weigh_results(self.targets, mean, covariance, noise, k, place) for k, place in enumerate(places)]
        return np.array(worth)

    @one_thread()
    def explain(self, index: Sequence[int]) -> Explanation:
        """Return what the predictions of some molecules are sums of; see `agents.contract.Explainer`.

        Raises:
            ValueError: if an index is not one of a molecule.
            RuntimeError: before the first `reset`.
        """
        by_rank = isinstance(self.targets, NormalScores)
        return explain_means(self.posterior, self._parts, self._weights, self._read_index(index), by_rank)

    def shares(self) -> dict[str, float]:
        """Return the share of each part of the kernel in the prior variance, by what it compares; the shares add to 1.

        The prior variance is the mean over the molecules of what the values are expected to differ by before any
        result.
        """
        shares: dict[str, float] = {}
        for part, weight in zip(self._parts, self._weights, strict=True):
            shares[part.name] = shares.get(part.name, 0.0) + weight / sum(self._weights)
        return shares

    def _read_index(self, index: Sequence[int]) -> Tensor:
        self.check_reset()
        if not all(0 <= each < self.num_graphs for each in index):
            raise ValueError(f"Expected indices from 0 to {self.num_graphs - 1}. Got {list(index)}.")
        return torch.tensor(index, dtype=torch.int64)

    def _joint(self, index: Sequence[int]) -> tuple[Tensor, Tensor]:
        """Return molecules as a tensor, and a root of the joint covariance of their targets."""
        near = self._read_index(index)
        return near, symmetric_root(self.posterior.covariance(near))

    def _mean_and_variance(self) -> tuple[Tensor, Tensor]:
        """Return posterior mean and variance of every molecule, computed once for each posterior."""
        self._believed = self._believed or self.posterior.mean_and_variance(self._every)
        return self._believed

    def _believe(self, index: Tensor) -> tuple[Belief, Imagine]:
        """Return the belief about the molecules `index` `(n,)`, and the function of `imagine` for these alone."""
        means, variances = self._mean_and_variance()
        mean, nu, posterior = means[index], self.settings.exploration_scale, self.posterior
        covariance = cache(lambda: posterior.covariance(index))
        root = cache(lambda: nu * symmetric_root(covariance()))
        best, noise = self.best_seen(means), self.result_noise

        def imagine(*actions: int) -> Belief:
            """Condition on more measurements that equal the mean, each by a rank-one change in place."""
            left = covariance()
            for action in actions:
                column = left[action].clone()
                left.sub_(torch.outer(column, column) / (column[action] + noise))
            return Belief(mean, nu * left.diagonal().clamp(min=0).sqrt(), root, best)

        return Belief(mean, nu * variances[index].sqrt(), root, best), imagine
