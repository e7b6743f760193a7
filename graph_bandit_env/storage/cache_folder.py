"""The user's cache folder."""

from __future__ import annotations

import os
import re
import stat
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import platformdirs

VARIABLE = "GRAPH_BANDIT_CACHE"
MOST = 2 << 30  # bytes; a kilobyte for each molecule of two million
MOST_FILES = 1000
OURS = re.compile(r"[0-9a-f]{64}\.npz(\.\d+\.[0-9a-f]{16}\.part)?")


class CacheWarning(UserWarning):
    """The cache folder is not used."""


def cache_path() -> Path:
    """Return the path of the folder: that of the environment variable `GRAPH_BANDIT_CACHE`, else that of the system."""
    given = os.environ.get(VARIABLE)
    return Path(given).absolute() if given else platformdirs.user_cache_path("graph-bandit", appauthor=False)


def open_cache() -> Path | None:
    """Make the folder if it is not there, open to this user alone, and return its path.

    Returns:
        None if it cannot be made, or if others may write into it, which is told.
    """
    folder = cache_path()
    if not folder.is_absolute():  # the system knows no home of this user
        return None
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
    except OSError:
        return None
    if hasattr(os, "geteuid"):  # Windows has neither owners nor modes of this kind
        problem = "belongs to another user" if status.st_uid != os.geteuid() else ""
        problem = problem or ("is open to others who write" if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) else "")
        if problem:
            warnings.warn(
                f"Expected the cache folder {folder} to be yours alone. It {problem}, so it is not used. Set its mode "
                f"to 700, or {VARIABLE} to another folder.",
                CacheWarning,
                stacklevel=2,
            )
            return None
    return folder


def make_room(folder: Path) -> None:
    """Remove the files that were used the longest time ago, until there are at most `MOST_FILES`, and `MOST` bytes."""
    files = sorted(_files_of(folder), key=lambda entry: entry[1].st_mtime_ns, reverse=True)
    total = 0
    for number, (path, status) in enumerate(files, start=1):
        total += status.st_size
        if total > MOST or number > MOST_FILES:
            with suppress(OSError):  # another process has removed it, or Windows has it open
                path.unlink()


def measure_cache() -> tuple[int, int]:
    """Return how many files the folder has, and how many bytes."""
    sizes = [status.st_size for _, status in _files_of(cache_path())]
    return len(sizes), sum(sizes)


def clear_cache() -> None:
    """Remove all files that this project has written to the folder, and no others.

    Raises:
        OSError: if one cannot be removed.
    """
    for path, _ in list(_files_of(cache_path())):
        path.unlink(missing_ok=True)


def _files_of(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield the files of ours in the folder; none if it is not there."""
    with suppress(OSError):
        for path in folder.iterdir():
            if OURS.fullmatch(path.name):
                with suppress(OSError):  # another process has removed it
                    yield path, path.lstat()
