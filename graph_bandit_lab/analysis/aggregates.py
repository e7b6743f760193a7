"""Aggregate the trials of many environments robustly, as `rliable` does, without importing torch.

Agarwal, Schwarzer, Castro, Courville & Bellemare, Deep reinforcement learning at the edge of the statistical precipice,
NeurIPS 2021. The package `rliable` 1.2 requires arch below 8, which does not import with pandas 3, and installs
statsmodels and seaborn, which are not needed here. `tests/doors/test_rliable.py` compares both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from graph_bandit_lab.analysis.scores import relative_regret
from graph_bandit_lab.analysis.statistics import Floats

CUT = 0.25  # share of the trials that the interquartile mean trims at either end
RESAMPLES = 2000
ENTRIES = 2_000_000  # of the trials drawn at a time
ENDS = (2.5, 97.5)  # percentiles, of 95 % intervals


@dataclass(frozen=True)
class Aggregate:
    """One agent over all trials of a sweep. Interval ends are `nan` unless an environment has two repetitions."""

    label: str
    middle: float
    """Interquartile mean of its relative regret over trials, without the lowest and the highest quarter."""
    low: float
    high: float
    """95 % interval of `middle`, if the repetitions of each environment are resampled."""
    behind: float
    """Probability that a repetition of the first agent has lower regret on the same environment, `nan` for that one."""
    behind_low: float
    behind_high: float
    """95 % interval of `behind`, by the same resampling."""


@dataclass(frozen=True, eq=False)
class Profile:
    """Share of an agent's trials with at most a given relative regret."""

    label: str
    thresholds: Floats
    """`(n,)`. tau, in units of the largest mean R_T of an environment."""
    shares: Floats
    """`(n,)`. Share of trials whose relative regret is at most tau."""
    low: Floats
    high: Floats
    """`(n,)`. 95 % interval of the share at each tau, `nan` unless an environment has two repetitions."""


def aggregate_agents(trials: pd.DataFrame, reference: Sequence[str] | None = None, seed: int = 0) -> list[Aggregate]:
    """Aggregate each agent over trials.

        IQM = mean of the middle half of the scores of all trials
        P(X < Y) = mean over environments of the share of pairs of repetitions with x < y, where x = y counts half
        [Agarwal et al. 2021, Section 4.3]

    Intervals are percentiles of a stratified bootstrap over the repetitions of each environment. They cover other
    repetitions on these environments, but not other environments.

    Args:
        trials: from a `Field`.
        reference: as in `relative_regret`.
        seed: seed of the bootstrap.

    Returns:
        The aggregates, lowest interquartile mean first, or none if there are no trials.
    """
    if trials.empty:
        return []
    scores = relative_regret(trials, reference)
    values, sizes = scores.to_numpy(np.float64).T, _sizes(scores)
    middles = interquartile_mean(values)
    order = np.argsort(middles, kind="stable")
    first, known = int(order[0]), bool((sizes > 1).any())
    drawn: list[Floats] = []
    behind: list[Floats] = []
    for rows in _resamples(sizes, RESAMPLES if known else 0, seed):
        drawn.append(np.stack([interquartile_mean(score[rows]) for score in values], axis=1))
        chances = [probability_of_less(values[first][rows], score[rows], sizes) for score in values]
        behind.append(np.stack(chances, axis=1))
    chance = np.array([probability_of_less(values[first], score, sizes) for score in values])
    columns = np.stack([middles, *_ends(drawn, len(values)), chance, *_ends(behind, len(values))], axis=1)
    columns[first, 3:] = np.nan
    return [Aggregate(str(scores.columns[k]), *columns[k].tolist()) for k in order.tolist()]


def profile_agents(
    trials: pd.DataFrame,
    reference: Sequence[str] | None = None,
    agents: Sequence[str] | None = None,
    points: int = 301,
    seed: int = 0,
) -> list[Profile]:
    """Compute the performance profile of each agent: the distribution of its relative regret over trials.

        F(tau) = (1/n) sum_i 1[score_i <= tau]      [Agarwal et al. 2021, Section 4.2, with lower scores better]

    Args:
        trials: from a `Field`.
        reference: as in `relative_regret`.
        agents: agents to profile. None profiles all.
        points: number of tau, from 0 to the largest score.
        seed: seed of the bootstrap, as in `aggregate_agents`.

    Returns:
        The profiles, in the order of `agents`, or none if there are no trials.
    """
    if trials.empty:
        return []
    scores = relative_regret(trials, reference)
    sizes, scores = _sizes(scores), scores if agents is None else scores[list(agents)]
    thresholds = np.linspace(0, max(float(scores.to_numpy().max()), 1.0), points)
    known, total = bool((sizes > 1).any()), len(scores)
    often = [
        np.stack([np.bincount(row, minlength=total) for row in rows]) / total
        for rows in _resamples(sizes, RESAMPLES if known else 0, seed)
    ]
    profiles = []
    for label, score in scores.items():
        below = (score.to_numpy(np.float64)[:, None] <= thresholds).astype(np.float64)
        ends = _ends([counts @ below for counts in often], points)
        profiles.append(Profile(str(label), thresholds, below.mean(axis=0), *ends))
    return profiles


def interquartile_mean(scores: Floats) -> Floats:
    """Compute the mean of the middle half of the scores, over the last axis: `(..., n)` to `(...)`."""
    return np.asarray(stats.trim_mean(scores, CUT, axis=-1), np.float64)


def probability_of_less(first: Floats, second: Floats, sizes: NDArray[np.int64]) -> Floats:
    """Compute the probability that a repetition of one agent has a lower score than one of another.

        P(X < Y) = (1/E) sum_e (1 / n_e^2) sum_ij (1[x_ei < y_ej] + 1[x_ei = y_ej] / 2)      [Mann & Whitney 1947]

    Args:
        first: x, `(..., n)`. Scores, grouped by environment.
        second: y, in the same form.
        sizes: `(E,)`. n_e, the number of repetitions of each environment, n in total.

    Returns:
        `(...)` float64.
    """
    ends = np.cumsum(sizes)[:-1]
    parts = zip(np.split(first, ends, axis=-1), np.split(second, ends, axis=-1), strict=True)
    chances = [
        (np.sign(y[..., None, :] - x[..., :, None]).mean(axis=(-2, -1)) + 1) / 2 for x, y in parts
    ]  # a sign is 1 for less, 0 for a tie
    return np.asarray(np.mean(chances, axis=0), np.float64)


def _sizes(scores: pd.DataFrame) -> NDArray[np.int64]:
    """Return the number of trials of each environment, in row order."""
    return np.asarray(scores.groupby(level="environment", sort=False).size(), np.int64)


def _resamples(sizes: NDArray[np.int64], count: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """Resample the trials of each environment: `(r, n)` rows at a time, `count` in total."""
    generator = np.random.default_rng(seed)
    starts, widths = np.repeat(np.cumsum(sizes) - sizes, sizes), np.repeat(sizes, sizes)
    at_once = max(1, ENTRIES // len(widths))
    for begin in range(0, count, at_once):
        draws = generator.random((min(at_once, count - begin), len(widths)))
        yield starts + (draws * widths).astype(np.int64)


def _ends(drawn: Sequence[Floats], count: int) -> Floats:
    """Return the interval ends of resampled numbers, `(2, count)`, or `nan` without resamples."""
    if not drawn:
        return np.full((2, count), np.nan)
    return np.asarray(np.percentile(np.concatenate(drawn), ENDS, axis=0))
