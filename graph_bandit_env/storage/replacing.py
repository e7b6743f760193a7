"""Replace files atomically."""

from __future__ import annotations

import glob
import os
import re
import secrets
import stat
from collections.abc import Iterable
from pathlib import Path

import psutil

PART = re.compile(r"(\d+)\.[0-9a-f]{16}\.part")  # what follows the name of a file


def replace_file(path: Path, content: bytes | Iterable[bytes | memoryview]) -> None:
    """Replace a file atomically: readers see the old one or the new one, never a part, even after a power cut.

    A symbolic link stays, and the file it leads to is replaced. The new file has the mode of the old one. It is
    written under a name that nobody can foresee, which must be new: a link that others have put into the folder is not
    written through.

    Args:
        path: the file.
        content: all of it, or parts that are made while they are written.

    Raises:
        ValueError: as in `find_file`.
        OSError: if it cannot be written; the old file is there then.
    """
    path = find_file(path)
    _remove_parts_of_killed_writers(path)
    part = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(8)}.part")
    with part.open("xb") as file:
        try:
            if path.exists():
                part.chmod(stat.S_IMODE(path.stat().st_mode))
            file.writelines([content] if isinstance(content, bytes) else content)
            file.flush()
            os.fsync(file.fileno())
            file.close()  # Windows renames no open file
            os.replace(part, path)
        except BaseException:
            file.close()
            part.unlink(missing_ok=True)
            raise


def find_file(path: Path) -> Path:
    """Return the regular file that a path leads to, or will lead to, through symbolic links.

    Raises:
        ValueError: if there is something that is not a regular file, such as a folder, a device or a pipe.
    """
    target = Path(os.path.realpath(path))
    if os.path.lexists(target) and not target.is_file():
        raise ValueError(f"Expected {path} to be a file, or a new one. It is a folder, a pipe or a device.")
    return target


def _remove_parts_of_killed_writers(path: Path) -> None:
    for part in path.parent.glob(f"{glob.escape(path.name)}.*.part"):
        match = PART.fullmatch(part.name.removeprefix(f"{path.name}."))
        if match and not psutil.pid_exists(int(match[1])):
            part.unlink(missing_ok=True)
