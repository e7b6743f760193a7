"""Measure a pool a batch at a time, each graph once, and score the choices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graph_bandit_env import GraphPool

Indices = NDArray[np.int64]
Floats = NDArray[np.float64]


class Player(Protocol):
    """A strategy that chooses the graphs to measure next."""

    def begin(self, graphs: GraphPool, seed: int) -> None:
        """Forget everything and take in K graphs; all randomness of the player comes from `seed`."""

    def choose(self, measured: Indices, values: Floats, count: int) -> Sequence[int] | Indices:
        """Return `count` different graphs that were not measured.

        Args:
            measured: `(t,)`, graphs in the order measured; those of earlier calls come first.
            values: `(t,)`, their values.
            count: how many graphs to choose.
        """


class Plan(NamedTuple):
    """How many graphs of a pool are measured when."""

    start: int
    """How many are measured first, at random."""
    batch: int
    """How many are measured in a round."""
    rounds: int
    """How many rounds there are; a player chooses the batch of each."""


def play(graphs: GraphPool, plan: Plan, player: Player, seed: int) -> Indices:
    """Measure a pool, and return the graphs in the order measured.

    All players of a seed start with the same graphs, so that they can be compared in pairs.

    Args:
        graphs: K graphs with values, of which large ones are wanted.
        plan: when how many are measured.
        player: chooses the batches.
        seed: seed of the first measurements and, in a separate stream, of the player.

    Raises:
        ValueError: if the pool is too small, or the player does not choose as many new graphs as it was asked for.
    """
    values, count = graphs.targets, plan.start + plan.batch * plan.rounds
    if count > len(values):
        raise ValueError(f"Expected at most {len(values)} measurements, one a graph. Got {count}.")
    start, of_player = np.random.SeedSequence(seed).spawn(2)
    order = np.random.default_rng(start).choice(len(values), plan.start, replace=False).astype(np.int64)
    player.begin(graphs, int(of_player.generate_state(1)[0]))
    for _ in range(plan.rounds):
        chosen = np.asarray(player.choose(order, values[order], plan.batch), np.int64)
        different = len(np.unique(chosen)) == len(chosen) == plan.batch
        if not different or not np.isin(chosen, np.arange(len(values))).all() or np.isin(chosen, order).any():
            raise ValueError(f"Expected {plan.batch} different graphs that were not measured. Got {chosen.tolist()}.")
        order = np.concatenate([order, chosen])
    return order


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


def share_of_way(values: Floats, order: Indices, start: int) -> float:
    """Return how much of the way from the best of the random measurements to the best of the pool was gone.

        (max_i y_i - max_{i <= start} y_i) / (max_k y_k - max_{i <= start} y_i),  and 1 if the start has the best

    Args:
        values: `(K,)`, values y of the pool.
        order: `(t,)`, molecules measured.
        start: how many random measurements come first.

    Returns:
        The share, from 0 to 1.
    """
    first, last = values[order[:start]].max(), values[order].max()
    return float((last - first) / (values.max() - first)) if first < values.max() else 1.0


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
