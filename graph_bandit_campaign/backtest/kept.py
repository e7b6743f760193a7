"""Keep finished plays in a folder, so that the same command continues after an interruption."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from graph_bandit_campaign.backtest.plays import Play, Task, random_order
from graph_bandit_campaign.backtest.table import Table
from graph_bandit_campaign.file import digest_of, refuse_others
from graph_bandit_campaign.text import shield, to_csv
from graph_bandit_env.storage import replace_file
from graph_bandit_lab.storage import software_versions

RESULTS, SETTINGS, PAGE = "results.csv", "backtest.json", "backtest.html"
COLUMNS = (
    "player",
    "batch",
    "start",
    "measurement",
    "id",
    "value",
    "best_so_far",
    "top_ten_found",
    "probability_of_beating_best",
)


class Kept:
    """The plays of a folder.

    Args:
        folder: the folder, which exists.
        table: the table that is played.
        seed: seed of the backtest.
        algorithms: version of the algorithm of each agent, by its name.
        overwrite: whether results that were changed, or come from elsewhere, are replaced.

    Raises:
        ValueError: if the folder holds another backtest, one by other versions of the software, or files that no
            backtest wrote.
    """

    plays: dict[Task, Play]
    """Finished plays."""

    def __init__(
        self, folder: Path, table: Table, seed: int, algorithms: Mapping[str, int], overwrite: bool = False
    ) -> None:
        self.folder, self.table, self.seed = folder, table, seed
        self.question = {
            "table": table.digest(),
            "direction": "maximize" if table.maximize else "minimize",
            "start": table.start,
            "budget": table.budget,
            "seed": seed,
        }
        self.versions, self.algorithms = software_versions(), dict(algorithms)
        self.plays, self._texts = {}, dict[Task, bytes]()
        if (folder / RESULTS).exists() and not (folder / SETTINGS).exists():
            raise ValueError(f"Expected no {folder / RESULTS} but that of a backtest. Choose another --out.")
        if (folder / SETTINGS).exists():
            self._check(folder / SETTINGS)
            self.plays = self._read(folder / RESULTS)
            refuse_others([folder / RESULTS], [digest_of(b"".join(self._contents(list(self.plays))))], overwrite)

    def write_settings(self, more: Mapping[str, object]) -> None:
        """Write what the plays depend on, and more for people to read."""
        saved = {"question": self.question, "algorithms": self.algorithms, "versions": self.versions, "settings": more}
        content = json.dumps(saved, indent=1, default=str) + "\n"
        replace_file(self.folder / SETTINGS, content.encode())

    def write_page(self, content: bytes) -> None:
        """Write the page."""
        replace_file(self.folder / PAGE, content)

    def add(self, task: Task, finished: Play) -> None:
        """Keep a finished play; the file is replaced at once."""
        self.plays[task] = finished
        self.write(list(self.plays))

    def write(self, order: Sequence[Task]) -> None:
        """Write the results of all plays, those of `order` first."""
        tasks = dict.fromkeys((*(task for task in order if task in self.plays), *self.plays))
        replace_file(self.folder / RESULTS, self._contents(list(tasks)))

    def _contents(self, tasks: Sequence[Task]) -> list[bytes]:
        for task in tasks:
            if task not in self._texts:
                self._texts[task] = to_csv(self._rows_of(task, self.plays[task])).encode()
        return [to_csv([COLUMNS]).encode(), *(self._texts[task] for task in tasks)]

    def _rows_of(self, task: Task, finished: Play) -> list[list[str]]:
        values, counts = self.table.values[finished.order], self.table.count_best(finished.order)
        best = (np.maximum if self.table.maximize else np.minimum).accumulate(values)
        rows = []
        for k, molecule in enumerate(finished.order.tolist()):
            probability = finished.probabilities[k]
            cells = [task.player, str(task.batch), str(task.start + 1), str(k + 1)]
            cells += [shield(self.table.molecules.ids[molecule]), repr(float(values[k])), repr(float(best[k]))]
            rows.append([*cells, str(counts[k]), "" if np.isnan(probability) else repr(float(probability))])
        return rows

    def _check(self, path: Path) -> None:
        try:
            saved = json.loads(path.read_text(encoding="utf-8"))
            question, versions, algorithms = saved["question"], saved["versions"], saved["algorithms"]
            differ = [f"another {name}" for name, value in self.question.items() if question[name] != value]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise ValueError(f"Expected {path} to be of a backtest. Got: {error!r}. Choose another --out.") from error
        differ += [
            f"{name} {versions.get(name)}, now {now}"
            for name, now in self.versions.items()
            if versions.get(name) != now
        ]
        differ += [
            f"version {algorithms[name]} of {name}, now {number}"
            for name, number in self.algorithms.items()
            if algorithms.get(name, number) != number
        ]
        if differ:
            raise ValueError(
                f"Expected {path.parent} to hold plays of the same backtest. It was made with {', '.join(differ)}. "
                "Choose another --out, or delete the folder."
            )
        self.algorithms = {**algorithms, **self.algorithms}

    def _read(self, path: Path) -> dict[Task, Play]:
        if not path.is_file():
            return {}
        index_of = {shield(identifier): k for k, identifier in enumerate(self.table.molecules.ids)}
        rows_of: dict[Task, list[tuple[int, float]]] = {}
        try:
            with path.open(encoding="utf-8", newline="") as file:
                for row in csv.DictReader(file):
                    task = Task(row["player"], int(row["batch"]), int(row["start"]) - 1)
                    probability = float(row["probability_of_beating_best"] or "nan")
                    rows_of.setdefault(task, []).append((index_of[row["id"]], probability))
            plays = {task: self._play_of(task, rows) for task, rows in rows_of.items()}
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(
                f"Expected {path} as a backtest wrote it. Got: {error!r}. Delete the folder, or choose another --out."
            ) from error
        return plays

    def _play_of(self, task: Task, rows: list[tuple[int, float]]) -> Play:
        order = np.array([index for index, _ in rows], np.int64)
        first = random_order(len(self.table.values), self.seed, task.start)[: self.table.start]
        whole = len(np.unique(order)) == len(order) == self.table.budget
        if not whole or not np.array_equal(order[: self.table.start], first):
            raise ValueError(f"the rows of `{task.player}`, start {task.start + 1}, are not a whole play")
        return Play(order, np.array([probability for _, probability in rows]))
