"""The user's cache folder, in which prepared pools lie by the digest of all that they were computed from."""

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
MOST = 2 << 30  # bytes; a kilobyte for each molecule of two million
OURS = re.compile(r"[0-9a-f]{64}\.(pool|lock)")


def cache_path() -> Path:
    """Return the path of the folder: that of the environment variable `GRAPH_BANDIT_CACHE`, else that of the system."""
    given = os.environ.get(VARIABLE)
    return Path(given).absolute() if given else platformdirs.user_cache_path("graph-bandit", appauthor=False)


def open_cache() -> Path | None:
    """Make the folder if it is not there, open to this user alone, and return its path.

    Returns:
        None if it cannot be made, belongs to another user, or others may write into it.
    """
    folder = cache_path()
    if not folder.is_absolute():  # the system knows no home of this user
        return None
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
    except OSError:
        return None
    has_owner = hasattr(os, "geteuid")  # Windows has neither owners nor modes of this kind
    if has_owner and (status.st_uid != os.geteuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)):
        return None
    return folder


def make_room(folder: Path) -> None:
    """Remove what was used the longest time ago, until `MOST` bytes are left."""
    entries, total = sorted(_entries_of(folder), key=lambda entry: entry[1], reverse=True), 0
    for number, (path, _, size) in enumerate(entries, start=1):
        total += size
        if number > 1 and total > MOST:  # the last one is in use
            with suppress(OSError):  # another process has removed it, or Windows has it open
                _remove(path)


def measure_cache() -> tuple[int, int]:
    """Return how many files and prepared pools the folder has, and how many bytes."""
    sizes = [size for *_, size in _entries_of(cache_path())]
    return len(sizes), sum(sizes)


def clear_cache() -> None:
    """Remove all that this project has written to the folder, and nothing else.

    Raises:
        OSError: if something cannot be removed.
    """
    for path, *_ in list(_entries_of(cache_path())):
        _remove(path)


def _entries_of(folder: Path) -> Iterator[tuple[Path, int, int]]:
    """Yield what is ours in the folder, when it was used, and how many bytes it has; nothing if there is no folder."""
    with suppress(OSError):
        for path in folder.iterdir():
            if OURS.fullmatch(path.name):
                with suppress(OSError):  # another process has removed it
                    parts = path.iterdir() if path.is_dir() else [path]
                    yield path, path.lstat().st_mtime_ns, sum(part.lstat().st_size for part in parts)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)  # which refuses links
    else:
        path.unlink(missing_ok=True)


MOST_DEFLATED = 1032  # times that deflate packs zeros; bzip2 packs them a million times


def unpacked_size(archive: ZipFile) -> int:
    """Return how many bytes the files of an archive have.

    Python reads no more of a file than the archive says, but bzip2 and LZMA would unpack all of it first. Neither NumPy
    nor a spreadsheet or torch packs by them.

    Raises:
        BadZipFile: if a file is packed in another way than by deflate.
    """
    for part in archive.infolist():
        if part.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            raise BadZipFile(f"{part.filename} is packed in another way than such files are")
    return sum(part.file_size for part in archive.infolist())
