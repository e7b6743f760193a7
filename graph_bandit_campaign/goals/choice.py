"""Choose a batch for several goals by what each graph may turn out to be."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from agents.contract import Agent, GainForecaster, PriceMinder
from graph_bandit_campaign.goals.goal import Goal
from graph_bandit_campaign.goals.utility import Floats, meets, utility, utility_moments
from graph_bandit_campaign.state import CampaignState

ALGORITHM = 1  # to be raised when equal results give another choice
SHORT_LIST = 1000  # graphs among which a batch is chosen, with their joint covariance
WAYS = 64  # to weigh the goals, for the short list
PRICE_WEIGHT = 0.5  # standard deviations by which what is e times as dear has to be better: as for one goal
TIE = 1e-6  # weight of the sum over the goals, which decides between graphs that are equal for a way to weigh them


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
        index_of: index of each graph, by its id.
    """

    def __init__(self, state: CampaignState, agents: Sequence[Agent], index_of: Mapping[str, int]) -> None:
        self._index_of = index_of
        self._state, self._first = state, cast(GainForecaster, agents[0])
        self._values = [
            Values(cast(GainForecaster, agent), goal.sign) for goal, agent in zip(state.goals, agents, strict=True)
        ]

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
        values = [np.array(list(view.means().values())) for view in self._state.each()]
        told = [g for g, known in enumerate(values) if len(set(known.tolist())) > 1]
        wanted = [g for g in told if self._state.goals[g].aim != "limit"]
        if not wanted and prices is not None and isinstance(self._first, PriceMinder):
            return self._first.select_priced(None, count, prices, mask, pending, fits)
        if not wanted:
            return self._first.select_batch(None, count, mask, pending)
        generator = np.random.default_rng([self._state.seed, len(self._state.measured), len(pending)])
        scale = Scale([self._state.goals[g] for g in wanted], [values[g] for g in wanted])
        forecasts = [self._values[g] for g in wanted]
        limits = [(self._state.goals[g], self._values[g]) for g in told if g not in wanted]
        candidates = generator.permutation(np.flatnonzero(mask))  # so that ties do not go by the order of the pool
        handicap = _handicap(prices, mask)
        near = _short_list(scale, forecasts, limits, candidates, handicap, max(SHORT_LIST, count), generator).tolist()
        known = [{self._index_of[key] for key in self._state.of(goal).means()} for goal in scale.goals]
        imagine = [
            each.imagine_bounds(near, [k for k in pending if k not in settled])
            for each, settled in zip(forecasts, known, strict=True)
        ]
        allowed = np.ones((count, len(near)), np.bool_)
        for limit, each in limits:
            allowed &= meets(limit, each.draw(near, count, int(generator.integers(2**31))))
        surest = allowed.mean(axis=0)
        latest: int | None = None
        chosen: list[int] = []
        for way, here in zip(scale.ways(count, generator), allowed, strict=True):
            last = [None if latest is None or near[latest] in settled else latest for settled in known]
            worth = scale.worth([bounds(at) for bounds, at in zip(imagine, last, strict=True)], way, handicap[near])
            out = set(chosen)
            if fits is not None:
                out |= set(np.flatnonzero(~fits([near[place] for place in chosen])[near]).tolist())
            if len(out) == len(near):
                break
            gone = [*out]
            worth[gone], here[gone], surest[gone] = -np.inf, False, -1.0
            if not here.any():  # where no graph meets the limits in this draw, those do that are the surest to
                here = surest == surest.max()
            latest = int(np.argmax(np.where(here, worth, -np.inf)))
            chosen.append(latest)
        return [near[place] for place in chosen]


def _handicap(prices: Floats | None, mask: NDArray[np.bool_]) -> Floats:
    """Return what prices take off each graph, `(K,)`, in standard deviations of the results; 0 for the cheapest."""
    handicap = np.zeros(len(mask))
    if prices is not None:
        handicap[mask] = PRICE_WEIGHT * np.log(prices[mask] / prices[mask].min())
    return handicap


