"""Protocols of optional abilities: pending rewards, play probabilities, and queries of an exact posterior."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agents.contract.protocol import Agent, BatchAgent, Prediction

Fits: TypeAlias = Callable[[Sequence[int]], NDArray[np.bool_]]
"""A function that takes the graphs chosen so far and returns a mask of the graphs that can join them, `(K,)`."""

BoundsFantasizer: TypeAlias = Callable[[int | None], tuple[NDArray[np.float64], NDArray[np.float64]]]
"""A function that takes graphs one by one and returns lower and upper bounds of all mean rewards."""

DRAWS = 10_000
"""Default number of draws to estimate a probability: its standard error is at most 0.005."""


@runtime_checkable
class LateLearner(BatchAgent, Protocol):
    """A batch agent that can take pending rewards into account."""

    def select_awaiting(
        self, observation: object, count: int, awaiting: Sequence[int], action_mask: ArrayLike | None = None
    ) -> list[int]:
        """Return `count` different graphs in the order of choice. Graphs with pending rewards may be among them.

        Without pending rewards, the result equals that of `select_batch`, or of `select_action` for one graph.

        Args:
            observation: as in `select_action`.
            count: number of graphs to choose.
            awaiting: graphs with pending rewards, repeated once per play.
            action_mask: `(K,)`, as in `select_action`.

        Raises:
            ValueError: if fewer than `count` graphs are on offer.
        """


@dataclass(frozen=True, eq=False)
class ActionProbabilities:
    """The probabilities that an agent plays each of K graphs.

    Attributes:
        values: `(K,)` float64. The probabilities, with sum 1 and 0 for masked graphs.
        errors: `(K,)` float64. Standard errors of probabilities estimated from draws, 0 for exact ones.
    """

    values: NDArray[np.float64]
    errors: NDArray[np.float64]


@runtime_checkable
class PlayForecaster(Protocol):
    """An agent that can compute its play probabilities, for example for logged data."""

    def action_probabilities(
        self, observation: object, action_mask: ArrayLike | None = None, draws: int = DRAWS
    ) -> ActionProbabilities:
        """Return the probability that `select_action` returns each graph.

        The call draws nothing from the agent's generators and changes no later choice.

        Args:
            observation: as in `select_action`.
            action_mask: `(K,)`, as in `select_action`.
            draws: number of draws to make if no formula is known.

        Raises:
            ValueError: as in `select_action`, or if `draws` is not an integer of at least 2.
        """


@dataclass(frozen=True, eq=False)
class Explanation:
    """An additive decomposition of an agent's predictions of n graphs.

    The scale is that of the scores to which the model is fitted: 0 is the prediction before any reward, 1 a standard
    deviation. The score of a graph is the sum over the parts of its model, and also the sum over the q graphs with
    rewards.

    Attributes:
        parts: contribution of each part of the model, by the features that it compares, `(n,)` float64 each.
        seen: `(q,)` int64. The graphs with rewards or bounds.
        contributions: `(q, n)` float64. Contributions of their results.
        by_rank: True if scores are normal scores of the ranks of the rewards, False if they are standardised rewards.
        others: the origin of each further row of `contributions`: its source, with the SMILES of the molecule or, for
            another graph, its index as a text.
    """

    parts: dict[str, NDArray[np.float64]]
    seen: NDArray[np.int64]
    contributions: NDArray[np.float64]
    by_rank: bool
    others: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, eq=False)
class SourceResults:
    """Results of another quantity that may be informative about the rewards."""

    name: str
    """Name of the source."""
    graphs: Sequence[int | str]
    """The q graphs of the results: indices in the set that is played, or canonical SMILES, which are matched with the
    molecules of the set."""
    values: ArrayLike
    """`(q,)`. The results."""
    sides: ArrayLike | None = None
    """`(q,)`. 0 for an exact value, 1 for a result above it, -1 for a result below it. None: all are exact. Classes are
    results above or below one number, such as 0."""


@dataclass(frozen=True)
class Correlation:
    """Correlation of a source with the rewards, from -1 to 1, without the noise of results.

    Without information, the interval is from -1 to 1.
    """

    value: float
    """The most likely value, or 0 before any informative rewards."""
    low: float
    """Lower end of its 95 % interval."""
    high: float
    """Upper end of its 95 % interval."""


@runtime_checkable
class ModelAgent(BatchAgent, Protocol):
    """A batch agent with an exact posterior, which supports all functions of a campaign.

    It weighs prices, learns from bounds, noisy results and results of other quantities, draws jointly, and explains its
    predictions. Except for `select_priced` and the methods that learn, its methods draw nothing from the agent's
    generators and change no later choice.
    """

    def blank(self) -> Agent:
        """Return an agent with equal settings and without rewards, which need not describe the same graphs again."""

    def select_priced(
        self,
        observation: object,
        count: int,
        prices: ArrayLike,
        action_mask: ArrayLike | None = None,
        pending: Sequence[int] = (),
        fits: Fits | None = None,
    ) -> list[int]:
        """Return `count` different graphs, taking prices into account.

        Only ratios of prices matter. With equal prices, the graphs are those of `select_batch`.

        Args:
            observation: as in `select_action`.
            count: number of graphs to choose.
            prices: `(K,)`. Price of each graph, which may be NaN for graphs outside `action_mask`.
            action_mask: `(K,)`, as in `select_action`.
            pending: as in `select_batch`.
            fits: mask of the graphs that can join those chosen so far, for example within a budget. None: all. The
                agent returns fewer graphs if no other candidate fits.

        Raises:
            ValueError: if fewer than `count` graphs are on offer, or one of them has no positive, finite price.
        """

    def update_bounds(self, observation: object, action: ArrayLike, value: ArrayLike, above: ArrayLike) -> None:
        """Learn from one bound on a result, or from arrays of many.

        Args:
            observation: as in `Agent.update`.
            action: index of the graph that was played, or `(n,)` integers.
            value: the bound, in reward units, or `(n,)` numbers.
            above: True if the reward lies above the bound, False if it lies below, or `(n,)` of these.

        Raises:
            ValueError: as in `Agent.update`, or if a side is neither True nor False. The agent is then unchanged.
            DivergedError: if the fit became non-finite, or did not converge.
        """

    def update_noisy(self, observation: object, action: ArrayLike, reward: ArrayLike, noise: ArrayLike) -> None:
        """Learn from one result and its noise, or from arrays of many.

        Args:
            observation: as in `Agent.update`.
            action: index of the graph that was played, or `(n,)` integers.
            reward: the result, or `(n,)` numbers.
            noise: standard deviation of the measurement noise, in reward units: one for all, or `(n,)` numbers.

        Raises:
            ValueError: as in `Agent.update`, or if a noise is not a positive number. The agent is then unchanged.
            DivergedError: if the fit became non-finite, or did not converge.
        """

    def learn_sources(self, sources: Sequence[SourceResults]) -> None:
        """Learn from results of other quantities, replacing those of the last call, until `reset`.

        The correlation with the rewards is learned as well. Unrelated quantities have little influence, and a negative
        correlation reverses the influence.

        Args:
            sources: their results, or none to remove all sources.

        Raises:
            RuntimeError: before the first `reset`.
            ValueError: if two have the same name, a graph is unknown, a SMILES is given for a set without molecules,
                values are not a finite number for each graph, or all results are equal. The agent is then unchanged.
            DivergedError: if the fit became non-finite.
        """

    def correlations(self) -> dict[str, Correlation]:
        """Return the correlation of each source with the rewards, by its name."""

    def shares(self) -> dict[str, float]:
        """Return the share of each part in the prior variance of the mean rewards, by name. The sum is 1."""

    def explain(self, index: Sequence[int]) -> Explanation:
        """Decompose the current predictions of n graphs of the last observation.

        Raises:
            ValueError: if an index is out of range.
        """

    def draw_gains(self, index: Sequence[int], value: float, count: int, seed: int) -> NDArray[np.float64]:
        """Return joint draws of the amounts by which the mean rewards of some graphs exceed a value.

        Args:
            index: n graphs of the last observation.
            value: in reward units.
            count: number of draws.
            seed: seed of the draws.

        Returns:
            `(count, n)` float64, in reward units, or 0 if a mean reward does not exceed the value.
        """

    def fantasize_bounds(self, index: Sequence[int], pending: Sequence[int] = ()) -> BoundsFantasizer:
        """Return a function that fantasizes results of some graphs one by one and bounds the others.

        The function takes no argument, or the position in `index` of one more graph, whose result is then fantasized as
        its mean. It returns mean - nu std and mean + nu std of the mean reward of each graph of `index`, `(n,)` float64
        each, in reward units. It changes no later choice.

        Args:
            index: n graphs of the last observation.
            pending: graphs whose results are fantasized from the start.
        """

    def draw_rewards(self, index: Sequence[int], count: int, seed: int) -> NDArray[np.float64]:
        """Return joint draws of the mean rewards of some graphs.

        Args:
            index: n graphs of the last observation.
            count: number of draws.
            seed: seed of the draws.

        Returns:
            `(count, n)` float64, in reward units.
        """

    def predict_chosen(self, count: int, offered: int) -> Prediction:
        """Return the prediction of `predict`, corrected for and only valid for selected graphs.

        Args:
            count: number of graphs chosen.
            offered: number of graphs to choose from. If all are chosen, no correction is made.

        Raises:
            ValueError: if `count` is not from 1 to `offered`.
        """
