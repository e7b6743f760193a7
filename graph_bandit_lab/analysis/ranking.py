"""Rank agents over tasks, and find where each of them fails. No torch: reports import this."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from graph_bandit_lab.analysis.statistics import bootstrap_interval
from graph_bandit_lab.design.plan import Task
from graph_bandit_lab.storage.reading import without_mark

RANDOM = "random"
HALFWAY = 0.5
Reasons = Mapping[tuple[str, str], str]  # by task and agent


@dataclass(frozen=True, kw_only=True)
class Rank:
    """One agent over the tasks of a sweep."""

    label: str
    mean: float
    """Mean over tasks of its place among the agents by mean R_T, 1 the lowest; agents without R_T share the last."""
    low: float
    high: float
    """95 % bootstrap interval of that mean, over tasks."""
    behind: float
    """Mean over tasks of its place less that of the agent of the lowest mean; 0 for that agent."""
    behind_low: float
    behind_high: float
    """Its 95 % bootstrap interval, paired over tasks."""
    wins: int
    """Tasks where it has the lowest mean R_T."""
    failures: Mapping[str, float]
    """Tasks on which it fails, worst first, with its R_T divided by that of random play; `nan` where it has none."""


@dataclass(frozen=True, eq=False)
class Ranking:
    """Agents that have played all tasks, and the tasks. Tables have a row for each task, a column for each agent."""

    ranks: tuple[Rank, ...]
    """Lowest mean first."""
    random: str
    """Label of random play, against which failing is judged."""
    regret: pd.DataFrame
    """Mean R_T over trials; `nan` where an agent cannot play, or has not finished."""
    shares: pd.DataFrame
    """The same, divided by that of random play; empty if `random` has not played all tasks."""
    simple_regret: pd.DataFrame
    """Mean simple regret after the last round; `nan` where graphs change."""
    milliseconds: pd.DataFrame
    """Time of a round."""
    trials: Mapping[str, int]
    """Repetitions that all agents have finished, by task."""
    hard: Mapping[str, str]
    """What makes each task hard."""
    reasons: Mapping[tuple[str, str], str]
    """Why an agent has no R_T, by task and agent: it cannot play there, or has not finished. It is last there."""
    unranked: Mapping[str, str]
    """Agents that have finished less than most others, with what they have: "1 of 3 tasks", "2 of 5 repetitions"."""
    left_out: Mapping[str, str]
    """Tasks that do not count, each with the reason."""


def tasks_of(results: pd.DataFrame) -> tuple[Task, ...]:
    """Return the tasks of results, also of those that were stored as Parquet; none of a table without any."""
    return tuple(
        Task(**{**listed, "refused": tuple(map(tuple, listed["refused"]))}) for listed in results.attrs.get("tasks", ())
    )


def name_tasks(results: pd.DataFrame, tasks: Sequence[Task]) -> dict[str, tuple[str, Task]]:
    """Return the tasks that have results, by key, with a name: its horizon tells those of one name apart."""
    firsts = results.drop_duplicates("environment_key").set_index("environment_key")["environment"]
    played = [task for task in tasks if task.environment_key in firsts.index]
    several = Counter(task.name for task in played)
    names: dict[str, tuple[str, Task]] = {}
    for task in played:
        mark = f" (T = {firsts[task.environment_key]['horizon']})" if several[task.name] > 1 else ""
        taken = [name for name, _ in names.values()]
        again = f" [{taken.count(task.name + mark) + 1}]" if task.name + mark in taken else ""
        names[task.environment_key] = task.name + mark + again, task
    return names


def rank_agents(results: pd.DataFrame, tasks: Sequence[Task]) -> Ranking | None:
    """Rank agents by their mean R_T on each task.

    Left out are tasks on which fewer than half of the agents have played, agents that have not played all of the
    others, agents that lack repetitions which most have finished (one newcomer does not take data from all others), and
    tasks of which no repetition was finished by all that remain. An agent that cannot play a task, or of which a
    repetition has diverged or failed there, is last there. An agent fails on a task if that is so, or if its R_T is
    nearer to that of random play than to the lowest.

    Args:
        results: of `load_results`.
        tasks: `tasks_of(results)`.

    Returns:
        The ranking; None if there are no two tasks, or no two agents that have played them.
    """
    named = name_tasks(results, tasks)
    rows = results[results["environment_key"].isin(named)].copy()
    rows["task"] = rows["environment_key"].map({key: name for key, (name, _) in named.items()})
    labels = list(dict.fromkeys(map(str, rows["label"])))
    reasons = _reasons(rows, [(name, task) for name, task in named.values()], labels)
    played = {*zip(rows["task"].map(str), rows["label"].map(str), strict=True)} | reasons.keys()
    names = [
        name for name, _ in named.values() if sum((name, label) in played for label in labels) >= HALFWAY * len(labels)
    ]
    count = Counter(label for name, label in played if name in names)
    ranked = [label for label in labels if count[label] == len(names)]
    unranked = {label: f"{count[label]} of {len(names)} tasks" for label in labels if label not in ranked}
    left_out = {name: "played by fewer than half of the agents" for name, _ in named.values() if name not in names}
    rows = rows[rows["label"].isin(ranked) & rows["task"].isin(names)]
    short = _find_short(rows, reasons)
    ranked = [label for label in ranked if label not in short]
    rows = rows[rows["label"].isin(ranked)]
    trials = {name: _common(rows[rows["task"] == name], "total_regret", reasons) for name in names}
    left_out |= {name: "no repetition that all have finished" for name in names if not trials[name]}
    names = [name for name in names if trials[name]]
    if len(names) < 2 or len(ranked) < 2:
        return None
    rows = rows[rows["task"].isin(names)]
    regret = _means(rows, "total_regret", names, ranked, reasons)
    places = regret.fillna(np.inf).rank(axis=1)
    order = [str(label) for label in places.mean().sort_values(kind="stable").index]
    regret, places = regret[order], places[order]
    random = next(iter(rows.loc[rows["agent"] == RANDOM, "label"]), RANDOM)  # the name itself if nobody has played it
    of_random = _regret_of_random(rows, regret, random)
    shares = regret.div(of_random, axis=0) if random in order else regret.iloc[:0]
    sums = rows.groupby(["task", "label"])[["round_time", "rounds"]].sum()
    times = (1000 * sums["round_time"] / sums["rounds"].clip(lower=1)).unstack()
    fails = _fails(regret, random, of_random)
    return Ranking(
        ranks=tuple(_rank(label, places, order[0], regret, shares, fails) for label in order),
        random=random,
        regret=regret,
        shares=shares,
        simple_regret=_means(rows, "final_simple_regret", names, order, reasons),
        milliseconds=times.reindex(index=names, columns=order),
        trials={name: trials[name] for name in names},
        hard={name: task.hard for name, task in named.values() if name in names},
        reasons={(name, label): text for (name, label), text in reasons.items() if name in names and label in order},
        unranked=unranked | short,
        left_out=left_out,
    )


def _reasons(
    rows: pd.DataFrame, tasks: Sequence[tuple[str, Task]], labels: Sequence[str]
) -> dict[tuple[str, str], str]:
    """Return why agents are last on tasks."""
    reasons: dict[tuple[str, str], str] = {}
    statuses: dict[tuple[str, str], Counter[str]] = {}
    for task, label, status in zip(rows["task"], rows["label"], rows["status"], strict=True):
        statuses.setdefault((str(task), str(label)), Counter())[str(status)] += 1
    for name, described in tasks:
        refused = dict(described.refused)  # by the labels that were given
        for label in labels:
            given = label if label in refused else without_mark(label)
            if given in refused and (name, label) not in statuses:
                reasons[name, label] = f"cannot play: {refused[given]}"
    for pair, counts in statuses.items():
        texts = [f"{counts[bad]} of {counts.total()} {bad}" for bad in ("diverged", "failed") if counts[bad]]
        if texts:
            reasons[pair] = ", ".join(texts)
    return reasons


def _find_short(rows: pd.DataFrame, reasons: Reasons) -> dict[str, str]:
    """Return agents that lack repetitions which more than half have finished, with how many of these they have.

    Where fewer than half have all of them, as with machines that played other seeds, nobody is short.
    """
    short: dict[str, tuple[int, int]] = {}
    for task, group in rows.groupby("task", sort=False):
        seeds: dict[str, set[int]] = {}
        for label, seed in zip(group["label"].map(str), group["seed"], strict=True):
            if (str(task), label) not in reasons:
                seeds.setdefault(label, set()).add(int(seed))
        count = Counter(seed for finished in seeds.values() for seed in finished)
        usual = {seed for seed, players in count.items() if players > HALFWAY * len(seeds)}
        lacking = {label: len(finished & usual) for label, finished in seeds.items() if not usual <= finished}
        if len(lacking) <= HALFWAY * len(seeds):
            for label, has in lacking.items():
                short[label] = min(short.get(label, (has, len(usual))), (has, len(usual)))
    return {label: f"{has} of {of} repetitions" for label, (has, of) in short.items()}


def _regret_of_random(rows: pd.DataFrame, regret: pd.DataFrame, random: str) -> pd.Series[float]:
    """Return the mean R_T of random play on each task; where a repetition of it has failed, that of the others."""
    finished = rows[rows["label"] == random].groupby("task")["total_regret"].mean()
    means = regret[random] if random in regret else pd.Series(np.nan, regret.index)
    return means.fillna(finished.reindex(regret.index)).astype(float)


def _trials(rows: pd.DataFrame, measure: str, reasons: Reasons) -> pd.DataFrame:
    """Return a measure on one task: a row for each seed that all players have finished, a column for each of them."""
    without = rows[[(task, label) not in reasons for task, label in zip(rows["task"], rows["label"], strict=True)]]
    return without.pivot_table(index="seed", columns="label", values=measure, aggfunc="first").dropna()


def _common(rows: pd.DataFrame, measure: str, reasons: Reasons) -> int:
    return len(_trials(rows, measure, reasons))


def _means(
    rows: pd.DataFrame,
    measure: str,
    names: Sequence[str],
    labels: Sequence[str],
    reasons: Reasons,
) -> pd.DataFrame:
    means = {name: _trials(rows[rows["task"] == name], measure, reasons).mean() for name in names}
    return pd.DataFrame(means).T.reindex(index=list(names), columns=list(labels)).astype(float)


def _fails(regret: pd.DataFrame, random: str, of_random: pd.Series[float]) -> pd.DataFrame:
    """Return where agents fail: their R_T is nearer to that of random play than to the lowest, or unknown."""
    if random not in regret:
        return regret.isna()
    lowest = regret.min(axis=1)
    halfway = lowest + HALFWAY * (of_random - lowest)
    fails = regret.gt(halfway, axis=0)
    fails[random] = False
    return fails | regret.isna()


def _rank(
    label: str, places: pd.DataFrame, first: str, regret: pd.DataFrame, shares: pd.DataFrame, fails: pd.DataFrame
) -> Rank:
    behind = places[label] - places[first]
    low, high = bootstrap_interval(places[label].to_numpy(np.float64))
    behind_low, behind_high = bootstrap_interval(behind.to_numpy(np.float64))
    failed = [str(name) for name in fails.index[fails[label]]]
    share = {name: float(shares[label].get(name, np.nan)) for name in failed}
    return Rank(
        label=label,
        mean=float(places[label].mean()),
        low=low,
        high=high,
        behind=float(behind.mean()),
        behind_low=behind_low,
        behind_high=behind_high,
        wins=int((regret[label] == regret.min(axis=1)).sum()),
        failures=dict(sorted(share.items(), key=lambda item: -item[1] if item[1] == item[1] else float("-inf"))),
    )
