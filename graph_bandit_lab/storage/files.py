"""Make a folder, and keep other processes out of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

LOCK_NAME = "driver.lock"
SECONDS_TO_LOOK = 0.5  # for those who hold a lock only to see whether it is free


def make_folder(folder: Path) -> None:
    """Make a folder and its parents, if they are not there.

    Raises:
        ValueError: if it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"Expected {folder} to be a folder, or a new one. Got: {error}.") from error


@contextmanager
def sole_driver(folder: Path) -> Iterator[None]:
    """Let one process at a time play into a folder. The lock ends with the process, however that ends.

    Raises:
        ValueError: if another process plays into it, or the folder cannot be made.
    """
    make_folder(folder)
    lock = FileLock(folder / LOCK_NAME)
    try:
        lock.acquire(timeout=SECONDS_TO_LOOK)
    except Timeout as error:
        raise ValueError(
            f"Expected no other process in {folder}. Another `graph-bandit` is playing into it: wait for it, or choose "
            "another folder."
        ) from error
    try:
        yield
    finally:
        lock.release()


def is_driven(folder: Path) -> bool | None:
    """Return whether a process is playing into a folder, here or on a machine that locks the same file.

    None: this user may not open the lock to see.
    """
    if not (folder / LOCK_NAME).is_file():
        return False
    lock = FileLock(folder / LOCK_NAME)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return True
    except PermissionError:
        return None
    lock.release()
    return False
