"""Weigh graphs for several goals, and choose the short list among which a batch is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from agents.beliefs import short_list
from graph_bandit_campaign.constraints.goals.goal import Goal
from graph_bandit_campaign.constraints.goals.utility import LEAST_STD, Floats, utility, utility_moments
from graph_bandit_campaign.state import CampaignState

SHORT_LIST = 1000  # graphs among which a batch is chosen, with their joint covariance
WAYS = 64  # to weigh the goals, for the short list
TIE = 1e-6  # weight of the sum over the goals, which decides between graphs that are equal for a way to weigh them
DIGITS = 9  # to which worths are rounded: smaller differences are rounding errors

Moments = tuple[Floats, Floats]
"""Mean and standard deviation of the value of each graph, `(n,)` each."""


class Scale:
    """How values of several goals are weighed against each other.

    Args:
        goals: G goals that are not limits.
        values: the results of each, at least two different ones.
    """

    def __init__(self, goals: Sequence[Goal], values: Sequence[Floats]) -> None:
        self.goals = list(goals)
        utilities = [utility(goal, results) for goal, results in zip(goals, values, strict=True)]
        self._weights = np.array([goal.weight or 0.0 for goal in goals])
        self._deviations = np.array([results.std() for results in values])
        if self._weights.any():
            spread = [(scores.mean(), scores.std()) for scores in utilities]
        else:
            worst = [  # results that are all in the range of a target tell no scale
                min(scores.min(), scores.max() - results.std()) if goal.aim == "target" else scores.min()
                for goal, scores, results in zip(goals, utilities, values, strict=True)
            ]
            spread = [(low, scores.max() - low) for low, scores in zip(worst, utilities, strict=True)]
        self._begin, self._unit = np.array([(begin, unit or 1.0) for begin, unit in spread]).T

    def ways(self, count: int, generator: np.random.Generator) -> Floats:
        """Return directions, or the weights again and again: `(count, G)`."""
        if self._weights.any():
            return np.tile(self._weights, (count, 1))
        normal = np.abs(generator.standard_normal((count, len(self.goals))))
        return np.asarray(normal / np.linalg.norm(normal, axis=1, keepdims=True), np.float64)

    def worth(self, bounds: Sequence[tuple[Floats, Floats]], way: Floats, handicap: Floats | None = None) -> Floats:
        """Return the index of n graphs.

        Args:
            bounds: for each goal, lower and upper bounds of the values, `(n,)` each.
            way: `(G,)`. A direction or the weights.
            handicap: `(n,)`. What is taken off each goal, in standard deviations of its results; None: nothing.
        """
        moments = [utility_moments(goal, *ends) for goal, ends in zip(self.goals, bounds, strict=True)]
        means, stds = (np.stack(moment, axis=-1) / self._unit for moment in zip(*moments, strict=True))
        means = means - self._begin / self._unit
        if handicap is not None:
            means = means - handicap[:, None] * (self._deviations / self._unit)
        if self._weights.any():
            return np.asarray((means * way).sum(axis=-1) + np.sqrt(((stds * way) ** 2).sum(axis=-1)), np.float64)
        hoped = means + stds
        return np.asarray((hoped / way).min(axis=-1) + TIE * hoped.sum(axis=-1), np.float64)


@dataclass(frozen=True, eq=False)
class GoalsIndex:
    """What each graph is worth for each of many ways to weigh the goals, given its forecasts alone.

    A graph takes part in the ways whose level is below its probability to meet all limits: so a limit counts by its
    probability, and what a graph is worth does not depend on the others.
    """

    scale: Scale
    """How the goals are weighed against each other."""
    wanted: tuple[int, ...]
    """Places of the goals that are pursued, among all goals."""
    limits: tuple[tuple[int, Goal], ...]
    """The limits that have results, each with its place among all goals."""
    ways: Floats
    """`(WAYS, G)`. Directions, or the weights."""
    levels: Floats
    """`(WAYS,)`. Probabilities, evenly spaced and in random order."""

    @staticmethod
    def of(state: CampaignState) -> GoalsIndex | None:
        """Return the index by the results of a campaign; None while no goal has two different ones."""
        values = [np.array(list(view.means().values())) for view in state.views()]
        differing = [g for g, results in enumerate(values) if len(set(results.tolist())) > 1]
        wanted = [g for g in differing if state.goals[g].aim != "limit"]
        if not wanted:
            return None
        generator = np.random.default_rng([state.seed, len(state.measured), WAYS, 1])
        scale = Scale([state.goals[g] for g in wanted], [values[g] for g in wanted])
        limits = tuple((g, state.goals[g]) for g in differing if g not in wanted)
        levels = generator.permutation((np.arange(WAYS) + 0.5) / WAYS)
        return GoalsIndex(scale, tuple(wanted), limits, scale.ways(WAYS, generator), levels)

    def worths(self, forecasts: Sequence[Moments], handicap: Floats | None = None) -> list[Floats]:
        """Return what n graphs are worth for each way, `(n,)` each; -inf where they do not take part.

        Args:
            forecasts: of all goals.
            handicap: `(n,)`. What prices take off, as in `Scale.worth`; None: nothing.
        """
        bounds = [(mean - std, mean + std) for mean, std in (forecasts[g] for g in self.wanted)]
        chance = np.ones(len(forecasts[0][0]))
        for g, limit in self.limits:
            chance *= chance_to_meet(limit, *forecasts[g])
        ways = zip(self.ways, self.levels, strict=True)
        return [np.where(chance > level, self.scale.worth(bounds, way, handicap), -np.inf) for way, level in ways]


def choose_short_list(worths: Sequence[Floats], names: Sequence[str], size: int, seed: int) -> NDArray[np.int64]:
    """Return the places of the graphs that are among the best for one of many ways to weigh the goals.

    Args:
        worths: what n graphs are worth for each way.
        names: n different names, which choose among equal ranks.
        size: how many are wanted.
        seed: seed of that choice.
    """
    ranks = np.full(len(names), np.inf)
    for worth in worths:
        rounded = np.round(worth, DIGITS)
        ranks = np.minimum(ranks, len(names) - np.searchsorted(np.sort(rounded), rounded, side="right"))
    return short_list(-ranks, names, size, seed)


def chance_to_meet(limit: Goal, mean: Floats, std: Floats) -> Floats:
    """Return the probability that normal values meet a limit, `(n,)`."""
    spread = np.maximum(std, LEAST_STD)
    below = np.ones_like(mean) if limit.high is None else ndtr((limit.high - mean) / spread)
    above = np.zeros_like(mean) if limit.low is None else ndtr((limit.low - mean) / spread)
    return np.asarray(below - above, np.float64)
