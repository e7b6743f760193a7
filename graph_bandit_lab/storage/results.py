"""Store results in one SQLite file: a row for each repetition, written in one transaction when it ends."""

# ruff: noqa: S608 - statements are made of names of columns here, values are bound

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from graph_bandit_lab.design.names import RunKey, to_json
from graph_bandit_lab.episodes.findings import FINDINGS
from graph_bandit_lab.episodes.records import BanditResult
from graph_bandit_lab.storage.database import damaged, make_folder, open_database
from graph_bandit_lab.storage.rows import ARRAYS, Row, from_blob, software_versions, to_blob

if TYPE_CHECKING:
    from graph_bandit_lab.design.plan import Task

FILE_NAME = "results.sqlite"
FORMAT = 8  # of the file; also raised when agents play differently under equal settings
REPETITIONS = """CREATE TABLE repetitions (
    settings_hash TEXT NOT NULL,   -- of the next five columns but `label`, and `plug_in`
    seed INTEGER NOT NULL,         -- of this repetition
    label TEXT NOT NULL,           -- the agent as it was written
    agent TEXT NOT NULL,
    algorithm INTEGER NOT NULL,    -- version of the agent's algorithm
    environment TEXT NOT NULL,     -- JSON
    agent_settings TEXT NOT NULL,  -- JSON
    plug_in TEXT NOT NULL,         -- name and version of the package of a third-party agent
    graphs TEXT NOT NULL,          -- name of the user's own graphs, of which the environment has a digest
    status TEXT NOT NULL,          -- finished | diverged | failed
    error TEXT NOT NULL,           -- the traceback, if it failed
    wall_time REAL NOT NULL,       -- seconds of instance, reset, rounds, diagnostics and recommendations
    round_time REAL NOT NULL,      -- seconds of the rounds alone
    versions TEXT NOT NULL,        -- JSON
    created TEXT NOT NULL,         -- UTC, ISO 8601
    actions BLOB NOT NULL,         -- NumPy .npy
    rewards BLOB NOT NULL,
    regret BLOB NOT NULL,
    diagnostics BLOB,              -- the same, a row for each; NULL if they were not recorded
    simple_regret BLOB,            -- the same, as the next two; NULL if the graphs change
    best_found BLOB,
    top_recall BLOB,
    PRIMARY KEY (settings_hash, seed)
) STRICT"""
TASKS = """CREATE TABLE tasks (
    environment TEXT PRIMARY KEY,  -- its key
    name TEXT NOT NULL,
    hard TEXT NOT NULL,
    refused TEXT NOT NULL          -- JSON: agents that cannot play it, each with the reason
) STRICT"""
COLUMNS = tuple(re.findall(r"^ {4}([a-z_]+) ", REPETITIONS, re.M))
OF_KEY = "WHERE settings_hash = ? AND seed = ?"
MERGED = "json_patch(excluded.refused, refused)"  # the agents refused before, and the new ones


class Stored(NamedTuple):
    """Facts about a stored repetition that need none of its arrays."""

    failed: bool
    diagnosed: bool


