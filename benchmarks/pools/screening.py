"""Measure a pool of molecules a batch at a time, each molecule once, and score the choices."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agents.contract import Prediction
from graph_bandit_env import MoleculeSet

Indices = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Screen:
    """A pool, and how many molecules of it are measured when."""

    molecules: MoleculeSet
    """K molecules."""
    values: Floats
    """`(K,)`, the result of measuring each molecule; large values are wanted."""
    start: int
    """How many molecules are measured first, at random."""
    batch: int
    """How many molecules are measured in a round."""
    rounds: int
    """How many rounds there are; a player chooses the batch of each."""

    def __post_init__(self) -> None:
        if self.values.shape != (len(self.molecules),) or not np.isfinite(self.values).all():
            raise ValueError(
                f"Expected a finite value for each of {len(self.molecules)} molecules. Got shape {self.values.shape}; "
                f"{np.isfinite(self.values).sum()} are finite."
            )
        if not (self.start >= 1 and self.batch >= 1 and self.rounds >= 0):
            raise ValueError(
                f"Expected `start` and `batch` of at least 1, `rounds` of at least 0. Got {self.start}, {self.batch} "
                f"and {self.rounds}."
            )
        if self.start + self.batch * self.rounds > len(self.molecules):
            raise ValueError(
                f"Expected at most {len(self.molecules)} measurements, one a molecule. Got {self.start} + {self.rounds}"
                f" rounds of {self.batch}."
            )


class Player(Protocol):
    """A strategy that chooses the molecules to measure next."""

    def begin(self, molecules: MoleculeSet, seed: int) -> None:
        """Forget everything and take in K molecules; all randomness of the player comes from `seed`."""

    def choose(self, measured: Indices, values: Floats, count: int) -> Sequence[int] | Indices:
        """Return `count` different molecules that were not measured.

        Args:
            measured: `(t,)`, molecules in the order measured; those of earlier calls come first.
            values: `(t,)`, their values.
            count: how many molecules to choose.
        """

    def forecast(self) -> Prediction | None:
        """Return the prediction behind the last choice, None if the player has none; it changes no later choice."""


class Forecast(NamedTuple):
    """A forecast that a chosen molecule beats the best value so far, and what came of it."""

    round: int
    """Number of the round, from 1."""
    molecule: int
    """Index of the molecule."""
    probability: float
    """By the prediction that the player had before any result of the round."""
    beat: bool
    """Whether the value of the molecule exceeds the best of all earlier rounds."""


@dataclass(frozen=True, eq=False)
class Play:
    """A pool as it was measured by a player."""

    order: Indices
    """`(start + rounds * batch,)`: molecules in the order measured."""
    forecasts: tuple[Forecast, ...]
    """One for each chosen molecule, or none at all."""
    seconds: float
    """Time that the player took to choose; the forecasts are not in it."""


def play(screen: Screen, player: Player, seed: int) -> Play:
    """Measure a pool. All players of a seed start with the same molecules, so that they can be compared in pairs.

    Args:
        screen: the pool.
        player: chooses the batches.
        seed: seed of the first measurements and, in a separate stream, of the player.

    Raises:
        ValueError: if the player does not choose as many new molecules as it was asked for.
    """
    start, of_player = np.random.SeedSequence(seed).spawn(2)
    order = np.random.default_rng(start).choice(len(screen.values), screen.start, replace=False).astype(np.int64)
    forecasts: list[Forecast] = []
    begin = time.perf_counter()
    player.begin(screen.molecules, int(of_player.generate_state(1)[0]))
    seconds = time.perf_counter() - begin
    for number in range(1, screen.rounds + 1):
        begin = time.perf_counter()
        chosen = np.asarray(player.choose(order, screen.values[order], screen.batch), np.int64)
        seconds += time.perf_counter() - begin
        _check_choice(chosen, order, screen)
        forecasts += _forecasts_of(player.forecast(), chosen, order, screen.values, number)
        order = np.concatenate([order, chosen])
    return Play(order, tuple(forecasts), seconds)


def _forecasts_of(
    prediction: Prediction | None, chosen: Indices, order: Indices, values: Floats, number: int
) -> list[Forecast]:
    if prediction is None:
        return []
    best = float(values[order].max())
    probabilities = prediction.probability_above(best)[chosen].tolist()
    beats = (values[chosen] > best).tolist()
    return [Forecast(number, *forecast) for forecast in zip(chosen.tolist(), probabilities, beats, strict=True)]


def _check_choice(chosen: Indices, order: Indices, screen: Screen) -> None:
    pool = np.arange(len(screen.values))
    different = len(np.unique(chosen)) == len(chosen) == screen.batch
    if not different or not np.isin(chosen, pool).all() or np.isin(chosen, order).any():
        raise ValueError(f"Expected {screen.batch} different molecules that were not measured. Got {chosen.tolist()}.")


def share_of_top(values: ArrayLike, order: ArrayLike, n: int = 100) -> float:
    """Return the share of the n largest values that were found.

    Values are counted, not molecules: molecules that tie at the n-th value are interchangeable, and at most as many of
    them count as are among the n largest values. Docking scores have a resolution of 0.1, so there are many ties.

    Args:
        values: `(K,)`, values of the pool.
        order: molecules measured, each once.
        n: how many of the largest values to look for, at most K.

    Returns:
        The share, from 0 to 1.

    Raises:
        ValueError: if n is not from 1 to K.
    """
    pool = np.asarray(values, np.float64)
    if not 1 <= n <= len(pool):
        raise ValueError(f"Expected `n` from 1 to {len(pool)}. Got {n}.")
    measured, threshold = pool[np.asarray(order, np.int64)], np.partition(pool, -n)[-n]
    ties = n - int((pool > threshold).sum())  # among the n largest
    return (int((measured > threshold).sum()) + min(ties, int((measured == threshold).sum()))) / n


def simple_regret(values: ArrayLike, order: ArrayLike) -> Floats:
    """Return how far the best value found so far falls short of the best of the pool.

        s_t = max_k y_k - max_{i <= t} y_{order_i}

    Args:
        values: `(K,)`, values y of the pool.
        order: `(t,)`, molecules measured.

    Returns:
        `(t,)`, after each measurement, in units of the values.
    """
    pool = np.asarray(values, np.float64)
    best_so_far = np.maximum.accumulate(pool[np.asarray(order, np.int64)])
    return np.asarray(pool.max() - best_so_far, np.float64)


def cumulative_regret(values: ArrayLike, order: ArrayLike, start: int) -> Floats:
    """Return the summed shortfall of each chosen molecule against the best of the pool.

        R_t = sum_{i = start + 1}^{start + t} (max_k y_k - y_{order_i})

    The best molecule is the reference in every round, though it can be measured only once.

    Args:
        values: `(K,)`, values y of the pool.
        order: molecules measured.
        start: how many random measurements come first; they do not count.

    Returns:
        `(len(order) - start,)`, in units of the values.
    """
    pool = np.asarray(values, np.float64)
    return np.cumsum(pool.max() - pool[np.asarray(order, np.int64)[start:]])
