"""Work out how far a run or a sweep is, and how long the rest will take. No torch."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import pandas as pd

from graph_bandit_lab.design.keys import to_json
from graph_bandit_lab.design.names import describe_environment, name_environments
from graph_bandit_lab.storage.following import Snapshot, StoredRepetition
from graph_bandit_lab.storage.sweeps import StoredPlan

State = Literal["begun", "played", "finished", "stopped", "unknown"]


@dataclass(frozen=True, eq=False)
class Block:
    """The agents on one environment."""

    name: str
    """The settings in which the environment differs from the others; empty if it is the only one."""
    planned: Mapping[str, int]
    """Number of repetitions of each agent; an empty dict if it is not known."""
    repetitions: tuple[StoredRepetition, ...]
    """Those that are stored."""

    @property
    def latest(self) -> float:
        """Return when the last of them was stored, in seconds of the epoch; 0 if none was."""
        return max((repetition.created.timestamp() for repetition in self.repetitions), default=0.0)


@dataclass(frozen=True, eq=False)
class Standing:
    """How far a run or a sweep is."""

    title: str
    state: State
    """Whether it is "played", "finished", or "stopped" before its end. Where no plan is stored, it has "begun" if a
    process plays, and is "unknown" otherwise. A plan without an end counts as played where no process can be seen."""
    seen: bool
    """Whether it can be seen if a process plays."""
    planned: int | None
    """Number of repetitions; None if it is not known."""
    done: int
    """Stored ones among them, whatever became of them."""
    diverged: int
    failed: int
    damaged: int
    """Repetitions in the file that are not what was written, of this plan or of another."""
    elsewhere: int
    """Stored repetitions that are not of the plan."""
    per_minute: float
    """Repetitions played in a minute since it began; `nan` if none was yet."""
    seconds_left: float
    """Time that the missing repetitions will take; `nan` if it cannot be told."""
    seconds_since_last: float
    """Time since the last repetition was stored, or since it began; `nan` if neither is known."""
    blocks: tuple[Block, ...]
    """In the order of the plan."""


def stand(snapshot: Snapshot, now: datetime) -> Standing:
    """Work out how far a folder is.

    Args:
        snapshot: what the folder holds.
        now: the time, with its zone.
    """
    plan, stored = snapshot.plan, snapshot.repetitions
    if plan is None:
        blocks, mine = _blocks_of_results(stored), list(stored)
    else:
        wanted = {(cell.settings_hash, seed) for cell in plan.cells for seed in cell.seeds}
        mine = [repetition for repetition in stored if (repetition.settings_hash, repetition.seed) in wanted]
        blocks = _blocks_of_plan(plan, mine)
    state = _state(snapshot)
    statuses = [repetition.status for repetition in mine]
    played = [repetition for repetition in mine if plan is not None and repetition.created >= plan.started]
    seconds = _seconds_of_play(plan, played, now, state)
    times = [repetition.created for repetition in mine] + ([plan.started] if plan else [])
    return Standing(
        title=plan.title if plan else _title(blocks, stored),
        state=state,
        seen=snapshot.driven is not None,
        planned=None if plan is None else len(wanted),
        done=len(mine),
        diverged=statuses.count("diverged"),
        failed=statuses.count("failed"),
        damaged=snapshot.damaged,
        elsewhere=len(stored) - len(mine),
        per_minute=60 * len(played) / seconds if played else math.nan,
        seconds_left=_seconds_left(plan, mine, played, seconds) if plan and state == "played" else math.nan,
        seconds_since_last=max(0.0, (now - max(times)).total_seconds()) if times else math.nan,
        blocks=tuple(blocks),
    )


def _state(snapshot: Snapshot) -> State:
    plan = snapshot.plan
    if plan is None or plan.ended is not None:
        return "begun" if snapshot.driven else "unknown" if plan is None else "finished"
    return "stopped" if snapshot.driven is False else "played"


def _seconds_of_play(plan: StoredPlan | None, played: Sequence[StoredRepetition], now: datetime, state: State) -> float:
    """Return the seconds since a plan was begun, or of all of it if it is over; 1 at least: times are whole seconds."""
    if plan is None or not played:
        return math.nan
    last = max(repetition.created for repetition in played)
    until = now if state == "played" else plan.ended or last
    return max(1.0, (until - plan.started).total_seconds())


def _seconds_left(
    plan: StoredPlan, mine: Sequence[StoredRepetition], played: Sequence[StoredRepetition], seconds: float
) -> float:
    """Return the time of the missing repetitions, each as long as stored ones of its settings, its agent, or any were.

    As many are played at a time as were so far: their times together, over the time that has passed.
    """
    done = {(repetition.settings_hash, repetition.seed) for repetition in mine}
    missing = [cell for cell in plan.cells for seed in cell.seeds if (cell.settings_hash, seed) not in done]
    timed = [repetition for repetition in mine if repetition.status != "failed"]
    times = pd.DataFrame([(repetition.settings_hash, repetition.label, repetition.wall_time) for repetition in timed])
    at_a_time = sum(repetition.wall_time for repetition in played) / seconds
    if times.empty or not at_a_time > 0:
        return math.nan
    by_settings, by_label = (times.groupby(column)[2].mean().to_dict() for column in (0, 1))
    mean = times[2].mean()
    estimates = (by_settings.get(cell.settings_hash, by_label.get(cell.label, mean)) for cell in missing)
    return float(sum(estimates)) / at_a_time


def _blocks_of_plan(plan: StoredPlan, stored: Sequence[StoredRepetition]) -> list[Block]:
    cells = {cell.settings_hash: cell for cell in plan.cells}
    rows: list[list[StoredRepetition]] = [[] for _ in plan.environments]
    planned: list[dict[str, int]] = [{} for _ in plan.environments]
    for cell in plan.cells:
        earlier = planned[cell.environment].get(cell.label, 0)  # of another grid, with other settings
        planned[cell.environment][cell.label] = earlier + len(cell.seeds)
    for repetition in stored:
        cell = cells[repetition.settings_hash]
        rows[cell.environment].append(repetition._replace(label=cell.label))
    names = plan.names or name_environments(plan.environments)
    return [Block(*parts) for parts in zip(names, planned, map(tuple, rows), strict=True)]


def _blocks_of_results(stored: Sequence[StoredRepetition]) -> list[Block]:
    groups: dict[str, list[StoredRepetition]] = {}
    for repetition in stored:
        groups.setdefault(to_json(repetition.environment), []).append(repetition)
    names = name_environments([rows[0].environment for rows in groups.values()])
    return [Block(name, {}, tuple(rows)) for name, rows in zip(names, groups.values(), strict=True)]


def _title(blocks: Sequence[Block], stored: Sequence[StoredRepetition]) -> str:
    if len(blocks) == 1:
        return describe_environment(stored[0].environment)
    return f"{len(blocks)} environments" if blocks else ""
