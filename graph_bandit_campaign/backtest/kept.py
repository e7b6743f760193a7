"""Keep finished plays in a folder, so that the same command continues after an interruption."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np
import pandas as pd

from graph_bandit_campaign.backtest.plays import Play, Task
from graph_bandit_campaign.backtest.table import Table
from graph_bandit_campaign.text import shield
from graph_bandit_env.storage import replace_file
from graph_bandit_lab.storage import software_versions

RESULTS, SETTINGS, PAGE = "results.csv", "backtest.json", "backtest.html"
FORECAST = "probability_of_beating_best"
COLUMNS = ("player", "batch", "start", "measurement", "id", "value", "best_so_far", "top_ten_found", FORECAST)


class Saved(msgspec.Struct):
    """What the plays of a folder depend on."""

    question: dict[str, str | int]
    """The table, by its digest, and how it is played."""
    algorithms: dict[str, int]
    """Version of the algorithm of each agent, by its name."""
    versions: dict[str, str]
    """Versions of the software."""
    settings: object = None
    """All settings, for people to read."""


class Kept:
    """The plays of a folder.

    Args:
        folder: the folder, which exists.
        table: the table that is played.
        seed: seed of the backtest.
        algorithms: version of the algorithm of each agent, by its name.

    Raises:
        ValueError: if the folder holds another backtest, one by other versions of the software, or files that no
            backtest wrote.
    """

    plays: dict[Task, Play]
    """Finished plays."""

    def __init__(self, folder: Path, table: Table, seed: int, algorithms: Mapping[str, int]) -> None:
        self.folder, self.table, self.plays = folder, table, {}
        self._texts = dict[Task, str]()
        question: dict[str, str | int] = {
            "table": table.digest(),
            "direction": "maximize" if table.maximize else "minimize",
        }
        question |= {"start": table.start, "budget": table.budget, "seed": seed}
        self.saved = Saved(question, dict(algorithms), software_versions())
        if (folder / SETTINGS).exists():
            self._check(folder / SETTINGS)
            self.plays = self._read(folder / RESULTS) if (folder / RESULTS).is_file() else {}
        elif (folder / RESULTS).exists():
            raise ValueError(f"Expected no {folder / RESULTS} but that of a backtest. Choose another --out.")

    def write_settings(self, more: Mapping[str, object]) -> None:
        """Write what the plays depend on, and more for people to read."""
        self.saved.settings = more
        content = json.dumps(msgspec.to_builtins(self.saved, enc_hook=str), indent=1) + "\n"
        replace_file(self.folder / SETTINGS, content.encode())

    def add(self, task: Task, finished: Play) -> None:
        """Keep a finished play; the file is replaced at once."""
        self.plays[task] = finished
        self.write()

    def write(self, order: Sequence[Task] = ()) -> None:
        """Write the results of all plays, those of `order` first."""
        tasks = dict.fromkeys((*(task for task in order if task in self.plays), *self.plays))
        replace_file(self.folder / RESULTS, self._content(list(tasks)))

    def _content(self, tasks: Sequence[Task]) -> bytes:
        for task in tasks:
            if task not in self._texts:
                self._texts[task] = self._frame_of(task).to_csv(index=False, header=False, lineterminator="\n")
        return "".join([",".join(COLUMNS) + "\n", *(self._texts[task] for task in tasks)]).encode()

    def _frame_of(self, task: Task) -> pd.DataFrame:
        finished = self.plays[task]
        values, ids = self.table.values[finished.order], self.table.molecules.ids
        best = (np.maximum if self.table.maximize else np.minimum).accumulate(values)
        found, names = self.table.count_best(finished.order), [shield(ids[k]) for k in finished.order.tolist()]
        place = (task.player, task.batch, task.start + 1, np.arange(1, len(values) + 1))
        return pd.DataFrame(
            dict(zip(COLUMNS, (*place, names, values, best, found, finished.probabilities), strict=True))
        )

    def _check(self, path: Path) -> None:
        """Refuse the plays of another backtest, and learn the versions of the agents that only they have."""
        try:
            before = msgspec.json.decode(path.read_bytes(), type=Saved)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise ValueError(f"Expected {path} to be of a backtest. Got: {error}. Choose another --out.") from error
        now = self.saved
        algorithms = {**now.algorithms, **before.algorithms}
        differ = [f"another {name}" for name, value in now.question.items() if before.question.get(name) != value]
        for made, new in ((before.versions, now.versions), (algorithms, now.algorithms)):
            differ += [
                f"{name} {made.get(name)}, now {number}" for name, number in new.items() if made.get(name) != number
            ]
        if differ:
            raise ValueError(
                f"Expected {path.parent} to hold plays of the same backtest. It was made with {', '.join(differ)}. "
                "Choose another --out, or delete the folder."
            )
        now.algorithms = algorithms

    def _read(self, path: Path) -> dict[Task, Play]:
        index_of = {shield(identifier): k for k, identifier in enumerate(self.table.molecules.ids)}
        plays = {}
        try:
            for key, rows in read_results(path).groupby(["player", "batch", "start"], sort=False):
                order = np.array([index_of[name] for name in rows["id"]], np.int64)
                if not len(set(order.tolist())) == len(order) == self.table.budget:
                    raise ValueError(f"the rows of {key} are not a whole play")
                first = rows.iloc[0]
                task = Task(first["player"], int(first["batch"]), int(first["start"]) - 1)
                plays[task] = Play(order, rows[FORECAST].to_numpy(np.float64))
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(
                f"Expected {path} as a backtest wrote it. Got: {error!r}. Delete the folder, or choose another --out."
            ) from error
        return plays


def read_results(path: Path) -> pd.DataFrame:
    """Return the table of results, a row for each measurement."""
    types, exactly = (
        {"id": str, "player": str, "batch": int, "start": int},
        {FORECAST: lambda text: float(text or "nan")},
    )
    return pd.read_csv(path, dtype=types, keep_default_na=False, converters=exactly)
