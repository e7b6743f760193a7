"""Read the campaigns of a folder, and cache them until a file changes."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
from starlette.exceptions import HTTPException

from graph_bandit_campaign import CampaignState, Change, digest_of, read_file
from graph_bandit_serve.campaigns.beneath import Stamp, stamp_of
from graph_bandit_serve.campaigns.folder import CampaignFolder, FoundFile
from graph_bandit_serve.settings import ServerLimits

VERBS = {"tell": "adding", "ask": "suggesting", "annotate": ""}


@dataclass(frozen=True)
class Reading:
    """A campaign as stored in its file."""

    file: FoundFile
    version: str
    """Digest of the file."""
    state: CampaignState
    past: tuple[Change, ...]
    """Changes that can be undone, the newest last."""
    future: tuple[Change, ...]
    """Changes that can be redone, the next one last."""

    def summary(self) -> dict[str, Any]:
        """Return a summary of the campaign: its name, its goals, and the numbers of results and rounds."""
        state, aim = self.state, "maximize" if self.state.maximize else "minimize"
        goals = [goal.text for goal in state.goals] or [f"{aim} {state.target or 'the measured value'}"]
        parts = {"results": state.measured, "pending": state.pending, "failed": state.failed, "rounds": state.rounds}
        counts = {name: len(part) for name, part in parts.items()}
        about = {"id": self.file.key, "name": self.file.name, "version": self.version, "problem": None}
        return {**about, "goals": goals, **counts}

    def whole(self) -> dict[str, Any]:
        """Return the full campaign with its id, name, version, and the changes that can be undone or redone."""
        about = {"id": self.file.key, "name": self.file.name, "version": self.version}
        steps = {name: [replace(each, other=None) for each in getattr(self, name)] for name in ("past", "future")}
        made: dict[str, Any] = msgspec.to_builtins({**about, **steps, "failed": self.state.failed, "state": self.state})
        return made


class Shelf:
    """The campaigns of a folder.

    Args:
        folder: the folder.
        limits: the limits.
    """

    def __init__(self, folder: CampaignFolder, limits: ServerLimits) -> None:
        self.folder, self._limits = folder, limits
        self._lock = threading.Lock()  # each file is read once for concurrent requests
        self._kept: OrderedDict[tuple[str, Stamp], Reading | str] = OrderedDict()  # least recently used first

    def list_campaigns(self) -> dict[str, Any]:
        """Return a summary of each campaign, and a flag for files beyond the limits."""
        files, is_cut = self.folder.list_files()
        lines: list[dict[str, Any]] = []
        with self._lock:
            for file in files:
                found = self._read(file)
                if isinstance(found, Reading):
                    lines.append(found.summary())
                elif found:
                    lines.append({"id": file.key, "name": file.name, "version": "", "problem": found})
        return {"campaigns": lines, "is_cut": is_cut}

    def read(self, key: str) -> Reading:
        """Return the current campaign in the file of a key.

        Raises:
            HTTPException: 404 if there is no such file, or 422 if it is not a campaign.
        """
        file = self.folder.find(key)
        with self._lock:
            found = self._read(file) if file else None
        if found is None:
            raise HTTPException(404, "There is no such campaign in this folder. The list of campaigns has their ids.")
        if isinstance(found, str):
            raise HTTPException(422, found)
        return found

    def _read(self, file: FoundFile) -> Reading | str | None:
        """Return a campaign, the reason why its file is invalid, or None if there is no such file."""
        try:
            key = file.key, stamp_of(os.lstat(file.path))
        except OSError:
            return None
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        try:
            content = self.folder.read(file.path)
            state, past, future = read_file(content, Path(file.name))
            self._kept[key] = Reading(file, digest_of(content), state, past, future)
        except ValueError as error:
            self._kept[key] = str(error)[: self._limits.text_characters]
        most = self._limits.file_bytes
        while len(self._kept) > 1 and sum(min(stamp[2], most) for _, stamp in self._kept) > self._limits.kept_bytes:
            self._kept.popitem(last=False)
        return self._kept[key]


def describe(change: Change) -> str:
    """Return a change as text."""
    return f"{VERBS.get(change.verb, change.verb)} {change.about}".strip()
