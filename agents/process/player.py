"""Play by an exact Gaussian process whose kernel is a sum of parts, with weights learned from the rewards."""

from __future__ import annotations

import copy
import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Self, TypeVar

import numpy as np
import torch
from torch import Tensor

from agents.beliefs.agent import BatchBeliefAgent
from agents.beliefs.batches import check_count, choose_batch, short_list
from agents.beliefs.belief import AcquisitionRule, Belief, Fantasize
from agents.beliefs.choices import choice_probabilities
from agents.beliefs.posterior import DualPosterior, Kernel, Marginals, PrimalPosterior
from agents.beliefs.rewards import History, PartialResults, Targets, predict
from agents.beliefs.rules.priced import PRICE_WEIGHT, Priced, price_weight
from agents.contract.abilities import ActionProbabilities, Fits
from agents.contract.protocol import DivergedError, Prediction, State
from agents.process.description import Description
from agents.process.kernels import Mixture
from agents.process.likelihood import PRIOR_NOISE
from agents.process.results import Learnt, Quantity, Results
from agents.process.settings import MixtureSettings
from gntk import quick_root, symmetric_root

if TYPE_CHECKING:
    from torch_geometric.data import Batch

PLAYING, SEARCHING = 2.0, 1.0  # nu by default
LARGE = 300  # graphs whose covariance is too expensive to decompose in each round

S = TypeVar("S", bound=MixtureSettings)


