"""Follow a results file that another process writes: read each repetition once, and never keep the writer waiting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from graph_bandit_lab.storage.database import open_to_read
from graph_bandit_lab.storage.files import is_driven
from graph_bandit_lab.storage.results import FILE_NAME, check_format, is_new, read_rows
from graph_bandit_lab.storage.rows import decode
from graph_bandit_lab.storage.sweeps import StoredPlan, read_plan

ROWS = 100  # that are read in one transaction, during which nobody can write: a few milliseconds


class StoredRepetition(NamedTuple):
    """A repetition, without its arrays."""

    settings_hash: str
    seed: int
    label: str
    environment: dict[str, object]
    status: str
    total_regret: float
    rounds: int
    wall_time: float
    round_time: float
    created: datetime


@dataclass(frozen=True)
class Snapshot:
    """What a folder of results holds at one time."""

    driven: bool | None
    """Whether a process plays into it; None if that cannot be seen."""
    plan: StoredPlan | None
    """What was begun last; None if that is not known."""
    repetitions: tuple[StoredRepetition, ...]
    """In the order in which they were stored, without damaged ones."""
    damaged: int


class ResultsFollower:
    """Reader of a folder of results, which remembers what it has read.

    Args:
        folder: folder of results, in which something may be playing.

    Raises:
        FileNotFoundError: if there is no such folder.
    """

    def __init__(self, folder: str | Path) -> None:
        self._folder, self._path = Path(folder), Path(folder) / FILE_NAME
        if not self._folder.is_dir():
            raise FileNotFoundError(
                f"Expected a folder of results. There is none at {folder}. A sweep makes it when it begins to play."
            )
        self._known: dict[tuple[int, str, int], StoredRepetition | None] = {}  # by row id, settings hash and seed
        self._origin: object = None

    def read(self) -> Snapshot:
        """Read what is new.

        Raises:
            ValueError: if the file is damaged, or of another format.
        """
        driven = is_driven(self._folder)  # before the rest: where nobody plays, nothing can be missed
        if not self._path.is_file():
            return Snapshot(driven, None, (), 0)
        plan, index = self._read_index()
        origin = self._path.stat().st_ino, plan and plan.started
        if origin != self._origin:  # other labels perhaps, or another file
            self._origin, self._known = origin, {}
        new = [key for key in index if key not in self._known]
        for begin in range(0, len(new), ROWS):
            self._read_rows(new[begin : begin + ROWS])
        self._known = {key: self._known[key] for key in index if key in self._known}
        sound = tuple(repetition for repetition in self._known.values() if repetition is not None)
        last = next(reversed(self._known.values()), None)
        if last is not None and last.status == "failed":  # its row id is given again if it is played again
            self._known.popitem()
        return Snapshot(driven, plan, sound, len(index) - len(sound))

    def _read_index(self) -> tuple[StoredPlan | None, list[tuple[int, str, int]]]:
        with open_to_read(self._path) as connection:
            if is_new(connection):
                return None, []
            check_format(self._path, connection)
            query = "SELECT rowid, settings_hash, seed FROM repetitions ORDER BY rowid"
            return read_plan(connection), connection.execute(query).fetchall()

    def _read_rows(self, places: Sequence[tuple[int, str, int]]) -> None:
        marks = ", ".join("?" * len(places))
        with open_to_read(self._path) as connection:
            rows = list(read_rows(connection, f"rowid IN ({marks})", *(rowid for rowid, *_ in places)))
        for rowid, row in rows:
            self._known[rowid, row["settings_hash"], row["seed"]] = _summarise(row)


def _summarise(row: dict[str, Any]) -> StoredRepetition | None:
    """Return a row without its arrays; None if it is damaged."""
    names = set(StoredRepetition._fields) - {"total_regret", "rounds"} | {"regret"}
    decoded = decode(row, names)
    if decoded is None:
        return None
    regret = decoded.pop("regret")
    decoded["created"] = datetime.fromisoformat(decoded["created"])
    return StoredRepetition(total_regret=float(regret.sum()), rounds=len(regret), **decoded)
