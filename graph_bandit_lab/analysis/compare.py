"""Compare two folders, on equal environments and seeds: has a change made an agent better or worse?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from graph_bandit_lab.analysis.scores import paired_interval
from graph_bandit_lab.storage.reading import load_results


@dataclass(frozen=True)
class Change:
    """The change of one agent between two folders, on the trials that both hold."""

    label: str
    trials: int
    before: float
    """Mean R_T in the first folder."""
    after: float
    """Mean R_T in the second."""
    difference: float
    """Mean over environments of (after - before), each divided by its mean R_T before."""
    low: float
    high: float
    """95 % bootstrap interval of the difference."""

    @property
    def verdict(self) -> str:
        """Return what the interval shows."""
        if self.high < 0:
            return "better"
        return "worse" if self.low > 0 else "no difference seen"


def compare_folders(first: str | Path, second: str | Path) -> list[Change]:
    """Compare every agent that two folders share, trial by trial.

    Args:
        first: folder of results, before the change.
        second: folder of results, after it.

    Returns:
        One change for each agent, by label.

    Raises:
        FileNotFoundError, ValueError: as `load_results`; ValueError also if the folders share no finished trial.
    """
    before, after = (_totals(load_results(folder)) for folder in (first, second))
    both = pd.DataFrame({"before": before, "after": after}).dropna()
    if both.empty:
        raise ValueError(f"Expected trials that {first} and {second} share. No agent, environment and seed is in both.")
    both["scale"] = both.groupby(level=["label", "environment"])["before"].transform("mean").replace(0.0, 1.0)
    changes = []
    for label, rows in both.groupby(level="label"):
        scaled = ((rows["after"] - rows["before"]) / rows["scale"]).droplevel("label")
        means = float(rows["before"].mean()), float(rows["after"].mean())
        changes.append(Change(str(label), len(rows), *means, *paired_interval(scaled)))
    return changes


def _totals(results: pd.DataFrame) -> pd.Series[float]:
    """Return R_T by label, environment and seed."""
    by_key = results.assign(environment=results["environment_key"])
    return by_key.set_index(["label", "environment", "seed"])["total_regret"]
