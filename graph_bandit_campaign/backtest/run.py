"""The work of `graph-bandit backtest`: replay a finished table, and say whether suggestions would have helped."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path

import msgspec
import numpy as np
import pandas as pd

from graph_bandit_campaign.backtest.page import print_summary, render_page, summarize
from graph_bandit_campaign.backtest.plays import RANDOM, Play, Task, play, play_admitted
from graph_bandit_campaign.backtest.settings import BASELINES, SIMILARITY, BacktestSettings
from graph_bandit_campaign.backtest.table import Table, read_table
from graph_bandit_campaign.model.learner import Learner, default_agent
from graph_bandit_campaign.text import shield
from graph_bandit_campaign.workers import results_of
from graph_bandit_env.storage import find_file, replace_file
from graph_bandit_lab import AgentSpec
from graph_bandit_lab.storage import software_versions, sole_driver

RESULTS, SETTINGS, PAGE = "results.csv", "backtest.json", "backtest.html"
FORECAST = "probability_of_beating_best"
COLUMNS = ("player", "batch", "start", "measurement", "id", "value", "best_so_far", "top_ten_found", FORECAST)
KEPT = "Finished plays are kept: give the same command with fewer --workers."


class Saved(msgspec.Struct):
    """The finished plays of a folder, so that the same command continues after an interruption."""

    question: dict[str, str | int]
    """The digest of the table, the settings that change plays, and the versions of software and agents."""
    settings: object = None
    """All settings, for people to read."""
    plays: list[tuple[Task, list[int], list[float | None]]] = []
    """Molecules in the order measured, and what was told of them before."""


def read_saved(folder: Path, question: Mapping[str, str | int]) -> Saved:
    """Return what a folder holds; nothing but the question if it is new.

    Args:
        folder: the folder.
        question: what plays depend on now; the versions of agents that only the folder has are added.

    Raises:
        ValueError: if it holds another backtest, one by other versions of the software, or files that no backtest
            wrote.
    """
    path = folder / SETTINGS
    if not path.exists():
        if (folder / RESULTS).exists():
            raise ValueError(f"Expected no {folder / RESULTS} but that of a backtest. Choose another --out.")
        return Saved(dict(question))
    try:
        saved = msgspec.json.decode(path.read_bytes(), type=Saved)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise ValueError(f"Expected {path} of a backtest. Got: {error}. Choose another --out.") from error
    pairs = [(name, saved.question.get(name, value), value) for name, value in question.items()]
    differ = [f"{name} {before}, now {value}" for name, before, value in pairs if before != value]
    if differ:
        text = f"Expected {folder} to hold plays of the same backtest. It was made with {', '.join(differ)}."
        raise ValueError(f"{text} Choose another --out, or delete the folder.")
    return Saved(saved.question | dict(question), plays=saved.plays)


def frame_of(table: Table, task: Task, finished: Play) -> pd.DataFrame:
    """Return the results of a play, a row for each measurement."""
    values, ids = table.values[finished.order], table.molecules.ids
    best = (np.maximum if table.maximize else np.minimum).accumulate(values)
    found, names = table.count_best(finished.order), [shield(ids[k]) for k in finished.order.tolist()]
    place = (task.player, task.batch, task.start + 1, np.arange(1, len(values) + 1))
    return pd.DataFrame(dict(zip(COLUMNS, (*place, names, values, best, found, finished.probabilities), strict=True)))


def run_backtest(settings: BacktestSettings) -> pd.DataFrame:
    """Replay a finished table of molecules, and write results, settings and page into a folder.

    The plays depend on the table, the settings and the seed alone, not on the number of processes. Those that the
    folder holds are not played again.

    Returns:
        The results: a row for each measurement of each player from each start.

    Raises:
        ValueError, OSError: if a table cannot be read or is too small, an agent is unknown, or the folder
            holds another backtest.
        ImportError: if a package that reads the table is not installed.
    """
    AgentSpec.admit(settings.agents)
    for name in (PAGE, RESULTS, SETTINGS):
        find_file(settings.out / name)
    table = read_table(settings)
    advisors, others, notes = choose_players(settings, table)
    question: dict[str, str | int] = {
        "table": table.digest(),
        "direction": "maximize" if table.maximize else "minimize",
        "start": table.start,
        "budget": table.budget,
        "seed": settings.seed,
        **software_versions(),
    }
    for agent in sorted({task.player for task in (*advisors, *others)} - {SIMILARITY}):
        question[f"version of {agent}"] = Learner(table.molecules, agent).algorithm
    tasks = [task._replace(start=start) for start in range(settings.starts) for task in (*advisors, *others)]
    with sole_driver(settings.out):
        saved = read_saved(settings.out, question)
        saved.settings = dataclasses.asdict(settings)
        plays = {task: Play(np.array(order), np.array(told, np.float64)) for task, order, told in saved.plays}
        missing, batches = [task for task in tasks if task not in plays], " and of ".join(map(str, settings.n))
        what = f"{len(table.values):,} molecules with {settings.target}, {settings.starts} starts of {table.start}"
        print(f"{what}, {table.budget} measurements in all, in batches of {batches}.", *notes, sep="\n")
        print(f"{len(tasks):,} plays, {len(tasks) - len(missing):,} of them kept from before.", flush=True)
        replace_file(settings.out / SETTINGS, msgspec.json.encode(saved, enc_hook=str))
        calls, name = ((table, task, settings.seed) for task in missing), "`{1.player}`"
        workers = settings.workers, None
        played = results_of(play_admitted, calls, workers, name, KEPT, "plays", len(missing)) if missing else ()
        for task, finished in played:
            plays[task] = finished
            saved.plays.append((task, finished.order.tolist(), finished.probabilities.tolist()))
            replace_file(settings.out / SETTINGS, msgspec.json.encode(saved, enc_hook=str))
        by_chance = [Task(RANDOM, 1, start) for start in range(settings.starts)]
        plays |= {task: play(table, task, settings.seed) for task in by_chance}
        results = pd.concat([frame_of(table, task, plays[task]) for task in (*tasks, *by_chance)], ignore_index=True)
        replace_file(settings.out / RESULTS, results.to_csv(index=False, lineterminator="\n").encode())
        summary = summarize(table, settings.seed, settings.starts, plays, advisors, others)
        replace_file(settings.out / PAGE, render_page(summary, settings, notes).encode())
    print_summary(summary)
    print("\n" + "\n".join(str(settings.out / name) for name in (PAGE, RESULTS, SETTINGS)))
    return results


def choose_players(settings: BacktestSettings, table: Table) -> tuple[list[Task], list[Task], list[str]]:
    """Return the agents, what they are compared with (each with its batch, from start 0), and remarks for people.

    Args:
        settings: settings of the command.
        table: the table.

    Raises:
        ValueError: if an agent is unknown, or does not use the user's columns.
    """
    advisors = [
        Task(agent, batch, 0)
        for batch in settings.n
        for agent in settings.agents or (default_agent(table.molecules, batch),)
    ]
    others = [Task(BASELINES[name], batch, 0) for name in settings.baselines for batch in settings.n]
    others = [task for task in others if task not in advisors]
    remarks = ", ".join(table.remarks)
    notes = [f"{remarks[:1].upper()}{remarks[1:]}."] if remarks else []
    return advisors, others, notes
