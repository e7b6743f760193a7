"""Open, replace and remove files below a folder without following links, even if a file is swapped for a link.

Each folder is opened from the descriptor of its parent. Windows has no such descriptors: there a file is opened by its
path, and rejected if the path contains a link or points to another file after opening.
"""

from __future__ import annotations

import os
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import IO, TypeVar

from filelock import FileLock

T = TypeVar("T")
Stamp = tuple[int, ...]
HAS_DESCRIPTORS = {os.open, os.stat, os.mkdir, os.unlink, os.rename} <= os.supports_dir_fd
FLAGS = sum(getattr(os, name, 0) for name in ("O_BINARY", "O_CLOEXEC", "O_NOFOLLOW"))
FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)  # otherwise, opening a named pipe would wait for a writer
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL


class LinkError(ValueError):
    """A file or folder is a link.

    Args:
        name: name of the file or folder.
    """

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} is a link. Links below the folder that is served are not followed.")


@dataclass(frozen=True)
class Folder:
    """An open folder."""

    at: int | Path
    """Descriptor of the folder. On Windows, its path."""

    def call(self, function: Callable[..., T], name: str, *arguments: object) -> T:
        """Call a function of `os` for an entry of the folder."""
        if isinstance(self.at, int):
            return function(name, *arguments, dir_fd=self.at)
        return function(self.at / name, *arguments)

    def status(self, name: str) -> os.stat_result:
        """Return the status of a file, a folder or a link."""
        return self.call(os.lstat, name)

    def open(self, name: str, flags: int = READ, mode: int = 0o666) -> int:
        """Return the descriptor of a file or a folder.

        Raises:
            LinkError: a ValueError, if it is a link.
            OSError: if it cannot be opened.
        """
        try:
            handle = self.call(os.open, name, flags | FLAGS, mode)
        except OSError as error:
            with suppress(OSError):
                if stat.S_ISLNK(self.status(name).st_mode):
                    raise LinkError(name) from error
            raise
        if isinstance(self.at, Path) and not _is_at(handle, self.at / name):
            os.close(handle)
            raise LinkError(name)
        return handle

    def replace(self, name: str, other: str) -> None:
        """Rename an entry of the folder."""
        if isinstance(self.at, int):
            os.replace(name, other, src_dir_fd=self.at, dst_dir_fd=self.at)
        else:
            os.replace(self.at / name, self.at / other)


def stamp_of(status: os.stat_result) -> Stamp:
    """Return a stamp that changes with a file: its location, size and modification time."""
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


@contextmanager
def open_folder(root: Path, place: str = "", make: bool = False) -> Iterator[Folder]:
    """Open a folder for a `with` block.

    Args:
        root: the folder above, without links.
        place: path below `root`, as `a/b`. If empty, `root` itself.
        make: if True, create missing folders.

    Raises:
        LinkError: a ValueError, if there is a link in `place`.
        OSError: if it cannot be opened.
    """
    with ExitStack() as opened:
        folder = Folder(root)
        if HAS_DESCRIPTORS:
            handle = os.open(root, FOLDER)
            opened.callback(os.close, handle)
            folder = Folder(handle)
        for part in PurePosixPath(place).parts:
            if part == "..":
                raise ValueError(f"Expected a place below the folder. Got {place}.")
            if make:
                with suppress(FileExistsError):
                    folder.call(os.mkdir, part)
            if isinstance(folder.at, int):
                handle = folder.open(part, FOLDER)
                opened.callback(os.close, handle)
                folder = Folder(handle)
            elif not _is_direct(folder.at / part):
                raise LinkError(part)
            else:
                folder = Folder(folder.at / part)
        yield folder


@contextmanager
def open_file(root: Path, place: str) -> Iterator[IO[bytes]]:
    """Open a file for reading in a `with` block. Arguments and errors are those of `open_folder`.

    Raises:
        ValueError: if it is a folder, a pipe or a device.
    """
    parent, _, name = place.rpartition("/")
    with open_folder(root, parent) as folder, os.fdopen(folder.open(name), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError(f"{name} is not a file of data.")
        yield file


def replace_file(root: Path, place: str, content: IO[bytes], make: bool = False, mode: int | None = None) -> None:
    """Write or replace a file atomically: readers see either the old or the new content.

    Args:
        root: as in `open_folder`.
        place: as in `open_folder`.
        content: an open file.
        make: as in `open_folder`.
        mode: permissions. If None, those of a new file.
    """
    parent, _, name = place.rpartition("/")
    part = f"{name}.{os.getpid()}.{secrets.token_hex(8)}.part"  # later writers remove it if this process dies
    with open_folder(root, parent, make) as folder:
        try:
            with os.fdopen(folder.open(part, NEW), "wb") as file:
                if mode is not None and hasattr(os, "fchmod"):
                    os.fchmod(file.fileno(), mode)
                shutil.copyfileobj(content, file)
                file.flush()
                os.fsync(file.fileno())
            folder.replace(part, name)
        except BaseException:
            with suppress(OSError):
                folder.call(os.unlink, part)
            raise


def remove_file(root: Path, place: str) -> None:
    """Remove a file, if it is there."""
    parent, _, name = place.rpartition("/")
    with suppress(FileNotFoundError), open_folder(root, parent) as folder:
        folder.call(os.unlink, name)


@contextmanager
def lock_file(root: Path, place: str) -> Iterator[None]:
    """Lock a campaign against other processes in a `with` block. The campaign's own lock is used.

    Args:
        root: as in `open_folder`.
        place: the campaign's file.
    """
    parent, _, name = place.rpartition("/")
    with open_folder(root, parent) as folder:
        if isinstance(folder.at, Path) or find_spec("fcntl") is None:  # Windows
            with FileLock(root / parent / f".{name}.lock"):
                yield
            return
        import fcntl

        handle = folder.open(f".{name}.lock", os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            fcntl.flock(handle, fcntl.LOCK_UN)  # a child process may also hold the descriptor
            os.close(handle)


def _is_direct(path: Path) -> bool:
    return os.path.normcase(os.path.realpath(path)) == os.path.normcase(path)


def _is_at(handle: int, path: Path) -> bool:
    """Return True if an open file is still the file at a path, and the path has no links."""
    return _is_direct(path) and os.path.samestat(os.fstat(handle), os.stat(path))
