"""Give an operation private copies of the files that it reads, and write back the changed ones.

Other packages open files by path several times. In a private folder, no file can be swapped for a link in between.
"""

from __future__ import annotations

import errno
import os
import posixpath
import secrets
import shutil
import stat
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from graph_bandit_campaign import ConflictError
from graph_bandit_serve.campaigns.beneath import Folder, Stamp, open_folder, remove_file, replace_file, stamp_of

ENDING, LIBRARY = ".campaign.json", ".toml"
NAMES_FILES = ("pool", "measured", "out", "predictions", "html", "features", "forbid", "related_assay", "also")
"""Settings of a command that name files. In campaign files of format 5, `related_assay` is called `also`."""
MISSING = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.EINVAL)
LINKED = 4_000_000
"""Larger files are linked rather than copied if both folders are on one disk. No operation writes to them."""


class Copies:
    """Copies of files of a folder, at the same relative paths in a private folder.

    Args:
        root: the folder, without links.
        private: the private folder, empty at first.
    """

    def __init__(self, root: Path, private: Path) -> None:
        self.root, self.private = root, private
        self._originals: dict[str, os.stat_result] = {}
        self._copies: dict[str, Stamp] = {}

    def fetch(self, path: str) -> Path:
        """Copy a file or folder and the files that it names. Missing files are skipped.

        Args:
            path: path of the file or folder.

        Returns:
            The path of the copy.

        Raises:
            LinkError: a ValueError, if the path contains a link.
            ValueError, OSError: if a file cannot be read.
        """
        place = Path(path).relative_to(self.root).as_posix()
        self._fetch(place)
        for name in self._named(place):
            self._fetch(name)
            for other in self._named(name) if name.endswith(LIBRARY) else ():
                self._fetch(other)
        return self.private / place

    def put_back(self) -> None:
        """Write the changed files: a new folder atomically, and a campaign before its tables.

        Raises:
            ConflictError: a ValueError, if a file to replace has changed since it was copied.
        """
        files = [path for path in self.private.rglob("[!.]*") if path.is_file()]
        now = {path.relative_to(self.private).as_posix(): path for path in files}
        changed = [place for place, path in now.items() if self._copies.get(place) != stamp_of(path.stat())]
        for place in changed:
            if self._status(place) != (stamp_of(self._originals[place]) if place in self._originals else None):
                raise ConflictError(f"Nothing was saved: another program has changed {place} meanwhile. Try again.")
        folders = {posixpath.dirname(place) for place in self._copies}
        begun: dict[str, str] = {}  # temporary names of new folders
        for place in sorted(changed, key=lambda place: not place.endswith(ENDING)):
            top, _, rest = place.partition("/")
            if rest and top not in begun and self._status(top) is None:
                begun[top] = f".new-{os.getpid()}-{secrets.token_hex(8)}"
            mode = stat.S_IMODE(self._originals[place].st_mode) if place in self._originals else None
            with now[place].open("rb") as content:
                target = f"{begun[top]}/{rest}" if top in begun else place
                replace_file(self.root, target, content, posixpath.dirname(place) not in folders, mode)
        with open_folder(self.root) as folder:
            for top, name in begun.items():
                folder.replace(name, top)
        for place in self._copies.keys() - now.keys():
            if not posixpath.basename(place).startswith("."):
                remove_file(self.root, place)

    def _status(self, place: str) -> Stamp | None:
        """Return the current stamp of a file or folder, or None if there is none."""
        parent, _, name = place.rpartition("/")
        with suppress(FileNotFoundError), open_folder(self.root, parent) as folder:
            return stamp_of(folder.status(name))
        return None

    def _fetch(self, place: str) -> None:
        """Copy a file or the files of a folder."""
        parent, _, name = place.rpartition("/")
        try:
            with open_folder(self.root, parent) as folder:
                if not stat.S_ISDIR(folder.status(name).st_mode):
                    self._copy(folder, place)
                    return
            with open_folder(self.root, place) as folder:
                inside = sorted(os.listdir(folder.at))
            (self.private / place).mkdir(parents=True, exist_ok=True)
            for each in inside:
                self._fetch(f"{place}/{each}")
        except OSError as error:
            if error.errno not in MISSING:
                raise

    def _copy(self, folder: Folder, place: str) -> None:
        if place in self._copies:
            return
        copy, name = self.private / place, posixpath.basename(place)
        copy.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(folder.open(name), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise ValueError(f"{name} is not a file of data.")
            if status.st_size < LINKED or not _link(folder, name, copy, status):
                with copy.open("xb") as written:
                    shutil.copyfileobj(file, written)
                os.utime(copy, ns=(status.st_atime_ns, status.st_mtime_ns))  # prepared pools are matched by it
        self._originals[place], self._copies[place] = status, stamp_of(copy.stat())

    def _named(self, place: str) -> Iterator[str]:
        """Yield the paths below the folder that a campaign or a product library names."""
        folder, name = posixpath.split(place)
        values: list[object] = []
        with suppress(OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
            if name.endswith(ENDING):
                command = msgspec.json.decode((self.private / place).read_bytes())["command"]
                values = [command.get(key) for key in NAMES_FILES]
            elif name.endswith(LIBRARY):
                values = [tomllib.loads((self.private / place).read_text(encoding="utf-8"))]
        for text in _texts(values):
            for given in {text, text.rpartition(":")[0]} - {""}:  # as `table.csv:column`
                found = posixpath.normpath(posixpath.join(folder, given))
                is_below = not posixpath.isabs(found) and found.partition("/")[0] not in (".", "..")
                is_table = not name.endswith(LIBRARY) or "." in given
                if is_below and is_table and given.isprintable() and not place.startswith(f"{found}/"):
                    yield found


def _link(folder: Folder, name: str, copy: Path, status: os.stat_result) -> bool:
    """Hard-link a file to a path, and return True if it succeeded."""
    if not isinstance(folder.at, int):
        return False
    with suppress(OSError, NotImplementedError):
        os.link(name, copy, src_dir_fd=folder.at, follow_symlinks=False)
        if os.path.samestat(copy.lstat(), status):
            return True
        copy.unlink()  # it was swapped in between
    return False


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)
