"""Store results in one SQLite file: a row for each repetition, in one transaction when it is finished."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from graph_bandit_lab.design.keys import RunKey, to_json
from graph_bandit_lab.episodes.findings import FINDINGS
from graph_bandit_lab.episodes.loop import BanditResult
from graph_bandit_lab.storage.database import damaged, open_database, print_to_stderr
from graph_bandit_lab.storage.encoding import from_blob, software_versions, to_archive, to_blob
from graph_bandit_lab.storage.files import make_folder
from graph_bandit_lab.storage.rows import ARRAYS, checksum, is_sound, name_of
from graph_bandit_lab.storage.sweeps import begin_sweep, end_sweep, take_tasks

if TYPE_CHECKING:
    from graph_bandit_lab.design.plan import SweepPlan
    from graph_bandit_lab.design.tasks import Task

FILE_NAME = "results.sqlite"
SCHEMA_VERSION = 4  # of the file; also raised when agents play differently under equal settings

_SCHEMA = """
CREATE TABLE IF NOT EXISTS repetitions (
    checksum TEXT,                 -- of the other columns; NULL if another program has written the row
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
    simple_regret BLOB,            -- NumPy .npy, as the next two; NULL if it was not recorded, or the graphs change
    best_found BLOB,
    top_share BLOB,
    PRIMARY KEY (settings_hash, seed)
)
"""
_LATER = {"checksum": "TEXT", **dict.fromkeys(FINDINGS, "BLOB")}  # columns that files of earlier versions get
# Versions before 0.3.0 go on with the file, and know no checksums.
_TRIGGER = """
CREATE TRIGGER IF NOT EXISTS forget_checksum AFTER UPDATE ON repetitions WHEN NEW.checksum IS OLD.checksum
BEGIN UPDATE repetitions SET checksum = NULL WHERE rowid = NEW.rowid; END
"""
_COLUMNS = set(re.findall(r"^ {4}([a-z_]+) ", _SCHEMA, re.M))


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
            check_format(self.path, connection, new_is_fine=True)
            # In one transaction: a process that is killed here leaves an empty file, which is a new one.
            connection.execute(_SCHEMA)
            for table in ("repetitions", "damaged"):
                names = column_names(connection, table)
                for name, kind in _LATER.items() if names else ():  # an earlier version may have made either
                    if name not in names:
                        connection.execute(f"ALTER TABLE {table} ADD COLUMN {name} {kind}")
            connection.execute(_TRIGGER)
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    def set_damaged_aside(self) -> list[str]:
        """Move damaged repetitions to the table `damaged`, so that they count as missing, and return their names.

        Raises:
            ValueError: if more than rows is damaged. Nothing is changed then.
        """
        with self._connect() as connection:
            whole = _is_whole(connection)
            if not whole:
                connection.execute("REINDEX")  # the index can be made again from its table
            names = {rowid: name_of(row) for rowid, row in read_rows(connection) if not is_sound(row)}
            if names:
                connection.execute("CREATE TABLE IF NOT EXISTS damaged AS SELECT * FROM repetitions WHERE 0")
                columns = ", ".join(column_names(connection))  # whose order may differ
                copy = f"INSERT INTO damaged ({columns}) SELECT {columns} FROM repetitions"  # noqa: S608
                for statement in (copy, "DELETE FROM repetitions"):
                    connection.executemany(f"{statement} WHERE rowid = ?", [(rowid,) for rowid in names])
            if not whole and not _is_whole(connection):
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
        earlier = "DELETE FROM repetitions WHERE settings_hash = ? AND seed = ? AND status = 'failed'"
        with self._connect() as connection:
            connection.execute(earlier, (key.settings_hash, seed))
            _insert(connection, row)

    def take(
        self, rows: Iterable[Mapping[str, object]], tasks: Iterable[Task] = ()
    ) -> tuple[int, list[tuple[str, int]]]:
        """Store rows and tasks of other results files, all or none.

        Rows that are stored already stay, unless they have failed; of tasks, the names stay.

        Returns:
            How many were stored; and settings hash and seed of those that stay though other actions, rewards or regret
            came.
        """
        taken, different = 0, []
        where = "WHERE settings_hash = ? AND seed = ?"
        with self._connect() as connection:
            for row in rows:
                key = str(row["settings_hash"]), cast(int, row["seed"])
                query = f"SELECT status, {', '.join(ARRAYS)} FROM repetitions {where}"  # noqa: S608
                stored = connection.execute(query, key).fetchone()
                if stored is not None and stored[0] != "failed":
                    if stored != tuple(row[name] for name in ("status", *ARRAYS)):
                        different.append(key)
                    continue
                connection.execute(f"DELETE FROM repetitions {where}", key)  # noqa: S608
                _insert(connection, row)
                taken += 1
            take_tasks(connection, tasks)
        return taken, different

    def add_diagnostics(self, key: RunKey, seed: int, result: BanditResult) -> None:
        """Add diagnostics, and what was found, to a repetition that was stored without and has been played again.

        Raises:
            ValueError: if other actions were played this time. Nothing is changed then.
        """
        where, values = "WHERE settings_hash = ? AND seed = ?", (key.settings_hash, seed)
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
            _seal(connection, "settings_hash = ? AND seed = ?", *values)

    def _connect(self) -> AbstractContextManager[sqlite3.Connection]:
        return open_database(self.path, "BEGIN EXCLUSIVE", tell=self.tell)


def read_rows(
    connection: sqlite3.Connection, condition: str = "1", *values: object
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the id and the columns of each row, in the order in which they were written."""
    cursor = connection.execute(f"SELECT rowid, * FROM repetitions WHERE {condition} ORDER BY rowid", values)  # noqa: S608
    names = [name for name, *_ in cursor.description[1:]]
    for rowid, *row in cursor:
        yield rowid, dict(zip(names, row, strict=True))


