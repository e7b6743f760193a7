"""Choose a batch for several goals by what each graph may turn out to be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from agents.beliefs import order_by_digest
from agents.contract import Agent, ModelAgent
from graph_bandit_campaign.constraints.goals.utility import Floats, meets
from graph_bandit_campaign.model.goals_index import SHORT_LIST, GoalsIndex, choose_short_list
from graph_bandit_campaign.pool.index import PoolIndex
from graph_bandit_campaign.state import CampaignState

ALGORITHM = 2  # to be raised when equal results give another choice; 1 drew by the order of the pool
PRICE_WEIGHT = 0.5  # standard deviations by which what is e times as dear has to be better: as for one goal


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
        self._index = index
        self._state, self._first = state, cast(ModelAgent, agents[0])
        self._values = [
            Values(cast(ModelAgent, agent), goal.sign) for goal, agent in zip(state.goals, agents, strict=True)
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
        index = GoalsIndex.of(self._state)
        if index is None and prices is not None:
            return self._first.select_priced(None, count, prices, mask, pending, fits)
        if index is None:
            return self._first.select_batch(None, count, mask, pending)
        generator = np.random.default_rng([self._state.seed, len(self._state.measured), len(pending)])
        scale, forecasts = index.scale, [self._values[g] for g in index.wanted]
        handicap = _handicap(prices, mask)
        near = self._short_list(index, np.flatnonzero(mask), handicap, max(SHORT_LIST, count))
        settled_of = [{self._index.index_of[key] for key in self._state.of(goal).means()} for goal in scale.goals]
        imagine = [
            values.imagine_bounds(near, [k for k in pending if k not in settled])
            for values, settled in zip(forecasts, settled_of, strict=True)
        ]
        allowed = np.ones((count, len(near)), np.bool_)
        for g, limit in index.limits:
            allowed &= meets(limit, self._values[g].draw(near, count, int(generator.integers(2**31))))
        surest = allowed.mean(axis=0)
        latest: int | None = None
        chosen: list[int] = []
        for way, meeting in zip(scale.ways(count, generator), allowed, strict=True):
            last = [None if latest is None or near[latest] in settled else latest for settled in settled_of]
            worth = scale.worth([bounds(at) for bounds, at in zip(imagine, last, strict=True)], way, handicap[near])
            out = set(chosen)
            if fits is not None:
                out |= set(np.flatnonzero(~fits([near[k] for k in chosen])[near]).tolist())
            if len(out) == len(near):
                break
            gone = [*out]
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
            predicted = [values.predict() for values in self._values]
            forecasts = [(mean[candidates], std[candidates]) for mean, std in predicted]
            kept = choose_short_list(index.worths(forecasts, handicap[candidates]), names, size, seed)
            candidates, names = candidates[kept], [names[k] for k in kept.tolist()]
        return [int(k) for k in candidates[order_by_digest(names, seed)]]


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

    def __init__(self, agent: ModelAgent, sign: float) -> None:
        self._agent, self._sign = agent, sign

    def predict(self) -> tuple[Floats, Floats]:
        """Return the mean and the standard deviation of the value of each graph, `(K,)` each."""
        prediction = self._agent.predict()
        return self._sign * np.asarray(prediction.mean, np.float64), np.asarray(prediction.std, np.float64)

    def draw(self, index: Sequence[int], count: int, seed: int) -> Floats:
        """Return joint draws of the values of n graphs, `(count, n)`; see `ModelAgent.draw_rewards`."""
        return self._sign * self._agent.draw_rewards(index, count, seed)

    def imagine_bounds(
        self, index: Sequence[int], pending: Sequence[int]
    ) -> Callable[[int | None], tuple[Floats, Floats]]:
        """Return a function that imagines results and returns bounds; see `ModelAgent.imagine_bounds`."""
        imagine = self._agent.imagine_bounds(index, pending)

        def bounds(at: int | None) -> tuple[Floats, Floats]:
            low, high = imagine(at)
            return (low, high) if self._sign > 0 else (-high, -low)

        return bounds
