"""Files that readers see whole."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

LOCK_NAME = "driver.lock"


def replace_file(path: Path, content: bytes) -> None:
    """Write a file so that readers see the old one or the new one, never a part, even after a power cut."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    with part.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)


def make_folder(folder: Path) -> None:
    """Make a folder and its parents, if they are not there.

    Raises:
        ValueError: if that cannot be.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"Expected {folder} to be a folder, or a new one. Got: {error}.") from error


@contextmanager
def sole_driver(folder: Path) -> Iterator[None]:
    """Let one process at a time play into a folder; the lock goes with the process, however it ends.

    Raises:
        ValueError: if another process is at it, or the folder cannot be made.
    """
    make_folder(folder)
    lock = FileLock(folder / LOCK_NAME)
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise ValueError(
            f"Expected to be alone in {folder}. Another `graph-bandit` is playing into it: wait, or choose another."
        ) from error
    try:
        yield
    finally:
        lock.release()
