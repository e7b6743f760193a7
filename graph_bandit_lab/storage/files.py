"""Replace files atomically, and keep other processes out of a folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

LOCK_NAME = "driver.lock"


def replace_file(path: Path, content: bytes) -> None:
    """Replace a file atomically: readers see the old one or the new one, never a part, even after a power cut."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    with part.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)


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
        lock.acquire(timeout=0)
    except Timeout as error:
        raise ValueError(
            f"Expected no other process in {folder}. Another `graph-bandit` is playing into it: wait for it, or choose "
            "another folder."
        ) from error
    try:
        yield
    finally:
        lock.release()
