"""Scores over many environments, as the paper defines them. No torch: reports import this."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

TOP = 2  # places that count as top


@dataclass(frozen=True)
class Score:
    """One agent over the environments of a sweep."""

    label: str
    relative: float
    """Mean over environments of: mean R_T over repetitions, divided by the largest agent's."""
    relative_sd: float
    """Standard deviation of the same over environments."""
    top_rate: float
    """Share of trials in which the agent is among the two lowest R_T."""
    environments: int
    trials: int


def complete_trials(results: pd.DataFrame) -> pd.DataFrame:
    """Return R_T of the trials that every agent has finished.

    Args:
        results: of `load_results`.

    Returns:
        A row a trial, indexed by (environment as JSON, seed), and a column an agent.
    """
    environment = results["environment"].map(lambda settings: json.dumps(settings, sort_keys=True))
    table = results.assign(environment=environment).pivot_table(
        index=["environment", "seed"], columns="label", values="total_regret", aggfunc="first", sort=False, dropna=False
    )
    return table.reindex(columns=list(dict.fromkeys(results["label"]))).dropna()


def score_agents(trials: pd.DataFrame) -> list[Score]:
    """Score agents over environments.

        relative regret = mean over environments of (mean over repetitions of R_T) / (that of the largest agent)
        top rate = share of trials in which the agent is among the two lowest R_T      [Wu & Amini 2024, Table 1]

    Args:
        trials: of `complete_trials`.

    Returns:
        The scores, lowest relative regret first; of no trials, none.
    """
    if trials.empty:
        return []
    means = trials.groupby(level="environment", sort=False).mean()
    relative = means.div(means.max(axis=1).replace(0.0, 1.0), axis=0)
    top = trials.rank(axis=1, method="min") <= TOP
    scores = [
        Score(
            label=str(label),
            relative=float(relative[label].mean()),
            relative_sd=float(relative[label].std(ddof=0)),
            top_rate=float(top[label].mean()),
            environments=len(means),
            trials=len(trials),
        )
        for label in trials
    ]
    return sorted(scores, key=lambda score: score.relative)


@dataclass(frozen=True)
class Comparison:
    """Two agents on the same trials: the difference of relative regret, and its 95 % bootstrap interval."""

    first: str
    second: str
    difference: float
    """Mean over trials of the first less the second, each R_T divided by the environment's largest mean."""
    low: float
    high: float


def compare_agents(trials: pd.DataFrame, first: str, second: str, seed: int = 0) -> Comparison:
    """Compare two agents trial by trial.

    Args:
        trials: of `complete_trials`, at least one.
        first: an agent.
        second: another.
        seed: of the bootstrap over trials.

    Returns:
        Negative where the first is better.
    """
    largest = trials.groupby(level="environment").transform("mean").max(axis=1).replace(0.0, 1.0)
    difference: NDArray[np.float64] = ((trials[first] - trials[second]) / largest).to_numpy()
    return Comparison(first, second, float(difference.mean()), *bootstrap_interval(difference, seed))


def bootstrap_interval(values: NDArray[np.float64], seed: int = 0) -> tuple[float, float]:
    """Compute the 95 % percentile bootstrap interval of a mean; where nothing varies, the mean twice."""
    if len(values) < 2 or np.ptp(values) == 0:
        return float(values.mean()), float(values.mean())
    found = stats.bootstrap((values,), np.mean, method="percentile", rng=np.random.default_rng(seed))
    return float(found.confidence_interval.low), float(found.confidence_interval.high)
