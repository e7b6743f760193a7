"""Summarise repetitions, without importing torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special, stats

from graph_bandit_lab.design.names import to_json

ROUNDING = 1e-9
LEAST = 3
"""Repetitions that Student's interval needs. With two, its quantile is 12.7, so an interval of regret could range from
the mean divided by 330,000 to the mean times 330,000. With three, this factor is 74, and with five it is 16."""
Floats: TypeAlias = NDArray[np.float64]
Quantity: TypeAlias = Literal["nonnegative", "share", "any"]
RANGES: Mapping[Quantity, tuple[float, float]] = {
    "nonnegative": (0.0, np.inf),
    "share": (0.0, 1.0),
    "any": (-np.inf, np.inf),
}


@dataclass(frozen=True)
class AgentSummary:
    """One row of a report's table, with `nan` for unknown numbers."""

    label: str
    finished: int
    """Number of finished repetitions with the measure. R_T is known for all."""
    diverged: int
    failed: int
    mean: float
    """Mean of the measure, such as R_T, over finished repetitions."""
    low: float
    high: float
    """95 % interval of the mean, `nan` if the repetitions do not show a spread."""
    relative: float
    """The mean divided by the largest mean in the table, like the paper's relative regret."""
    relative_low: float
    relative_high: float
    """95 % interval of that ratio, paired over the seeds that both have finished. It is `nan` for the largest mean."""
    milliseconds: float
    """Wall time per round, over all repetitions, excluding instance creation, imports and compilation."""
    one_trajectory: bool = False
    """True if all finished repetitions (at least two) are equal plays on one instance, which count as one."""


def mean_interval(values: Floats, quantity: Quantity = "nonnegative") -> tuple[Floats, Floats]:
    """Compute the 95 % Student interval of a mean over the first axis, on a scale that keeps it in range.

        g^-1(g(mean) -+ g'(mean) t_{0.975, n-1} s / sqrt(n)),  g(y) = log y, log(y / (1 - y)), or y

    Args:
        values: `(n, ...)`, one row per repetition.
        quantity: "nonnegative" (such as regret), "share" (between 0 and 1), or "any" (such as rewards).

    Returns:
        Lower and upper end, each of shape `(...)`, `nan` if n < `LEAST`, or if all n numbers are equal and show no
        spread.

    Raises:
        ValueError: if a number is outside its range by more than rounding.
    """
    lowest, highest = RANGES[quantity]
    wrong = values[(values < lowest - ROUNDING) | (values > highest + ROUNDING)]
    if len(wrong):
        raise ValueError(f"Expected numbers from {lowest} to {highest} ({quantity}). Got {wrong[0]}.")
    values = values.clip(lowest, highest)
    equal = np.ptp(values, axis=0) == 0 if len(values) > 1 else np.full(values.shape[1:], fill_value=True)
    mean = np.where(equal, 0.5, values.mean(axis=0) if len(values) else np.nan)
    half = np.where(equal, np.nan, _half_width(values))
    if quantity == "nonnegative":
        return mean * np.exp(-half / mean), mean * np.exp(half / mean)
    if quantity == "share":
        logit, half = special.logit(mean), half / (mean * (1 - mean))
        return special.expit(logit - half), special.expit(logit + half)
    return mean - half, mean + half


def ratio_interval(values: Floats, reference: Floats) -> tuple[float, float]:
    """Compute the 95 % interval of mean(values) / mean(reference), paired by seed in the same order.

        ratio exp(-+ t_{0.975, n-1} s / sqrt(n)),  s the standard deviation of  y_i / mean(y) - x_i / mean(x)

    Args:
        values: y, `(n,)`, numbers >= 0.
        reference: x, the same.

    Returns:
        Lower and upper end, `nan` if n < `LEAST`, if a mean is 0, or if neither varies.
    """
    means = (values.mean(), reference.mean()) if len(values) >= LEAST else (0.0, 0.0)
    if min(means) <= 0 or (np.ptp(values) == 0 and np.ptp(reference) == 0):
        return float("nan"), float("nan")
    factor = np.exp(float(_half_width(values / means[0] - reference / means[1])))
    return float(means[0] / means[1] / factor), float(means[0] / means[1] * factor)


