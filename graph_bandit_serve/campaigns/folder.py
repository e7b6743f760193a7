"""Find the files of campaigns in a folder, and read one of them; nothing outside is ever opened.

A campaign is asked for by a key, which is looked up among the files that were found. No request names a path.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from graph_bandit_serve.campaigns.uploads import KINDS
from graph_bandit_serve.settings import ServerLimits

ENDING = ".campaign.json"
LIBRARY = ".toml"
PREPARED = "manifest.json"
"""A file of this name is in each folder that `graph-bandit prepare` made."""
STARTED = "/suggestions"
"""Ends the name of a campaign that was started here, in a folder of its own, which names it."""
KEY_DIGITS = 16
UNREADABLE = "It cannot be opened"


@dataclass(frozen=True)
class FoundFile:
    """A file that may hold a campaign."""

    key: str
    """By which it is asked for: a digest of its place in the folder."""
    name: str
    """Its place in the folder, without the ending, for people."""
    path: Path


@dataclass(frozen=True)
class Listing:
    """The files of a folder."""

    files: tuple[FoundFile, ...]
    is_cut: bool = False
    """Whether there were too many files or folders to look at."""


class CampaignFolder:
    """A folder whose files of campaigns are found and read.

    Args:
        root: the folder, or the file of one campaign, which then is the only one of its folder that is found.
        limits: the limits.
    """

    is_one: bool
    """Whether a single campaign is found."""

    def __init__(self, root: Path, limits: ServerLimits) -> None:
        path = Path(os.path.realpath(root))
        self.is_one = path.is_file()
        self.root = path.parent if self.is_one else path
        self._limits, self._only = limits, path
        self._last: dict[str, FoundFile] = {}

    def list_files(self) -> Listing:
        """Look for files of campaigns."""
        listing = self._look_for((ENDING,), self._limits.campaigns)
        if self.is_one:
            listing = Listing(tuple(file for file in listing.files if file.path == self._only))
        self._last = {file.key: file for file in listing.files}
        return listing

    def list_tables(self) -> Listing:
        """Look for tables, files of graphs, libraries of products and prepared pools; names keep their endings."""
        listing = self._look_for((*KINDS, LIBRARY, f"/{PREPARED}"), self._limits.entries)
        files = [
            FoundFile(file.key, file.name.removesuffix(f"/{PREPARED}"), file.path.parent)
            if file.path.name == PREPARED
            else file
            for file in listing.files
            if file.path.is_file()
        ]
        return Listing(tuple(files), listing.is_cut)

    def find_table(self, name: str) -> FoundFile | None:
        """Return a table by its place in the folder; None if there is none."""
        return next((file for file in self.list_tables().files if file.name == name), None)

    def _look_for(self, endings: tuple[str, ...], most: int) -> Listing:
        """Look for files, those whose names begin with a dot and links that lead out of the folder left out."""
        found: list[FoundFile] = []
        is_cut = False
        for count, (place, path) in enumerate(self._walk(self.root, "", 0)):
            if count >= self._limits.entries or len(found) >= most:
                is_cut = True
                break
            if place.lower().endswith(endings) and self._is_inside(path):
                found.append(FoundFile(key_of(place), readable(place.removesuffix(ENDING).removesuffix(STARTED)), path))
        return Listing(tuple(sorted(found, key=lambda file: file.name.casefold())), is_cut)

    def find(self, key: str) -> FoundFile | None:
        """Return the file of a key; None if there is none."""
        if key not in self._last:
            self.list_files()
        return self._last.get(key)

    def read(self, file: FoundFile) -> bytes:
        """Return what a file holds.

        Raises:
            FileNotFoundError: if it is not there any more.
            ValueError: if it is too large, no file of data, or not inside of the folder; the message says so.
        """
        real = os.path.realpath(file.path)
        # Without O_NONBLOCK, opening a named pipe would wait for somebody who writes to it.
        flags = os.O_RDONLY | sum(
            getattr(os, name, 0) for name in ("O_BINARY", "O_NONBLOCK", "O_NOFOLLOW", "O_CLOEXEC")
        )
        try:
            handle = os.open(real, flags)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise ValueError(f"{UNREADABLE}: {os.strerror(error.errno or errno.EIO)}.") from error
        with os.fdopen(handle, "rb") as opened:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise ValueError("It is not a file of data.")
            if not self._is_inside(file.path) or not os.path.samestat(status, os.stat(os.path.realpath(file.path))):
                raise ValueError("It was replaced by a link.")  # since it was found
            if status.st_size > self._limits.file_bytes:
                raise ValueError(self._too_large(status.st_size))
            content = opened.read(self._limits.file_bytes + 1)
        if len(content) > self._limits.file_bytes:
            raise ValueError(self._too_large(len(content)))
        return content

    def _too_large(self, size: int) -> str:
        return f"It has {size / 1e6:,.1f} MB. At most {self._limits.file_bytes / 1e6:,.1f} MB are read."

    def _is_inside(self, path: Path) -> bool:
        """Return whether a path, links followed, leads to somewhere below the folder."""
        try:
            return Path(os.path.realpath(path)).is_relative_to(self.root)
        except (OSError, ValueError):
            return False

    def _walk(self, folder: Path, place: str, depth: int) -> Iterator[tuple[str, Path]]:
        """Yield the place in the folder and the path of each file and folder; links to folders are not followed."""
        try:
            with os.scandir(folder) as entries:
                inside = sorted((entry.name, entry) for entry in _first(entries, self._limits.entries))
        except OSError:
            return
        folders = []
        for name, entry in inside:
            if name.startswith("."):
                continue
            path = folder / name
            if _is_folder(entry):
                folders.append((name, path))
            else:
                yield f"{place}{name}", path
        for name, path in folders:
            yield f"{place}{name}/", path
            if depth + 1 < self._limits.depth and os.path.realpath(path) == str(path):
                yield from self._walk(path, f"{place}{name}/", depth + 1)


def key_of(place: str) -> str:
    """Return the key of a file by its place in the folder."""
    return hashlib.sha256(os.fsencode(place)).hexdigest()[:KEY_DIGITS]


def readable(name: str) -> str:
    """Return the name of a file as text that can be shown, whatever bytes it is made of."""
    return os.fsencode(name).decode("utf-8", "replace")


def _first(entries: Iterator[os.DirEntry[str]], count: int) -> Iterator[os.DirEntry[str]]:
    for _, entry in zip(range(count + 1), entries, strict=False):
        yield entry


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False
