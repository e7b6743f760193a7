"""Seeds of many bandits that step together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def spread_seeds(seed: int, num_envs: int) -> list[int]:
    """Return a seed for each of many bandits, mixed by `SeedSequence`: seeds 0 and 1 give lists with nothing in common.

    Gymnasium itself uses seed, seed + 1, and so on, which makes environment 1 of seed 0 equal to environment 0 of
    seed 1.

    Args:
        seed: an integer >= 0.
        num_envs: how many seeds to return; a larger number keeps the first ones.

    Returns:
        The seeds that the native vector environment uses for `reset(seed=seed)`. Other vector environments take the
        list in their `reset`.
    """
    return [int(word) for word in np.random.SeedSequence(seed).generate_state(num_envs, np.uint64)]


def read_seeds(seed: int | Sequence[int | None] | None, num_envs: int) -> list[int | None]:
    """Return a seed or None for each bandit: a list as given, or `spread_seeds` of an integer.

    Raises:
        ValueError: if a list does not have one seed per bandit, or a seed is not an integer >= 0.
    """
    if seed is None:
        return [None] * num_envs
    if not isinstance(seed, (int, np.integer, Sequence, np.ndarray)):
        raise ValueError(f"Expected an integer, a list of integers, or None as `seed`. Got {seed!r}.")
    given: list[int | None] = [seed] if isinstance(seed, (int, np.integer)) else list(seed)
    for value in given:
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0):
            raise ValueError(f"Expected seeds that are integers >= 0, or None. Got {value!r}.")
    if isinstance(seed, (int, np.integer)):
        return list(spread_seeds(int(seed), num_envs))
    if len(given) != num_envs:
        raise ValueError(f"Expected {num_envs} seeds, one for each bandit. Got {len(given)}.")
    return [None if value is None else int(value) for value in given]
