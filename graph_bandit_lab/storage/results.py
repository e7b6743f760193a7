"""Store results in one SQLite file: a row for each repetition, in one transaction when it is finished."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from graph_bandit_lab.design.keys import RunKey, to_json
from graph_bandit_lab.episodes.findings import FINDINGS
from graph_bandit_lab.episodes.records import BanditResult
from graph_bandit_lab.storage.database import damaged, open_database, print_to_stderr
from graph_bandit_lab.storage.files import make_folder
from graph_bandit_lab.storage.rows import (
    ARRAYS,
    Row,
    checksum,
    from_blob,
    is_sound,
    name_of,
    software_versions,
    to_archive,
    to_blob,
)
from graph_bandit_lab.storage.sweeps import SWEEPS, TASKS, begin_sweep, end_sweep, take_tasks

if TYPE_CHECKING:
    from graph_bandit_lab.design.plan import SweepPlan
    from graph_bandit_lab.design.tasks import Task

FILE_NAME = "results.sqlite"
SCHEMA_VERSION = 5  # of the file; also raised when agents play differently under equal settings

REPETITIONS = """
CREATE TABLE repetitions (
    checksum TEXT NOT NULL,        -- of the other columns
    settings_hash TEXT NOT NULL,   -- of environment, agent name and agent settings
    seed INTEGER NOT NULL,         -- of this repetition
    label TEXT NOT NULL,           -- the agent as it was written
    agent TEXT NOT NULL,
    environment TEXT NOT NULL,     -- JSON
    agent_settings TEXT NOT NULL,  -- JSON, defaults included
    status TEXT NOT NULL,          -- finished | diverged | failed
    error TEXT NOT NULL,           -- the traceback, if it failed
    wall_time REAL NOT NULL,       -- seconds of instance, reset, rounds, diagnostics and recommendations
    round_time REAL NOT NULL,      -- seconds of the rounds alone
    versions TEXT NOT NULL,        -- JSON
    created TEXT NOT NULL,         -- UTC, ISO 8601
    actions BLOB NOT NULL,         -- NumPy .npy
    rewards BLOB NOT NULL,
    regret BLOB NOT NULL,
    diagnostics BLOB,              -- NumPy .npz; NULL if they were not recorded
    simple_regret BLOB,            -- NumPy .npy, as the next two; NULL if the graphs change
    best_found BLOB,
    top_share BLOB,
    PRIMARY KEY (settings_hash, seed)
)
"""
COLUMNS = tuple(re.findall(r"^ {4}([a-z_]+) ", REPETITIONS, re.M))
TABLES = {
    "repetitions": REPETITIONS,
    "damaged": f"CREATE TABLE damaged ({', '.join(COLUMNS)})",  # of any types
    "sweeps": SWEEPS,
    "tasks": TASKS,
}
BETWEEN_WORDS = re.compile(r"(--.*|\s)+")  # of a statement: comments and layout, which change nothing
OF_KEY = "settings_hash = ? AND seed = ?"


class Stored(NamedTuple):
    """Facts about a stored repetition that need none of its arrays."""

    failed: bool
    diagnosed: bool


class ResultStore:
    """The results file of one folder.

    Raises:
        ValueError: if the folder cannot be made, or the file is of another format.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE_NAME
        self.tell: Callable[[str], object] = print_to_stderr
        make_folder(folder)
        with self._connect() as connection:
            if is_new(connection):
                # In one transaction: a process that is killed here leaves an empty file, which is a new one.
                for statement in (*TABLES.values(), f"PRAGMA user_version = {SCHEMA_VERSION}"):
                    connection.execute(statement)
            check_format(self.path, connection)

    def set_damaged_aside(self) -> list[str]:
        """Move damaged repetitions to the table `damaged`, so that they count as missing, and return their names.

        Raises:
            ValueError: if more than rows is damaged. Nothing is changed then.
        """
        with self._connect() as connection:
            whole = is_whole(connection)
            if not whole:
                connection.execute("REINDEX")  # the index can be made again from its table
            names = {rowid: name_of(row) for rowid, row in read_rows(connection) if not is_sound(row)}
            if names:
                for statement in ("INSERT INTO damaged SELECT * FROM repetitions", "DELETE FROM repetitions"):
                    connection.executemany(f"{statement} WHERE rowid = ?", [(rowid,) for rowid in names])
            if not whole and not is_whole(connection):
                raise damaged(self.path, "pages that contradict each other")
        return list(names.values())

    def environments(self) -> list[dict[str, object]]:
        """Return the distinct environments stored."""
        with self._connect() as connection:
            rows = connection.execute("SELECT DISTINCT environment FROM repetitions").fetchall()
        return [json.loads(key) for (key,) in rows]

    def graph_names(self) -> dict[str, str]:
        """Return the names of the user's own graphs whose repetitions are stored, by their digests."""
        with self._connect() as connection:
            rows = connection.execute("SELECT DISTINCT environment, versions FROM repetitions").fetchall()
        named = [(json.loads(environment), json.loads(versions)) for environment, versions in rows]
        return {environment["graphs"]: versions["graphs"] for environment, versions in named if "graphs" in versions}

    def stored(self) -> dict[tuple[str, int], Stored]:
        """Return what is stored, by settings hash and seed."""
        query = "SELECT settings_hash, seed, status = 'failed', diagnostics IS NOT NULL FROM repetitions"
        with self._connect() as connection:
            return {
                (settings_hash, seed): Stored(bool(failed), bool(diagnosed))
                for settings_hash, seed, failed, diagnosed in connection.execute(query)
            }

    def begin(self, plan: SweepPlan) -> None:
        """Store what is going to be played, for those who watch."""
        with self._connect() as connection:
            begin_sweep(connection, plan)

    def end(self) -> None:
        """Store that all of it was played."""
        with self._connect() as connection:
            end_sweep(connection)

    def relabel(self, labels: Mapping[str, str]) -> None:
        """Give stored repetitions the label that their settings (by hash) have now."""
        with self._connect() as connection:
            stored = connection.execute("SELECT DISTINCT settings_hash, label FROM repetitions").fetchall()
            changed = [(labels[key], key) for key, label in stored if labels.get(key, label) != label]
            for label, key in changed:
                connection.execute("UPDATE repetitions SET label = ? WHERE settings_hash = ?", (label, key))
                _seal(connection, "settings_hash = ?", key)

    def mean_wall_times(self) -> dict[str, float]:
        """Return the mean wall time of a repetition, in seconds, by settings hash and by agent."""
        query = "SELECT {0}, avg(wall_time) FROM repetitions WHERE status != 'failed' GROUP BY {0}"
        with self._connect() as connection:
            by_agent = dict(connection.execute(query.format("agent")))
            return by_agent | dict(connection.execute(query.format("settings_hash")))

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
        """Store a repetition whole or not at all. A repetition that is stored as failed is replaced.

        The name of the user's own `graphs` is kept with the versions: the key has only a digest of them.

        Raises:
            sqlite3.IntegrityError: if it is stored already and has not failed. Nothing is overwritten.
        """
        later = {"plug-in": key.plug_in} if key.plug_in else {}
        later |= {"algorithm": str(key.algorithm)} if key.algorithm != 1 else {}
        later |= {"graphs": graphs} if graphs else {}
        row = {
            "settings_hash": key.settings_hash,
            "seed": seed,
            "label": label,
            "agent": key.agent,
            "environment": key.environment_key,
            "agent_settings": to_json(key.agent_settings),
            "status": result.status,
            "error": error,
            "wall_time": wall_time,
            "round_time": result.seconds,
            "versions": to_json(dict(versions or software_versions()) | later),
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            **{name: to_blob(getattr(result, name)) for name in ARRAYS},
            "diagnostics": None if result.diagnostics is None else to_archive(result.diagnostics),
            **_to_blobs(result),
        }
        with self._connect() as connection:
            earlier = f"DELETE FROM repetitions WHERE {OF_KEY} AND status = 'failed'"  # noqa: S608
            connection.execute(earlier, (key.settings_hash, seed))
            _insert(connection, row)

    def take(
        self,
        rows: Iterable[Row],
        tasks: Iterable[Task] = (),
        replaces: Callable[[Row, Row], bool] = lambda new, stored: stored["status"] == "failed",
    ) -> tuple[int, dict[tuple[str, int], tuple[str, str]]]:
        """Store rows and tasks of other results files, all or none.

        Args:
            rows: all columns of each.
            tasks: of which the names stay that are stored already.
            replaces: whether a row replaces the one that is stored under its key.

        Returns:
            How many were stored; and by settings hash and seed, name and environment of those that came with other
            actions, rewards or regret than were stored.
        """
        taken, different = 0, dict[tuple[str, int], tuple[str, str]]()
        with self._connect() as connection:
            for row in rows:
                key = row["settings_hash"], row["seed"]
                stored = [stored for _, stored in read_rows(connection, OF_KEY, *key)]  # one, or none
                for other in stored:
                    alike = all(other[name] == row[name] for name in ("status", *ARRAYS))
                    if not alike and other["status"] != "failed":
                        different[key] = name_of(row), row["environment"]
                if all(replaces(row, other) for other in stored):
                    connection.execute(f"DELETE FROM repetitions WHERE {OF_KEY}", key)  # noqa: S608
                    _insert(connection, row)
                    taken += 1
            take_tasks(connection, tasks)
        return taken, different

    def add_diagnostics(self, key: RunKey, seed: int, result: BanditResult) -> None:
        """Add diagnostics, and what was found, to a repetition that was stored without and has been played again.

        Raises:
            ValueError: if other actions were played this time. Nothing is changed then.
        """
        where, values = f"WHERE {OF_KEY}", (key.settings_hash, seed)
        with self._connect() as connection:
            (stored,) = connection.execute(f"SELECT actions FROM repetitions {where}", values).fetchone()  # noqa: S608
            if not np.array_equal(from_blob(stored), result.actions):
                raise ValueError(
                    f"Expected {key.agent}, seed {seed}, to play as it did when {self.path} was written. Its actions "
                    "differ: the version or the type of CPU is another one. Choose another folder, or --overwrite."
                )
            added = {"diagnostics": to_archive(result.diagnostics or {}), **_to_blobs(result)}
            changes = ", ".join(f"{name} = ?" for name in added)
            connection.execute(f"UPDATE repetitions SET {changes} {where}", (*added.values(), *values))  # noqa: S608
            _seal(connection, OF_KEY, *values)

    def _connect(self) -> AbstractContextManager[sqlite3.Connection]:
        return open_database(self.path, "BEGIN EXCLUSIVE", tell=self.tell)


