"""Tables of what agents had paid, and found, by the end of some rounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from graph_bandit_lab.analysis.statistics import Quantity, summarize
from graph_bandit_lab.formats import format_interval
from graph_bandit_lab.reports.findings import DIGITS, SIMPLE_REGRET
from graph_bandit_lab.reports.sweep_report import environment_names

MEASURES: Mapping[str, tuple[str, int, Quantity]] = {  # column of arrays, its name in a table, digits, and what it is
    "cumulative_regret": ("R_t", DIGITS["total_regret"], "nonnegative"),
    "simple_regret": ("simple regret", DIGITS[SIMPLE_REGRET], "nonnegative"),
    "best_found": ("best found", DIGITS[SIMPLE_REGRET], "any"),
}


def tables_of_rounds(results: pd.DataFrame, rounds: Sequence[int]) -> list[list[tuple[str, ...]]]:
    """Return a table of means for each measure that results have: its header, and a row for each agent.

    Args:
        results: of `load_results`, with the arrays `regret`, `simple_regret` and `best_found`.
        rounds: t, from 1 to the number of rounds of each finished repetition.

    Raises:
        ValueError: if a repetition has fewer rounds, or a round is below 1.
    """
    shortest = results.loc[results["status"] == "finished", "rounds"].min()
    if pd.isna(shortest) or not rounds or not all(1 <= t <= shortest for t in rounds):
        least = 0 if pd.isna(shortest) else int(shortest)
        raise ValueError(f"Expected rounds from 1 to {least}, the shortest repetition. Got {[*rounds]}.")
    results = results.assign(cumulative_regret=results["regret"].map(lambda regret: regret.cumsum()))
    names = environment_names(results)
    tables = []
    for column, (name, digits, quantity) in MEASURES.items():
        measured = results[results[column].map(lambda values: values is not None and len(values) > 0)]
        rows: list[tuple[str, ...]] = [(f"mean {name} [95 % interval]", *(f"t = {t}" for t in rounds))]
        for key, group in measured.groupby("environment_key", sort=False):
            if len(names) > 1:
                rows.append((names[str(key)], *[""] * len(rounds)))
            rows += _rows_of(group, column, rounds, digits, quantity)
        tables += [rows] * (len(rows) > 1)
    return tables


def _rows_of(
    results: pd.DataFrame, column: str, rounds: Sequence[int], digits: int, quantity: Quantity
) -> list[tuple[str, ...]]:
    """Return a row for each agent, lowest R_t after the last of the rounds first."""
    order = [summary.label for summary in summarize(_at(results, "cumulative_regret", rounds[-1]), "value")]
    summaries = [{row.label: row for row in summarize(_at(results, column, t), "value", quantity)} for t in rounds]
    return [(label, *(format_interval(row[label], digits) for row in summaries)) for label in order]


def _at(results: pd.DataFrame, column: str, t: int) -> pd.DataFrame:
    """Return results with the value of an array after t rounds; `nan` where it has fewer."""
    arrays = results[column]
    return results.assign(value=[array[t - 1] if len(array) >= t else float("nan") for array in arrays])
