"""The operations as jobs do them: each on copies of the files of the folder that is served."""

from __future__ import annotations

import base64
import dataclasses
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch  # noqa: F401 - like RDKit below, so that a process that waits for a job has imported what it needs

import graph_bandit_campaign as campaigns
from graph_bandit_campaign import Entry, Moved, Place, Source, StaleError, digest_of
from graph_bandit_env.extras import is_installed
from graph_bandit_serve.campaigns.beneath import lock_file, open_file
from graph_bandit_serve.work.copies import Copies, MeanwhileError
from graph_bandit_serve.work.worker import Report

if is_installed("rdkit"):  # of the extra `chem`, which other graphs do not need
    import rdkit.Chem  # noqa: F401

BACKTESTS = "backtests"


@dataclasses.dataclass(frozen=True)
class Done:
    """The outcome of a change."""

    version: str = ""
    """Digest of the campaign's file after it."""
    stale: str = ""
    """Set, and nothing done, if the file has changed since the version that was named: its digest now."""
    answer: object = None
    """What was done: the suggestions of `ask` and `new`, what `tell` has changed, the change of `undo` and `redo`."""
    campaign: str = ""
    """Place of the campaign's file in the folder, if it is a new one."""


def tell(place: Place, results: Sequence[Mapping[str, Any]], instead: bool, by: str) -> object:
    """Take in results."""
    return campaigns.tell(place, [Entry(**each) for each in results], instead, by)


def mark(place: Place, id: str, **said: Any) -> None:  # noqa: A002 - as in the file
    """Veto, pin, lift or comment."""
    campaigns.mark(place, id, **said)


def undo(place: Place) -> object:
    """Take back the last change."""
    return dataclasses.replace(campaigns.undo(place), other=None)


def redo(place: Place) -> object:
    """Make the change again that was undone last."""
    return dataclasses.replace(campaigns.redo(place), other=None)


def preview(place: Place, table: str, columns: Mapping[str, str], sheet: str | None) -> object:
    """Show a table of results."""
    return campaigns.preview_results(place, Path(table), columns, sheet)


def file(place: Place, **asked: Any) -> str:
    """Return rows of a table as a file, in base64."""
    return base64.b64encode(campaigns.export(place, **asked)).decode()


def new(
    root: str, name: str, pool: Sequence[str], measured: Sequence[Sequence[str]], settings: Mapping[str, Any]
) -> Done:
    """Start a campaign; a file is given by its path and, if it moves into the campaign's folder, its name there."""

    def at(parts: Sequence[str]) -> Path | Moved:
        return Moved(Path(parts[0]), parts[1]) if len(parts) > 1 else Path(parts[0])

    path, asked = campaigns.start(Path(root), name, at(pool), [*map(at, measured)], settings)
    return Done(digest_of(path.read_bytes()), answer=asked, campaign=path.relative_to(root).as_posix())


def look(root: str, pool: str, smiles: str, id: str | None, sheet: str | None) -> object:  # noqa: A002 - as in the command
    """Return what a pool holds."""
    return campaigns.preview_pool(Source(path=Path(pool), smiles=smiles, id=id, sheet=sheet, workers=0))


def backtest(root: str, table: str, settings: Mapping[str, Any]) -> str:
    """Replay a finished table; the page and the results go into `backtests`."""
    return campaigns.replay(Path(root), Path(table), settings)


CHANGES: dict[str, Callable[..., object]] = {
    "tell": tell,
    "ask": campaigns.ask,
    "mark": mark,
    "undo": undo,
    "redo": redo,
}
"""Operations that change a campaign; all but `ask` keep others from changing it for all of their time."""
READS: dict[str, Callable[..., object]] = {
    "why": campaigns.why,
    "enough": campaigns.enough,
    "preview": preview,
    "rows": campaigns.find_rows,
    "file": file,
    "draw": campaigns.draw_progress,
}
FOLDER: dict[str, Callable[..., object]] = {"new": new, "look": look, "backtest": backtest}
PATHS = ("path", "table", "pool", "measured")
"""Arguments that are paths of files, or lists of these."""


def on_copies(name: str) -> Callable[..., object]:
    """Return an operation that works on private copies; its refusals name files by their places in the folder."""

    def call(report: Report, root: str, path: str = "", version: str = "", **fields: Any) -> object:
        folder = Path(root)
        place = Path(path).relative_to(folder).as_posix() if path else ""
        with TemporaryDirectory(prefix="copies-", ignore_cleanup_errors=True) as private, ExitStack() as held:
            copies = Copies(folder, Path(os.path.realpath(private)))
            try:
                if name in CHANGES:
                    held.enter_context(lock_file(folder, place))
                inside = {key: copy(copies, key, value) for key, value in fields.items()}
                at = Place(Path(copies.fetch(path)), copies.private, version) if path else None
                if name == "backtest":
                    copies.fetch(str(folder / BACKTESTS))
                if name == "ask":
                    held.close()
                with campaigns.listening(report):
                    done = _do(name, at, str(copies.private), inside)
                if name == "ask":
                    held.enter_context(lock_file(folder, place))
                if name in CHANGES or name in ("new", "backtest"):
                    copies.put_back()
                return done
            except (MeanwhileError, StaleError):
                if not version:
                    raise
                with open_file(folder, place) as content:
                    return Done(stale=digest_of(content.read()))
            except (ValueError, OSError) as error:
                text = str(error)
                for each in (copies.private, folder):
                    text = text.replace(f"{each}{os.sep}", "").replace(str(each), "the folder")
                if text == str(error):
                    raise
                raise ValueError(text) from error

    return call


def _do(name: str, place: Place | None, root: str, fields: Mapping[str, Any]) -> object:
    if place is None:
        return FOLDER[name](root, **fields)
    if name in READS:
        return READS[name](place, **fields)
    answer = CHANGES[name](place, **fields)
    return Done(digest_of(place.path.read_bytes()), answer=answer)


def copy(copies: Copies, name: str, value: object) -> object:
    """Return an argument with the paths of copies in place of those of files."""
    if name in PATHS and isinstance(value, list | tuple):  # a file that moves has its new name there, too
        return [copy(copies, name, part) for part in value]
    if name in PATHS and isinstance(value, str) and value.startswith(f"{copies.root}{os.sep}"):
        return copies.fetch(value)
    return value


def clean(report: Report, root: str) -> None:
    """Remove what killed processes began, as `remove_unfinished`."""
    campaigns.remove_unfinished(Path(root))


FUNCTIONS: dict[str, Callable[..., object]] = {name: on_copies(name) for name in (*CHANGES, *READS, *FOLDER)} | {
    "clean": clean
}
"""What jobs do, by name."""
