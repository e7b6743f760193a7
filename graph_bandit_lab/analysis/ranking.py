"""Rank agents over tasks, and find the tasks on which each fails, without importing torch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from graph_bandit_lab.analysis.statistics import bootstrap_interval
from graph_bandit_lab.storage.reading import without_mark

RANDOM = "random"
HALFWAY = 0.5
Reasons: TypeAlias = dict[tuple[str, str], str]
"""Texts by task and agent."""
Task: TypeAlias = dict[str, Any]
"""A `design.Task` as a dict, because Parquet stores it as one."""


@dataclass(frozen=True, kw_only=True)
class Rank:
    """Rank of one agent over the tasks of a sweep."""

    label: str
    mean: float
    """Mean over tasks of its rank by mean R_T (1 is the lowest). Agents without R_T share the last rank."""
    low: float
    high: float
    """95 % bootstrap interval of that mean, over tasks."""
    behind: float
    """Mean over tasks of its rank minus the rank of the agent with the lowest mean, for which it is 0."""
    behind_low: float
    behind_high: float
    """Its 95 % bootstrap interval, paired over tasks."""
    wins: int
    """Number of tasks on which it has the lowest mean R_T."""
    failures: Mapping[str, float]
    """Tasks on which it fails, worst first, with its R_T divided by that of random play (`nan` without R_T)."""


@dataclass(frozen=True, eq=False)
class Ranking:
    """Agents that have played all tasks, and the tasks. Tables have one row per task and one column per agent."""

    ranks: tuple[Rank, ...]
    """Lowest mean first."""
    random: str
    """Label of random play, the reference for failures."""
    regret: pd.DataFrame
    """Mean R_T over trials, `nan` if an agent cannot play or has not finished."""
    shares: pd.DataFrame
    """`regret` divided by that of random play. Empty if `random` has not played all tasks."""
    simple_regret: pd.DataFrame
    """Mean simple regret after the last round, `nan` if graphs change."""
    milliseconds: pd.DataFrame
    """Time per round."""
    trials: Mapping[str, int]
    """Repetitions that all agents have finished, by task."""
    hard: Mapping[str, str]
    """Difficulty of each task."""
    reasons: Reasons
    """Reason why an agent has no R_T and is ranked last, by task and agent: it cannot play, or has not finished."""
    unranked: Mapping[str, str]
    """Agents that have finished fewer trials than most, with their counts: "1 of 3 tasks", "2 of 5 repetitions"."""
    left_out: Mapping[str, str]
    """Excluded tasks, each with the reason."""


def name_tasks(results: pd.DataFrame) -> dict[str, tuple[str, Task]]:
    """Return the tasks that have results, by key, with unique names. Tasks of the same name show their horizon."""
    firsts = results.drop_duplicates("environment_key").set_index("environment_key")["environment"]
    played = [task for task in results.attrs.get("tasks", ()) if task["environment_key"] in firsts.index]
    several = Counter(task["name"] for task in played)
    names: dict[str, tuple[str, Task]] = {}
    for task in played:
        horizon = firsts[task["environment_key"]]["horizon"]
        marked = task["name"] + (f" (T = {horizon})" if several[task["name"]] > 1 else "")
        taken = [name.split(" [")[0] for name, _ in names.values()].count(marked)
        names[task["environment_key"]] = marked + (f" [{taken + 1}]" if taken else ""), task
    return names


def rank_agents(results: pd.DataFrame) -> Ranking | None:
    """Rank agents by their mean R_T on each task.

    The ranking excludes tasks that fewer than half of the agents have played, agents that have not played all other
    tasks, agents that lack repetitions that most have finished (so that a new agent removes no data of others), and
    tasks without a repetition that all remaining agents have finished. An agent that cannot play a task, or has a
    diverged or failed repetition on it, is ranked last there. An agent fails on a task if it is ranked last for such a
    reason, or if its R_T is nearer to that of random play than to the lowest.

    Args:
        results: from `load_results`, with the tasks in `attrs`.

    Returns:
        The ranking, or None if there are fewer than two tasks, or fewer than two agents that have played them.
    """
    named = name_tasks(results)
    rows = results[results["environment_key"].isin(named)]
    rows = rows.assign(task=rows["environment_key"].map({key: name for key, (name, _) in named.items()}))
    labels = list(dict.fromkeys(map(str, rows["label"])))
    reasons = _reasons(rows, list(named.values()), labels)
    played = {*zip(rows["task"], rows["label"], strict=True)} | reasons.keys()
    names = [
        name for name, _ in named.values() if sum((name, label) in played for label in labels) >= HALFWAY * len(labels)
    ]
    left_out = {name: "played by fewer than half of the agents" for name, _ in named.values() if name not in names}
    count = Counter(label for name, label in played if name in names)
    unranked = {label: f"{count[label]} of {len(names)} tasks" for label in labels if count[label] < len(names)}
    rows = rows[rows["task"].isin(names) & ~rows["label"].isin(unranked)]
    sound = rows[np.array([pair not in reasons for pair in zip(rows["task"], rows["label"], strict=True)], np.bool_)]
    unranked |= _find_short(sound)
    rows, sound = (table[~table["label"].isin(unranked)] for table in (rows, sound))
    ranked = [label for label in labels if label not in unranked]
    trials = {name: _trials(sound, name) for name in names}
    left_out |= {name: "no repetition that all have finished" for name in names if trials[name].empty}
    names = [name for name in names if name not in left_out]
    if len(names) < 2 or len(ranked) < 2:
        return None
    rows = rows[rows["task"].isin(names)]
    regret = pd.DataFrame({name: trials[name].mean() for name in names}).T.reindex(columns=ranked)
    places = regret.fillna(np.inf).rank(axis=1)
    order = [str(label) for label in places.mean().sort_values(kind="stable").index]
    regret, places = regret[order], places[order]
    random = next(iter(rows.loc[rows["agent"] == RANDOM, "label"]), RANDOM)  # or the name itself
    fails, shares = regret.isna(), regret.iloc[:0]
    if random in order:  # if a repetition of random play has failed, the others give its regret
        finished = rows[rows["label"] == random].groupby("task")["total_regret"].mean()
        of_random, lowest = regret[random].fillna(finished), regret.min(axis=1)
        shares = regret.div(of_random, axis=0)
        others = regret.drop(columns=random)
        fails |= others.gt(lowest + HALFWAY * (of_random - lowest), axis=0).reindex(columns=order, fill_value=False)
    sums = rows.groupby(["task", "label"])[["round_time", "rounds"]].sum()
    simple = {name: _trials(sound, name, "final_simple_regret").mean() for name in names}
    return Ranking(
        ranks=tuple(_rank(label, places, order[0], regret, shares, fails) for label in order),
        random=random,
        regret=regret,
        shares=shares,
        simple_regret=pd.DataFrame(simple).T.reindex(columns=order).astype(float),
        milliseconds=(1000 * sums["round_time"] / sums["rounds"].clip(lower=1)).unstack().loc[names, order],
        trials={name: len(trials[name]) for name in names},
        hard={name: task["hard"] for name, task in named.values() if name in names},
        reasons={(name, label): text for (name, label), text in reasons.items() if name in names and label in order},
        unranked=unranked,
        left_out=left_out,
    )


def _reasons(rows: pd.DataFrame, tasks: Sequence[tuple[str, Task]], labels: Sequence[str]) -> Reasons:
    """Return the reasons why agents are last on tasks."""
    reasons: Reasons = {}
    for pair, statuses in rows.groupby(["task", "label"], sort=False)["status"]:
        counts, (name, label) = Counter(statuses), map(str, pair)
        texts = [f"{counts[bad]} of {counts.total()} {bad}" for bad in ("diverged", "failed") if counts[bad]]
        if texts:
            reasons[name, label] = ", ".join(texts)
    played = {*zip(rows["task"], rows["label"], strict=True)}
    for name, task in tasks:
        refused = dict(map(tuple, task["refused"]))  # by the original labels
        for label in labels:
            reason = refused.get(label, refused.get(without_mark(label)))
            if reason is not None and (name, label) not in played:
                reasons[name, label] = f"cannot play: {reason}"
    return reasons


def _find_short(sound: pd.DataFrame) -> dict[str, str]:
    """Return agents that lack repetitions that more than half have finished, with the number that they have.

    If fewer than half have all of them, as with machines that played different seeds, the result is empty.
    """
    short: dict[str, tuple[int, int]] = {}
    for _, group in sound.groupby("task", sort=False):
        seeds = group.groupby("label")["seed"].agg(set)
        count = Counter(seed for finished in seeds for seed in finished)
        usual = {seed for seed, players in count.items() if players > HALFWAY * len(seeds)}
        lacking = {str(label): len(finished & usual) for label, finished in seeds.items() if not usual <= finished}
        if len(lacking) <= HALFWAY * len(seeds):
            for label, has in lacking.items():
                short[label] = min(short.get(label, (has, len(usual))), (has, len(usual)))
    return {label: f"{has} of {of} repetitions" for label, (has, of) in short.items()}


def _trials(sound: pd.DataFrame, name: str, measure: str = "total_regret") -> pd.DataFrame:
    """Return a measure on one task, with a row per seed that all agents have finished and a column per agent."""
    rows = sound[sound["task"] == name]
    return rows.pivot_table(index="seed", columns="label", values=measure, aggfunc="first").dropna()


def _rank(
    label: str, places: pd.DataFrame, first: str, regret: pd.DataFrame, shares: pd.DataFrame, fails: pd.DataFrame
) -> Rank:
    behind = places[label] - places[first]
    low, high = bootstrap_interval(places[label].to_numpy(np.float64))
    behind_low, behind_high = bootstrap_interval(behind.to_numpy(np.float64))
    failed = {str(name): float(shares[label].get(name, np.nan)) for name in fails.index[fails[label]]}
    return Rank(
        label=label,
        mean=float(places[label].mean()),
        low=low,
        high=high,
        behind=float(behind.mean()),
        behind_low=behind_low,
        behind_high=behind_high,
        wins=int((regret[label] == regret.min(axis=1)).sum()),
        failures=dict(sorted(failed.items(), key=lambda item: -item[1] if item[1] == item[1] else float("-inf"))),
    )
