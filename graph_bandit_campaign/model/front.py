"""Compute the front of several goals: the graphs that no other graph dominates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from agents.contract import Agent, BatchAgent, ModelAgent, Prediction
from graph_bandit_campaign.constraints.goals.goal import Goal
from graph_bandit_campaign.constraints.goals.utility import chance_to_meet, meets, utility
from graph_bandit_campaign.model.learner import read_prediction
from graph_bandit_campaign.state import CampaignState, Suggestion

DRAWS = 500  # of results, for the probability of being on the front
ENTRIES = 2_000_000  # of the largest array, draws x graphs x goals


def certain_utilities(state: CampaignState, goal: Goal) -> dict[str, float]:
    """Return the certain utility of each graph, by id, or minus infinity if it breaks a limit, or may break it.

    A bound counts as its number if all other possible values are at least as good. Otherwise it is left out.

    Args:
        state: state of the campaign.
        goal: one of its goals.
    """
    view = state.of(goal)
    values = view.means(exact=True)
    for result in view.counted():
        if result.bound and result.bound == goal.better:
            better = max if goal.better == "above" else min
            values[result.id] = better(values.get(result.id, result.value), result.value)
    numbers = np.array(list(values.values()))
    utilities = np.where(meets(goal, numbers), utility(goal, numbers), -np.inf)
    return dict(zip(values, utilities.tolist(), strict=True))


def measured_utilities(state: CampaignState) -> dict[str, tuple[float, ...]]:
    """Return the utilities of the graphs that have a result for every goal, by id, in the order of the goals."""
    every = [certain_utilities(state, goal) for goal in state.goals]
    return {key: tuple(values[key] for values in every) for key in every[0] if all(key in values for values in every)}


def find_front(state: CampaignState) -> tuple[str, ...]:
    """Return the ids of the graphs that meet all limits and are not dominated by a measured graph.

    They are in the order of the first goal, best first. A dominating graph is as good in each goal and better in one.
    """
    measured = {key: utilities for key, utilities in measured_utilities(state).items() if min(utilities) > -np.inf}
    points = np.array(list(measured.values())).reshape(len(measured), len(state.goals))
    as_good = (points[:, None] >= points).all(axis=2)  # row i: graphs that graph i matches or beats
    beaten = np.any(as_good & ~as_good.T, axis=0).tolist()
    front = [(utilities, key) for (key, utilities), lost in zip(measured.items(), beaten, strict=True) if not lost]
    return tuple(key for _, key in sorted(front, key=lambda pair: pair[0], reverse=True))


def join_forecasts(state: CampaignState, forecasts: Sequence[tuple[Suggestion, ...]]) -> tuple[Suggestion, ...]:
    """Join the predictions of all goals for each graph, with its probability of being on the front.

    Args:
        state: state of the campaign.
        forecasts: for each goal, the prediction for each of n graphs.
    """
    joined = list[Suggestion]()
    for probability, each in zip(front_probabilities(state, forecasts), zip(*forecasts, strict=True), strict=True):
        by_goal = {goal.name: forecast for goal, forecast in zip(state.goals, each, strict=True)}
        for goal in state.goals:
            told = by_goal[goal.name]
            if goal.has_range and told.mean is not None and told.result_std is not None:
                chance = chance_to_meet(goal, np.array(told.mean), np.array(told.result_std))
                by_goal[goal.name] = replace(told, probability=float(chance))
        joined.append(Suggestion(each[0].id, probability=probability, by_goal=by_goal))
    return tuple(joined)


def front_probabilities(state: CampaignState, forecasts: Sequence[tuple[Suggestion, ...]]) -> list[float | None]:
    """Return the probability that each graph meets all limits and is not dominated by a measured graph.

    The results are assumed to be normal and independent, including their noise.

    Args:
        state: state of the campaign.
        forecasts: for each goal, the prediction for each of n graphs.

    Returns:
        n probabilities, or None if a goal has no prediction.
    """
    goals, count = state.goals, len(forecasts[0])
    if any(suggestion.result_std is None for forecast in forecasts for suggestion in forecast):
        return [None] * count
    known = measured_utilities(state)
    front = np.array([known[key] for key in find_front(state)]).reshape(-1, len(goals))
    normal = np.random.default_rng([state.seed, DRAWS]).standard_normal((DRAWS, len(goals)))
    means, stds = (
        np.array([[getattr(suggestion, name) for suggestion in forecast] for forecast in forecasts])
        for name in ("mean", "result_std")
    )
    probabilities: list[float | None] = []
    step = max(1, ENTRIES // (DRAWS * len(goals)))
    for start in range(0, count, step):
        values = means[:, None, start : start + step] + normal.T[:, :, None] * stds[:, None, start : start + step]
        wanted = np.all([meets(goal, drawn) for goal, drawn in zip(goals, values, strict=True)], axis=0)
        utilities = np.array([utility(goal, drawn) for goal, drawn in zip(goals, values, strict=True)])
        for point in front[:, :, None, None]:
            wanted &= ~((point >= utilities).all(axis=0) & (point > utilities).any(axis=0))
        probabilities += wanted.mean(axis=0).tolist()
    return probabilities


def expect_all(
    state: CampaignState, agents: Sequence[Agent], indices: Sequence[int], ids: Sequence[str], offered: int = 0
) -> tuple[Suggestion, ...]:
    """Return predictions for some graphs, for one goal or jointly for several.

    The suggestions have only ids if the agent makes no predictions, or if all values so far are equal or bounds, so
    that their scale is unknown.

    Args:
        state: state of the campaign.
        agents: trained on the results of each goal: the values, or their negatives if small values are good.
        indices: indices of the graphs.
        ids: names of all graphs.
        offered: number of graphs that these were chosen from, so that agents can correct their predictions for the
            choice. 0 if they were not chosen. Predictions for several goals or a class are not corrected: the
            correction was fitted to intervals of one quantity, and uncorrected hit probabilities agree better with the
            shares of hits.
    """
    corrects = offered and not (state.goals or state.is_class)

    def predict(number: int) -> Prediction | None:
        agent = agents[number]
        if corrects and isinstance(agent, ModelAgent):
            return agent.predict_chosen(len(indices), offered)
        return agent.predict() if isinstance(agent, BatchAgent) else None

    return read_forecasts(state, predict, indices, ids)


def read_forecasts(
    state: CampaignState, predict: Callable[[int], Prediction | None], indices: Sequence[int], ids: Sequence[str]
) -> tuple[Suggestion, ...]:
    """Return predictions for some graphs as `expect_all`, given a function that predicts the rewards of each goal.

    Args:
        state: state of the campaign.
        predict: returns the predictions for all graphs, by the number of the goal, or None.
        indices: indices of the graphs.
        ids: names of all graphs.
    """
    forecasts = list[tuple[Suggestion, ...]]()
    for number, view in enumerate(state.views()):
        best = view.yardstick()
        prediction = None if best is None else predict(number)
        if best is None or prediction is None:
            forecasts.append(tuple(Suggestion(ids[k]) for k in indices))
        else:
            forecasts.append(read_prediction(prediction, best, indices, ids, view))
    return join_forecasts(state, forecasts) if state.goals else forecasts[0]
