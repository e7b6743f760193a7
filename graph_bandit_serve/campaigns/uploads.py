"""Keep files that people send until they become part of a campaign; no name of theirs is a path here."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from graph_bandit_serve.settings import ServerLimits

HIDDEN = ".graph-bandit-uploads"  # campaigns and tables are not looked for in folders that begin with a dot
TEXTS = (".csv", ".tsv", ".txt", ".smi", ".sdf", ".jsonl")
KINDS = (*TEXTS, *(f"{kind}.gz" for kind in TEXTS), ".xlsx", ".parquet")
TOKEN = re.compile(r"[0-9a-f]{32}")


class NoRoomError(OSError):
    """A file that was sent cannot be kept on the machine of the server."""


@dataclass(frozen=True)
class Upload:
    """A file that somebody sent."""

    token: str
    """By which it is asked for."""
    kind: str
    """The ending of its name, such as `.csv`."""
    path: Path
    """Where it is."""


class Uploads:
    """The files of a folder that people sent, and that are not part of a campaign yet.

    Args:
        root: the folder.
        limits: the limits.
    """

    def __init__(self, root: Path, limits: ServerLimits) -> None:
        self._folder, self._limits = root / HIDDEN, limits

    def add(self, name: str, content: IO[bytes]) -> Upload:
        """Keep a file.

        Args:
            name: its name where it comes from, of which the ending counts.
            content: an open file.

        Raises:
            ValueError: if it is of another kind.
            NoRoomError: an OSError, if it cannot be kept; nothing of it stays.
        """
        kind = kind_of(name)
        if not kind:
            raise ValueError(f"Expected a table that ends in {', '.join(KINDS)}. Got {name[-100:]!r}.")
        self._remove_old()
        token = secrets.token_hex(16)
        path = self._folder / f"{token}{kind}"
        try:
            self._folder.mkdir(exist_ok=True)
            if self._folder.is_symlink():
                raise NoRoomError(f"Expected {HIDDEN} to be a folder. It is a link. Remove it on the server.")
            with path.open("xb") as file:
                shutil.copyfileobj(content, file)
        except NoRoomError:
            raise
        except OSError as error:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
            reason = os.strerror(error.errno or errno.EIO)
            raise NoRoomError(f"Expected room for a file on the machine of the server. {reason}.") from error
        return Upload(token, kind, path)

    def find(self, token: str) -> Upload | None:
        """Return a file by its token; None if there is none."""
        if not TOKEN.fullmatch(token) or not self._folder.is_dir() or self._folder.is_symlink():
            return None
        for path in self._folder.glob(f"{token}.*"):
            if path.is_file() and not path.is_symlink():
                return Upload(token, path.name.removeprefix(token), path)
        return None

    def _remove_old(self) -> None:
        if not self._folder.is_dir() or self._folder.is_symlink():
            return
        for path in self._folder.iterdir():
            with contextlib.suppress(OSError):  # it was used meanwhile, or somebody reads it
                if time.time() - path.lstat().st_mtime > self._limits.upload_life_seconds:
                    path.unlink(missing_ok=True)


def kind_of(name: str) -> str:
    """Return the ending of the name of a table; empty if it is not one of `KINDS`."""
    lower = name.lower()
    return max((kind for kind in KINDS if lower.endswith(kind)), key=len, default="")
