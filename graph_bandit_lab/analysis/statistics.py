"""Summaries over repetitions. No torch: reports import this."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from graph_bandit_lab.design.keys import to_json


@dataclass(frozen=True)
class AgentSummary:
    """One row of a report's table; `nan` where a number is not known."""

    label: str
    finished: int
    """Finished repetitions that have the measure: R_T is known of each."""
    diverged: int
    failed: int
    mean: float
    """Mean of the measure, such as R_T, over finished repetitions."""
    low: float
    high: float
    """95 % confidence interval of the mean."""
    relative: float
    """The mean divided by the largest mean in the table, like the paper's relative regret."""
    milliseconds: float
    """Wall time a round, over all repetitions, without drawing the instance, imports and compilation."""


def confidence_interval(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Compute the 95 % Student confidence interval of the mean over the first axis.

        mean -+ t_{0.975, n-1} s / sqrt(n)

    Args:
        values: `(n, ...)`, one row a repetition.

    Returns:
        Lower and upper end, each of shape `(...)`; `nan` if n < 2.
    """
    if len(values) < 2:
        blank = np.full(values.shape[1:], np.nan)
        return blank, blank
    half = stats.t.ppf(0.975, len(values) - 1) * stats.sem(values, axis=0)
    return values.mean(axis=0) - half, values.mean(axis=0) + half


def summarize(results: pd.DataFrame, measure: str = "total_regret") -> list[AgentSummary]:
    """Summarise each agent, lowest mean first; agents without a number come last.

    Args:
        results: of `load_results`.
        measure: a column of numbers, such as R_T or `final_simple_regret`.
    """
    groups = {str(label): group for label, group in results.groupby("label", sort=False)}
    totals = {
        label: group.loc[group["status"] == "finished", measure].dropna().to_numpy() for label, group in groups.items()
    }
    means = {label: float(total.mean()) if len(total) else float("nan") for label, total in totals.items()}
    largest = np.nanmax(list(means.values())) if any(map(len, totals.values())) else float("nan")
    rows = []
    for label, group in groups.items():
        low, high = confidence_interval(totals[label])
        rows.append(
            AgentSummary(
                label=label,
                finished=len(totals[label]),
                diverged=int((group["status"] == "diverged").sum()),
                failed=int((group["status"] == "failed").sum()),
                mean=means[label],
                low=float(low),
                high=float(high),
                relative=means[label] / largest if largest else float("nan"),
                milliseconds=1000 * float(group["round_time"].sum()) / max(1, int(group["rounds"].sum())),
            )
        )
    return sorted(rows, key=lambda row: (np.isnan(row.mean), row.mean))


def play_equal_instances(results: pd.DataFrame) -> bool:
    """Return whether all agents have played the same instances, so that they can be compared directly."""
    return bool(results.groupby("label")["seed"].agg(frozenset).nunique() == 1)


def earlier_versions(results: pd.DataFrame) -> list[str]:
    """Return the labels of results by an earlier version of an algorithm, where a later version has results too."""
    return [str(label) for label in dict.fromkeys(results.loc[~played_by_latest(results), "label"])]


def played_by_latest(results: pd.DataFrame) -> pd.Series[bool]:
    """Return a mask of the repetitions for which no later version of the algorithm has results with equal settings.

    A new version need not concern all settings: joint draws have a version 2, independent draws do not.
    """
    settings = results["agent_settings"].map(to_json)
    latest = results["algorithm"].groupby([results["agent"], settings]).transform("max")
    return results["algorithm"] == latest
