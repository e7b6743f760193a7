"""Weigh graphs for several goals, and choose a batch by what each graph may turn out to be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from agents.beliefs import order_by_digest, short_list
from agents.contract import Agent, ModelAgent, Prediction
from graph_bandit_campaign.constraints.goals.goal import Goal
from graph_bandit_campaign.constraints.goals.utility import Floats, chance_to_meet, meets, utility, utility_moments
from graph_bandit_campaign.pool.index import PoolIndex
from graph_bandit_campaign.state import CampaignState

PRICE_WEIGHT = 0.5  # standard deviations by which what is e times as dear has to be better: as for one goal
SHORT_LIST = 1000  # graphs among which a batch is chosen, with their joint covariance
WAYS = 64  # to weigh the goals, for the short list
TIE = 1e-6  # weight of the sum over the goals, which decides between graphs that are equal for a way to weigh them
DIGITS = 9  # to which worths are rounded: smaller differences are rounding errors


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

    def worth(self, bounds: Sequence[tuple[Floats, Floats]], way: Floats, handicap: Floats) -> Floats:
        """Return the index of n graphs.

        Args:
            bounds: for each goal, lower and upper bounds of the values, `(n,)` each.
            way: `(G,)`. A direction or the weights.
            handicap: `(n,)`. What is taken off each goal, in standard deviations of its results.
        """
        moments = [utility_moments(goal, *ends) for goal, ends in zip(self.goals, bounds, strict=True)]
        means, stds = (np.stack(moment, axis=-1) / self._unit for moment in zip(*moments, strict=True))
        means = means - self._begin / self._unit - handicap[:, None] * (self._deviations / self._unit)
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
    signs: tuple[float, ...]
    """-1 for each goal that is learnt from minus its results, else 1."""
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
        signs = tuple(goal.sign for goal in state.goals)
        return GoalsIndex(scale, tuple(wanted), limits, signs, scale.ways(WAYS, generator), levels)

    def worths(self, predictions: Sequence[Prediction], some: NDArray[np.int64], handicap: Floats) -> list[Floats]:
        """Return what n graphs are worth for each way, `(n,)` each; -inf where they do not take part.

        Args:
            predictions: of the rewards of each goal.
            some: `(n,)`. Which of those that are predicted.
            handicap: `(n,)`. What prices take off, as in `Scale.worth`.
        """
        pairs = zip(self.signs, predictions, strict=True)
        forecasts = [(sign * each.mean[some], each.std[some]) for sign, each in pairs]
        bounds = [(mean - std, mean + std) for mean, std in (forecasts[g] for g in self.wanted)]
        chance = np.ones(len(some))
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


class GoalsChooser:
    """Choose graphs one after the other, each for a way to weigh the goals of its own, by upper confidence bounds.

        argmax_k  min_g u_kg / lambda_g,   lambda uniform on the positive part of the unit sphere
        u_kg = (E utility_g + std utility_g - worst_g) / (best_g - worst_g),   value of k ~ N(mean, nu^2 std^2)

    Every graph of a front is the best for some lambda, and the mean over lambda of the largest index to the power of G
    is in proportion to the hypervolume [Paria et al. 2020, Zhang & Golovin 2020]. The worst and the best are those of
    the results. The result of a graph that is pending or chosen counts as measured, and equal to its mean, so a batch
    spreads [Desautels et al. 2014].

    With weights w, the index is sum_g w_g E u_g, in standard deviations of the results, plus the root of the sum of
    squares of w_g std u_g. For each choice, the values of all graphs are drawn once, and graphs whose draw breaks a
    limit are left out: so a limit counts by its probability. Goals without two different results do not count yet.

    Where prices p are weighed, E utility_g is less by 0.5 log(p_k / min p) standard deviations of the results.

    Args:
        state: state of the campaign.
        agents: for each goal, an agent trained on its results; on minus the results if small values are wanted.
        index: the graphs.
    """

    def __init__(self, state: CampaignState, agents: Sequence[Agent], index: PoolIndex) -> None:
        self._state, self._index = state, index
        self._agents = cast(Sequence[ModelAgent], agents)

    def choose(
        self,
        count: int,
        mask: NDArray[np.bool_],
        pending: Sequence[int] = (),
        prices: Floats | None = None,
        fits: Callable[[Sequence[int]], NDArray[np.bool_]] | None = None,
    ) -> list[int]:
        """Return the indices of graphs, in the order of choice.

        Args:
            count: how many graphs to choose.
            mask: `(K,)` bool. The graphs that can be chosen, at least `count`.
            pending: indices of the graphs under way.
            prices: `(K,)`, positive where `mask` allows a graph; None, or equal ones: they change nothing.
            fits: which graphs can join those chosen so far, `(K,)`; None: all.

        Returns:
            `count` different indices; fewer if no other graph of the short list fits. Where no graph meets the limits
            in a draw, that of a graph that is the surest to.
        """
        index = GoalsIndex.of(self._state)
        if index is None and prices is not None:
            return self._agents[0].select_priced(None, count, prices, mask, pending, fits)
        if index is None:
            return self._agents[0].select_batch(None, count, mask, pending)
        generator = np.random.default_rng([self._state.seed, len(self._state.measured), len(pending)])
        scale, handicap = index.scale, np.zeros(len(mask))  # in standard deviations of the results, 0 for the cheapest
        if prices is not None:
            handicap[mask] = PRICE_WEIGHT * np.log(prices[mask] / prices[mask].min())
        near = self._short_list(index, np.flatnonzero(mask), handicap, max(SHORT_LIST, count))
        settled_of = [{self._index.index_of[key] for key in self._state.of(goal).means()} for goal in scale.goals]
        imagine = [
            self._agents[g].imagine_bounds(near, [k for k in pending if k not in settled])
            for g, settled in zip(index.wanted, settled_of, strict=True)
        ]
        allowed = np.ones((count, len(near)), np.bool_)
        for g, limit in index.limits:
            drawn = self._agents[g].draw_rewards(near, count, int(generator.integers(2**31)))
            allowed &= meets(limit, drawn)
        surest = allowed.mean(axis=0)
        latest: int | None = None
        chosen: list[int] = []
        for way, meeting in zip(scale.ways(count, generator), allowed, strict=True):
            last = [None if latest is None or near[latest] in settled else latest for settled in settled_of]
            ends = [bounds_at(at) for bounds_at, at in zip(imagine, last, strict=True)]
            pairs = zip(scale.goals, ends, strict=True)
            bounds = [(low, high) if goal.sign > 0 else (-high, -low) for goal, (low, high) in pairs]
            worth = scale.worth(bounds, way, handicap[near])
            gone = np.zeros(len(near), np.bool_) if fits is None else ~fits([near[k] for k in chosen])[near]
            gone[chosen] = True
            if gone.all():
                break
            worth[gone], meeting[gone], surest[gone] = -np.inf, False, -1.0
            if not meeting.any():  # where no graph meets the limits in this draw, those do that are the surest to
                meeting = surest == surest.max()
            latest = int(np.argmax(np.where(meeting, worth, -np.inf)))
            chosen.append(latest)
        return [near[k] for k in chosen]

    def _short_list(self, index: GoalsIndex, candidates: NDArray[np.int64], handicap: Floats, size: int) -> list[int]:
        """Return the most promising candidates, in an order that does not go by that of the pool."""
        names, seed = [self._index.names[k] for k in candidates.tolist()], self._state.seed
        if len(candidates) > size:
            worths = index.worths([agent.predict() for agent in self._agents], candidates, handicap[candidates])
            kept = choose_short_list(worths, names, size, seed)
            candidates, names = candidates[kept], [names[k] for k in kept.tolist()]
        return [int(k) for k in candidates[order_by_digest(names, seed)]]
