"""Compute the utility of values for a goal, and test limits."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from graph_bandit_campaign.constraints.goals.goal import Goal

Floats: TypeAlias = NDArray[np.float64]
LEAST_STD = 1e-12  # a smaller standard deviation counts as this one
FARTHEST = 30.0  # standard deviations; a value farther inside a range is certain to be inside


def utility(goal: Goal, values: Floats) -> Floats:
    """Return the utility of values: +-v, or minus the distance to the range, or 0 for a limit. Larger is better."""
    if goal.aim in ("maximize", "minimize"):
        return goal.sign * values
    if goal.aim == "limit":
        return np.zeros_like(values)
    low, high = _ends(goal)
    return np.minimum(np.minimum(values - low, high - values), 0.0)


def utility_moments(goal: Goal, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of the utility of normal values, whose mean +- std are `low` and `high`.

    The distance to a range [a, b] is (a - v)_+ + (v - b)_+, and with z = (a - m) / s

        E (a - v)_+ = s (phi(z) + z Phi(z)),   E (a - v)_+^2 = s^2 ((1 + z^2) Phi(z) + z phi(z))

    so it has no flat part in which all values that may be in the range would be equally good.

    Args:
        goal: a goal that is not a limit.
        low: mean minus one standard deviation.
        high: mean plus one standard deviation.
    """
    mean, std = (low + high) / 2, (high - low) / 2
    if goal.aim in ("maximize", "minimize"):
        return utility(goal, mean), std
    first, second = np.zeros_like(mean), np.zeros_like(mean)
    scale = np.maximum(std, LEAST_STD)
    for z in ((end - mean) / scale * side for end, side in zip(_ends(goal), (1, -1), strict=True)):
        near = np.clip(z, -FARTHEST, None)  # there are no values beyond a missing end
        density, below = np.exp(-(near**2) / 2) / np.sqrt(2 * np.pi), ndtr(near)
        first += scale * (density + near * below)
        second += scale**2 * ((1 + near**2) * below + near * density)
    return -first, np.sqrt(np.maximum(second - first**2, 0.0))


def meets(goal: Goal, values: Floats) -> NDArray[np.bool_]:
    """Return a mask of the values that meet a limit. Other goals accept all values."""
    if goal.aim != "limit":
        return np.ones(np.shape(values), np.bool_)
    low, high = _ends(goal)
    return (low < values) & (values < high) if goal.strict else (low <= values) & (values <= high)


def chance_to_meet(goal: Goal, mean: Floats, std: Floats) -> Floats:
    """Return the probability that normal values are in the range of a goal, `(n,)`."""
    low, high = _ends(goal)
    spread = np.maximum(std, LEAST_STD)
    return np.asarray(ndtr((high - mean) / spread) - ndtr((low - mean) / spread), np.float64)


def _ends(goal: Goal) -> tuple[float, float]:
    return -np.inf if goal.low is None else goal.low, np.inf if goal.high is None else goal.high
