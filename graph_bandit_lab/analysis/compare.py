"""Compare two folders, on equal environments and seeds: has a change made an agent better or worse?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from graph_bandit_lab.analysis.statistics import paired_interval
from graph_bandit_lab.storage.reading import load_results


@dataclass(frozen=True)
class Change:
    """The change of one agent between two folders, on the trials that both hold."""

    label: str
    trials: int
    before: float
    """Mean of the measure, such as R_T, in the first folder."""
    after: float
    """Its mean in the second."""
    difference: float
    """Mean over environments of (after - before), each divided by its mean before (if that is 0, by 1)."""
    low: float
    high: float
    """95 % interval of the difference."""

    @property
    def verdict(self) -> str:
        """Return what the interval shows."""
        if self.high < 0:
            return "better"
        return "worse" if self.low > 0 else "no difference seen"


def compare_folders(first: str | Path, second: str | Path, measure: str = "total_regret") -> list[Change]:
    """Compare every agent that two folders share, trial by trial.

    Args:
        first: folder of results, before the change.
        second: folder of results, after it.
        measure: a column of `load_results` in which less is better: R_T, or `final_simple_regret`.

    Returns:
        One change for each agent, by label; none if one of the folders has not recorded the measure.

    Raises:
        FileNotFoundError, ValueError: as `load_results`; ValueError also if the folders share no finished trial.
    """
    trial = ["label", "environment_key", "seed"]
    tables = [load_results(folder, arrays=()).set_index(trial) for folder in (first, second)]
    if pd.concat([table["total_regret"] for table in tables], axis=1).dropna().empty:
        raise ValueError(f"Expected trials that {first} and {second} share. No agent, environment and seed is in both.")
    both = pd.DataFrame(dict(zip(("before", "after"), (table[measure] for table in tables), strict=True))).dropna()
    both["scale"] = both.groupby(level=trial[:2])["before"].transform("mean").replace(0.0, 1.0)
    changes = []
    for label, rows in both.groupby(level="label"):
        scaled = ((rows["after"] - rows["before"]) / rows["scale"]).rename_axis(["label", "environment", "seed"])
        means = float(rows["before"].mean()), float(rows["after"].mean())
        changes.append(Change(str(label), len(rows), *means, *paired_interval(scaled)))
    return changes
