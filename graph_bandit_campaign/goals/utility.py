"""The utility of values: how good they are for a goal, and whether they meet a limit."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from graph_bandit_campaign.goals.goal import Goal

Floats: TypeAlias = NDArray[np.float64]


def utility(goal: Goal, values: Floats) -> Floats:
    """Return how good values are, larger being better: +-v, or minus the distance to the range; 0 of a limit."""
    if goal.aim in ("maximize", "minimize"):
        return goal.sign * values
    if goal.aim == "limit":
        return np.zeros_like(values)
    low, high = _ends(goal)
    return np.minimum(np.minimum(values - low, high - values), 0.0)


def best_utility(goal: Goal, low: Floats, high: Floats) -> Floats:
    """Return the utility of the best value from `low` to `high`."""
    if goal.aim == "maximize":
        return utility(goal, high)
    if goal.aim == "minimize":
        return utility(goal, low)
    end = goal.high if goal.low is None else goal.low
    return utility(goal, np.clip(0.0 if end is None else end, low, high))


def meets(goal: Goal, values: Floats) -> NDArray[np.bool_]:
    """Return which values a limit allows; another goal allows all."""
    if goal.aim != "limit":
        return np.ones(np.shape(values), np.bool_)
    low, high = _ends(goal)
    return (low < values) & (values < high) if goal.strict else (low <= values) & (values <= high)


def _ends(goal: Goal) -> tuple[float, float]:
    return -np.inf if goal.low is None else goal.low, np.inf if goal.high is None else goal.high