class Values:
    """What an agent expects of the values of a goal.

    Args:
        agent: trained on rewards, which are the values times the sign.
        sign: -1 or 1.
    """

    def __init__(self, agent: GainForecaster, sign: float) -> None:
        self._agent, self._sign = agent, sign

    def predict(self) -> tuple[Floats, Floats]:
        """Return the mean and the standard deviation of the value of each graph, `(K,)` each."""
        prediction = self._agent.predict()
        return self._sign * np.asarray(prediction.mean, np.float64), np.asarray(prediction.std, np.float64)

    def draw(self, index: Sequence[int], count: int, seed: int) -> Floats:
        """Return joint draws of the values of n graphs, `(count, n)`; see `GainForecaster.draw_rewards`."""
        return self._sign * self._agent.draw_rewards(index, count, seed)

    def imagine_bounds(
        self, index: Sequence[int], pending: Sequence[int]
    ) -> Callable[[int | None], tuple[Floats, Floats]]:
        """Return a function that imagines results and returns bounds; see `GainForecaster.imagine_bounds`."""
        imagine = self._agent.imagine_bounds(index, pending)

        def bounds(place: int | None) -> tuple[Floats, Floats]:
            low, high = imagine(place)
            return (low, high) if self._sign > 0 else (-high, -low)

        return bounds


def _short_list(
    scale: Scale,
    values: Sequence[Values],
    limits: Sequence[tuple[Goal, Values]],
    candidates: NDArray[np.int64],
    handicap: Floats,
    size: int,
    generator: np.random.Generator,
) -> NDArray[np.int64]:
    """Return the graphs that are among the best for one of many ways to weigh the goals, in their order."""
    if len(candidates) <= size:
        return candidates
    bounds = [((mean - std)[candidates], (mean + std)[candidates]) for mean, std in (each.predict() for each in values)]
    forecasts = [(limit, *each.predict()) for limit, each in limits]
    rank = np.full(len(candidates), np.inf)
    for way in scale.ways(WAYS, generator):
        worth = scale.worth(bounds, way, handicap[candidates])
        for limit, mean, std in forecasts:
            normal = generator.standard_normal(len(candidates))
            likely = meets(limit, mean[candidates] + std[candidates] * normal)
            worth = np.where(likely, worth, -np.inf)
        order = np.argsort(-worth, kind="stable")
        rank[order] = np.minimum(rank[order], np.arange(len(candidates)))
    return candidates[np.sort(np.argsort(rank, kind="stable")[:size])]


class Scale:
    """How values of several goals are weighed against each other.

    Args:
        goals: G goals that are not limits.
        values: the results of each, at least two different ones.
    """

    def __init__(self, goals: Sequence[Goal], values: Sequence[Floats]) -> None:
        self.goals = list(goals)
        utilities = [utility(goal, known) for goal, known in zip(goals, values, strict=True)]
        self._weights = np.array([goal.weight or 0.0 for goal in goals])
        self._deviations = np.array([known.std() for known in values])
        if self._weights.any():
            spread = [(each.mean(), each.std()) for each in utilities]
        else:
            worst = [  # results that are all in the range of a target tell no scale
                min(each.min(), each.max() - known.std()) if goal.aim == "target" else each.min()
                for goal, each, known in zip(goals, utilities, values, strict=True)
            ]
            spread = [(low, each.max() - low) for low, each in zip(worst, utilities, strict=True)]
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
        means, stds = (np.stack(each, axis=-1) / self._unit for each in zip(*moments, strict=True))
        means = means - self._begin / self._unit
        if handicap is not None:
            means = means - handicap[:, None] * (self._deviations / self._unit)
        if self._weights.any():
            return np.asarray((means * way).sum(axis=-1) + np.sqrt(((stds * way) ** 2).sum(axis=-1)), np.float64)
        hoped = means + stds
        return np.asarray((hoped / way).min(axis=-1) + TIE * hoped.sum(axis=-1), np.float64)
