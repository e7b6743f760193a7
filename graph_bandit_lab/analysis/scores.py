"""Scores over many environments, as the paper defines them. No torch: reports import this."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from graph_bandit_lab.analysis.paper import agents_of_the_paper
from graph_bandit_lab.analysis.statistics import paired_interval

TOP = 2  # ranks that count as top


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


@dataclass(frozen=True, eq=False)
class Field:
    """Agents that have played on the same environments, and their trials."""

    trials: pd.DataFrame
    """R_T, or another measure: a row for each trial (environment key, seed) that all have finished, a column for each
    agent."""
    planned: int
    """Trials, finished or not."""
    absent: tuple[str, ...]
    """Agents that have finished no trial, and have no column."""
    paper: Mapping[str, str]
    """The six agents of the paper by label, if all of them have columns. Regret is then relative to theirs."""

    @property
    def reference(self) -> list[str]:
        """Return the agents that regret is relative to: the largest of theirs is the unit."""
        return list(self.paper) or [str(label) for label in self.trials]


def fields_of(results: pd.DataFrame, measure: str = "total_regret") -> list[Field]:
    """Split results into fields. Only agents that have played on the same environments can be compared.

    Args:
        results: of `load_results`.
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


def score_agents(trials: pd.DataFrame, reference: Sequence[str] | None = None) -> list[Score]:
    """Score agents over environments.

        relative regret = mean over environments of (mean over repetitions of R_T) / (that of the largest agent)
        top rate = share of trials in which the agent is among the two lowest R_T      [Wu & Amini 2024, Table 1]

    Args:
        trials: of a `Field`.
        reference: agents that give the largest regret. Each other agent is ranked with these alone. None: all agents.

    Returns:
        The scores, lowest relative regret first; an empty list if there are no trials.
    """
    if trials.empty:
        return []
    reference = [str(label) for label in trials] if reference is None else list(reference)
    means = trials.groupby(level="environment", sort=False).mean()
    relative = means.div(means[reference].max(axis=1).replace(0.0, 1.0), axis=0)
    lower = pd.DataFrame({label: trials[reference].lt(trials[label], axis=0).sum(axis=1) for label in trials})
    top = lower < TOP
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
    """Two agents on the same trials: the difference of their relative regret, and its 95 % interval."""

    first: str
    second: str
    difference: float
    """Relative regret of the first less that of the second."""
    low: float
    high: float


def compare_agents(
    trials: pd.DataFrame, first: str, second: str, reference: Sequence[str] | None = None, seed: int = 0
) -> Comparison:
    """Compare two agents, paired.

        mean over environments of (mean over repetitions of the difference of R_T) / (largest agent's mean R_T)

    Args:
        trials: of a `Field`, at least one.
        first: an agent.
        second: another.
        reference: agents that give the largest regret; None: all of them.
        seed: of the bootstrap.

    Returns:
        Negative where the first is better.
    """
    units = [str(label) for label in trials] if reference is None else list(reference)
    largest = trials[units].groupby(level="environment").transform("mean").max(axis=1).replace(0.0, 1.0)
    return Comparison(first, second, *paired_interval((trials[first] - trials[second]) / largest, seed))


def exceptions_to(trials: pd.DataFrame, best: str, reference: Sequence[str]) -> dict[str, str]:
    """Return the agent of lowest mean R_T, by environment key, where it is not the agent that is best overall."""
    means = trials[list(reference)].groupby(level="environment", sort=False).mean()
    lower = means[means.min(axis=1) < means[best]]
    return {str(environment): str(label) for environment, label in lower.idxmin(axis=1).items()}


def mean_regrets(fields: Sequence[Field]) -> pd.DataFrame:
    """Return the means over the trials of the fields: a row for each environment, a column for each agent."""
    return pd.concat([field.trials.groupby(level="environment", sort=False).mean() for field in fields])