def read_rows(
    connection: sqlite3.Connection, condition: str = "1", *values: object, order: str = "rowid"
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the id and the columns of each row, in the order in which they were written."""
    cursor = connection.execute(f"SELECT rowid, * FROM repetitions WHERE {condition} ORDER BY {order}", values)  # noqa: S608
    names = [name for name, *_ in cursor.description[1:]]
    for rowid, *row in cursor:
        yield rowid, dict(zip(names, row, strict=True))


def _insert(connection: sqlite3.Connection, row: Mapping[str, object]) -> None:
    values = ", ".join(f":{name}" for name in COLUMNS)
    connection.execute(f"INSERT INTO repetitions VALUES ({values})", {**row, "checksum": ""})  # noqa: S608
    _seal(connection, OF_KEY, row["settings_hash"], row["seed"])


def _to_blobs(result: BanditResult) -> dict[str, bytes | None]:
    arrays = {name: getattr(result, name) for name in FINDINGS}
    return {name: None if array is None else to_blob(array) for name, array in arrays.items()}


def _seal(connection: sqlite3.Connection, condition: str, *values: object) -> None:
    """Store the checksum of rows that were written just now, as they are read back."""
    query = f"SELECT rowid FROM repetitions WHERE {condition}"  # noqa: S608
    for (rowid,) in connection.execute(query, values).fetchall():
        ((_, row),) = read_rows(connection, "rowid = ?", rowid)
        connection.execute("UPDATE repetitions SET checksum = ? WHERE rowid = ?", (checksum(row), rowid))


def is_whole(connection: sqlite3.Connection) -> bool:
    """Return whether SQLite finds the file in order: its pages, and each row in the index."""
    return bool(connection.execute("PRAGMA integrity_check(1)").fetchone()[0] == "ok")


def is_new(connection: sqlite3.Connection) -> bool:
    """Return whether nothing was ever stored in a file."""
    return bool(connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0)


def check_format(path: Path, connection: sqlite3.Connection) -> None:
    """Refuse an empty file, another format, and anything but tables: what is computed may take any time and memory.

    Raises:
        FileNotFoundError: if it is empty.
        ValueError: if it is another file than this version makes.
    """
    if is_new(connection):
        raise FileNotFoundError(f"Expected results in {path}. It is empty.")
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version != SCHEMA_VERSION:
        raise ValueError(
            f"Expected {path} in format {SCHEMA_VERSION}. Got {version}, which another version of graph-bandit-env has "
            "written, and this one does not read. Read it with that version, or play again into another folder."
        )
    entries = connection.execute("SELECT type, name, sql FROM sqlite_master WHERE type != 'index' OR sql NOT NULL")
    tables: dict[object, str] = {}
    for kind, name, sql in entries.fetchall():
        if kind != "table":
            raise ValueError(
                f"Expected tables of stored results alone in {path}. Got `{name}`, which is computed when it is read "
                "or written. This package makes no such file. Choose another folder."
            )
        tables[name] = _words(sql)
    for name, sql in TABLES.items():
        if tables.get(name) != _words(sql):
            raise damaged(path, f"another table `{name}` than this package makes")


def _words(statement: object) -> str:
    return BETWEEN_WORDS.sub(" ", str(statement)).strip()
