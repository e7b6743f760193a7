"""Keep files that people send until they become part of a campaign, each in a folder of its own."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import time
from pathlib import Path
from typing import IO

from starlette.exceptions import HTTPException

from graph_bandit_serve.campaigns.beneath import LinkError, open_folder, replace_file
from graph_bandit_serve.settings import ServerLimits

HIDDEN = ".graph-bandit-uploads"  # campaigns and tables are not looked for in folders that begin with a dot
TEXTS = (".csv", ".tsv", ".txt", ".smi", ".sdf", ".jsonl")
KINDS = (*TEXTS, *(f"{kind}.gz" for kind in TEXTS), ".xlsx", ".parquet")
LONGEST = 100  # characters of a name
TOKEN = re.compile(r"[0-9a-f]{32}")


class Uploads:
    """The files of a folder that people sent, and that are not part of a campaign yet.

    Args:
        root: the folder.
        limits: the limits.
    """

    def __init__(self, root: Path, limits: ServerLimits) -> None:
        self._root, self._limits = root, limits

    def add(self, name: str, content: IO[bytes]) -> str:
        """Keep a file, and return the token by which it is asked for.

        Args:
            name: its name where it comes from, which is made one on all systems.
            content: an open file.

        Raises:
            HTTPException: 422, if it is of another kind; 507, if it cannot be kept, and nothing of it stays.
        """
        if not kind_of(name):
            raise HTTPException(422, f"Expected a table that ends in {', '.join(KINDS)}. Got {name[-100:]!r}.")
        self._remove_old()
        token = secrets.token_hex(16)
        name = re.sub(r"[^\w.()+ -]", "_", re.split(r"[/\\]", name)[-1])[-LONGEST:].strip(". ")
        name = re.sub(r"^(con|prn|aux|nul|com\d|lpt\d)(?=\.)", r"\1_", name, flags=re.IGNORECASE)
        try:
            replace_file(self._root, f"{HIDDEN}/{token}/{name}", content, make=True)
        except (LinkError, OSError) as error:
            reason = os.strerror(error.errno or 0) if isinstance(error, OSError) else error
            raise HTTPException(507, f"Expected room for a file on the machine of the server. {reason}") from error
        return token

    def find(self, token: str) -> Path | None:
        """Return the path of a file by its token; None if there is none."""
        names = self._names(f"{HIDDEN}/{token}") if TOKEN.fullmatch(token) else []
        return self._root / HIDDEN / token / names[0] if names else None

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


def kind_of(name: str) -> str:
    """Return the ending of the name of a table; empty if it is not one of `KINDS`."""
    lower = name.lower()
    return max((kind for kind in KINDS if lower.endswith(kind)), key=len, default="")
