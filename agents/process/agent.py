"""The agent with an exact Gaussian process whose kernel is a sum of parts, with weights learnt from the rewards."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Self, TypeVar

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from agents.beliefs.batches import check_count, choose_batch
from agents.beliefs.posterior import Kernel, Marginals
from agents.beliefs.rewards import Bounds, NoisyResults, check_rule, make_history
from agents.beliefs.rules.priced import PRICE_WEIGHT, Priced, log_ratios, price_weight
from agents.beliefs.rules.rule import AcquisitionRule
from agents.beliefs.short_list import short_list
from agents.contract.abilities import Correlation, Fits, SourceResults
from agents.contract.inputs import read_feedback, read_mask, read_noises, read_pending, read_sides
from agents.contract.protocol import DivergedError, State
from agents.process.forecaster import ProcessForecaster
from agents.process.likelihood import PRIOR_NOISE
from agents.process.parts.part import Description
from agents.process.results import Learnt, Results, condition, learn_weights, noise_in_units
from agents.process.settings import MixtureSettings
from agents.process.sources import Sources
from gntk import one_thread

if TYPE_CHECKING:
    from torch_geometric.data import Batch, Data

ENTRIES = 20_000_000  # of the rows that are kept from one reward to the next: 160 MB
SPARE = 64  # rows more than two of each graph played

S = TypeVar("S", bound=MixtureSettings)


class ProcessAgent(ProcessForecaster[S]):
    """Play by a Gaussian process whose kernel is a sum of parts, with weights learnt from the rewards.

        k = sum_p w_p k_p

    Weights and noise maximise the marginal likelihood (`MixtureLikelihood`). The posterior is exact in all rewards. No
    array of size K x K is kept for many graphs. Until the weights are learnt again, one more reward costs O(t K), if
    the covariances of the graphs with those played fit into memory.

    A result of which only a bound is known is learnt as that (`update_bounds`): the part of the posterior that it cuts
    off is approximated by expectation propagation (`match_bounds`).

    A result whose measuring noise is known (`update_noisy`) has that noise variance and, in addition, the one that is
    learnt: what the graphs leave unexplained. Any other result has the learnt one alone.

    Results of other quantities are rows of the same posterior (`learn_sources`, `Links`).

    A subclass says how graphs are read (`read`, `describe`), and whether they may change (`meet`).

    Args:
        settings: settings of kernel, likelihood and choice.
        make_rule: makes the acquisition rule.

    Raises:
        ValueError: if the rule eliminates graphs, and rewards are forgotten.
    """

    results: Results
    learnt: Learnt

    def __init__(self, settings: S, make_rule: Callable[[], AcquisitionRule]) -> None:
        super().__init__(settings, make_rule)
        self._described: Description | None = None
        self._joined: Description | None = None  # with the graphs of sources
        rule = make_rule()
        check_rule(rule, settings.forget)
        self._remembers = bool(rule.state_dict())  # its candidates, for which a short list that changes will not do

    @abstractmethod
    def describe(self, graphs: Batch) -> Description:
        """Return the graphs that `read` returned as the process reads them; a description from before if it fits."""

    @property
    def described(self) -> Description:
        """Return the graphs and what describes them.

        Raises:
            RuntimeError: before the first `reset`.
        """
        if self._described is None:
            raise RuntimeError("Expected `reset` first. Got an agent without graphs.")
        return self._described

    @property
    def sources(self) -> Sources:
        """Return the graphs, and results of other quantities."""
        return self._told or Sources(self.described)

    def blank(self) -> Self:
        """Return an agent with equal settings that was told nothing, and shares the description of the graphs."""
        agent = type(self)(self.settings, self._make_rule)
        agent._described, agent._joined = self._described, self._joined
        return agent

    def begin(self, graphs: Batch, seed: int) -> None:
        """Describe the graphs, and start with nothing measured."""
        super().begin(graphs, seed)
        count: int = graphs.num_graphs
        self.results = Results(make_history(count, self.settings.forget), Bounds(count), NoisyResults(count))
        self.history = self.results.history
        self._every, self._seed = torch.arange(count), seed
        self._described = self.describe(graphs)
        self._told: Sources | None = None
        self.learnt = Learnt(tuple(part.weight for part in self._described.parts), PRIOR_NOISE)
        self._kernel: tuple[Description, tuple[float, ...], Kernel] | None = None
        self._condition()

    def go_on(self, kept: Tensor, graphs: Sequence[Data]) -> None:
        """Describe new graphs, and condition on all results of those that stay: `meet`, for graphs that may change.

        Raises:
            ValueError: if there are sources, whose graphs are those of `reset`.
        """
        if self.sources.told:
            raise ValueError("Expected the graphs of `reset` while there are sources. Got others: leave sources out.")
        before = vars(self).copy()
        try:
            self.results = self.results.exchanged(kept, len(graphs))
            self.history = self.results.history
            if self.results.num_results < before["results"].num_results:  # those that are left may have another scale
                self.learnt = Learnt(self.learnt.weights, self.learnt.noise)
            self._described = self.described.exchange(kept, graphs)
            self._every = torch.arange(self.num_graphs) if self.offered is None else self.offered
            self._condition()
        except BaseException:
            vars(self).update(before)
            raise
        self.rule.forget_graphs()
        self._ranked = None

    def choose(self, mask: Tensor) -> int:
        """Return the graph of the short list that the rule ranks highest."""
        return self.choose_batch(mask, 1, ())[0]

    def choose_batch(self, mask: Tensor, count: int, pending: Sequence[int]) -> list[int]:
        """Return `count` different graphs of the short list, chosen one after the other."""
        return self._choose(mask, count, pending, torch.zeros(self.num_graphs, dtype=torch.float64))

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
        """Return several graphs, of which each is worth its price; see `agents.contract.PriceMinder`.

            index'(G) = index(G) - w log(p(G) / min p)

        The weight w is that of the rule: 0.5 where the index is in standard deviations, and 1 for log EI.
        """
        self.look_at(observation)
        mask = read_mask(action_mask, self.num_graphs)
        waiting = read_pending(pending, self.num_graphs)
        mask[waiting] = False
        ratios = log_ratios(torch.from_numpy(np.array(prices, np.float64)), mask)
        return self._choose(mask, count, waiting, ratios, fits)

    def learn(self, slots: Tensor, rewards: Tensor) -> None:
        """Condition on the rewards; learn the weights again if there are enough new ones."""
        super().learn(slots, rewards)
        self._refresh(slots)

    @one_thread()
    def update_bounds(self, observation: object, action: ArrayLike, value: ArrayLike, above: ArrayLike) -> None:
        """Learn from results of which only a bound is known; see `agents.contract.BoundsLearner`.

        Of several bounds of a graph on one side the tightest counts.
        """
        self.look_at(observation)
        actions, values = read_feedback(action, value, self.num_graphs)
        self.results.bounds.add(self._every[actions], values, read_sides(above, len(actions)))
        self._ranked = None
        self._refresh()

    @one_thread()
    def update_noisy(self, observation: object, action: ArrayLike, reward: ArrayLike, noise: ArrayLike) -> None:
        """Learn from results whose measuring noise is known; see `agents.contract.NoiseLearner`.

        Several results of a graph count as one: their mean, weighted by precision.
        """
        self.look_at(observation)
        actions, rewards = read_feedback(action, reward, self.num_graphs)
        self.results.noisy.add(self._every[actions], rewards, read_noises(noise, len(actions)))
        self._ranked = None
        self._refresh()

    @one_thread()
    def learn_sources(self, sources: Sequence[SourceResults]) -> None:
        """Learn from results of other quantities; see `agents.contract.SourceLearner`."""
        self.check_reset()
        self._told = Sources.of(self.described, sources, self.settings, self._joined) if sources else None
        self._joined, self._kernel, self._ranked = self.sources.described, None, None
        self.learnt = Learnt(tuple(part.weight for part in self.described.parts), PRIOR_NOISE)
        self._refresh()

    def correlations(self) -> dict[str, Correlation]:
        """Return how each source goes along with the rewards, by its name."""
        return self.sources.correlations(self.learnt.links)

    def known(self) -> list[Tensor]:
        """Return what identifies the graphs to the kernel."""
        return self.described.known()

    def state(self) -> State:
        """Return weights, noise and results, and which of these have come since the posterior was made.

        Raises:
            ValueError: if there are sources, whose graphs a state does not hold.
        """
        if self.sources.told:
            raise ValueError("Expected an agent without sources, whose graphs a state does not hold. Tell them again.")
        learnt = {"weights": list(self.learnt.weights), "noise": self.learnt.noise, "learnt_from": self.learnt.count}
        results = {"bounds": self.results.bounds.state_dict(), "noisy": self.results.noisy.state_dict()}
        return {**super().state(), **learnt, "seed": self._seed, **results, "added": self._added.clone()}

    def restore(self, state: State) -> None:
        """Continue with weights, noise and results of a state, added in the order in which they came."""
        super().restore(state)
        self.learnt = Learnt(tuple(state["weights"]), state["noise"], state["learnt_from"])
        self._seed = state["seed"]
        self.results.bounds.load_state_dict(state["bounds"])
        self.results.noisy.load_state_dict(state["noisy"])
        self._condition(without=state["added"])
        if len(state["added"]):
            self._add(state["added"])

    def _choose(
        self, mask: Tensor, count: int, pending: Sequence[int], ratios: Tensor, fits: Fits | None = None
    ) -> list[int]:
        """Choose graphs one after the other, given the logarithms of the ratios of their prices."""
        mask[list(pending)] = False
        check_count(count, mask)
        near, offered, under_way = self._near(mask, count, pending, ratios)
        rule = Priced(self.rule, price_weight(self.rule) * ratios[near])
        belief, imagine = self._believe(near)

        def still(chosen: Sequence[int]) -> Tensor:
            return torch.from_numpy(fits(near[list(chosen)].tolist()))[near] if fits else offered

        chosen = choose_batch(rule, belief, offered, count, self.generator, imagine, under_way, still)
        return [int(near[position]) for position in chosen]

    def _near(
        self, mask: Tensor, count: int, pending: Sequence[int], ratios: Tensor
    ) -> tuple[Tensor, Tensor, Sequence[int]]:
        """Return the graphs that the rule ranks, which of them are on offer, and where those under way stand."""
        if self._remembers:
            return torch.arange(self.num_graphs), mask, pending
        likely = self._short_list(mask, count, PRICE_WEIGHT * ratios)
        near = torch.cat([likely, torch.tensor(pending, dtype=torch.int64)])
        return near, torch.ones(len(near), dtype=torch.bool), range(len(likely), len(near))

    def _short_list(self, mask: Tensor, count: int, handicap: Tensor) -> Tensor:
        """Return the graphs on offer with the largest mean + 2 sigma - handicap, in the order of the set."""
        mean, variance = self._mean_and_variance()
        upper = (mean + 2 * variance.sqrt() - handicap).masked_fill(~mask, -torch.inf)
        size = min(int(mask.sum()), max(self.settings.short_list, count))
        names = (
            self.described.names if self.offered is None else [self.described.names[k] for k in self.offered.tolist()]
        )
        return torch.from_numpy(short_list(upper.numpy(), names, size, self._seed))

    def _refresh(self, slots: Tensor | None = None) -> None:
        """Learn the weights again if there are enough new results, and condition on all of them.

        Args:
            slots: `(n,)` int64. The graphs of the new results, if these are plain rewards; else None.
        """
        if self.learnt.is_due(self.results.num_results, self.settings) and self.results.differ:
            try:
                self.learnt = learn_weights(self.sources, self.results, self.settings)
            except (torch.linalg.LinAlgError, ArithmeticError) as error:  # type: ignore[attr-defined]
                raise DivergedError(f"The weights could not be learnt from the measurements: {error}") from error
            self._condition()
        elif slots is None or not self._add(slots):
            self._condition()

    def _condition(self, without: Tensor | None = None) -> None:
        """Build the posterior given all results; without the rewards of the graphs `without`, one for each entry."""
        self.targets = self.results.targets(self.settings)
        self._marginals: Marginals | None = None
        self._believed: tuple[Tensor, Tensor] | None = None
        self._added = torch.zeros(0, dtype=torch.int64)
        counts = self.history.counts
        if without is not None:
            counts = counts - without.bincount(minlength=len(counts))
        known_noise = noise_in_units(self.settings, self.targets)
        if known_noise is not None:
            self.learnt = replace(self.learnt, noise=known_noise)
        try:
            self.posterior = condition(self.sources, self._mix(), self.learnt, self.results, self.targets, counts)
        except (torch.linalg.LinAlgError, ArithmeticError) as error:  # type: ignore[attr-defined]
            raise DivergedError(f"The posterior given the measurements could not be computed: {error}") from error
        self.result_noise = self.learnt.noise + self.results.noisy.typical(len(self.history), self.targets)

    def _mix(self) -> Kernel:
        """Return the sum of the parts; the last one is kept while weights and graphs stay."""
        described, weights = self.sources.described, self.learnt.weights
        if self._kernel is None or self._kernel[:2] != (described, weights):
            self._kernel = described, weights, described.mixture(weights)
        return self._kernel[2]

    def _add(self, slots: Tensor) -> bool:
        """Add rewards of these graphs to the posterior, one by one, where that costs less than to condition again.

        It may not be where earlier rewards count less than before, or where their known noise has another unit.
        """
        targets, places = self.results.targets(self.settings), self._places(slots)
        rows = len(self.posterior.seen) + len(slots)
        if places is None or self.settings.forget is not None or not self.results.are_plain or self.sources.told:
            return False
        if noise_in_units(self.settings, targets) not in (None, self.learnt.noise):
            return False
        if rows * len(self._every) > ENTRIES or rows > 2 * len(self.history.seen) + SPARE:
            return False
        marginals = self._marginals or Marginals(self.posterior, self._every)
        for position in places:
            marginals = marginals.given(position, 1.0, 0.0)
        self.targets, seen = targets, marginals.posterior.seen
        self._marginals = marginals.retargeted(self.targets.of(self.history.means[seen]))
        self.posterior = self._marginals.posterior
        self._believed = self._marginals.mean, self._marginals.variance
        self._added = torch.cat([self._added, slots])
        return True

    def _places(self, slots: Tensor) -> list[int] | None:
        """Return where graphs stand among those of the round; None if one is not there."""
        if self.offered is None:
            return slots.tolist()
        position_of = {slot: k for k, slot in enumerate(self.offered.tolist())}
        places = [position_of.get(slot, -1) for slot in slots.tolist()]
        return None if -1 in places else places
