"""Find and read the campaign files of a folder. Files outside the folder are never opened.

A request names a campaign by a key, which is looked up among these files. It never contains a path.
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
"""A file with this name is in each folder created by `graph-bandit prepare`."""
STARTED = "/suggestions"
"""End of the path of a campaign started on the server. It has a separate folder with the name of the campaign."""
KEY_DIGITS = 16


@dataclass(frozen=True)
class FoundFile:
    """A file that may hold a campaign."""

    key: str
    """Key in requests: a digest of the file's path in the folder."""
    name: str
    """Path in the folder without the extension, for display."""
    path: Path


class CampaignFolder:
    """A folder of campaign files.

    Args:
        root: the folder.
        limits: the limits.
    """

    def __init__(self, root: Path, limits: ServerLimits) -> None:
        self.root, self._limits = Path(os.path.realpath(root)), limits
        self._last: dict[str, FoundFile] = {}

    def list_files(self) -> tuple[list[FoundFile], bool]:
        """Return the campaign files, and True if files or folders beyond the limits were skipped."""
        places, is_cut = self._look_for((ENDING,), self._limits.campaigns)
        names = [readable(place.removesuffix(ENDING).removesuffix(STARTED)) for place in places]
        files = [FoundFile(key_of(place), name, self.root / place) for place, name in zip(places, names, strict=True)]
        self._last = {file.key: file for file in files}
        return files, is_cut

    def list_tables(self) -> tuple[dict[str, Path], bool]:
        """Return tables, graph files, product libraries and prepared pools by path, with the flag of `list_files`."""
        places, is_cut = self._look_for((*KINDS, LIBRARY, f"/{PREPARED}"), self._limits.entries)
        places = [place.removesuffix(f"/{PREPARED}") for place in places]
        return {readable(place): self.root / place for place in places}, is_cut

    def _look_for(self, endings: tuple[str, ...], most: int) -> tuple[list[str], bool]:
        """Find files with some extensions. Links and names that begin with a dot are skipped."""
        found: list[str] = []
        is_cut = False
        for count, (place, is_file) in enumerate(self._walk()):
            if is_cut := count >= self._limits.entries or len(found) >= most:
                break
            if is_file and place.lower().endswith(endings):
                found.append(place)
        return sorted(found, key=str.casefold), is_cut

    def find(self, key: str) -> FoundFile | None:
        """Return the file of a key, or None if there is none."""
        if key not in self._last:
            self.list_files()
        return self._last.get(key)

    def read(self, path: Path) -> bytes:
        """Return the content of a file.

        Raises:
            ValueError: if it is too large, not a regular file, or outside the folder.
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
        """Yield the path of each file and folder, with True for a file. Links and hidden entries are skipped."""
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
    """Return the key of a file from its path in the folder."""
    return hashlib.sha256(os.fsencode(place)).hexdigest()[:KEY_DIGITS]


def readable(name: str) -> str:
    """Return the name of a file as printable text, even if its bytes are not valid UTF-8."""
    return os.fsencode(name).decode("utf-8", "replace")
