"""Noise of an observed reward. Every distribution here is sub-Gaussian with the standard deviation that is asked."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from graph_bandit_env.checks import check_choice

Noise = Callable[[np.random.Generator, float], float]

_STANDARD: dict[str, Callable[[np.random.Generator], float]] = {
    "gaussian": lambda rng: rng.standard_normal(),
    "uniform": lambda rng: rng.uniform(-math.sqrt(3), math.sqrt(3)),
    "rademacher": lambda rng: 2.0 * rng.integers(2) - 1.0,
}


def make_noise(noise: str | Noise, noise_std: float) -> Noise:
    """Return a function of (rng, mean reward) that draws what is added to the mean reward.

    Args:
        noise: "gaussian", "uniform" or "rademacher", each with mean 0 and standard deviation `noise_std`; or a
            function of one's own, which `noise_std` does not touch.
        noise_std: sigma_epsilon, in reward units.

    Returns:
        The function.

    Raises:
        ValueError: if the name is unknown.
    """
    if callable(noise):
        return noise
    draw = _STANDARD[check_choice("noise", noise, _STANDARD)]
    return lambda rng, mean: noise_std * draw(rng)


def draw_noise(noise: Noise, rng: np.random.Generator, mean: float) -> float:
    """Draw the noise of one reward.

    Raises:
        ValueError: if the noise is not a finite number.
    """
    drawn = noise(rng, mean)
    try:
        value = float(drawn)
    except (TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"Expected `noise` to return a finite number. Got {drawn!r}.")
    return value
