"""Choose a batch for several goals by joint draws of what is not known yet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from agents.contract import Agent, GainForecaster
from graph_bandit_campaign.goals.goal import Floats, Goal
from graph_bandit_campaign.state import CampaignState

SHORT_LIST = 1000  # graphs whose values are drawn jointly; the cost grows as their cube
TRIALS = 64  # draws by which the short list is made, of each graph for itself


class GoalsChooser:
    """Choose graphs one after the other, each by a joint draw and a way to weigh the goals of its own.

        argmax_k  s(u_k, lambda),   u_kg = (utility_g(value drawn of k) - worst_g) / (best_g - worst_g)
        s(u, lambda) = min_g u_g / lambda_g,   lambda uniform on the positive part of the unit sphere

    Every graph of a front is the best for some lambda, and the mean of max_k max(0, s)^G over lambda is in proportion
    to the hypervolume [Paria et al. 2020, Zhang & Golovin 2020]. With weights, s(u, w) = sum_g w_g u_g instead, in
    standard deviations of the results. Graphs whose draw breaks a limit are left out. The worst, the best and the
    deviations are those of the results; goals without two different results do not count yet.

    The draws are of a short list, made by draws of each graph for itself. Those of a batch are independent of each
    other, so a batch spreads without regard to what is pending [Kandasamy et al. 2018].

    Args:
        state: state of the campaign.
        agents: for each goal, an agent trained on its results.
    """

    def __init__(self, state: CampaignState, agents: Sequence[Agent]) -> None:
        self._state, self._agents = state, agents

    def choose(self, count: int, mask: NDArray[np.bool_], pending: Sequence[int] = ()) -> list[int]:
        """Return the indices of graphs, in the order of choice.

        Args:
            count: how many graphs to choose.
            mask: `(K,)`. The graphs that can be chosen, at least `count`.
            pending: indices of the graphs under way.
        """
        state, agents = self._state, self._agents
        values = [np.array(list(view.means().values())) for view in state.each()]
        told = [g for g, known in enumerate(values) if len(set(known.tolist())) > 1]
        goals, trained = [state.goals[g] for g in told], [cast(GainForecaster, agents[g]) for g in told]
        if all(goal.aim == "limit" for goal in goals):
            return cast(GainForecaster, agents[0]).select_batch(None, count, mask, pending)
        scale = Scale(goals, [values[g] for g in told])
        generator = np.random.default_rng([state.seed, len(state.measured), len(pending)])
        near = _short_list(goals, trained, scale, np.flatnonzero(mask), max(SHORT_LIST, count), generator)
        seeds = generator.integers(2**31, size=len(goals)).tolist()
        drawn = [agent.draw_rewards(near.tolist(), count, seed) for agent, seed in zip(trained, seeds, strict=True)]
        worth, allowed = scale.worth(drawn, scale.ways(count, generator)), meet_limits(goals, drawn)
        surest = np.lexsort((worth.mean(axis=0), allowed.mean(axis=0)))  # at the end: where no graph meets the limits
        chosen: list[int] = []
        for drawn_worth, is_allowed in zip(worth, allowed, strict=True):
            is_allowed[chosen] = False
            left = [int(place) for place in surest[-len(chosen) - 1 :] if place not in chosen]
            chosen.append(int(np.argmax(np.where(is_allowed, drawn_worth, -np.inf))) if is_allowed.any() else left[-1])
        return [int(near[place]) for place in chosen]


def meet_limits(goals: Sequence[Goal], drawn: Sequence[Floats]) -> NDArray[np.bool_]:
    """Return in which draws all limits are met; the shape is that of one goal's draws."""
    allowed: NDArray[np.bool_] = np.ones(drawn[0].shape, np.bool_)
    for goal, values in zip(goals, drawn, strict=True):
        allowed &= goal.meets(values)
    return allowed


def _short_list(
    goals: Sequence[Goal],
    agents: Sequence[GainForecaster],
    scale: Scale,
    candidates: NDArray[np.int64],
    size: int,
    generator: np.random.Generator,
) -> NDArray[np.int64]:
    """Return the graphs that are often among the best of a draw, in the order of the set."""
    if len(candidates) <= size:
        return candidates
    expected = [agent.predict() for agent in agents]
    rank = np.full(len(candidates), np.inf)
    for way in scale.ways(TRIALS, generator):
        drawn = [
            each.mean[candidates] + each.std[candidates] * generator.standard_normal(len(candidates))
            for each in expected
        ]
        worth = np.where(meet_limits(goals, drawn), scale.worth(drawn, way), -np.inf)
        order = np.argsort(-worth, kind="stable")
        rank[order] = np.minimum(rank[order], np.arange(len(candidates)))
    return np.sort(candidates[np.argsort(rank, kind="stable")[:size]])


class Scale:
    """How values of several goals are weighed against each other.

    Args:
        goals: the goals; limits do not count.
        values: the results of each, at least two different ones.
    """

    def __init__(self, goals: Sequence[Goal], values: Sequence[Floats]) -> None:
        self._goals = [(place, goal) for place, goal in enumerate(goals) if goal.aim != "limit"]
        utilities = [goal.utility(values[place]) for place, goal in self._goals]
        self._weights = np.array([goal.weight or 0.0 for _, goal in self._goals])
        if self._weights.any():
            spread = [(each.mean(), each.std()) for each in utilities]
        else:
            spread = [(each.min(), each.max() - each.min()) for each in utilities]
        self._begin, self._unit = np.array([(begin, unit or 1.0) for begin, unit in spread]).T

    def ways(self, count: int, generator: np.random.Generator) -> Floats:
        """Return directions, or the weights again and again: `(count, G)`."""
        if self._weights.any():
            return np.tile(self._weights, (count, 1))
        normal = np.abs(generator.standard_normal((count, len(self._goals))))
        return np.asarray(normal / np.linalg.norm(normal, axis=1, keepdims=True), np.float64)

    def worth(self, drawn: Sequence[Floats], ways: Floats) -> Floats:
        """Return s of draws.

        Args:
            drawn: values `(..., n)` for each goal.
            ways: `(..., G)`. Directions or weights.
        """
        utilities = np.stack([goal.utility(drawn[place]) for place, goal in self._goals], axis=-1)
        shares, along = (utilities - self._begin) / self._unit, ways[..., None, :]
        worth = (shares * along).sum(axis=-1) if self._weights.any() else (shares / along).min(axis=-1)
        return np.asarray(worth, np.float64)
