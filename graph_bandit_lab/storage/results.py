"""Store results in one SQLite file: a row for each repetition, in one transaction when it is finished."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np

from graph_bandit_lab.design.keys import RunKey, to_json
from graph_bandit_lab.episodes.loop import BanditResult
from graph_bandit_lab.storage.encoding import from_blob, software_versions, to_archive, to_blob
from graph_bandit_lab.storage.files import make_folder

FILE_NAME = "results.sqlite"
SCHEMA_VERSION = 4  # of the file; also raised when agents play differently under equal settings
ARRAYS = ("actions", "rewards", "regret")

_SCHEMA = """
CREATE TABLE IF NOT EXISTS repetitions (
    settings_hash TEXT NOT NULL,   -- of environment, agent name and agent settings
    seed INTEGER NOT NULL,         -- of this repetition
    label TEXT NOT NULL,           -- the agent as it was written
    agent TEXT NOT NULL,
    environment TEXT NOT NULL,     -- JSON
    agent_settings TEXT NOT NULL,  -- JSON, defaults included
    status TEXT NOT NULL,          -- finished | diverged | failed
    error TEXT NOT NULL,           -- the traceback, if it failed
    wall_time REAL NOT NULL,       -- seconds of instance, reset, rounds and diagnostics
    round_time REAL NOT NULL,      -- seconds of the rounds alone
    versions TEXT NOT NULL,        -- JSON
    created TEXT NOT NULL,         -- UTC, ISO 8601
    actions BLOB NOT NULL,         -- NumPy .npy
    rewards BLOB NOT NULL,
    regret BLOB NOT NULL,
    diagnostics BLOB,              -- NumPy .npz; NULL if they were not recorded
    PRIMARY KEY (settings_hash, seed)
)
"""


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
        make_folder(folder)
        with self._connect() as connection:
            check_format(self.path, connection, new_is_fine=True)
            # In one transaction: a process that is killed here leaves an empty file, which is a new one.
            connection.executescript(f"BEGIN IMMEDIATE; {_SCHEMA}; PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;")

    def environments(self) -> list[dict[str, object]]:
        """Return the distinct environments stored."""
        with self._connect() as connection:
            rows = connection.execute("SELECT DISTINCT environment FROM repetitions").fetchall()
        return [json.loads(key) for (key,) in rows]

    def stored(self) -> dict[tuple[str, int], Stored]:
        """Return what is stored, by settings hash and seed."""
        query = "SELECT settings_hash, seed, status = 'failed', diagnostics IS NOT NULL FROM repetitions"
        with self._connect() as connection:
            return {
                (settings_hash, seed): Stored(bool(failed), bool(diagnosed))
                for settings_hash, seed, failed, diagnosed in connection.execute(query)
            }

    def relabel(self, labels: Mapping[str, str]) -> None:
        """Give stored repetitions the label that their settings (by hash) have now."""
        with self._connect() as connection:
            stored = connection.execute("SELECT DISTINCT settings_hash, label FROM repetitions").fetchall()
            changed = [(labels[key], key) for key, label in stored if labels.get(key, label) != label]
            connection.executemany("UPDATE repetitions SET label = ? WHERE settings_hash = ?", changed)

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
    ) -> None:
        """Store a repetition whole or not at all. A repetition that is stored as failed is replaced.

        Raises:
            sqlite3.IntegrityError: if it is stored already and has not failed. Nothing is overwritten.
        """
        later = {"plug-in": key.plug_in} if key.plug_in else {}
        later |= {"algorithm": str(key.algorithm)} if key.algorithm != 1 else {}
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
        }
        values = ", ".join(f":{name}" for name in row)
        earlier = "DELETE FROM repetitions WHERE settings_hash = ? AND seed = ? AND status = 'failed'"
        with self._connect() as connection:
            connection.execute(earlier, (key.settings_hash, seed))
            connection.execute(f"INSERT INTO repetitions ({', '.join(row)}) VALUES ({values})", row)  # noqa: S608

    def add_diagnostics(self, key: RunKey, seed: int, result: BanditResult) -> None:
        """Add diagnostics to a repetition that was stored without them and has been played again.

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
            archive = to_archive(result.diagnostics or {})
            connection.execute(f"UPDATE repetitions SET diagnostics = ? {where}", (archive, *values))  # noqa: S608

    @contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self.path, timeout=30)) as connection, connection:
            yield connection


def check_format(path: Path, connection: sqlite3.Connection, new_is_fine: bool = False) -> None:
    """Refuse a file of another format, and an empty file unless `new_is_fine`."""
    try:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        is_new = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
    except sqlite3.OperationalError:  # the file is locked or the disk fails: its format is not at fault
        raise
    except sqlite3.DatabaseError as error:
        raise ValueError(f"Expected {path} to be a results file. Got {error}. Choose another folder.") from error
    if is_new and not new_is_fine:
        raise FileNotFoundError(f"Expected results in {path}. It is empty.")
    if version != SCHEMA_VERSION and not is_new:
        raise ValueError(f"Expected {path} in format {SCHEMA_VERSION}. Got {version}. Choose another folder.")