class ProcessPlayer(BatchBeliefAgent[S]):
    """Play by a Gaussian process whose kernel is a sum of parts, with weights learned from the rewards.

        k = sum_p w_p k_p

    Weights and noise maximise the marginal `Likelihood`. The posterior is exact in all rewards. For large sets, no K x
    K array is stored. A round takes O(q^2 K) for q graphs with results, and O(d^2 K) if k is linear in d < q numbers.

    Censored results are supported (`update_bounds`): the truncated posterior is approximated by expectation propagation
    (`match_bounds`).

    A result with known measurement noise (`update_noisy`) has that noise variance plus the learned one, which the
    graphs leave unexplained. Any other result has only the learned one.

    Results of other quantities are rows of the same posterior (`learn_sources`, `Links`).

    In large sets, graphs are chosen from a short list. In small sets, the rule ranks all. A subclass defines how graphs
    are read (`read`, `describe`).

    Args:
        settings: settings of kernel, likelihood and choice.
        make_rule: makes the acquisition rule.

    Raises:
        ValueError: if the rule eliminates graphs and rewards are forgotten.
    """

    partial: PartialResults
    """Censored rewards, and rewards with known measurement noise."""
    sources: tuple[Quantity, ...]
    """Results of other quantities."""
    learnt: Learnt
    targets: Targets
    """The scale on which values are modelled."""
    result_noise: float
    """Noise variance of one more result, in squared units of the targets."""
    _given: DualPosterior | PrimalPosterior
    _believed: tuple[Tensor, Tensor] | None

    def __init__(self, settings: S, make_rule: Callable[[], AcquisitionRule]) -> None:
        super().__init__(settings, make_rule)
        self._described: Description | None = None
        self._joined: Description | None = None  # with the graphs of sources
        rule = make_rule()
        if settings.forget is not None and getattr(rule, "eliminates", False):
            raise ValueError(
                f"Expected `forget` to be None, because {type(rule).__name__} never plays a graph again that it has "
                f"eliminated, however good it becomes. Got {settings.forget!r}. Use another rule, such as that of "
                "`gntk-ucb`."
            )
        self._remembers = bool(rule.state_dict())  # its candidates, which do not support a changing short list

    @abstractmethod
    def describe(self, graphs: Batch) -> Description:
        """Describe the graphs that `read` returned, or return an earlier description of the same graphs."""

    @property
    def described(self) -> Description:
        """Return the graphs and their description.

        Raises:
            RuntimeError: before the first `reset`.
        """
        if self._described is None:
            raise RuntimeError("Expected `reset` first. Got an agent without graphs.")
        return self._described

    @property
    def posterior(self) -> DualPosterior:
        """Return the posterior of the targets, given all results."""
        return self._given.dual

    @property
    def results(self) -> Results:
        """Return all results and their graphs."""
        rewards = Quantity.of_rewards(self.history, self.partial, self.settings)
        return Results(self._joined or self.described, rewards, self.sources)

    def blank(self) -> Self:
        """Return an agent with equal settings and no results that shares the description of the graphs."""
        agent = copy.copy(self)
        vars(agent).pop("num_graphs", None)  # it must be reset before it plays
        return agent

    def begin(self, graphs: Batch, seed: int) -> None:
        """Describe the graphs, and start without results."""
        super().begin(graphs, seed)
        count: int = graphs.num_graphs
        self.history, self.partial = History(count, self.settings.forget), PartialResults(count)
        self._every, self._seed = torch.arange(count), seed
        self._described = self.describe(graphs)
        self._joined, self.sources = None, ()
        self.learnt = Learnt(tuple(part.weight for part in self._described.parts), PRIOR_NOISE)
        self._kernel: tuple[Description, tuple[float, ...], Kernel] | None = None
        self._condition()

    def choose(self, mask: Tensor) -> int:
        """Return the graph that the rule ranks highest, from the short list in large sets."""
        self.look_for_those_played(mask)
        return self._choose(mask, 1)[0] if self._are_many else super().choose(mask)

    def choose_batch(self, mask: Tensor, count: int, pending: Sequence[int]) -> list[int]:
        """Choose `count` different graphs one after the other, from the short list in large sets."""
        self.look_for_those_played(mask)
        return self._choose(mask, count, pending)

    def learn(self, slots: Tensor, rewards: Tensor) -> None:
        """Condition on the rewards, and relearn the weights after enough new ones."""
        super().learn(slots, rewards)
        self._condition(relearns=True)

    def residual(self, slot: int, reward: float) -> float | None:
        """Return the standardised forecast error of a reward, with noise."""
        (place,) = (self._every == slot).nonzero(as_tuple=True)
        if not len(place):
            return None
        mean, variance = (float(values[place]) for values in self._mean_and_variance())
        target = float(self.targets.of(torch.tensor(reward, dtype=torch.float64)))
        return (target - mean) / math.sqrt(variance + self.result_noise)

    def learns_again(self) -> bool:
        """Schedule an early refit of weights and noise, once per regular refit, and return True if scheduled."""
        if self.watch.mended_at == self.learnt.count:
            return False
        self.watch.evidence, self.watch.mended_at = 0.0, self.results.num_results
        self.learnt = replace(self.learnt, count=0)
        return True

    @property
    def seen(self) -> Tensor:
        """Return the graphs of the results, `(q,)` int64, without those of results of sources."""
        seen = self._given.seen
        return seen[seen < len(self.history.counts)]

    @property
    def nu(self) -> float:
        """Return nu, which multiplies sigma."""
        scale = self.settings.exploration_scale
        return scale if scale is not None else SEARCHING if self.plays_new and self.offered is None else PLAYING

    def belief(self) -> Belief:
        """Return posterior mean and nu times standard deviation of each graph of the round, in units of the targets."""
        return self._believe(torch.arange(self.num_graphs))[0]

    def fantasize(self) -> Fantasize:
        """Return a function that takes graphs, and returns the belief about all graphs after measuring them."""
        return self._believe(torch.arange(self.num_graphs))[1]

    def best_seen(self, mean: Tensor) -> float | None:
        """Return the largest entry of `mean` `(K,)` among the graphs with a result, or None if graphs change."""
        seen = self.seen
        return mean[seen].max().item() if self.offered is None and len(seen) else None

    def weigh_choices(self, mask: Tensor, draws: int) -> ActionProbabilities:
        """Return the probability of playing each graph, in large sets 0 outside the short list."""
        plays_new = self.plays_new
        self.look_for_those_played(mask)
        try:
            values = torch.zeros(2, self.num_graphs, dtype=torch.float64)
            near, offered, _ = self._near(mask, 1, (), values[0])
            weighed = choice_probabilities(self.rule, self._believe(near)[0], offered, self.generator, draws)
            values[:, near] = torch.from_numpy(np.stack([weighed.values, weighed.errors]))
            return ActionProbabilities(*values.numpy())
        finally:
            self.plays_new = plays_new

    def expect(self) -> Prediction:
        """Return the prediction of each graph's mean reward, and the noise of a measurement."""
        mean, variance = self._mean_and_variance()
        return predict(self.targets, mean, variance.sqrt(), self.result_noise)

    def known(self) -> list[Tensor]:
        """Return tensors that identify the graphs to the kernel."""
        return self.described.known()

    def state(self) -> State:
        """Return weights, noise and results.

        Raises:
            ValueError: if there are sources, whose graphs are not part of a state.
        """
        if self.sources:
            raise ValueError("Expected an agent without sources, whose graphs a state does not hold. Tell them again.")
        learnt = {"weights": list(self.learnt.weights), "noise": self.learnt.noise, "learnt_from": self.learnt.count}
        return {**super().state(), **learnt, "seed": self._seed, "partial": self.partial.state_dict()}

    def restore(self, state: State) -> None:
        """Continue with weights, noise and results of a state."""
        super().restore(state)
        self.learnt = Learnt(tuple(state["weights"]), state["noise"], state["learnt_from"])
        self._seed = state["seed"]
        self.partial.load_state_dict(state["partial"])
        self._condition()

    def _mean_and_variance(self) -> tuple[Tensor, Tensor]:
        """Return posterior mean and variance of each graph, computed once for each posterior."""
        self._believed = self._believed or self._given.mean_and_variance(self._every)
        return self._believed

    def _believe(self, index: Tensor) -> tuple[Belief, Fantasize]:
        """Return the belief about the graphs `index` `(n,)`, and the function of `fantasize` for these alone."""
        means, variances = self._mean_and_variance()
        mean, nu, posterior, graphs = means[index], self.nu, self._given, self._every[index]
        latest = list[Marginals]()
        whole = len(index) == self.num_graphs and not self._are_many and self.offered is None
        own = self.described.own(self.learnt.weights) if self.plays_new else 0.0
        root = cache(lambda: nu * _root_of(posterior, graphs, whole, own))
        best, count = self.best_seen(means), self.learnt.noise / self.result_noise

        def fantasize(*actions: int) -> Belief:
            """Condition on more measurements that equal the mean."""
            fantasized = latest.pop() if latest else Marginals(posterior.dual, graphs)
            for action in actions:
                fantasized = fantasized.given(action, count, fantasized.mean[action].item())
            latest.append(fantasized)
            return Belief(mean, nu * fantasized.variance.sqrt(), root, best)

        return Belief(mean, nu * variances[index].sqrt(), root, best), fantasize

    @property
    def _are_many(self) -> bool:
        """Return True if graphs are chosen from a short list, which rules with candidates do not support."""
        return self.num_graphs > self.settings.short_list and not self._remembers

    def _choose(
        self,
        mask: Tensor,
        count: int,
        pending: Sequence[int] = (),
        ratios: Tensor | None = None,
        fits: Fits | None = None,
    ) -> list[int]:
        """Choose graphs one after the other, given the logarithms of their price ratios if these differ."""
        ratios = torch.zeros(self.num_graphs, dtype=torch.float64) if ratios is None else ratios
        mask[list(pending)] = False
        check_count(count, mask)
        near, offered, under_way = self._near(mask, count, pending, ratios)
        rule = Priced(self.rule, price_weight(self.rule) * ratios[near])
        belief, fantasize = self._believe(near)

        def still(chosen: Sequence[int]) -> Tensor:
            return torch.from_numpy(fits(near[list(chosen)].tolist()))[near] if fits else offered

        chosen = choose_batch(rule, belief, offered, count, self.generator, fantasize, under_way, still)
        return [int(near[position]) for position in chosen]

    def _near(
        self, mask: Tensor, count: int, pending: Sequence[int], ratios: Tensor
    ) -> tuple[Tensor, Tensor, Sequence[int]]:
        """Return the graphs that the rule ranks, those on offer, and the positions of pending graphs."""
        if not self._are_many:
            return torch.arange(self.num_graphs), mask, pending
        likely = self._short_list(mask, count, PRICE_WEIGHT * ratios)
        near = torch.cat([likely, torch.tensor(pending, dtype=torch.int64)])
        return near, torch.ones(len(near), dtype=torch.bool), range(len(likely), len(near))

    def _short_list(self, mask: Tensor, count: int, handicap: Tensor) -> Tensor:
        """Return the graphs on offer with the largest mean + 2 sigma - handicap, in the order of the set."""
        mean, variance = self._mean_and_variance()
        upper = (mean + 2 * variance.sqrt() - handicap).masked_fill(~mask, -torch.inf)
        size = min(int(mask.sum()), max(self.settings.short_list, count))
        names = [self.described.names[k] for k in self._every.tolist()]
        return torch.from_numpy(short_list(upper.numpy(), names, size, self._seed))

    def _condition(self, relearns: bool = False) -> None:
        """Build the posterior given all results, after relearning the weights if due and requested."""
        results = self.results
        known_noise = results.known_noise(self.settings)
        try:
            if relearns and self.learnt.is_due(results.num_results, self.settings) and results.differ:
                self.learnt = results.learn(self.settings)
            if known_noise is not None:
                self.learnt = replace(self.learnt, noise=known_noise)
            self._believed, self.targets = None, results.rewards.targets
            self._given = results.condition(self._mix(), self.learnt)
        except (torch.linalg.LinAlgError, ArithmeticError) as error:  # type: ignore[attr-defined]
            raise DivergedError(f"Weights or posterior could not be computed from the measurements: {error}") from error
        self.result_noise = self.learnt.noise + results.typical_noise

    def _mix(self) -> Kernel:
        """Return the sum of the parts, cached while weights and graphs stay the same."""
        described, weights = self._joined or self.described, self.learnt.weights
        if self._kernel is None or self._kernel[:2] != (described, weights):
            self._kernel = described, weights, described.mixture(weights)
        return self._kernel[2]


def _root_of(posterior: DualPosterior | PrimalPosterior, graphs: Tensor, whole: bool, own: float) -> Tensor:
    """Return a root of the joint covariance of some or all graphs.

    Args:
        posterior: the posterior.
        graphs: `(n,)` int64.
        whole: True if they are all graphs.
        own: graph-specific variance to exclude for each graph without a result.
    """
    if isinstance(posterior, PrimalPosterior):
        return posterior.root(graphs, own)
    kernel = posterior.kernel
    if whole and not own and isinstance(kernel, Mixture):
        return posterior.root(kernel.root)
    covariance = posterior.covariance(graphs)
    covariance.diagonal().sub_((~torch.isin(graphs, posterior.seen)).double(), alpha=own)
    if isinstance(kernel, Mixture) and len(graphs) > LARGE:
        with suppress(torch.linalg.LinAlgError):  # type: ignore[attr-defined]  # otherwise use the other root, ten times slower
            return quick_root(covariance)
    return symmetric_root(covariance)
