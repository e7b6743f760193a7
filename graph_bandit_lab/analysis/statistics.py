"""Summaries over repetitions. No torch: reports import this."""

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
"""Repetitions that Student's interval needs. With two its quantile is 12.7, so that of regret could span from the mean
divided by 330,000 to the mean times 330,000; with three, by 74; with five, by 16."""
Floats: TypeAlias = NDArray[np.float64]
Quantity: TypeAlias = Literal["nonnegative", "share", "any"]
RANGES: Mapping[Quantity, tuple[float, float]] = {
    "nonnegative": (0.0, np.inf),
    "share": (0.0, 1.0),
    "any": (-np.inf, np.inf),
}


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
    """95 % interval of the mean; `nan` where repetitions do not tell how far others would be from it."""
    relative: float
    """The mean divided by the largest mean in the table, like the paper's relative regret."""
    relative_low: float
    relative_high: float
    """95 % interval of that ratio, paired over the seeds that both have finished; `nan` for the largest mean."""
    milliseconds: float
    """Wall time a round, over all repetitions, without drawing the instance, imports and compilation."""
    one_trajectory: bool = False
    """Whether all finished repetitions, two or more, are equal plays on one instance: they count as one."""


def mean_interval(values: Floats, quantity: Quantity = "nonnegative") -> tuple[Floats, Floats]:
    """Compute the 95 % Student interval of a mean over the first axis, on a scale on which it stays in its range.

        g^-1(g(mean) -+ g'(mean) t_{0.975, n-1} s / sqrt(n)),  g(y) = log y, log(y / (1 - y)), or y

    Args:
        values: `(n, ...)`, one row a repetition.
        quantity: "nonnegative", such as regret; "share", which lies between 0 and 1; or "any", such as rewards.

    Returns:
        Lower and upper end, each of shape `(...)`; `nan` if n < `LEAST`, or where all n numbers are equal, which do not
        show how far others would be from them.

    Raises:
        ValueError: if a number is outside of its range, by more than rounding.
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
    """Compute the 95 % interval of mean(values) / mean(reference), paired: of the same seeds, in the same order.

        ratio exp(-+ t_{0.975, n-1} s / sqrt(n)),  s the standard deviation of  y_i / mean(y) - x_i / mean(x)

    Args:
        values: y, `(n,)`, numbers >= 0.
        reference: x, the same.

    Returns:
        Lower and upper end; `nan` if n < `LEAST`, if a mean is 0, or if neither varies.
    """
    means = (values.mean(), reference.mean()) if len(values) >= LEAST else (0.0, 0.0)
    if min(means) <= 0 or (np.ptp(values) == 0 and np.ptp(reference) == 0):
        return float("nan"), float("nan")
    factor = np.exp(float(_half_width(values / means[0] - reference / means[1])))
    return float(means[0] / means[1] / factor), float(means[0] / means[1] * factor)


def paired_interval(differences: pd.Series[float], seed: int = 0) -> tuple[float, float, float]:
    """Return the mean over environments of differences by (environment, seed), and its 95 % interval.

    It is a bootstrap over environments, which differ more than repetitions on one of them do; or Student's interval
    over repetitions, if there is one environment: `nan` if there are fewer than `LEAST`.
    """
    by_environment = differences.groupby(level="environment").mean()
    mean = float(by_environment.mean())
    if len(by_environment) > 1:
        return mean, *bootstrap_interval(np.asarray(by_environment, np.float64), seed)
    half = float(_half_width(np.asarray(differences, np.float64)))
    return mean, mean - half, mean + half


def bootstrap_interval(values: Floats, seed: int = 0) -> tuple[float, float]:
    """Compute the 95 % percentile bootstrap interval of a mean, which lies in the range of the values.

    It is for a dozen values or more, such as environments, tasks or pools; of few values it is too narrow.

    Returns:
        Lower and upper end; the mean twice if all values are equal.
    """
    if len(values) < 2 or np.ptp(values) == 0:
        return float(values.mean()), float(values.mean())
    result = stats.bootstrap((values,), np.mean, method="percentile", batch=500, rng=np.random.default_rng(seed))
    return float(result.confidence_interval.low), float(result.confidence_interval.high)


def _half_width(values: Floats) -> Floats:
    """Return t_{0.975, n-1} s / sqrt(n) over the first axis; `nan` if n < `LEAST`."""
    if len(values) < LEAST:
        return np.full(values.shape[1:], np.nan)
    return np.asarray(stats.t.ppf(0.975, len(values) - 1) * stats.sem(values, axis=0))


def summarize(
    results: pd.DataFrame, measure: str = "total_regret", quantity: Quantity = "nonnegative"
) -> list[AgentSummary]:
    """Summarise each agent, lowest mean first; agents without a number come last.

    Args:
        results: of `load_results`, on one environment if intervals are wanted.
        measure: a column of numbers, such as R_T or `final_simple_regret`.
        quantity: its range, as for `mean_interval`; ratios have intervals where it is "nonnegative".
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
