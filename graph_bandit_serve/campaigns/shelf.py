"""Read the campaigns of a folder, and keep what was read until a file changes."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from dataclasses import dataclass

import msgspec

from graph_bandit_campaign import CampaignState, Change, digest_of, read_file
from graph_bandit_serve.campaigns.changes import describe_changes
from graph_bandit_serve.campaigns.folder import CampaignFolder, FoundFile
from graph_bandit_serve.campaigns.views import CampaignList, CampaignSummary, summarize
from graph_bandit_serve.settings import ServerLimits

Stamp = tuple[int, ...]


@dataclass(frozen=True)
class Reading:
    """What a file holds."""

    file: FoundFile
    summary: CampaignSummary
    state: CampaignState | None
    """None: it is not a campaign, and `summary.problem` says why."""
    size: int
    stamp: Stamp
    """Of the file when it was read: another one after any change."""
    past: tuple[Change, ...] = ()
    """What can be undone, the newest last."""
    future: tuple[Change, ...] = ()
    """What can be redone, the next last."""

    @property
    def version(self) -> str:
        """Return the digest of the file."""
        return self.summary.version


class Shelf:
    """The campaigns of a folder.

    Args:
        folder: the folder.
        limits: the limits.
    """

    def __init__(self, folder: CampaignFolder, limits: ServerLimits) -> None:
        self.folder, self._limits = folder, limits
        self._lock = threading.Lock()  # each file is read once, however many ask
        self._summaries: dict[str, tuple[Stamp, CampaignSummary]] = {}
        self._kept: OrderedDict[tuple[str, Stamp], Reading] = OrderedDict()  # also as files were earlier

    def list_campaigns(self) -> CampaignList:
        """Return all campaigns in a line each."""
        listing = self.folder.list_files()
        with self._lock:
            self._summaries = {
                file.key: self._summaries[file.key] for file in listing.files if file.key in self._summaries
            }
        summaries = [summary for file in listing.files if (summary := self._summary(file)) is not None]
        return CampaignList(campaigns=summaries, is_cut=listing.is_cut)

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
        now, what = self.read(key), self.find_changes(key, version)
        if now is None or now.state is None:
            return what
        return f"Expected version {now.version}. Since version {version}: {what} Read it again."

    def find_changes(self, key: str, version: str) -> str:
        """Say what has changed in a campaign since a version; arguments as of `tell_changes`."""
        now = self.read(key)
        with self._lock:
            found = [each for each in self._kept.values() if (each.file.key, each.version) == (key, version)]
        if now is None or now.state is None:
            return "The campaign cannot be read any more."
        before = found[0].state if found else None
        return "it has changed." if before is None else describe_changes(before, now.state)

    def _summary(self, file: FoundFile) -> CampaignSummary | None:
        with self._lock:
            stamp, summary = self._summaries.get(file.key, ((), None))
            if summary is not None and stamp == _stamp(file):
                return summary
            reading = self._read(file)
        return None if reading is None else reading.summary

    def _read(self, file: FoundFile) -> Reading | None:
        stamp = _stamp(file)
        if stamp is None:
            return None
        kept = self._kept.pop((file.key, stamp), None)
        try:
            kept = kept or self._open(file, stamp)
        except FileNotFoundError:
            return None
        self._kept[file.key, stamp] = kept  # last, as the one that was asked for last
        self._summaries[file.key] = (stamp, kept.summary)
        while len(self._kept) > 1 and sum(reading.size for reading in self._kept.values()) > self._limits.kept_bytes:
            self._kept.popitem(last=False)
        return kept

    def _open(self, file: FoundFile, stamp: Stamp) -> Reading:
        size = 0
        try:
            content = self.folder.read(file)
            size = len(content)
            state, past, future = read_campaign(content, file)
        except FileNotFoundError:
            raise
        except (ValueError, ArithmeticError, RecursionError, MemoryError, OSError) as error:
            summary = CampaignSummary(id=file.key, name=file.name, problem=self._cut(str(error)))
            return Reading(file, summary, None, size, stamp)
        summary = summarize(file.key, file.name, digest_of(content), state)
        return Reading(file, summary, state, size, stamp, past, future)

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
