"""Store uploaded files, each in a separate folder, until they become part of a campaign."""

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

HIDDEN = ".graph-bandit-uploads"  # the search for campaigns and tables skips folders that begin with a dot
TEXTS = (".csv", ".tsv", ".txt", ".smi", ".sdf", ".jsonl")
KINDS = (*TEXTS, *(f"{kind}.gz" for kind in TEXTS), ".xlsx", ".parquet")
LONGEST = 100  # characters of a name
TOKEN = re.compile(r"[0-9a-f]{32}")


class Uploads:
    """Uploaded files that are not yet part of a campaign.

    Args:
        root: the folder.
        limits: the limits.
    """

    def __init__(self, root: Path, limits: ServerLimits) -> None:
        self._root, self._limits = root, limits

    def add(self, name: str, content: IO[bytes]) -> str:
        """Store a file, and return its token.

        Args:
            name: original name, which is changed to a valid name on all systems.
            content: an open file.

        Raises:
            HTTPException: 422 if it is not a table, or 507 if it cannot be stored. No partial file remains.
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
        """Return the path of a file by its token, or None if there is none."""
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
    """Return the extension of a table's name, or an empty string if it is not one of `KINDS`."""
    lower = name.lower()
    return max((kind for kind in KINDS if lower.endswith(kind)), key=len, default="")
