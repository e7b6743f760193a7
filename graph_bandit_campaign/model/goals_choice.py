"""Weigh graphs for several goals, and choose a batch by upper confidence bounds."""

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

PRICE_WEIGHT = 0.5  # standard deviations of advantage required for a price e times as high, as for one goal
SHORT_LIST = 1000  # candidates of a batch, with their joint covariance
WAYS = 64  # number of weightings of the goals for the short list
TIE = 1e-6  # weight of the sum over the goals, which breaks ties between graphs that are equal for a weighting
DIGITS = 9  # to which worths are rounded, since smaller differences are rounding errors


class Scale:
    """The scales on which values of several goals are weighed against each other.

    Args:
        goals: G goals that are not limits.
        values: the results of each goal, at least two different ones.
    """

    def __init__(self, goals: Sequence[Goal], values: Sequence[Floats]) -> None:
        self.goals = list(goals)
        utilities = [utility(goal, results) for goal, results in zip(goals, values, strict=True)]
        self._weights = np.array([goal.weight or 0.0 for goal in goals])
        self._deviations = np.array([results.std() for results in values])
        if self._weights.any():
            spread = [(scores.mean(), scores.std()) for scores in utilities]
        else:
            worst = [  # if all results are in the range of a target, their utilities give no scale
                min(scores.min(), scores.max() - results.std()) if goal.aim == "target" else scores.min()
                for goal, scores, results in zip(goals, utilities, values, strict=True)
            ]
            spread = [(low, scores.max() - low) for low, scores in zip(worst, utilities, strict=True)]
        self._begin, self._unit = np.array([(begin, unit or 1.0) for begin, unit in spread]).T

    def ways(self, count: int, generator: np.random.Generator) -> Floats:
        """Return directions, or repeated weights: `(count, G)`."""
        if self._weights.any():
            return np.tile(self._weights, (count, 1))
        normal = np.abs(generator.standard_normal((count, len(self.goals))))
        return np.asarray(normal / np.linalg.norm(normal, axis=1, keepdims=True), np.float64)

    def worth(self, bounds: Sequence[tuple[Floats, Floats]], way: Floats, handicap: Floats) -> Floats:
        """Return the index of n graphs.

        Args:
            bounds: for each goal, lower and upper bounds of the values, `(n,)` each.
            way: `(G,)`. A direction or the weights.
            handicap: `(n,)`. Amount subtracted from each goal, in standard deviations of its results.
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
    """The worth of each graph for each of many weightings of the goals, given only its own predictions.

    A graph takes part in the weightings whose level is below its probability of meeting all limits. Thus a limit counts
    by its probability, and the worth of a graph does not depend on other graphs.
    """

    scale: Scale
    """Scales on which the goals are weighed against each other."""
    wanted: tuple[int, ...]
    """Positions of the optimized goals among all goals."""
    limits: tuple[tuple[int, Goal], ...]
    """Limits with results, each with its position among all goals."""
    signs: tuple[float, ...]
    """-1 for each goal whose agent is trained on negative results, otherwise 1."""
    ways: Floats
    """`(WAYS, G)`. Directions, or the weights."""
    levels: Floats
    """`(WAYS,)`. Probabilities, evenly spaced and in random order."""

    @staticmethod
    def of(state: CampaignState) -> GoalsIndex | None:
        """Return the index for the results of a campaign, or None while no goal has two different results."""
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
        """Return the worth of n graphs for each weighting, `(n,)` each, or -inf if they do not take part.

        Args:
            predictions: predicted rewards of each goal.
            some: `(n,)`. Indices of the n graphs among the predicted ones.
            handicap: `(n,)`. Amount subtracted for prices, as in `Scale.worth`.
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
    """Return the positions of the graphs that are among the best for one of many weightings of the goals.

    Args:
        worths: worth of n graphs for each weighting.
        names: n different names, which break ties between ranks.
        size: number of graphs to return.
        seed: seed of the tie-breaking.
    """
    ranks = np.full(len(names), np.inf)
    for worth in worths:
        rounded = np.round(worth, DIGITS)
        ranks = np.minimum(ranks, len(names) - np.searchsorted(np.sort(rounded), rounded, side="right"))
    return short_list(-ranks, names, size, seed)


class GoalsChooser:
    """Choose graphs one by one, each for a different weighting of the goals, by upper confidence bounds.

        argmax_k  min_g u_kg / lambda_g,   lambda uniform on the positive part of the unit sphere
        u_kg = (E utility_g + std utility_g - worst_g) / (best_g - worst_g),   value of k ~ N(mean, nu^2 std^2)

    Every graph of a front is the best for some lambda, and the mean over lambda of the largest index to the power of G
    is proportional to the hypervolume [Paria et al. 2020, Zhang & Golovin 2020]. The worst and the best are those of
    the results. The result of a pending or chosen graph counts as measured and equal to its mean, which makes a batch
    diverse [Desautels et al. 2014].

    With weights w, the index is sum_g w_g E u_g, in standard deviations of the results, plus the root of the sum of
    squares of w_g std u_g. For each choice, the values of all graphs are drawn once, and graphs whose draw breaks a
    limit are left out. Thus a limit counts by its probability. Goals without two different results do not count yet.

    If prices p are weighed, E utility_g is reduced by 0.5 log(p_k / min p) standard deviations of the results.

    Args:
        state: state of the campaign.
        agents: for each goal, an agent trained on its results, or on their negatives if small values are good.
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
            count: number of graphs to choose.
            mask: `(K,)` bool. The graphs that can be chosen, at least `count` of them.
            pending: indices of the pending graphs.
            prices: `(K,)`, positive if `mask` allows a graph, or None. Equal prices have no effect.
            fits: returns a mask of the graphs that can join the chosen ones, `(K,)`. None means all.

        Returns:
            `count` different indices, or fewer if no other graph of the short list fits. If no graph meets the limits
            in a draw, a graph with the highest probability of meeting them is chosen.
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
        fantasize = [
            self._agents[g].fantasize_bounds(near, [k for k in pending if k not in settled])
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
            ends = [bounds_at(at) for bounds_at, at in zip(fantasize, last, strict=True)]
            pairs = zip(scale.goals, ends, strict=True)
            bounds = [(low, high) if goal.sign > 0 else (-high, -low) for goal, (low, high) in pairs]
            worth = scale.worth(bounds, way, handicap[near])
            gone = np.zeros(len(near), np.bool_) if fits is None else ~fits([near[k] for k in chosen])[near]
            gone[chosen] = True
            if gone.all():
                break
            worth[gone], meeting[gone], surest[gone] = -np.inf, False, -1.0
            if not meeting.any():  # if no graph meets the limits in this draw, use the graphs most likely to meet them
                meeting = surest == surest.max()
            latest = int(np.argmax(np.where(meeting, worth, -np.inf)))
            chosen.append(latest)
        return [near[k] for k in chosen]

    def _short_list(self, index: GoalsIndex, candidates: NDArray[np.int64], handicap: Floats, size: int) -> list[int]:
        """Return the most promising candidates, in an order that does not depend on the pool."""
        names, seed = [self._index.names[k] for k in candidates.tolist()], self._state.seed
        if len(candidates) > size:
            worths = index.worths([agent.predict() for agent in self._agents], candidates, handicap[candidates])
            kept = choose_short_list(worths, names, size, seed)
            candidates, names = candidates[kept], [names[k] for k in kept.tolist()]
        return [int(k) for k in candidates[order_by_digest(names, seed)]]
