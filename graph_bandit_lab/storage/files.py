"""Replace files atomically, and keep other processes out of a folder."""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
from filelock import FileLock, Timeout

LOCK_NAME = "driver.lock"
SECONDS_TO_LOOK = 0.5  # for those who hold a lock only to see whether it is free


def replace_file(path: Path, content: bytes | Iterable[bytes]) -> None:
    """Replace a file atomically: readers see the old one or the new one, never a part, even after a power cut.

    A symbolic link stays, and the file it leads to is replaced. The new file has the mode of the old one, and its owner
    and group as far as the system allows.

    Args:
        path: the file.
        content: all of it, or parts that are made while they are written.

    Raises:
        ValueError: as in `find_file`.
        OSError: if it cannot be written; the old file is there then.
    """
    path = find_file(path)
    _remove_parts_of_killed_writers(path)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            if path.exists():
                _copy_owner_and_mode(path, part)
            file.writelines([content] if isinstance(content, bytes) else content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def find_file(path: Path) -> Path:
    """Return the regular file that a path leads to, or will lead to, through symbolic links.

    Raises:
        ValueError: if there is something that is not a regular file, such as a folder, a device or a pipe.
    """
    found = Path(os.path.realpath(path))
    if os.path.lexists(found) and not found.is_file():
        raise ValueError(f"Expected {path} to be a file, or a new one. Got {_kind_of(found)}. Choose another path.")
    return found


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


def _copy_owner_and_mode(path: Path, part: Path) -> None:
    status = path.stat()
    if hasattr(os, "chown"):
        for owner, group in ((-1, status.st_gid), (status.st_uid, -1)):
            with suppress(PermissionError):  # only root may give a file away
                os.chown(part, owner, group)
    part.chmod(stat.S_IMODE(status.st_mode))


def _remove_parts_of_killed_writers(path: Path) -> None:
    for part in path.parent.glob(f"{glob.escape(path.name)}.*.part"):
        pid = part.name.removeprefix(f"{path.name}.").removesuffix(".part")
        if pid.isdecimal() and not psutil.pid_exists(int(pid)):
            part.unlink(missing_ok=True)


def _kind_of(path: Path) -> str:
    if path.is_symlink():
        return "a symbolic link to itself"
    if path.is_dir():
        return "a folder"
    return "a pipe" if path.is_fifo() else "a device" if path.is_char_device() or path.is_block_device() else "a socket"
