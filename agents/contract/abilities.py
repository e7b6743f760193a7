"""Protocols of what only some agents can do: wait for rewards, tell odds, and answer what an exact posterior knows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agents.contract.protocol import Agent, BatchAgent, Prediction

Fits: TypeAlias = Callable[[Sequence[int]], NDArray[np.bool_]]
"""A function that takes graphs chosen so far, and returns which others can join them, `(K,)`."""

BoundsImaginer: TypeAlias = Callable[[int | None], tuple[NDArray[np.float64], NDArray[np.float64]]]
"""A function that takes graphs one by one, and returns lower and upper bounds of the mean rewards of all."""

DRAWS = 10_000
"""Draws from which a probability is estimated, by default: its standard error is at most 0.005."""


@runtime_checkable
class LateLearner(BatchAgent, Protocol):
    """A batch agent that can take into account which rewards are on their way."""

    def select_awaiting(
        self, observation: object, count: int, awaiting: Sequence[int], action_mask: ArrayLike | None = None
    ) -> list[int]:
        """Return `count` different graphs, in the order of choice; those whose rewards are awaited may be among them.

        Without any, they are those of `select_batch`; a single one is that of `select_action`.

        Args:
            observation: as in `select_action`.
            count: number of graphs to choose.
            awaiting: graphs that were played, once for each time; `update` has not told their rewards yet.
            action_mask: `(K,)`, as in `select_action`.

        Raises:
            ValueError: if fewer than `count` graphs are on offer.
        """


@dataclass(frozen=True, eq=False)
class ActionProbabilities:
    """With which probability an agent plays each of K graphs.

    Attributes:
        values: `(K,)` float64. The probabilities; they sum to 1, and are 0 where a mask rules a graph out.
        errors: `(K,)` float64. Their standard errors, where they were estimated from draws; 0 where they are exact.
    """

    values: NDArray[np.float64]
    errors: NDArray[np.float64]


@runtime_checkable
class PlayForecaster(Protocol):
    """An agent that knows with which probability it plays each graph, as logged data need it."""

    def action_probabilities(
        self, observation: object, action_mask: ArrayLike | None = None, draws: int = DRAWS
    ) -> ActionProbabilities:
        """Return with which probability `select_action` would return each graph.

        It draws nothing from the agent's generators, and changes no later choice.

        Args:
            observation: as in `select_action`.
            action_mask: `(K,)`, as in `select_action`.
            draws: how many draws to make where no formula is known.

        Raises:
            ValueError: as `select_action`; or if `draws` is not an integer of at least 2.
        """


@dataclass(frozen=True, eq=False)
class Explanation:
    """What an agent's predictions of n graphs are sums of.

    The scale is that of the scores to which the model is fitted: 0 is the prediction before any reward, 1 a standard
    deviation. The score of a graph is the sum over the parts of its model, and also the sum over the q graphs with
    rewards.

    Attributes:
        parts: what each part of the model adds, by what it compares, `(n,)` float64 each.
        seen: `(q,)` int64. The graphs with rewards or bounds.
        contributions: `(q, n)` float64. What their results add.
        by_rank: True if scores are normal scores of the ranks of the rewards, False if they are standardised rewards.
        others: for each further row of `contributions`, the source of its result, with the SMILES of the molecule or,
            for another graph, its index as a text.
    """

    parts: dict[str, NDArray[np.float64]]
    seen: NDArray[np.int64]
    contributions: NDArray[np.float64]
    by_rank: bool
    others: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, eq=False)
class SourceResults:
    """Results of another quantity, which may tell something of the rewards."""

    name: str
    """Name of the source."""
    graphs: Sequence[int | str]
    """The q graphs of the results: indices in the set that is played; or molecules as canonical SMILES, by which those
    of the set are known again."""
    values: ArrayLike
    """`(q,)`. The results."""
    sides: ArrayLike | None = None
    """`(q,)`. 0 where a result is its value, 1 where it is only known to lie above it, -1 where it lies below; None:
    all are values. Classes lie above or below one number, such as 0."""


@dataclass(frozen=True)
class Correlation:
    """How the values of a source go along with the rewards, from -1 to 1, without the noise of results.

    The interval is from -1 to 1 as long as nothing is known.
    """

    value: float
    """The most likely one; 0 before the rewards tell."""
    low: float
    """Lower end of its 95 % interval."""
    high: float
    """Upper end of its 95 % interval."""


@runtime_checkable
class ModelAgent(BatchAgent, Protocol):
    """A batch agent with an exact posterior, which a campaign can ask everything.

    It weighs prices, learns from bounds, noisy results and results of other quantities, draws jointly, and explains its
    predictions. Except for `select_priced` and the methods that learn, its methods draw nothing from the agent's
    generators, and change no later choice.
    """

    def blank(self) -> Agent:
        """Return an agent with equal settings that knows no reward; it need not describe the same graphs again."""

    def select_priced(
        self,
        observation: object,
        count: int,
        prices: ArrayLike,
        action_mask: ArrayLike | None = None,
        pending: Sequence[int] = (),
        fits: Fits | None = None,
    ) -> list[int]:
        """Return `count` different graphs as `select_batch` does, of which each is worth its price.

        Only ratios of prices count. Equal prices change nothing: the graphs are those of `select_batch`.

        Args:
            observation: as in `select_action`.
            count: number of graphs to choose.
            prices: `(K,)`. Price of each graph; it may be NaN where `action_mask` rules the graph out.
            action_mask: `(K,)`, as in `select_action`.
            pending: as in `select_batch`.
            fits: which graphs can join those chosen so far, for batches within a budget, for example; None: all. The
                agent returns fewer graphs if nothing that it considers fits.

        Raises:
            ValueError: if fewer than `count` graphs are on offer, or one of them has no positive, finite price.
        """

    def update_bounds(self, observation: object, action: ArrayLike, value: ArrayLike, above: ArrayLike) -> None:
        """Learn from one bound on a result, or from arrays of many.

        Args:
            observation: as in `Agent.update`.
            action: index of the graph that was played, or `(n,)` integers.
            value: the bound, in reward units, or `(n,)` numbers.
            above: True if the reward lies above the bound, False if it lies below; or `(n,)` of these.

        Raises:
            ValueError: as `Agent.update`, or if a side is neither True nor False; nothing is changed then.
            DivergedError: if the fit turned non-finite, or did not converge.
        """

    def update_noisy(self, observation: object, action: ArrayLike, reward: ArrayLike, noise: ArrayLike) -> None:
        """Learn from one result and its noise, or from arrays of many.

        Args:
            observation: as in `Agent.update`.
            action: index of the graph that was played, or `(n,)` integers.
            reward: the result, or `(n,)` numbers.
            noise: standard deviation of the measuring noise, in reward units: one for all, or `(n,)` numbers.

        Raises:
            ValueError: as `Agent.update`, or if a noise is not a positive number; nothing is changed then.
            DivergedError: if the fit turned non-finite, or did not converge.
        """

    def learn_sources(self, sources: Sequence[SourceResults]) -> None:
        """Learn from results of other quantities, in place of those of the last call, until `reset`.

        How they go along with the rewards is learnt, too: results of a quantity that has nothing to do with the rewards
        count little, and those of one that falls where rewards rise count the other way round.

        Args:
            sources: their results; none: nothing is learnt of others.

        Raises:
            RuntimeError: before the first `reset`.
            ValueError: if two have the same name, a graph is unknown, a SMILES is given and the set that is played is
                not one of molecules, or values are not a finite number for each graph, or all tell the same; nothing
                is changed then.
            DivergedError: if the fit turned non-finite.
        """

    def correlations(self) -> dict[str, Correlation]:
        """Return how each source goes along with the rewards, by its name."""

    def shares(self) -> dict[str, float]:
        """Return the share of each part in the prior variance of the mean rewards, by what it compares; 1 in all."""

    def explain(self, index: Sequence[int]) -> Explanation:
        """Return what the current predictions of n graphs of the last observation are sums of.

        Raises:
            ValueError: if an index is not one of a graph.
        """

    def draw_gains(self, index: Sequence[int], value: float, count: int, seed: int) -> NDArray[np.float64]:
        """Return joint draws of by how much the mean rewards of some graphs exceed a value.

        Args:
            index: n graphs of the last observation.
            value: in reward units.
            count: how many draws.
            seed: seed of the draws.

        Returns:
            `(count, n)` float64, in reward units; 0 where a mean reward does not exceed the value.
        """

    def imagine_bounds(self, index: Sequence[int], pending: Sequence[int] = ()) -> BoundsImaginer:
        """Return a function that imagines results of some graphs one by one, and tells where the others may lie.

        Given nothing, or the place of one more graph in `index`, whose result then counts as measured and equal to its
        mean, it returns mean - nu std and mean + nu std of the mean reward of each graph of `index`, `(n,)` float64
        each, in reward units. It changes no later choice.

        Args:
            index: n graphs of the last observation.
            pending: graphs whose results count as measured from the beginning.
        """

    def draw_rewards(self, index: Sequence[int], count: int, seed: int) -> NDArray[np.float64]:
        """Return joint draws of the mean rewards of some graphs.

        Args:
            index: n graphs of the last observation.
            count: how many draws.
            seed: seed of the draws.

        Returns:
            `(count, n)` float64, in reward units.
        """

    def predict_chosen(self, count: int, offered: int) -> Prediction:
        """Return the prediction of `predict`, corrected for graphs that are chosen; it holds for no others.

        Args:
            count: how many graphs are chosen.
            offered: how many graphs they are chosen from. If they are all chosen, nothing is corrected.

        Raises:
            ValueError: if `count` is not from 1 to `offered`.
        """
