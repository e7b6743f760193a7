"""The work of `graph-bandit backtest`: replay a finished table, and say whether suggestions would have helped."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
import pandas as pd

from graph_bandit_campaign.backtest.page import print_summary, render_page
from graph_bandit_campaign.backtest.plays import ALONE, RANDOM, Play, Task, play, play_tasks
from graph_bandit_campaign.backtest.settings import BASELINES, FOREST, SIMILARITY, BacktestSettings
from graph_bandit_campaign.backtest.summary import summarize
from graph_bandit_campaign.backtest.table import Table, read_table
from graph_bandit_campaign.model.learner import Learner, default_agent
from graph_bandit_campaign.text import shield
from graph_bandit_env.extras import is_installed
from graph_bandit_env.storage import find_file, replace_file
from graph_bandit_lab import AgentSpec
from graph_bandit_lab.storage import software_versions, sole_driver

RESULTS, SETTINGS, PAGE = "results.csv", "backtest.json", "backtest.html"
FORECAST = "probability_of_beating_best"
KEY = ["player", "batch", "start"]
COLUMNS = (*KEY, "measurement", "id", "value", "best_so_far", "top_ten_found", FORECAST)
AGENT = "version of "  # begins the name of what the plays of one agent alone depend on
TAUGHT = "The other assays teach each agent that is not said to be without them."
NO_FOREST = "The random forest is left out: it needs scikit-learn (pip install 'graph-bandit-env[backtest]')."


class Saved(msgspec.Struct):
    """What the plays of a folder depend on."""

    question: dict[str, str | int]
    """The table, by its digest, how it is played, and versions of the software and of the agents."""
    settings: object = None
    """All settings, for people to read."""


class Kept:
    """The plays of a folder, so that the same command continues after an interruption.

    Args:
        folder: the folder, which exists.
        table: the table that is played.
        question: what the plays depend on.

    Raises:
        ValueError: if the folder holds another backtest, one by other versions of the software, or files that no
            backtest wrote.
    """

    plays: dict[Task, Play]
    """Finished plays."""
    question: dict[str, str | int]
    """What they depend on, the versions of all agents that have played included."""

    def __init__(self, folder: Path, table: Table, question: dict[str, str | int]) -> None:
        self.folder, self.table, self.plays, self.question = folder, table, {}, question
        self._texts = dict[Task, str]()
        if (folder / SETTINGS).exists():
            self._read()
        elif (folder / RESULTS).exists():
            raise ValueError(f"Expected no {folder / RESULTS} but that of a backtest. Choose another --out.")

    def keep(self, task: Task, finished: Play) -> None:
        """Keep a finished play in memory."""
        self.plays[task] = finished
        self._texts[task] = self.frame_of(task).to_csv(index=False, header=False, lineterminator="\n")

    def write(self, first: Sequence[Task] = ()) -> None:
        """Write the results of all plays, those of `first` first; the file is replaced at once."""
        tasks = dict.fromkeys((*(task for task in first if task in self.plays), *self.plays))
        content = "".join([",".join(COLUMNS) + "\n", *(self._texts[task] for task in tasks)])
        replace_file(self.folder / RESULTS, content.encode())

    def frame_of(self, task: Task) -> pd.DataFrame:
        """Return the results of a play, a row for each measurement."""
        finished = self.plays[task]
        values, ids = self.table.values[finished.order], self.table.molecules.ids
        best = (np.maximum if self.table.maximize else np.minimum).accumulate(values)
        found, names = self.table.count_best(finished.order), [shield(ids[k]) for k in finished.order.tolist()]
        place = (task.player, task.batch, task.start + 1, np.arange(1, len(values) + 1))
        return pd.DataFrame(
            dict(zip(COLUMNS, (*place, names, values, best, found, finished.probabilities), strict=True))
        )

    def _read(self) -> None:
        """Read finished plays, and the versions of the agents that only they have."""
        try:
            before = msgspec.json.decode((self.folder / SETTINGS).read_bytes(), type=Saved).question
        except (msgspec.MsgspecError, RecursionError) as error:
            raise ValueError(
                f"Expected {self.folder / SETTINGS} of a backtest. Got: {error}. Choose another --out."
            ) from error
        differ = [
            f"{name} {before.get(name)}, now {value}"
            for name, value in self.question.items()
            if before.get(name, value if name.startswith(AGENT) else None) != value
        ]
        if differ:
            raise ValueError(
                f"Expected {self.folder} to hold plays of the same backtest. It was made with {', '.join(differ)}. "
                "Choose another --out, or delete the folder."
            )
        self.question = before | self.question
        if not (self.folder / RESULTS).exists():
            return
        index_of = {shield(identifier): k for k, identifier in enumerate(self.table.molecules.ids)}
        try:
            results = pd.read_csv(self.folder / RESULTS, dtype=str, keep_default_na=False)
            for _, rows in results.groupby(KEY, sort=False):
                order = np.array([index_of[name] for name in rows["id"]], np.int64)
                if not len(np.unique(order)) == len(order) == self.table.budget:
                    raise ValueError("rows that are not a whole play")
                first = rows.iloc[0]
                told = np.array([float(text or "nan") for text in rows[FORECAST]])
                self.keep(Task(first["player"], int(first["batch"]), int(first["start"]) - 1), Play(order, told))
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(
                f"Expected {self.folder / RESULTS} as a backtest wrote it. Got: {error!r}. Delete the folder, or "
                "choose another --out."
            ) from error


def run_backtest(settings: BacktestSettings) -> pd.DataFrame:
    """Replay a finished table of molecules, and write results, settings and page into a folder.

    The plays depend on the table, the settings and the seed alone, not on the number of processes. Those that the
    folder holds are not played again.

    Returns:
        The results: a row for each measurement of each player from each start.

    Raises:
        ValueError, OSError: if a table cannot be read or is too small, an agent is unknown or does not learn from
            other assays that are given, or the folder holds another backtest.
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
    for agent in sorted({task.agent for task in (*advisors, *others)} - {SIMILARITY, FOREST}):
        question[AGENT + agent] = Learner(table.molecules, agent, sources=table.sources).algorithm
    by_chance = [Task(RANDOM, 1, start) for start in range(settings.starts)]
    tasks = [task._replace(start=start) for start in range(settings.starts) for task in (*advisors, *others)]
    with sole_driver(settings.out):
        kept = Kept(settings.out, table, question)
        saved = Saved(kept.question, dataclasses.asdict(settings))
        content = json.dumps(msgspec.to_builtins(saved, enc_hook=str), indent=1) + "\n"
        replace_file(settings.out / SETTINGS, content.encode())
        for task in by_chance:
            kept.keep(task, play(table, task, settings.seed))
        missing = [task for task in tasks if task not in kept.plays]
        there = len(tasks) - len(missing)
        batches = " and of ".join(map(str, settings.n))
        print(
            f"{len(table.values):,} molecules with {settings.target}; {settings.starts} random starts of "
            f"{table.start}, {table.budget} measurements in all, in batches of {batches}.",
            *notes,
            f"{there} of {len(tasks)} plays are kept from before." if there else f"{len(tasks)} plays.",
            sep="\n",
            flush=True,
        )
        for task, finished in play_tasks(table, missing, settings.seed, settings.workers):
            kept.keep(task, finished)
            kept.write()
        kept.write([*tasks, *by_chance])
        summary = summarize(table, settings.seed, settings.starts, kept.plays, advisors, others)
        replace_file(settings.out / PAGE, render_page(summary, settings, notes).encode())
    print_summary(summary)
    print("\n" + "\n".join(str(settings.out / name) for name in (PAGE, RESULTS, SETTINGS)))
    return pd.concat([kept.frame_of(task) for task in (*tasks, *by_chance)], ignore_index=True)


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
    alone = [task._replace(player=task.player + ALONE) for task in advisors] if table.sources else []
    baselines = [name for name in settings.baselines if name != "forest" or is_installed("sklearn")]
    others = [Task(BASELINES[name], batch, 0) for name in baselines for batch in settings.n]
    others = [*alone, *(task for task in others if task not in advisors)]
    remarks = ", ".join(table.remarks)
    notes = [f"{remarks[:1].upper()}{remarks[1:]}."] if remarks else []
    notes += [TAUGHT] if table.sources else []
    notes += [NO_FOREST] if len(baselines) < len(settings.baselines) else []
    return advisors, others, notes
