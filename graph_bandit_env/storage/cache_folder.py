"""The user's cache folder, with prepared pools by the digest of their inputs."""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile

import platformdirs

VARIABLE = "GRAPH_BANDIT_CACHE"
MOST = 2 << 30  # bytes: a kilobyte for each of two million molecules
OURS = re.compile(r"[0-9a-f]{64}\.(pool|lock)")


def cache_path() -> Path:
    """Return the path of the folder: the environment variable `GRAPH_BANDIT_CACHE`, or the system's default."""
    given = os.environ.get(VARIABLE)
    return Path(given).absolute() if given else platformdirs.user_cache_path("graph-bandit", appauthor=False)


def open_cache() -> Path | None:
    """Create the folder if missing, accessible only to this user, and return its path.

    Returns:
        The path, or None if it cannot be created, belongs to another user, or is writable by others.
    """
    folder = cache_path()
    if not folder.is_absolute():  # the user has no home directory
        return None
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
    except OSError:
        return None
    has_owner = hasattr(os, "geteuid")  # Windows has no such owners and modes
    if has_owner and (status.st_uid != os.geteuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)):
        return None
    return folder


def make_room(folder: Path) -> None:
    """Remove the least recently used entries until at most `MOST` bytes are left."""
    entries, total = sorted(_entries_of(folder), key=lambda entry: entry[1], reverse=True), 0
    for number, (path, _, size) in enumerate(entries, start=1):
        total += size
        if number > 1 and total > MOST:  # the last entry is in use
            with suppress(OSError):  # another process has removed it, or Windows has it open
                _remove(path)


def measure_cache() -> tuple[int, int]:
    """Return the number of files and prepared pools in the folder, and their size in bytes."""
    sizes = [size for *_, size in _entries_of(cache_path())]
    return len(sizes), sum(sizes)


def clear_cache() -> None:
    """Remove only the files that this project has written to the folder.

    Raises:
        OSError: if a file cannot be removed.
    """
    for path, *_ in list(_entries_of(cache_path())):
        _remove(path)


def _entries_of(folder: Path) -> Iterator[tuple[Path, int, int]]:
    """Yield this project's entries in the folder, with the time of last use and size in bytes."""
    with suppress(OSError):
        for path in folder.iterdir():
            if OURS.fullmatch(path.name):
                with suppress(OSError):  # another process has removed it
                    parts = path.iterdir() if path.is_dir() else [path]
                    yield path, path.lstat().st_mtime_ns, sum(part.lstat().st_size for part in parts)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)  # raises an error for links
    else:
        path.unlink(missing_ok=True)


MOST_DEFLATED = 1032  # maximum compression ratio of deflate, which is a million for bzip2


def unpacked_size(archive: ZipFile) -> int:
    """Return the total size in bytes of the files in an archive.

    Python reads at most the declared size of a file, but bzip2 and LZMA would unpack all of it first. NumPy, torch and
    spreadsheets do not use them.

    Raises:
        BadZipFile: if a file is compressed by another method than deflate.
    """
    for part in archive.infolist():
        if part.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            raise BadZipFile(f"{part.filename} is packed in another way than such files are")
    return sum(part.file_size for part in archive.infolist())
