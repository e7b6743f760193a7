"""Compare the regret of agents with that of uniform play, which is computed, not played."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from graph_bandit_lab.analysis.statistics import Floats
from graph_bandit_lab.storage.reading import environment_of, without_mark


def compare_with_chance(results: pd.DataFrame) -> pd.DataFrame:
    """Divide R_T by the expected regret of uniform play on the same graphs, and test whether an agent is worse.

        ratio = R_T / (T (max mu - mean mu))

    A one-sided Student's test asks whether the mean ratio is above 1; Holm's correction is over all tests.

    Args:
        results: of `load_results`, on graphs that are drawn: random ones, or those of a kind.

    Returns:
        A row for each environment key and label: `mean`, `error` (the standard error of the mean), `count` of the
        finished repetitions, and `worse`. Environments with equal means have no ratio, and no row.

    Raises:
        FileNotFoundError, ValueError: if graphs are read from a file.
    """
    rows: Any = results.drop_duplicates(["environment_key", "seed"]).to_dict("records")
    chance = {}
    for row in rows:
        graphs = row["environment"]["graphs"]
        world: Any = environment_of(row, graphs and without_mark(graphs)).unwrapped
        means = world.mean_rewards
        chance[row["environment_key"], row["seed"]] = row["horizon"] * (means.max() - means.mean())
    pairs = zip(results["environment_key"], results["seed"], strict=True)
    ratios = results["total_regret"] / pd.Series([chance[pair] or np.nan for pair in pairs], results.index)
    groups = ratios.dropna().groupby([results["environment_key"], results["label"]], sort=False)
    table = groups.agg(["mean", "sem", "count"]).rename(columns={"sem": "error"})
    excess = (table["mean"] - 1) / table["error"].clip(lower=1e-12)
    return table.assign(worse=reject(stats.t.sf(excess, table["count"] - 1)))


def reject(p_values: Floats, level: float = 0.05) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return which hypotheses are rejected, at this probability of any false rejection      [Holm 1979].

    Args:
        p_values: `(m,)`; `nan` is not rejected.
        level: of all tests together.
    """
    order = np.argsort(p_values)  # `nan` last
    passed = p_values[order] * np.arange(len(order), 0, -1) <= level
    rejected = np.zeros(len(order), np.bool_)
    rejected[order] = np.logical_and.accumulate(passed)
    return rejected
