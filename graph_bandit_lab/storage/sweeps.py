"""Keep the plan of what is being played next to its results, for those who watch."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain
from typing import TYPE_CHECKING

from graph_bandit_lab.design.tasks import Task

if TYPE_CHECKING:
    from graph_bandit_lab.design.plan import SweepPlan

# Of one row.
SWEEPS = """
CREATE TABLE sweeps (
    title TEXT NOT NULL,
    started TEXT NOT NULL,  -- UTC, ISO 8601
    ended TEXT,             -- the same; NULL while it is played, and for good if it was stopped before its end
    plan TEXT NOT NULL      -- JSON: environments, and the seeds of each agent on each of them
)
"""
# Of all tasks that were ever planned.
TASKS = """
CREATE TABLE tasks (
    environment TEXT PRIMARY KEY,  -- its key
    name TEXT NOT NULL,
    hard TEXT NOT NULL,
    refused TEXT NOT NULL          -- JSON: agents that cannot play it, each with the reason
)
"""


@dataclass(frozen=True)
class PlannedCell:
    """The repetitions of one agent on one environment."""

    settings_hash: str
    label: str
    environment: int
    """Index among the environments of the plan."""
    seeds: frozenset[int]


@dataclass(frozen=True)
class StoredPlan:
    """The run or sweep that was begun last."""

    title: str
    started: datetime
    ended: datetime | None
    """None while it is played, and for good if it was stopped before its end."""
    environments: tuple[Mapping[str, object], ...]
    cells: tuple[PlannedCell, ...]
    names: tuple[str, ...] = ()
    """Names of the environments, if all of them are tasks."""


def begin_sweep(connection: sqlite3.Connection, plan: SweepPlan) -> None:
    """Store a plan, in place of the one before it."""
    environments: dict[str, tuple[int, object]] = {}
    cells: dict[str, tuple[str, int, list[int]]] = {}
    for repetition in plan.repetitions:
        index, _ = environments.setdefault(repetition.key.environment_key, (len(environments), repetition.environment))
        *_, seeds = cells.setdefault(repetition.key.settings_hash, (repetition.label, index, []))
        seeds.append(repetition.seed)
    tasks = {task.environment_key: task.name for task in plan.tasks}
    names = [tasks[key] for key in environments] if environments.keys() <= tasks.keys() else []
    content = {
        "environments": [environment for _, environment in environments.values()],
        "cells": cells,
        "names": names,
    }
    connection.execute("DELETE FROM sweeps")
    connection.execute(
        "INSERT INTO sweeps (title, started, plan) VALUES (?, ?, ?)", (plan.title, _now(), json.dumps(content))
    )
    _store_tasks(connection, plan.tasks)


def end_sweep(connection: sqlite3.Connection) -> None:
    """Store that all was played."""
    connection.execute("UPDATE sweeps SET ended = ?", (_now(),))


def read_plan(connection: sqlite3.Connection) -> StoredPlan | None:
    """Return the plan; None if nothing was ever planned, or its text is damaged."""
    row = connection.execute("SELECT title, started, ended, plan FROM sweeps").fetchone()
    try:
        title, started, ended, text = row
        content = json.loads(text)
        return StoredPlan(
            title,
            datetime.fromisoformat(started),
            None if ended is None else datetime.fromisoformat(ended),
            tuple(content["environments"]),
            tuple(
                PlannedCell(settings_hash, label, index, frozenset(seeds))
                for settings_hash, (label, index, seeds) in content["cells"].items()
            ),
            tuple(content["names"]),
        )
    except (TypeError, ValueError, KeyError, RecursionError):
        return None


def read_tasks(connection: sqlite3.Connection) -> tuple[Task, ...]:
    """Return all tasks that were ever planned; none where the table is damaged."""
    rows = connection.execute("SELECT environment, name, hard, refused FROM tasks ORDER BY rowid").fetchall()
    try:
        tasks = tuple(
            Task(name=name, hard=hard, environment_key=key, refused=tuple(json.loads(refused).items()))
            for key, name, hard, refused in rows
        )
    except (TypeError, ValueError, AttributeError, RecursionError):
        return ()
    texts = [(task.name, task.hard, task.environment_key, *chain(*task.refused)) for task in tasks]
    return tasks if all(isinstance(text, str) for text in chain(*texts)) else ()


def take_tasks(connection: sqlite3.Connection, tasks: Iterable[Task]) -> None:
    """Add tasks of other folders. The name of a task that is known stays, and so do the reasons of agents."""
    kept = {task.environment_key: task for task in read_tasks(connection)}
    for task in tasks:
        first = kept.get(task.environment_key, task)
        refused = dict(task.refused) | dict(first.refused)
        kept[task.environment_key] = replace(first, refused=tuple(refused.items()))
    _store_tasks(connection, kept.values())


def _store_tasks(connection: sqlite3.Connection, tasks: Iterable[Task]) -> None:
    """Add tasks to those of earlier plans, which keep the agents that cannot play them."""
    earlier = {task.environment_key: dict(task.refused) for task in read_tasks(connection)}
    for task in tasks:
        refused = earlier.get(task.environment_key, {}) | dict(task.refused)
        connection.execute(
            "INSERT INTO tasks VALUES (?, ?, ?, ?) ON CONFLICT (environment) DO UPDATE SET name = excluded.name, "
            "hard = excluded.hard, refused = excluded.refused",
            (task.environment_key, task.name, task.hard, json.dumps(refused)),
        )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
