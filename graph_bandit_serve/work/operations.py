"""The operations that jobs run: those of the campaign, on files of the folder that is served, and nothing else."""

from __future__ import annotations

import base64
import dataclasses
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

import torch  # noqa: F401 - like RDKit below, so that a process that waits for a job has imported what it needs

from graph_bandit_campaign import (
    Desk,
    Entry,
    Moved,
    PoolPreview,
    ResultsPreview,
    Rows,
    Source,
    StaleError,
    Told,
    Why,
    digest_of,
    draw_progress,
    enough,
    export,
    find_doubts,
    find_rows,
    listening,
    preview_pool,
    preview_results,
    remove_unfinished,
    replay,
    start,
    why,
)
from graph_bandit_env.extras import is_installed
from graph_bandit_serve.work.worker import Report

if is_installed("rdkit"):  # of the extra `chem`, which other graphs do not need
    import rdkit.Chem  # noqa: F401

Which = Literal["suggestions", "predictions"]
Kind = Literal["veto", "pin", "lift", "comment"]
MOST_WHY = 20


@dataclasses.dataclass(frozen=True)
class Done:
    """The outcome of a change."""

    version: str = ""
    """Digest of the campaign's file after it."""
    stale: str = ""
    """Set, and nothing done, if the file has changed since the version that was named: its digest now."""
    told: Told | None = None
    """The suggestions, if there are new ones."""
    campaign: str = ""
    """Place of the campaign's file in the folder, if it is a new one."""


@dataclasses.dataclass(frozen=True)
class Place:
    """A campaign of the folder, as jobs are given it."""

    root: str
    """The folder."""
    path: str
    """The campaign's file."""
    version: str = ""
    """Digest that the file is to have; empty: any."""

    def desk(self) -> Desk:
        """Return the campaign."""
        return Desk(Path(self.path), Path(self.root), self.version)

    def change(self, change: Callable[[Desk], object]) -> Done:
        """Change the campaign, unless it is another version."""
        try:
            told = change(self.desk())
        except StaleError:
            return Done(stale=digest_of(Path(self.path).read_bytes()))
        return Done(digest_of(Path(self.path).read_bytes()), told=told if isinstance(told, Told) else None)


def suggest(report: Report, place: Mapping[str, str], changes: Mapping[str, object], more: bool) -> Done:
    """Suggest what to measure next, as `Desk.suggest`."""
    with listening(report):
        return Place(**place).change(lambda desk: desk.suggest(changes, more))


def record(report: Report, place: Mapping[str, str], entries: Sequence[Mapping[str, str]]) -> Done:
    """Take in results, as `Desk.record`."""
    with listening(report):
        return Place(**place).change(lambda desk: desk.record([Entry(**entry) for entry in entries]))


def take_back(report: Report, place: Mapping[str, str], ids: Sequence[str]) -> Done:
    """Take back results that were typed, as `Desk.take_back`."""
    return Place(**place).change(lambda desk: desk.take_back(ids))


def mark(report: Report, place: Mapping[str, str], kind: Kind, id: str, text: str, by: str) -> Done:  # noqa: A002 - as in the file
    """Veto, pin, lift or comment, as `Desk` does."""
    with listening(report):
        if kind == "veto":
            return Place(**place).change(lambda desk: desk.veto(id, text, by))
        texts = (text, by) if kind == "comment" else ()
        return Place(**place).change(lambda desk: desk.mark(kind, id, *texts))


def undo(report: Report, place: Mapping[str, str]) -> Done:
    """Undo the last round, as `Desk.undo`."""
    return Place(**place).change(lambda desk: desk.undo())


def read_results(report: Report, place: Mapping[str, str], table: str) -> ResultsPreview:
    """Return what a table of results says, before it is taken in."""
    with listening(report):
        books = Place(**place).desk().preview(Path(table))
        return preview_results(books, [*find_doubts(books)])