def paired_interval(differences: pd.Series[float], seed: int = 0) -> tuple[float, float, float]:
    """Return the mean over environments of differences by (environment, seed), and its 95 % interval.

    The interval is a bootstrap over environments, which differ more than repetitions on one of them. With only one
    environment, it is Student's interval over repetitions, `nan` if there are fewer than `LEAST`.
    """
    by_environment = differences.groupby(level="environment").mean()
    mean = float(by_environment.mean())
    if len(by_environment) > 1:
        return mean, *bootstrap_interval(np.asarray(by_environment, np.float64), seed)
    half = float(_half_width(np.asarray(differences, np.float64)))
    return mean, mean - half, mean + half


def bootstrap_interval(values: Floats, seed: int = 0) -> tuple[float, float]:
    """Compute the 95 % percentile bootstrap interval of a mean, which lies in the range of the values.

    Use it for a dozen values or more, such as environments, tasks or pools. It is too narrow for few values.

    Returns:
        Lower and upper end, which both are the mean if all values are equal.
    """
    if len(values) < 2 or np.ptp(values) == 0:
        return float(values.mean()), float(values.mean())
    result = stats.bootstrap((values,), np.mean, method="percentile", batch=500, rng=np.random.default_rng(seed))
    return float(result.confidence_interval.low), float(result.confidence_interval.high)


def _half_width(values: Floats) -> Floats:
    """Return t_{0.975, n-1} s / sqrt(n) over the first axis, `nan` if n < `LEAST`."""
    if len(values) < LEAST:
        return np.full(values.shape[1:], np.nan)
    return np.asarray(stats.t.ppf(0.975, len(values) - 1) * stats.sem(values, axis=0))


def summarize(
    results: pd.DataFrame, measure: str = "total_regret", quantity: Quantity = "nonnegative"
) -> list[AgentSummary]:
    """Summarise each agent, lowest mean first and agents without a number last.

    Args:
        results: from `load_results`, on one environment if intervals are needed.
        measure: a column of numbers, such as R_T or `final_simple_regret`.
        quantity: its range, as for `mean_interval`. Ratios have intervals only if it is "nonnegative".
    """
    groups = {str(label): group for label, group in results.groupby("label", sort=False)}
    known = {label: group[(group["status"] == "finished") & group[measure].notna()] for label, group in groups.items()}
    totals = {label: rows.set_index("seed")[measure].astype(float) for label, rows in known.items()}
    means = {label: float(total.mean()) for label, total in totals.items()}
    worst = max((label for label in means if len(totals[label])), key=lambda label: means[label], default="")
    largest = means.get(worst, float("nan"))
    rows = []
    for label, group in groups.items():
        total, statuses, ratio = totals[label], group["status"].tolist(), (float("nan"), float("nan"))
        is_one = len(total) > 1 and len(known[label].drop_duplicates(["environment_key", "trajectory"])) == 1
        values = np.asarray(total, np.float64)
        low, high = mean_interval(values[: 1 if is_one else None], quantity)
        reference = totals.get(worst, total)
        paired = total.index.is_unique and sorted(total.index) == sorted(reference.index)
        if paired and quantity == "nonnegative" and label != worst and not is_one:
            ratio = ratio_interval(values, np.asarray(reference.reindex(total.index), np.float64))
        rows.append(
            AgentSummary(
                label=label,
                finished=len(total),
                diverged=statuses.count("diverged"),
                failed=statuses.count("failed"),
                mean=means[label],
                low=float(low),
                high=float(high),
                relative=means[label] / largest if largest else float("nan"),
                relative_low=ratio[0],
                relative_high=ratio[1],
                milliseconds=1000 * float(group["round_time"].sum()) / max(1, int(group["rounds"].sum())),
                one_trajectory=is_one,
            )
        )
    return sorted(rows, key=lambda row: (np.isnan(row.mean), row.mean))


def play_equal_instances(results: pd.DataFrame) -> bool:
    """Return True if all agents have played the same instances and can be compared directly."""
    return bool(results.groupby("label")["seed"].agg(frozenset).nunique() == 1)


def earlier_versions(results: pd.DataFrame) -> list[str]:
    """Return the labels of results by an earlier version of an algorithm that also has results of a later version."""
    return [str(label) for label in dict.fromkeys(results.loc[~played_by_latest(results), "label"])]


def played_by_latest(results: pd.DataFrame) -> pd.Series[bool]:
    """Return a mask of the repetitions for which no later version of the algorithm has results with equal settings.

    A new version may concern only some settings: joint draws have a version 2, independent draws do not.
    """
    settings = results["agent_settings"].map(to_json)
    latest = results["algorithm"].groupby([results["agent"], settings]).transform("max")
    return results["algorithm"] == latest
