"""Read the campaigns of a folder, and keep what was read until a file changes."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import msgspec

from graph_bandit_campaign import CampaignState, Change, digest_of, read_file
from graph_bandit_serve.campaigns.folder import CampaignFolder, FoundFile
from graph_bandit_serve.settings import ServerLimits

Stamp = tuple[int, ...]
VERBS = {"tell": "adding", "ask": "suggesting", "mark": ""}


@dataclass(frozen=True)
class Reading:
    """What a file holds."""

    file: FoundFile
    size: int
    state: CampaignState | None = None
    """None: it is not a campaign."""
    problem: str = ""
    """Why it is none; empty: it is one."""
    version: str = ""
    """Digest of the file; it changes with every change."""
    past: tuple[Change, ...] = ()
    """What can be undone, the newest last."""
    future: tuple[Change, ...] = ()
    """What can be redone, the next last."""

    def summary(self) -> dict[str, Any]:
        """Return the campaign in a line: what it is called, what is wanted, and how many results and rounds it has."""
        about = {"id": self.file.key, "name": self.file.name, "version": self.version, "problem": self.problem or None}
        if self.state is None:
            return about
        parts = {"results": "measured", "pending": "pending", "failed": "failed", "rounds": "rounds"}
        counts = {name: len(getattr(self.state, part)) for name, part in parts.items()}
        return {**about, "goals": goals_of(self.state), **counts}


class Shelf:
    """The campaigns of a folder.

    Args:
        folder: the folder.
        limits: the limits.
    """

    def __init__(self, folder: CampaignFolder, limits: ServerLimits) -> None:
        self.folder, self._limits = folder, limits
        self._lock = threading.Lock()  # each file is read once, however many ask
        self._kept: OrderedDict[tuple[str, Stamp], Reading] = OrderedDict()  # also as files were earlier

    def list_campaigns(self) -> dict[str, Any]:
        """Return all campaigns in a line each, and whether the folder holds more files than are looked at."""
        listing = self.folder.list_files()
        with self._lock:
            readings = [*filter(None, map(self._read, listing.files))]
        return {"campaigns": [reading.summary() for reading in readings], "is_cut": listing.is_cut}

    def read(self, key: str) -> Reading | None:
        """Return what the file of a key holds now; None if there is no such file."""
        file = self.folder.find(key)
        if file is None:
            return None
        with self._lock:
            return self._read(file)

    def tell_changes(self, key: str, version: str) -> str:
        """Tell a program what has changed in a campaign since a version, and what to do.

        Args:
            key: key of the campaign.
            version: digest of the version that it has seen.
        """
        now = self.read(key)
        if now is None or now.state is None:
            return "The campaign cannot be read any more."
        with self._lock:
            found = [each for each in self._kept.values() if (each.file.key, each.version) == (key, version)]
        done, undone = (
            [describe(change) for change in getattr(now, name) if found and change not in getattr(found[0], name)]
            for name in ("past", "future")
        )
        what = [*done, *(f"undone: {text}" for text in undone)] or ["it has changed"]
        return f"Expected version {now.version}. Since version {version}: {'; '.join(what)}. Read it again."

    def _read(self, file: FoundFile) -> Reading | None:
        stamp = _stamp(file)
        if stamp is None:
            return None
        kept = self._kept.pop((file.key, stamp), None)
        try:
            kept = kept or self._open(file)
        except FileNotFoundError:
            return None
        self._kept[file.key, stamp] = kept  # last, as the one that was asked for last
        while len(self._kept) > 1 and sum(reading.size for reading in self._kept.values()) > self._limits.kept_bytes:
            self._kept.popitem(last=False)
        return kept

    def _open(self, file: FoundFile) -> Reading:
        content = b""
        try:
            content = self.folder.read(file)
            state, past, future = read_campaign(content, file)
        except FileNotFoundError:
            raise
        except (ValueError, ArithmeticError, RecursionError, MemoryError, OSError) as error:
            return Reading(file, len(content), problem=self._cut(str(error)))
        return Reading(file, len(content), state, "", digest_of(content), past, future)

    def _cut(self, text: str) -> str:
        text = text.encode("utf-8", "replace").decode() or "It is too large for the memory of this machine."
        return text if len(text) <= self._limits.text_characters else f"{text[: self._limits.text_characters]}…"


def read_campaign(content: bytes, file: FoundFile) -> tuple[CampaignState, tuple[Change, ...], tuple[Change, ...]]:
    """Read the content of a file.

    Raises:
        ValueError: if it is not a campaign; the message names no folder of this machine.
    """
    try:
        read = read_file(content, file.path.relative_to(file.path.parent))
        msgspec.json.encode(read)
    except (
        UnicodeDecodeError,
        UnicodeEncodeError,
    ) as error:  # JSON can spell halves of characters, which no page can show
        raise ValueError(f"Expected text in UTF-8. {error.reason.capitalize()}.") from error
    except ArithmeticError as error:
        raise ValueError("Expected numbers that a computer can hold.") from error
    return read


def _stamp(file: FoundFile) -> Stamp | None:
    try:
        status = os.lstat(file.path)
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def describe(change: Change) -> str:
    """Return what somebody did, in words."""
    return f"{VERBS.get(change.verb, change.verb)} {change.about}".strip()


def goals_of(state: CampaignState) -> list[str]:
    """Return what is wanted of each quantity, in words."""
    aim = "maximize" if state.maximize else "minimize"
    return [goal.text for goal in state.goals] or [f"{aim} {state.target or 'the measured value'}"]
