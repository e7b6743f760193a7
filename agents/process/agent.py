"""Abilities of the agents with an exact Gaussian process: learning from other results, and forecasts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from agents.beliefs.belief import Insight, make_insight
from agents.beliefs.rewards import NormalScores, predict_chosen
from agents.beliefs.rules.priced import log_ratios
from agents.contract.abilities import BoundsFantasizer, Correlation, Explanation, Fits, SourceResults
from agents.contract.inputs import read_feedback, read_mask, read_noises, read_pending, read_sides
from agents.contract.protocol import Prediction
from agents.process.likelihood import PRIOR_NOISE
from agents.process.player import ProcessPlayer
from agents.process.rater import JointRating
from agents.process.results import Learnt, read_sources
from agents.process.settings import MixtureSettings
from gntk import effective_dimension, information_gain, one_thread, symmetric_root

OWN = "what structures do not tell"

S = TypeVar("S", bound=MixtureSettings)


class ProcessAgent(ProcessPlayer[S]):
    """Play by an exact Gaussian process, and answer all queries about its posterior.

    Args:
        settings: settings of kernel, likelihood and choice.
        make_rule: makes the acquisition rule.
    """

    @one_thread()
    def select_priced(
        self,
        observation: object,
        count: int,
        prices: ArrayLike,
        action_mask: ArrayLike | None = None,
        pending: Sequence[int] = (),
        fits: Fits | None = None,
    ) -> list[int]:
        """Choose several graphs, taking prices into account (see `agents.contract.ModelAgent`).

            index'(G) = index(G) - w log(p(G) / min p)

        The weight w is that of the rule: 0.5 if the index is in standard deviations, and 1 for log EI.
        """
        self.look_at(observation)
        mask = read_mask(action_mask, self.num_graphs)
        waiting = read_pending(pending, self.num_graphs)
        mask[waiting] = False
        ratios = log_ratios(torch.from_numpy(np.array(prices, np.float64)), mask)
        return self._choose(mask, count, waiting, ratios, fits)

    @one_thread()
    def update_bounds(self, observation: object, action: ArrayLike, value: ArrayLike, above: ArrayLike) -> None:
        """Learn from censored results (see `agents.contract.ModelAgent`).

        Only the tightest bound of a graph on each side counts.
        """
        self.look_at(observation)
        actions, values = read_feedback(action, value, self.num_graphs)
        sides = 2 * read_sides(above, len(actions)).long() - 1
        self._add(actions, values, sides, torch.zeros_like(values))

    @one_thread()
    def update_noisy(self, observation: object, action: ArrayLike, reward: ArrayLike, noise: ArrayLike) -> None:
        """Learn from results with known measurement noise (see `agents.contract.ModelAgent`).

        Several results of a graph are replaced by their mean, weighted by precision.
        """
        self.look_at(observation)
        actions, rewards = read_feedback(action, reward, self.num_graphs)
        self._add(actions, rewards, torch.zeros_like(actions), read_noises(noise, len(actions)))

    @one_thread()
    def learn_sources(self, sources: Sequence[SourceResults]) -> None:
        """Learn from results of other quantities (see `agents.contract.ModelAgent`)."""
        self.check_reset()
        joined, self.sources = read_sources(sources, self.described, self._joined, self.settings)
        self._joined, self._kernel, self._ranked = joined, None, None
        self.learnt = Learnt(tuple(part.weight for part in self.described.parts), PRIOR_NOISE)
        self._condition(relearns=True)

    def correlations(self) -> dict[str, Correlation]:
        """Return the correlation of each source with the rewards, by its name."""
        return self.results.correlations(self.learnt.links)

    @one_thread()
    def insight(self) -> Insight:
        """Return the belief behind the last choice, with the noise variance as ridge.

        Call it between `select_action` and `update`. The effective dimension is `nan` for large sets.
        """
        belief, index = self.ranked
        noise, seen, kernel = self.learnt.noise, self.history.seen, self._given.kernel
        root, dimension = self.history.counts[seen].double().sqrt(), math.nan
        if not self._are_many:
            within = kernel.columns(self._every, self._every)
            dimension = effective_dimension((within + within.T) / 2, max(1, self.history.rounds), noise)
        return make_insight(
            belief,
            index,
            self.rule,
            self.targets,
            self.watch.misfit,
            variance=self._mean_and_variance()[1] / noise,
            log_determinant=2 * information_gain(root.unsqueeze(1) * kernel.columns(seen, seen) * root, noise),
            effective_dimension=dimension,
        )

    @one_thread()
    def predict_chosen(self, count: int, offered: int) -> Prediction:
        """Return the prediction for graphs selected by it (see `agents.contract.ModelAgent`).

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
        """Return joint draws of the amounts by which the values of some graphs exceed a value: `(count, n)`, or 0.

        Raises:
            ValueError: if an index is out of range.
            RuntimeError: before the first `reset`.
        """
        joint, generator = self._joint(index), torch.Generator().manual_seed(seed)
        return self.targets.gains(value, joint.mean, symmetric_root(joint.covariance), count, generator).numpy()

    @one_thread()
    def draw_rewards(self, index: Sequence[int], count: int, seed: int) -> NDArray[np.float64]:
        """Return joint draws of the values of some graphs: `(count, n)`.

        Raises:
            ValueError: if an index is out of range.
            RuntimeError: before the first `reset`.
        """
        return self._joint(index).draw_rewards(count, torch.Generator().manual_seed(seed))

    @one_thread()
    def fantasize_bounds(self, index: Sequence[int], pending: Sequence[int] = ()) -> BoundsFantasizer:
        """Return a function that fantasizes results (see `agents.contract.ModelAgent`).

        Raises:
            ValueError: if an index is out of range.
            RuntimeError: before the first `reset`.
        """
        count = len(index)
        belief, fantasize = self._believe(self._read_index([*index, *pending]))
        for position in range(count, count + len(pending)):
            belief = fantasize(position)
        latest = [belief]

        @one_thread()
        def bounds(position: int | None = None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
            latest[0] = latest[0] if position is None else fantasize(position)
            mean, spread = latest[0].mean[:count], latest[0].spread[:count]
            return self.targets.to_rewards(mean - spread).numpy(), self.targets.to_rewards(mean + spread).numpy()

        return bounds

    @one_thread()
    def explain(self, index: Sequence[int]) -> Explanation:
        """Decompose the predictions of some graphs into sums (see `agents.contract.ModelAgent`).

            m = sum_p w_p k_p(., seen) alpha,   alpha = A^{-1} y,   A = k(seen, seen) + noise
            m = sum_i (A^{-1} k(seen, .))_i y_i

        Both are exact. The terms k(., i) alpha_i would also add up to m, but alpha_i is not the result of a graph: it
        is the residual after the other results, so that large terms of similar graphs cancel each other. Parts of one
        name are added, and so are the results of one graph, such as its lower and upper bounds.

        Raises:
            ValueError: if an index is out of range.
            RuntimeError: before the first `reset`.
        """
        graphs, posterior = self._every[self._read_index(index)], self.posterior
        links, results = self.learnt.links, self.results
        count = results.described.count
        quantities, at = posterior.seen // count, posterior.seen % count
        alpha, terms = posterior.dual_weights(), dict[str, Tensor]()
        if links:
            alpha = alpha * links.between(quantities, quantities.new_zeros(1))[:, 0]
            terms[OWN] = links.residual * (alpha @ (at.unsqueeze(1) == graphs).double())
        of_parts = torch.einsum("q,qpn->pn", alpha, results.described.kernels.columns(at, graphs))
        for part, weight, term in zip(self.described.parts, self.learnt.weights, of_parts, strict=True):
            terms[part.name] = terms.get(part.name, 0.0) + weight * term
        seen, row = posterior.seen.unique(return_inverse=True)
        of_results = posterior.target_weights(graphs) * posterior.targets.unsqueeze(1)
        contributions = torch.zeros(len(seen), len(graphs), dtype=torch.float64).index_add(0, row, of_results)
        own = seen < len(self.history.counts)
        return Explanation(
            {name: term.numpy() for name, term in terms.items()},
            seen[own].numpy(),
            contributions.numpy(),
            by_rank=isinstance(self.targets, NormalScores),
            others=tuple(map(results.name_of, seen[~own].tolist())),
        )

    def shares(self) -> dict[str, float]:
        """Return the share of each part of the kernel in the prior variance, by name. The sum is 1.

        The prior variance is the expected variance of the rewards of the graphs before any result.
        """
        shares, parts = dict[str, float](), self.described.parts
        variances = [part.typical * weight for part, weight in zip(parts, self.learnt.weights, strict=True)]
        for part, variance in zip(parts, variances, strict=True):
            shares[part.name] = shares.get(part.name, 0.0) + variance / sum(variances)
        return shares

    def _add(self, actions: Tensor, values: Tensor, sides: Tensor, deviations: Tensor) -> None:
        """Learn from censored results or results with known noise."""
        self.partial.add(self._every[actions], values, sides, deviations)
        self._ranked = None
        self._condition(relearns=True)

    def _read_index(self, index: Sequence[int]) -> Tensor:
        self.check_reset()
        if not all(0 <= graph < self.num_graphs for graph in index):
            raise ValueError(f"Expected indices from 0 to {self.num_graphs - 1}. Got {list(index)}.")
        return torch.tensor(index, dtype=torch.int64)

    def _joint(self, index: Sequence[int]) -> JointRating:
        """Return the joint posterior of some graphs."""
        near = self._read_index(index)
        mean, covariance = self._mean_and_variance()[0][near], self.posterior.covariance(self._every[near])
        return JointRating(mean, covariance, self.targets)
