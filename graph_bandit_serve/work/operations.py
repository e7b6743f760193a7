"""The operations of jobs, each on copies of the files of the served folder."""

from __future__ import annotations

import base64
import dataclasses
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import graph_bandit_campaign as campaigns
from graph_bandit_campaign import Change, ConflictError, Entry, Moved, Place, Source, digest_of
from graph_bandit_env.extras import is_installed
from graph_bandit_serve.campaigns.beneath import lock_file, open_file
from graph_bandit_serve.campaigns.uploads import HIDDEN
from graph_bandit_serve.operations import OPERATIONS
from graph_bandit_serve.work.copies import Copies
from graph_bandit_serve.work.worker import Report

if is_installed("rdkit"):  # imported before the first job, as torch is by the campaign
    import rdkit.Chem  # noqa: F401

NOBODYS = re.compile(rf"({re.escape(HIDDEN)}[/\\][0-9a-f]+|\.new-[0-9a-f-]+)[/\\]")
"""Internal folders, which are removed from messages."""


@dataclasses.dataclass(frozen=True)
class Done:
    """The outcome of a change."""

    version: str = ""
    """Digest of the campaign's file after the change."""
    stale: str = ""
    """Current digest of the file if it differs from the requested version. Nothing is changed then."""
    answer: object = None
    """Outcome: the suggestions of `ask` and `new`, the summary of `tell`, or the change of `undo` and `redo`."""
    campaign: str = ""
    """Path of a new campaign's file in the folder."""


def tell(place: Place, results: Sequence[Mapping[str, Any]], instead: bool, by: str) -> object:
    """Add results."""
    return campaigns.tell(place, [Entry(**each) for each in results], instead, by)


def file(place: Place, **asked: Any) -> str:
    """Return rows of a table as a file, in base64."""
    return base64.b64encode(campaigns.export(place, **asked)).decode()


def new(
    root: Path,
    name: str,
    pool: Sequence[Any],
    measured: Sequence[Sequence[Any]],
    settings: Mapping[str, Any],
    suggest: bool,
) -> Done:
    """Start a campaign from files, given as path or, to move a file to the campaign's folder, path and new name."""

    def at(parts: Sequence[Any]) -> Path | Moved:
        return Moved(*parts) if len(parts) > 1 else Path(*parts)

    path, asked = campaigns.start(root, name, at(pool), [*map(at, measured)], settings, suggest)
    return Done(digest_of(path.read_bytes()), answer=asked, campaign=path.relative_to(root).as_posix())


def look(root: Path, pool: Path, slot: Sequence[str], **read: Any) -> object:
    """Preview a pool."""
    half = max(1, (os.cpu_count() or 1) // 2)  # leaves the other cores to rounds of suggestions
    return campaigns.preview_pool(Source(path=pool, slot=tuple(slot), workers=half, **read))


CALLS: dict[str, Callable[..., object]] = {
    "tell": tell,
    "ask": campaigns.ask,
    "annotate": campaigns.annotate,
    "undo": campaigns.undo,
    "redo": campaigns.redo,
    "explain": campaigns.explain,
    "stopping_advice": campaigns.stopping_advice,
    "preview": campaigns.preview_results,
    "rows": campaigns.find_rows,
    "file": file,
    "new": new,
    "look": look,
}
"""Functions of the operations. Their first argument is a campaign or the folder."""
PATHS = ("table", "pool", "measured")
"""Arguments that are paths of files or lists of paths."""


def on_copies(name: str) -> Callable[..., object]:
    """Return an operation that works on private copies. Its messages refer to files by paths in the folder."""

    def call(report: Report, root: str, path: str = "", version: str = "", **fields: Any) -> object:
        folder = Path(root)
        place = Path(path).relative_to(folder).as_posix() if path else ""
        changes, waits = OPERATIONS[name].changes, name != "ask"  # a slow `ask` does not lock the campaign

        def locked(is_wanted: bool) -> AbstractContextManager[None]:
            return lock_file(folder, place) if path and is_wanted else nullcontext()

        with TemporaryDirectory(prefix="copies-", ignore_cleanup_errors=True) as private:
            copies = Copies(folder, Path(os.path.realpath(private)))
            try:
                with locked(changes and waits), campaigns.listening(report):
                    inside = {key: copy(copies, value) if key in PATHS else value for key, value in fields.items()}
                    at = Place(copies.fetch(path), copies.private, version) if path else copies.private
                    if name == "new":
                        campaigns.remove_unfinished(folder)  # left by killed processes
                    answer = CALLS[name](at, **inside)
                    if isinstance(answer, Change):
                        answer = dataclasses.replace(answer, other=None)
                    if changes:
                        if isinstance(at, Place):
                            answer = Done(
                                digest_of(at.path.read_bytes()), answer=None if name == "annotate" else answer
                            )
                        with locked(not waits):
                            copies.put_back()
                return answer
            except ConflictError:
                if name == "new":
                    raise ValueError("There is a campaign of this name already. Choose another name.") from None
                if not version:
                    raise
                with open_file(folder, place) as content:
                    return Done(stale=digest_of(content.read()))
            except (ValueError, OSError) as error:
                text = str(error)
                for each in (copies.private, folder):
                    text = text.replace(f"{each}{os.sep}", "").replace(str(each), "the folder")
                text = NOBODYS.sub("", text)
                if text == str(error):
                    raise
                raise ValueError(text) from error

    return call


def copy(copies: Copies, value: object) -> object:
    """Copy the files of an argument, and return it with the paths of the copies."""
    if isinstance(value, list | tuple):  # a moved file also has its new name
        return [copy(copies, part) for part in value]
    is_path = isinstance(value, str) and value.startswith(f"{copies.root}{os.sep}")
    return copies.fetch(str(value)) if is_path else value


FUNCTIONS: dict[str, Callable[..., object]] = {name: on_copies(name) for name in CALLS}
"""Operations of jobs by name."""
