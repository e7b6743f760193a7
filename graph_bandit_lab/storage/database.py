"""Open a results file, wait while another program locks it, and keep other processes out of its folder."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

SECONDS_TO_ANSWER = 1.0  # to Ctrl-C, which is not handled while SQLite itself waits
TRIES_IN_SILENCE = 10
DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
LOCK_NAME = "driver.lock"
SECONDS_TO_LOOK = 0.5  # for processes that hold a lock only to check it


def make_folder(folder: Path) -> None:
    """Create a folder and its parents if they do not exist.

    Raises:
        ValueError: if it cannot be created.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"Expected {folder} to be a folder, or a new one. Got: {error}.") from error


@contextmanager
def sole_driver(folder: Path, name: str = LOCK_NAME) -> Iterator[None]:
    """Let one process at a time write into a folder. The lock always ends with the process.

    Args:
        folder: the folder, created if it does not exist.
        name: name of the lock. A folder may have one for each table.

    Raises:
        ValueError: if another process writes into it, or the folder cannot be created.
    """
    make_folder(folder)
    lock = FileLock(folder / name)
    try:
        lock.acquire(timeout=SECONDS_TO_LOOK)
    except Timeout as error:
        raise ValueError(
            f"Expected no other process in {folder}. Another `graph-bandit` writes into it: wait for it, or choose "
            "another folder."
        ) from error
    try:
        yield
    finally:
        lock.release()


@contextmanager
def open_database(path: Path, mode: str = "rwc", other: Path | None = None) -> Iterator[sqlite3.Connection]:
    """Open a transaction, which is committed at the end, or rolled back on an exception.

    A writing transaction takes all locks at the start. There is no time limit for waiting on locks of other programs.

    Args:
        path: the file.
        mode: mode of SQLite: `ro`, `rw`, or `rwc`, which creates the file.
        other: a second results file, attached for reading as the schema `other`.

    Raises:
        ValueError: if the file is damaged, or not a database.
        sqlite3.Error: if the disk fails, or is full.
    """
    address = f"{path.resolve().as_uri()}?mode={mode}"
    try:
        with closing(sqlite3.connect(address, uri=True, timeout=SECONDS_TO_ANSWER, isolation_level=None)) as connection:
            _begin(connection, "BEGIN EXCLUSIVE" if mode == "rwc" else "BEGIN", path, other)
            with connection:
                yield connection
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF not in DAMAGED:  # Python's own errors have no code
            raise
        raise damaged(path, str(error)) from error


def open_to_read(path: Path) -> AbstractContextManager[sqlite3.Connection]:
    """Open a transaction that only reads.

    A writable file is not opened read-only, so that the reader can roll back the unfinished changes of a killed
    process.

    Raises:
        ValueError: as `open_database`.
    """
    return open_database(path, mode="rw" if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK) else "ro")


def damaged(path: Path, reason: str) -> ValueError:
    """Return the error for a damaged file, with advice."""
    return ValueError(
        f"Expected {path} to be an intact results file. Got: {reason}. Save what can still be read, with the shell of "
        f"https://sqlite.org: `sqlite3 {path.name} .recover | sqlite3 recovered.sqlite`. Rename recovered.sqlite to "
        f"{path.name} and run the same command: what is missing is played again. Or choose another folder."
    )


def _begin(connection: sqlite3.Connection, begin: str, path: Path, other: Path | None) -> None:
    tries = 0
    while True:
        try:
            if other is not None:
                connection.execute("ATTACH ? AS other", (f"{other.resolve().as_uri()}?mode=ro",))  # which reads it
                other = None
            connection.execute(begin)
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()  # which takes the read lock
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
            connection.rollback()
            tries += 1
            if tries == TRIES_IN_SILENCE:
                print(f"Another program has locked {path}. Waiting until it is closed.", file=sys.stderr)
        else:
            return
