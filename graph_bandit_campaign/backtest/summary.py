"""Compare the players of a backtest, in pairs of equal starts. No torch."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from graph_bandit_campaign.backtest.plays import RANDOM, Play, Task, random_order
from graph_bandit_campaign.backtest.table import Table

Floats = NDArray[np.float64]
DRAWS = 4000  # of the bootstrap
SHUFFLES = 2000
RARE = 0.01  # a verdict needs a difference that as few shuffles of the values reach


class Interval(NamedTuple):
    """A mean over starts, and its 95 % interval."""

    mean: float
    low: float
    high: float


def interval(values: Floats) -> Interval:
    """Return the mean of `values` `(starts,)` and its interval; of curves `(starts, t)`, three curves `(t,)`.

    It is a bootstrap over the starts, the same draws for all that is compared. The percentiles are those that are right
    for the mean of few normal numbers ("expanded percentiles", Hesterberg 2015), since the usual ones are too narrow
    for ten starts.
    """
    starts = len(values)
    weights = np.random.default_rng(0).multinomial(starts, np.full(starts, 1 / starts), DRAWS) / starts
    tail = float(stats.norm.cdf(math.sqrt(starts / (starts - 1)) * stats.t.ppf(0.025, starts - 1)))
    low, high = np.quantile(weights @ values, [tail, 1 - tail], axis=0)
    return Interval(values.mean(axis=0), low, high)


@dataclass(frozen=True, eq=False)
class Curves:
    """The plays of one player with one size of batch."""

    label: str
    """Its name, with the size of the batch if several are compared."""
    batch: int
    """How many molecules it chooses at a time."""
    table: Table
    """The table that was played."""
    plays: Sequence[Play]
    """What was measured within the budget, from each start."""
    by_chance: Sequence[NDArray[np.int64]]
    """All molecules, in the order of random choice from each start."""

    @property
    def orders(self) -> list[NDArray[np.int64]]:
        """Return the molecules in the order measured, from each start."""
        return [finished.order for finished in self.plays]

    @cached_property
    def best(self) -> Floats:
        """Return the best value so far, `(starts, budget)`."""
        best = np.maximum if self.table.maximize else np.minimum
        return np.stack([best.accumulate(self.table.values[order]) for order in self.orders])

    @cached_property
    def top_found(self) -> Floats:
        """Return how many of the ten best are found, `(starts, budget)`."""
        return np.stack([self.table.count_best(order) for order in self.orders]).astype(np.float64)

    @cached_property
    def good(self) -> Floats:
        """Return how many of the good molecules (`Table.good`) were found within the budget, `(starts,)`."""
        return np.array([self.table.count_best(order, self.table.good)[-1] for order in self.orders], np.float64)

    @cached_property
    def as_many(self) -> Floats:
        """Return how many measurements random choice from the same start needs to find as many, `(starts,)`."""
        counts = [self.table.count_best(order, self.table.good) for order in self.by_chance]
        return np.array([np.argmax(count >= wanted) + 1.0 for count, wanted in zip(counts, self.good, strict=True)])

    @cached_property
    def forecasts(self) -> tuple[int, float, int]:
        """Compare forecasts that a molecule beats the best so far with what came: they are made before a whole batch.

        Returns:
            How many forecasts there were, the sum of their probabilities, and how many of the molecules did beat it.
        """
        count, promised, came = 0, 0.0, 0
        for finished in self.plays:
            rewards = self.table.rewards[finished.order]
            best = np.maximum.accumulate(rewards)
            for first in range(self.table.start, self.table.budget, self.batch):
                told = finished.probabilities[first : first + self.batch]
                made = np.isfinite(told)
                count, promised = count + int(made.sum()), promised + float(told[made].sum())
                came += int((rewards[first : first + self.batch][made] > best[first - 1]).sum())
        return count, promised, came

    @property
    def scores(self) -> Floats:
        """Return how many of the ten best were known on average over all measurements after the start, `(starts,)`."""
        return np.asarray(self.top_found[:, self.table.start :].mean(axis=1), np.float64)

    @property
    def at_end(self) -> Floats:
        """Return how many of the ten best were found within the budget, `(starts,)`."""
        return self.top_found[:, -1]


@dataclass(frozen=True, eq=False)
class Summary:
    """The plays of a backtest, compared."""

    table: Table
    """The table that was played."""
    advisors: Sequence[Curves]
    """Agents that would give the suggestions."""
    others: Sequence[Curves]
    """What they are compared with; random choice comes first."""
    starts: int
    """How many random starts were played."""

    @property
    def random(self) -> Curves:
        """Return random choice."""
        return self.others[0]

    @cached_property
    def best(self) -> Curves:
        """Return the agent that served best: most of the ten best known, on average over the measurements."""
        return max(self.advisors, key=lambda player: player.scores.mean())

    def luck(self, player: Curves, n: int, at_end: bool) -> float:
        """Return the share of shuffles of the values in which a player differs as much from random choice.

        If values have nothing to do with structures, whatever a player measures next is a random draw of what is left.
        So its choices stay as they are, and the values are shuffled among the molecules, for all starts at once: starts
        that measure the same molecules share their luck. Differences of the same sign are counted.

        Args:
            player: the player.
            n: how many of the best molecules are looked for.
            at_end: whether those found within the budget count, as in `Curves.good`; else as in `Curves.scores`.
        """
        rewards, budget, start = self.table.rewards, self.table.budget, self.table.start
        threshold = np.partition(rewards, -n)[-n]
        above, equal = rewards > threshold, rewards == threshold
        best = above + equal * ((n - above.sum()) / equal.sum())
        shares = np.minimum(np.arange(budget, 0, -1), budget - start) / (budget - start)
        weights = np.zeros(len(rewards))
        for sign, curves in ((1, player), (-1, self.random)):
            for order in curves.orders:
                weights[order] += sign * (np.ones(budget) if at_end else shares) / self.starts
        generator = np.random.default_rng(0)
        drawn = np.array([weights @ generator.permutation(best) for _ in range(SHUFFLES)])
        observed, rounding = weights @ best, 1e-9
        as_much = min((drawn >= observed - rounding).sum(), (drawn <= observed + rounding).sum())
        return float((1 + as_much) / (1 + SHUFFLES))


def summarize(
    table: Table, seed: int, starts: int, plays: Mapping[Task, Play], advisors: Sequence[Task], others: Sequence[Task]
) -> Summary:
    """Compare plays.

    Args:
        table: the table.
        seed: seed of the backtest.
        starts: how many starts were played.
        plays: plays of each player from each start.
        advisors: agents and batches, with any start.
        others: what they are compared with; random choice is added, and comes first.
    """
    several = len({task.batch for task in (*advisors, *others)}) > 1
    whole = [random_order(len(table.values), seed, start) for start in range(starts)]

    def curves(task: Task) -> Curves:
        label = f"{task.player}, batches of {task.batch}" if several and task.player != RANDOM else task.player
        return Curves(label, task.batch, table, [plays[task._replace(start=start)] for start in range(starts)], whole)

    return Summary(table, [*map(curves, advisors)], [*map(curves, (Task(RANDOM, 1, 0), *others))], starts)
