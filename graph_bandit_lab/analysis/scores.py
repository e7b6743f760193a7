"""Score agents over many environments as Wu & Amini (2024) do, against chance, and between two folders.

This module does not import torch, because reports import it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from graph_bandit_lab.analysis.statistics import Floats, paired_interval
from graph_bandit_lab.storage.reading import environment_of, load_results, without_mark

TOP = 2  # ranks that count as top


@dataclass(frozen=True)
class PublishedScore:
    """A row of Table 1: 192 Erdős–Rényi environments, T = 1000, ten repetitions."""

    relative: float
    """Relative regret."""
    top_rate: float
    """Share of trials among the two lowest R_T."""


TABLE_1: Mapping[str, PublishedScore] = {
    "gnn-ts": PublishedScore(0.595, 0.984),
    "gnn-pe": PublishedScore(0.690, 0.906),
    "gnn-ucb": PublishedScore(0.762, 0.094),
    "nn-pe": PublishedScore(0.891, 0.016),
    "nn-ts": PublishedScore(0.943, 0.0),
    "nn-ucb": PublishedScore(0.994, 0.0),
}
_ALGORITHM = {  # with `_RULES` for the rule of each agent; the fit may be the paper's or a number of steps
    "network": "paper",
    "node_count": "largest",
    "covariance": "diagonal",
    "gradient": "all",
    "gradients_at": "current",
    "penalty": "constant",
    "penalty_center": "zero",
    "start": "initial",
    "standardize": False,
}
_RULES = {"sampling": "independent", "elimination": "running"}


@dataclass(frozen=True)
class Score:
    """Scores of one agent over the environments of a sweep."""

    label: str
    relative: float
    """Mean over environments of the mean R_T over repetitions, divided by the largest of all agents."""
    relative_sd: float
    """Standard deviation of that ratio over environments."""
    top_rate: float
    """Share of trials in which the agent is among the two lowest R_T."""
    environments: int
    trials: int


@dataclass(frozen=True, eq=False)
class Field:
    """Agents that have played on the same environments, and their trials."""

    trials: pd.DataFrame
    """R_T, or another measure, with a row per trial (environment key, seed) that all have finished and a column per
    agent."""
    planned: int
    """Number of trials, finished or not."""
    absent: tuple[str, ...]
    """Agents without a finished trial, which have no column."""
    paper: Mapping[str, str]
    """The six agents of the paper by label, if all of them have columns. Regret is then relative to theirs."""

    @property
    def reference(self) -> list[str]:
        """Return the agents whose largest mean regret is the unit of relative regret."""
        return list(self.paper) or [str(label) for label in self.trials]


def agents_of_the_paper(results: pd.DataFrame) -> dict[str, str]:
    """Find the six agents of the paper among results.

    Args:
        results: from `load_results`.

    Returns:
        Their names by label, or an empty dict unless each of the six played the paper's algorithm under exactly one
        label.
    """
    firsts = results.drop_duplicates("label")
    names = {
        str(label): str(agent)
        for label, agent, settings in zip(firsts["label"], firsts["agent"], firsts["agent_settings"], strict=True)
        if agent in TABLE_1 and all(settings.get(name) == value for name, value in _ALGORITHM.items())
        if all(settings.get(name, value) == value for name, value in _RULES.items())
    }
    return names if sorted(names.values()) == sorted(TABLE_1) else {}


def fields_of(results: pd.DataFrame, measure: str = "total_regret") -> list[Field]:
    """Split results into fields. Only agents that have played on the same environments can be compared.

    Args:
        results: from `load_results`.
        measure: a column of numbers, such as R_T or `final_simple_regret`; trials without one count as not finished.

    Returns:
        The fields, in the order of their first results, which does not depend on the measure.
    """
    environment = results["environment_key"]
    players = results.groupby(environment)["label"].agg(frozenset)
    fields = []
    for agents in dict.fromkeys(environment.map(players)):
        rows = results[environment.map(players) == agents].assign(environment=environment)
        table = rows.set_index(["environment", "seed", "label"])[measure].unstack("label")
        order = [label for label in dict.fromkeys(rows["label"]) if table[label].notna().any()]
        absent = tuple(sorted(set(rows["label"]) - set(order)))
        trials = table[order].dropna() if order else table.iloc[:0, :0]
        fields.append(Field(trials, len(table), absent, agents_of_the_paper(rows[rows["label"].isin(order)])))
    return fields


def relative_regret(trials: pd.DataFrame, reference: Sequence[str] | None = None) -> pd.DataFrame:
    """Divide the R_T of each trial by the largest agent's mean R_T on the environment.

    Args:
        trials: from a `Field`: a row for each trial (environment, seed), a column for each agent.
        reference: agents among which regret is largest. None uses all of them.

    Returns:
        Scores of the same shape, grouped by environment. Lower is better.
    """
    units = trials if reference is None else trials[list(reference)]
    largest = units.groupby(level="environment").transform("mean").max(axis=1).replace(0.0, 1.0)
    return trials.div(largest, axis=0).sort_index(level="environment", sort_remaining=False)


def score_agents(trials: pd.DataFrame, reference: Sequence[str] | None = None) -> list[Score]:
    """Score agents over environments.

        relative regret = mean over environments of (mean over repetitions of R_T) / (that of the largest agent)
        top rate = share of trials in which the agent is among the two lowest R_T      [Wu & Amini 2024, Table 1]

    Args:
        trials: from a `Field`.
        reference: agents among which regret is largest. Others are ranked against these only. None uses all agents.

    Returns:
        The scores, lowest relative regret first, or an empty list if there are no trials.
    """
    if trials.empty:
        return []
    relative = relative_regret(trials, reference).groupby(level="environment", sort=False).mean()
    ranked = trials if reference is None else trials[list(reference)]
    top = pd.DataFrame({label: ranked.lt(trials[label], axis=0).sum(axis=1) for label in trials}) < TOP
    scores = [
        Score(
            label=str(label),
            relative=float(relative[label].mean()),
            relative_sd=float(relative[label].std(ddof=0)),
            top_rate=float(top[label].mean()),
            environments=len(relative),
            trials=len(trials),
        )
        for label in trials
    ]
    return sorted(scores, key=lambda score: score.relative)


@dataclass(frozen=True)
class Comparison:
    """Two agents on the same trials: the difference of their relative regret, and its 95 % interval."""

    difference: float
    """Relative regret of the first minus that of the second."""
    low: float
    high: float


def compare_agents(
    trials: pd.DataFrame, first: str, second: str, reference: Sequence[str] | None = None, seed: int = 0
) -> Comparison:
    """Compare two agents on paired trials.

        mean over environments of (mean over repetitions of the difference of R_T) / (largest agent's mean R_T)

    Args:
        trials: from a `Field`, at least one.
        first: an agent.
        second: another agent.
        reference: agents among which regret is largest. None uses all of them.
        seed: seed of the bootstrap.

    Returns:
        The comparison, negative if the first is better.
    """
    relative = relative_regret(trials, reference)
    return Comparison(*paired_interval(relative[first] - relative[second], seed))


def exceptions_to(trials: pd.DataFrame, best: str, reference: Sequence[str]) -> dict[str, str]:
    """Return the agent with the lowest mean R_T, by environment key, unless it is the agent that is best overall."""
    means = trials[list(reference)].groupby(level="environment", sort=False).mean()
    lower = means[means.min(axis=1) < means[best]]
    return {str(environment): str(label) for environment, label in lower.idxmin(axis=1).items()}


@dataclass(frozen=True)
class Change:
    """The change of one agent between two folders, on the trials that both hold."""

    label: str
    trials: int
    before: float
    """Mean of the measure, such as R_T, in the first folder."""
    after: float
    """Mean in the second folder."""
    difference: float
    """Mean over environments of (after - before), each divided by its mean before (if that is 0, by 1)."""
    low: float
    high: float
    """95 % interval of the difference."""

    @property
    def verdict(self) -> str:
        """Return the conclusion from the interval."""
        if math.isnan(self.low):
            return "too few repetitions"
        return "better" if self.high < 0 else "worse" if self.low > 0 else "no difference seen"


def compare_folders(first: str | Path, second: str | Path, measure: str = "total_regret") -> list[Change]:
    """Compare every agent that two folders share, trial by trial.

    Args:
        first: folder of results, before the change.
        second: folder of results, after it.
        measure: a column of `load_results` in which lower is better: R_T, or `final_simple_regret`.

    Returns:
        One change for each agent, by label, or none if a folder has not recorded the measure.

    Raises:
        FileNotFoundError, ValueError: as `load_results`. ValueError also if the folders share no finished trial.
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


def compare_with_chance(results: pd.DataFrame) -> pd.DataFrame:
    """Divide R_T by the expected regret of uniform play on the same graphs, and test for worse agents.

        ratio = R_T / (T (max mu - mean mu)),   averaged over contexts, if any

    A one-sided Student's t-test checks if the mean ratio is above 1, with Holm's correction over all tests.

    Args:
        results: from `load_results`, on random graphs or graphs of a kind.

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
        means = [world.mean_rewards[group] for group in world.offered_together()]
        chance[row["environment_key"], row["seed"]] = row["horizon"] * np.mean([m.max() - m.mean() for m in means])
    pairs = zip(results["environment_key"], results["seed"], strict=True)
    ratios = results["total_regret"] / pd.Series([chance[pair] or np.nan for pair in pairs], results.index)
    groups = ratios.dropna().groupby([results["environment_key"], results["label"]], sort=False)
    table = groups.agg(["mean", "sem", "count"]).rename(columns={"sem": "error"})
    excess = (table["mean"] - 1) / table["error"].clip(lower=1e-12)
    return table.assign(worse=reject(stats.t.sf(excess, table["count"] - 1)))


def reject(p_values: Floats, level: float = 0.05) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return a mask of the hypotheses rejected at a family-wise error rate      [Holm 1979].

    Args:
        p_values: `(m,)`. `nan` is not rejected.
        level: error rate of all tests together.
    """
    order = np.argsort(p_values)  # `nan` last
    passed = p_values[order] * np.arange(len(order), 0, -1) <= level
    rejected = np.zeros(len(order), np.bool_)
    rejected[order] = np.logical_and.accumulate(passed)
    return rejected