def accept(report: Report, place: Mapping[str, str], table: str, name: str) -> Done:
    """Take in a table of results under a name of its own next to the campaign's file; as `Desk.accept`."""
    with listening(report):
        target, content = Path(place["path"]).parent / name, Path(table).read_bytes()
        target.touch(exist_ok=False)
        try:
            target.write_bytes(content)
            done = Place(**place).change(lambda desk: desk.accept(target))
        except BaseException:
            target.unlink(missing_ok=True)
            raise
        (target if done.stale else Path(table)).unlink(missing_ok=True)
        return done


def explain(report: Report, place: Mapping[str, str], ids: Sequence[str]) -> tuple[Why, ...]:
    """Return what is predicted of some graphs, and why."""
    if not 0 < len(ids) <= MOST_WHY:
        raise ValueError(f"Expected between 1 and {MOST_WHY} ids. Got {len(ids)}.")
    with listening(report):
        return why(Place(**place).desk(), ids)


def look_ahead(report: Report, place: Mapping[str, str]) -> str:
    """Return whether it is enough."""
    with listening(report):
        return enough(Place(**place).desk())


def read_pool(
    report: Report,
    root: str,
    path: str,
    smiles: str,
    id: str | None,  # noqa: A002 - as in the command
    sheet: str | None,
) -> PoolPreview:
    """Return what a pool holds."""
    with listening(report):
        return preview_pool(Source(path=Path(path), smiles=smiles, identifier=id, sheet=sheet, workers=0))


def begin(
    report: Report,
    root: str,
    name: str,
    pool: Sequence[str],
    measured: Sequence[Sequence[str]],
    fields: Mapping[str, object],
) -> Done:
    """Start a campaign; a file is given by its path and, if it moves into the campaign's folder, its name there."""

    def file(parts: Sequence[str]) -> Path | Moved:
        return Moved(Path(parts[0]), parts[1]) if len(parts) > 1 else Path(parts[0])

    with listening(report):
        path, told = start(Path(root), name, file(pool), [file(parts) for parts in measured], fields)
    return Done(digest_of(path.read_bytes()), told=told, campaign=path.relative_to(root).as_posix())


def clean(report: Report, root: str) -> None:
    """Remove what killed processes began, as `remove_unfinished`."""
    remove_unfinished(Path(root))


def backtest(report: Report, root: str, table: str, fields: Mapping[str, object]) -> str:
    """Replay a finished table; the page and the results go into `backtests`."""
    with listening(report):
        return replay(Path(root), Path(table), fields)


def list_rows(
    report: Report,
    place: Mapping[str, str],
    which: Which,
    sort: str,
    falling: bool,
    contains: str,
    part: str,
    start: int,
    count: int,
) -> Rows:
    """Return some rows of a table of the campaign, as `find_rows`."""
    return find_rows(Place(**place).desk(), which, sort, falling, contains, part, start, count)


def download(
    report: Report,
    place: Mapping[str, str],
    which: Which,
    kind: str,
    sort: str,
    falling: bool,
    contains: str,
    part: str,
) -> str:
    """Return rows of a table of the campaign as a file, in base64."""
    return base64.b64encode(export(Place(**place).desk(), which, kind, sort, falling, contains, part)).decode()


def draw(report: Report, place: Mapping[str, str]) -> str:
    """Return a figure of the campaign's progress as SVG."""
    return draw_progress(Place(**place).desk())


def without_root(operation: Callable[..., object]) -> Callable[..., object]:
    """Return an operation whose refusals name files by their places in the folder, and not where that is."""

    def call(report: Report, **arguments: object) -> object:
        place = arguments.get("place", arguments)
        root = str(place["root"]) if isinstance(place, Mapping) else ""
        try:
            return operation(report, **arguments)
        except (ValueError, OSError) as error:
            if not root or root not in str(error):
                raise
            raise ValueError(str(error).replace(f"{root}{os.sep}", "").replace(root, "the folder")) from error

    return call


OPERATIONS: dict[str, Callable[..., object]] = {
    operation.__name__: without_root(operation)
    for operation in (
        *(suggest, record, take_back, mark, undo, accept, begin, clean),
        *(read_results, explain, look_ahead, read_pool, backtest, list_rows, download, draw),
    )
}
"""The operations by their names."""