class ResultStore:
    """The results file of one folder.

    Raises:
        ValueError: if the folder cannot be created, or the file is damaged or of another format.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE_NAME
        make_folder(folder)
        with self._connect() as connection:
            if is_new(connection):
                # In one transaction: a process that is killed here leaves an empty file, which counts as new.
                for statement in (REPETITIONS, TASKS, f"PRAGMA user_version = {FORMAT}"):
                    connection.execute(statement)
            check_format(self.path, connection)

    def environments(self) -> list[dict[str, object]]:
        """Return the distinct environments stored."""
        with self._connect() as connection:
            rows = connection.execute("SELECT DISTINCT environment FROM repetitions").fetchall()
        return [json.loads(key) for (key,) in rows]

    def stored(self) -> dict[tuple[str, int], Stored]:
        """Return the stored repetitions by settings hash and seed."""
        query = "SELECT settings_hash, seed, status = 'failed', diagnostics IS NOT NULL FROM repetitions"
        with self._connect() as connection:
            return {(key, seed): Stored(*map(bool, facts)) for key, seed, *facts in connection.execute(query)}

    def add_tasks(self, tasks: Iterable[Task]) -> None:
        """Add tasks to those of earlier plans, and keep the agents recorded as unable to play them."""
        rows = [(task.environment_key, task.name, task.hard, json.dumps(dict(task.refused))) for task in tasks]
        statement = (
            "INSERT INTO tasks VALUES (?, ?, ?, ?) ON CONFLICT (environment) DO UPDATE SET name = excluded.name, "
            f"hard = excluded.hard, refused = {MERGED}"
        )
        with self._connect() as connection:
            connection.executemany(statement, rows)

    def relabel(self, labels: Mapping[str, str]) -> None:
        """Update the labels of stored repetitions by the hash of their settings."""
        with self._connect() as connection:
            connection.executemany(
                "UPDATE repetitions SET label = ?1 WHERE settings_hash = ?2 AND label != ?1",
                [(label, key) for key, label in labels.items()],
            )

    def add(
        self,
        key: RunKey,
        seed: int,
        label: str,
        result: BanditResult,
        wall_time: float,
        error: str = "",
        versions: Mapping[str, str] | None = None,
        graphs: str = "",
    ) -> None:
        """Store a repetition atomically. A repetition stored as failed is replaced.

        Raises:
            sqlite3.IntegrityError: if it is already stored and has not failed. Nothing is overwritten.
        """
        row = {
            "settings_hash": key.settings_hash,
            "seed": seed,
            "label": label,
            "agent": key.agent,
            "algorithm": key.algorithm,
            "environment": key.environment_key,
            "agent_settings": to_json(key.agent_settings),
            "plug_in": key.plug_in,
            "graphs": graphs,
            "status": result.status,
            "error": error,
            "wall_time": wall_time,
            "round_time": result.seconds,
            "versions": to_json(versions or software_versions()),
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            **{name: to_blob(getattr(result, name)) for name in ARRAYS},
            **_to_blobs(result),
        }
        names, values = ", ".join(row), ", ".join(f":{name}" for name in row)
        with self._connect() as connection:
            connection.execute(f"DELETE FROM repetitions {OF_KEY} AND status = 'failed'", (key.settings_hash, seed))
            connection.execute(f"INSERT INTO repetitions ({names}) VALUES ({values})", row)

    def add_diagnostics(self, key: RunKey, seed: int, result: BanditResult) -> None:
        """Add diagnostics and findings to a repetition that was stored without them and has been played again.

        Raises:
            ValueError: if the actions differ this time. Nothing is changed then.
        """
        where = key.settings_hash, seed
        with self._connect() as connection:
            (stored,) = connection.execute(f"SELECT actions FROM repetitions {OF_KEY}", where).fetchone()
            if not np.array_equal(from_blob(stored), result.actions):
                raise ValueError(
                    f"Expected {key.agent}, seed {seed}, to play as it did when {self.path} was written. Its actions "
                    "differ: the version or the type of CPU is another one. Choose another folder, or --overwrite."
                )
            added = _to_blobs(result)
            changes = ", ".join(f"{name} = ?" for name in added)
            connection.execute(f"UPDATE repetitions SET {changes} {OF_KEY}", (*added.values(), *where))

    def take(self, source: Path, replaces: str = "old.status = 'failed'") -> tuple[int, set[tuple[str, int]]]:
        """Store the finished repetitions and the tasks of another results file, all or none.

        Args:
            source: the file, which is only read. Names of stored tasks are kept.
            replaces: SQL condition under which the row `new` replaces the stored row `old` with the same key.

        Returns:
            The number of repetitions stored, and settings hash and seed of those whose actions, rewards or regret
            differ from the stored ones.
        """
        both = "repetitions AS old USING (settings_hash, seed) WHERE new.status != 'failed'"
        other = "(new.actions, new.rewards, new.regret) != (old.actions, old.rewards, old.regret)"
        with open_database(self.path, other=source) as connection:
            differing = connection.execute(
                "SELECT settings_hash, seed FROM other.repetitions AS new "
                f"JOIN {both} AND old.status != 'failed' AND {other}"
            ).fetchall()
            taken = connection.execute(
                "INSERT OR REPLACE INTO main.repetitions SELECT new.* FROM other.repetitions AS new "
                f"LEFT JOIN {both} AND (old.label IS NULL OR {replaces}) ORDER BY new.created, new.rowid"
            ).rowcount
            connection.execute(
                "INSERT INTO main.tasks SELECT * FROM other.tasks WHERE true "
                f"ON CONFLICT (environment) DO UPDATE SET refused = {MERGED}"
            )
        return taken, {*differing}

    def _connect(self) -> AbstractContextManager[sqlite3.Connection]:
        return open_database(self.path)


def _to_blobs(result: BanditResult) -> dict[str, bytes | None]:
    """Return the columns that another play can add: diagnostics and findings."""
    given = result.diagnostics
    diagnostics = None if given is None else np.array(list(given.values()), np.float64)
    return {"diagnostics": to_blob(diagnostics), **{name: to_blob(getattr(result, name)) for name in FINDINGS}}


def read_rows(connection: sqlite3.Connection, *names: str) -> Iterator[Row]:
    """Yield these columns of each row, or all, in the order in which they were written."""
    cursor = connection.execute(f"SELECT {', '.join(names) or '*'} FROM repetitions ORDER BY rowid")
    columns = [name for name, *_ in cursor.description]
    for row in cursor:
        yield dict(zip(columns, row, strict=True))


def read_tasks(connection: sqlite3.Connection) -> list[dict[str, Any]]:
    """Return all tasks that were ever planned."""
    rows = connection.execute("SELECT environment, name, hard, refused FROM tasks ORDER BY rowid").fetchall()
    names = "environment_key", "name", "hard", "refused"
    return [dict(zip(names, (*texts, list(json.loads(refused).items())), strict=True)) for *texts, refused in rows]


def is_new(connection: sqlite3.Connection) -> bool:
    """Return True if nothing was ever stored in a file."""
    return bool(connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0)


def check_format(path: Path, connection: sqlite3.Connection) -> None:
    """Reject an empty file, another format, a damaged file, and views, whose computation may never end.

    Raises:
        FileNotFoundError: if it is empty.
        ValueError: if this version does not write such a file.
    """
    if is_new(connection):
        raise FileNotFoundError(f"Expected results in {path}. It is empty.")
    (number,) = connection.execute("PRAGMA user_version").fetchone()
    if number != FORMAT:
        raise ValueError(
            f"Expected {path} in format {FORMAT}. Got {number}, which another version of graph-bandit-env has written: "
            "read it with that version, or play again into another folder."
        )
    entries = dict(connection.execute("SELECT sql, type FROM sqlite_master WHERE sql NOT NULL").fetchall())
    if {*entries.values()} != {"table"} or not {REPETITIONS, TASKS} <= entries.keys():
        raise damaged(path, "other tables than this package makes")
    (found,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if found != "ok":
        raise damaged(path, found)