def column_names(connection: sqlite3.Connection, table: str = "repetitions") -> list[str]:
    """Return the columns of a table; none if there is no such table."""
    return [name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")]


def _insert(connection: sqlite3.Connection, row: Mapping[str, object]) -> None:
    values = ", ".join(f":{name}" for name in row)
    connection.execute(f"INSERT INTO repetitions ({', '.join(row)}) VALUES ({values})", dict(row))  # noqa: S608
    _seal(connection, "settings_hash = ? AND seed = ?", row["settings_hash"], row["seed"])


def _to_blobs(result: BanditResult) -> dict[str, bytes | None]:
    arrays = {name: getattr(result, name) for name in FINDINGS}
    return {name: None if array is None else to_blob(array) for name, array in arrays.items()}


def _seal(connection: sqlite3.Connection, condition: str, *values: object) -> None:
    """Store the checksum of rows that were written just now, as they are read back."""
    query = f"SELECT rowid FROM repetitions WHERE {condition}"  # noqa: S608
    for (rowid,) in connection.execute(query, values).fetchall():
        ((_, row),) = read_rows(connection, "rowid = ?", rowid)
        connection.execute("UPDATE repetitions SET checksum = ? WHERE rowid = ?", (checksum(row), rowid))


def _is_whole(connection: sqlite3.Connection) -> bool:
    """Return whether SQLite finds the file in order: its pages, and each row in the index."""
    return bool(connection.execute("PRAGMA integrity_check(1)").fetchone()[0] == "ok")


def is_new(connection: sqlite3.Connection) -> bool:
    """Return whether nothing was ever stored in a file."""
    return bool(connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0)


def _refuse_code(path: Path, connection: sqlite3.Connection) -> None:
    """Refuse a file with anything but tables and our trigger: what is computed may take any time and memory."""
    found = connection.execute(
        "SELECT name FROM sqlite_master WHERE type NOT IN ('table', 'index', 'trigger') OR sql LIKE 'CREATE VIRTUAL%' "
        "OR (type = 'trigger' AND sql != ?)",
        (_TRIGGER.strip().replace("IF NOT EXISTS ", ""),),
    ).fetchone()
    tables = [] if found else connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    for (table,) in tables:
        found = found or connection.execute("SELECT name FROM pragma_table_xinfo(?) WHERE hidden", (table,)).fetchone()
    if found:
        raise ValueError(
            f"Expected tables of stored results alone in {path}. Got `{found[0]}`, which is computed when it is read "
            "or written. This package makes no such file. Choose another folder."
        )


def check_format(path: Path, connection: sqlite3.Connection, new_is_fine: bool = False) -> None:
    """Refuse a file of another format, and an empty file unless `new_is_fine`."""
    _refuse_code(path, connection)
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if is_new(connection) and not new_is_fine:
        raise FileNotFoundError(f"Expected results in {path}. It is empty.")
    if version != SCHEMA_VERSION and not is_new(connection):
        raise ValueError(f"Expected {path} in format {SCHEMA_VERSION}. Got {version}. Choose another folder.")
    missing = _COLUMNS - {*column_names(connection)} - _LATER.keys()
    if missing and not is_new(connection):
        raise damaged(path, f"a table without {', '.join(sorted(missing))}")
