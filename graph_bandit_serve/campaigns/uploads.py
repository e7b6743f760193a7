"""Keep files that people send until they become part of a campaign, each in a folder of its own."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from graph_bandit_serve.campaigns.beneath import LinkError, open_folder, replace_file
from graph_bandit_serve.settings import ServerLimits

HIDDEN = ".graph-bandit-uploads"  # campaigns and tables are not looked for in folders that begin with a dot
TEXTS = (".csv", ".tsv", ".txt", ".smi", ".sdf", ".jsonl")
KINDS = (*TEXTS, *(f"{kind}.gz" for kind in TEXTS), ".xlsx", ".parquet")
LONGEST = 100  # characters of a name
TOKEN = re.compile(r"[0-9a-f]{32}")


class WrongError(ValueError):
    """A request has what no file here can hold."""


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
        self._root, self._limits = root, limits

    def add(self, name: str, content: IO[bytes]) -> Upload:
        """Keep a file.

        Args:
            name: its name where it comes from, of which the ending counts.
            content: an open file.

        Raises:
            WrongError: a ValueError, if it is of another kind.
            NoRoomError: an OSError, if it cannot be kept; nothing of it stays.
        """
        kind = kind_of(name)
        if not kind:
            raise WrongError(f"Expected a table that ends in {', '.join(KINDS)}. Got {name[-100:]!r}.")
        self._remove_old()
        token = secrets.token_hex(16)
        name = f"{token}/{file_name(name)}"
        try:
            replace_file(self._root, f"{HIDDEN}/{name}", content, make=True)
        except LinkError as error:
            raise NoRoomError(f"{error} Remove it on the server.") from error
        except OSError as error:
            reason = os.strerror(error.errno or errno.EIO)
            raise NoRoomError(f"Expected room for a file on the machine of the server. {reason}.") from error
        return Upload(token, kind, self._root / HIDDEN / name)

    def find(self, token: str) -> Upload | None:
        """Return a file by its token; None if there is none."""
        names = self._names(f"{HIDDEN}/{token}") if TOKEN.fullmatch(token) else []
        return Upload(token, kind_of(names[0]), self._root / HIDDEN / token / names[0]) if names else None

    def _names(self, place: str) -> list[str]:
        try:
            with open_folder(self._root, place) as folder:
                return os.listdir(folder.at)
        except (OSError, LinkError):
            return []

    def _remove_old(self) -> None:
        for token in self._names(HIDDEN):
            with contextlib.suppress(OSError, LinkError), open_folder(self._root, HIDDEN) as folder:
                if time.time() - folder.status(token).st_mtime > self._limits.upload_life_seconds:
                    with open_folder(self._root, f"{HIDDEN}/{token}") as inside:
                        for name in self._names(f"{HIDDEN}/{token}"):
                            inside.call(os.unlink, name)
                    folder.call(os.rmdir, token)


def file_name(name: str) -> str:
    """Return a name of a file that is one on all systems, for a file that somebody sent under a name of theirs."""
    text = re.sub(r"[^\w.()+ -]", "_", name.rpartition("/")[2].rpartition("\\")[2])[-LONGEST:].strip(". ")
    return re.sub(r"^(con|prn|aux|nul|com\d|lpt\d)(?=\.)", r"\1_", text, flags=re.IGNORECASE)


def kind_of(name: str) -> str:
    """Return the ending of the name of a table; empty if it is not one of `KINDS`."""
    lower = name.lower()
    return max((kind for kind in KINDS if lower.endswith(kind)), key=len, default="")
