"""Find the files of campaigns in a folder, and read one of them; nothing outside is ever opened.

A campaign is asked for by a key, which is looked up among the files that were found. No request names a path.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from graph_bandit_serve.campaigns.beneath import LinkError, open_file, open_folder
from graph_bandit_serve.campaigns.uploads import KINDS
from graph_bandit_serve.settings import ServerLimits

ENDING = ".campaign.json"
LIBRARY = ".toml"
PREPARED = "manifest.json"
"""A file of this name is in each folder that `graph-bandit prepare` made."""
STARTED = "/suggestions"
"""Ends the name of a campaign that was started here, in a folder of its own, which names it."""
KEY_DIGITS = 16


@dataclass(frozen=True)
class FoundFile:
    """A file that may hold a campaign."""

    key: str
    """By which it is asked for: a digest of its place in the folder."""
    name: str
    """Its place in the folder, without the ending, for people."""
    path: Path


class CampaignFolder:
    """A folder whose files of campaigns are found and read.

    Args:
        root: the folder.
        limits: the limits.
    """

    def __init__(self, root: Path, limits: ServerLimits) -> None:
        self.root, self._limits = Path(os.path.realpath(root)), limits
        self._last: dict[str, FoundFile] = {}

    def list_files(self) -> tuple[list[FoundFile], bool]:
        """Return the files of campaigns, and whether there are more files or folders than are looked at."""
        places, is_cut = self._look_for((ENDING,), self._limits.campaigns)
        names = [readable(place.removesuffix(ENDING).removesuffix(STARTED)) for place in places]
        files = [FoundFile(key_of(place), name, self.root / place) for place, name in zip(places, names, strict=True)]
        self._last = {file.key: file for file in files}
        return files, is_cut

    def list_tables(self) -> tuple[dict[str, Path], bool]:
        """Return tables, files of graphs, libraries of products and prepared pools by place; else as `list_files`."""
        places, is_cut = self._look_for((*KINDS, LIBRARY, f"/{PREPARED}"), self._limits.entries)
        places = [place.removesuffix(f"/{PREPARED}") for place in places]
        return {readable(place): self.root / place for place in places}, is_cut

    def _look_for(self, endings: tuple[str, ...], most: int) -> tuple[list[str], bool]:
        """Look for files; those whose names begin with a dot and links are left out."""
        found: list[str] = []
        is_cut = False
        for count, (place, is_file) in enumerate(self._walk()):
            if is_cut := count >= self._limits.entries or len(found) >= most:
                break
            if is_file and place.lower().endswith(endings):
                found.append(place)
        return sorted(found, key=str.casefold), is_cut

    def find(self, key: str) -> FoundFile | None:
        """Return the file of a key; None if there is none."""
        if key not in self._last:
            self.list_files()
        return self._last.get(key)

    def read(self, path: Path) -> bytes:
        """Return what a file holds.

        Raises:
            ValueError: if it is too large, no file of data, or not inside of the folder; the message says so.
        """
        most = self._limits.file_bytes
        try:
            with open_file(self.root, path.relative_to(self.root).as_posix()) as opened:
                content = opened.read(most + 1)
        except OSError as error:
            raise ValueError(f"It cannot be opened: {error.strerror}.") from error
        if len(content) > most:
            raise ValueError(f"It has more than {most / 1e6:,.1f} MB, and is not read.")
        return content

    def _walk(self, place: str = "", depth: int = 0) -> Iterator[tuple[str, bool]]:
        """Yield the place in the folder of each file and folder, and whether it is a file; links are left out."""
        try:
            with open_folder(self.root, place.rstrip("/")) as folder, os.scandir(folder.at) as entries:
                shown = (entry for entry in entries if not entry.name.startswith(".") and not entry.is_symlink())
                inside = sorted((each.name, each.is_dir()) for each in islice(shown, self._limits.entries + 1))
        except (OSError, LinkError):
            return
        yield from ((f"{place}{name}", True) for name, is_folder in inside if not is_folder)
        for name in (name for name, is_folder in inside if is_folder):
            yield f"{place}{name}/", False
            if depth + 1 < self._limits.depth:
                yield from self._walk(f"{place}{name}/", depth + 1)


def key_of(place: str) -> str:
    """Return the key of a file by its place in the folder."""
    return hashlib.sha256(os.fsencode(place)).hexdigest()[:KEY_DIGITS]


def readable(name: str) -> str:
    """Return the name of a file as text that can be shown, whatever bytes it is made of."""
    return os.fsencode(name).decode("utf-8", "replace")
