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

PART = re.compile(r"(\d+)\.[0-9a-f]{16}\.part")  # suffix of temporary files


def replace_file(path: Path, content: bytes | Iterable[bytes | memoryview]) -> None:
    """Replace a file atomically: readers see the old or the new content, never a part, even after a power cut.

    For a symbolic link, its target is replaced. The new file has the mode of the old one. It is first written under a
    new, unpredictable name, so that links planted by others are not followed.

    Args:
        path: path of the file.
        content: the content, or an iterable of its parts.

    Raises:
        ValueError: as in `find_file`.
        OSError: if it cannot be written. The old file is kept then.
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
            file.close()  # Windows cannot rename an open file
            os.replace(part, path)
        except BaseException:
            file.close()
            part.unlink(missing_ok=True)
            raise


def find_file(path: Path) -> Path:
    """Return the regular file at a path after resolving symbolic links. It need not exist.

    Raises:
        ValueError: if it is not a regular file, but for example a folder, a device or a pipe.
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
