"""The operations that jobs run: those of the campaign, on copies of files of the folder that is served."""

from __future__ import annotations

import base64
import dataclasses
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import torch  # noqa: F401 - like RDKit below, so that a process that waits for a job has imported what it needs

from graph_bandit_campaign import (
    Asked,
    Entry,
    Moved,
    Place,
    PoolPreview,
    ResultsPreview,
    Rows,
    Source,
    StaleError,
    Why,
    ask,
    digest_of,
    draw_progress,
    enough,
    export,
    find_rows,
    listening,
    preview_pool,
    preview_results,
    remove_unfinished,
    replay,
    start,
    tell,
    why,
)
from graph_bandit_campaign import mark as mark_graph
from graph_bandit_campaign import undo as undo_change
from graph_bandit_env.extras import is_installed
from graph_bandit_serve.campaigns.beneath import lock_file, open_file
from graph_bandit_serve.work.copies import Copies, MeanwhileError
from graph_bandit_serve.work.worker import Report

if is_installed("rdkit"):  # of the extra `chem`, which other graphs do not need
    import rdkit.Chem  # noqa: F401

Kind = Literal["veto", "pin", "lift", "comment"]
MOST_WHY = 20
BACKTESTS = "backtests"


@dataclasses.dataclass(frozen=True)
class Done:
    """The outcome of a change."""

    version: str = ""
    """Digest of the campaign's file after it."""
    stale: str = ""
    """Set, and nothing done, if the file has changed since the version that was named: its digest now."""
    told: Asked | None = None
    """The suggestions, if there are new ones."""
    campaign: str = ""
    """Place of the campaign's file in the folder, if it is a new one."""


def placed(place: Mapping[str, str]) -> Place:
    """Return the campaign of a job."""
    return Place(Path(place["path"]), Path(place["root"]), place.get("version", ""))


def change(place: Mapping[str, str], operation: Callable[[Place], object]) -> Done:
    """Change a campaign, unless it is another version."""
    path = Path(place["path"])
    try:
        told = operation(placed(place))
    except StaleError:
        return Done(stale=digest_of(path.read_bytes()))
    return Done(digest_of(path.read_bytes()), told=told if isinstance(told, Asked) else None)


def suggest(report: Report, place: Mapping[str, str], changes: Mapping[str, object], more: bool) -> Done:
    """Suggest what to measure next, as `ask`."""
    with listening(report):
        return change(place, lambda at: ask(at, changes, more))


def record(report: Report, place: Mapping[str, str], entries: Sequence[Mapping[str, Any]]) -> Done:  # Any: of `Entry`
    """Take in results, as `tell`."""
    with listening(report):
        return change(place, lambda at: tell(at, [Entry(**entry) for entry in entries]))


def take_back(report: Report, place: Mapping[str, str], ids: Sequence[str]) -> Done:
    """Take back results that were typed."""

    def clear(at: Place) -> None:
        state = at.open()[1]
        typed = {each.id for each in state.results if "" in each.sources}
        if wrong := min({*ids} - typed, default=""):
            raise ValueError(
                f"Expected ids with results that were typed in. Got {wrong}. Correct others in their tables."
            )
        tell(at, [Entry(key, goal=goal) for key in ids for goal in state.quantities], instead=True)

    return change(place, clear)


def mark(report: Report, place: Mapping[str, str], kind: Kind, id: str, text: str, by: str) -> Done:  # noqa: A002 - as in the file
    """Veto, pin, lift or comment; others take the place of a suggestion that is vetoed."""
    given: dict[Kind, dict[str, Any]] = {
        "veto": {"veto": text or True},
        "pin": {"pin": True},
        "lift": {"veto": False, "pin": False},
        "comment": {"comment": text or " "},
    }

    def marked(at: Place) -> object:
        before = mark_graph(at, id, **given[kind], by=by)
        last = before.rounds[-1] if before.rounds else ()
        waits = kind == "veto" and not before.told and any(each.id == id for each in last)
        return ask(dataclasses.replace(at, version="")) if waits else None

    with listening(report):
        return change(place, marked)


def undo(report: Report, place: Mapping[str, str]) -> Done:
    """Take back the last change."""
    return change(place, undo_change)


def read_results(report: Report, place: Mapping[str, str], table: str) -> ResultsPreview:
    """Return what a table of results says, before it is taken in."""
    with listening(report):
        return preview_results(placed(place), Path(table))


def accept(report: Report, place: Mapping[str, str], table: str) -> Done:
    """Take in the good rows of a table of results."""

    def take(at: Place) -> None:
        rows = [row for row in preview_results(at, Path(table)).rows if not row.problem]
        outside = {row.id: row.smiles for row in rows if row.outside}
        entries = [
            Entry(row.id, text, goal, "", outside.get(row.id, "")) for row in rows for goal, text in row.values.items()
        ]
        tell(at, entries)

    with listening(report):
        return change(place, take)


def explain(report: Report, place: Mapping[str, str], ids: Sequence[str]) -> tuple[Why, ...]:
    """Return what is predicted of some graphs, and why."""
    if not 0 < len(ids) <= MOST_WHY:
        raise ValueError(f"Expected between 1 and {MOST_WHY} ids. Got {len(ids)}.")
    with listening(report):
        return why(placed(place), ids)


def look_ahead(report: Report, place: Mapping[str, str]) -> str:
    """Return whether it is enough."""
    with listening(report):
        return enough(placed(place))


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


def list_rows(report: Report, place: Mapping[str, str], **asked: Any) -> Rows:  # Any: as `find_rows` says
    """Return some rows of a table of the campaign, as `find_rows`."""
    return find_rows(placed(place), **asked)


def download(report: Report, place: Mapping[str, str], **asked: Any) -> str:  # Any: as `export` says
    """Return rows of a table of the campaign as a file, in base64."""
    return base64.b64encode(export(placed(place), **asked)).decode()


def draw(report: Report, place: Mapping[str, str]) -> str:
    """Return a figure of the campaign's progress as SVG."""
    return draw_progress(placed(place))


PATHS = ("path", "table", "pool", "measured")
"""Arguments that are paths of files, or lists of these."""
CHANGES = {"suggest": False, "record": True, "take_back": True, "mark": True, "undo": True, "accept": True}
"""Operations that change a campaign, and whether they keep others from changing it for all of their time."""


def on_copies(operation: Callable[..., object]) -> Callable[..., object]:
    """Return an operation that works on private copies; its refusals name files by their places in the folder."""
    name = operation.__name__

    def call(report: Report, **arguments: Any) -> object:  # Any: as each operation says
        given = arguments.get("place", arguments)
        root, campaign = Path(given["root"]), str(given.get("path", ""))
        place = Path(campaign).relative_to(root).as_posix() if name in CHANGES else ""
        with TemporaryDirectory(prefix="copies-", ignore_cleanup_errors=True) as folder, ExitStack() as held:
            copies = Copies(root, Path(os.path.realpath(folder)))
            try:
                if place:
                    held.enter_context(lock_file(root, place))
                inside = {key: copy(copies, key, value) for key, value in arguments.items()}
                if name == "backtest":
                    copies.fetch(str(root / BACKTESTS))
                if place and not CHANGES[name]:
                    held.close()
                result = operation(report, **inside)
                if place and not CHANGES[name]:
                    held.enter_context(lock_file(root, place))
                if place or name in ("begin", "backtest"):
                    copies.put_back()
                return result
            except MeanwhileError:
                if not given.get("version"):
                    raise
                with open_file(root, place) as file:
                    return Done(stale=digest_of(file.read()))
            except (ValueError, OSError) as error:
                text = str(error)
                for each in (copies.private, root):
                    text = text.replace(f"{each}{os.sep}", "").replace(str(each), "the folder")
                if text == str(error):
                    raise
                raise ValueError(text) from error

    return call


def copy(copies: Copies, name: str, value: object) -> object:
    """Return an argument with the paths of copies in place of those of files."""
    if name == "place" and isinstance(value, Mapping):
        return {key: copy(copies, key, part) for key, part in value.items()}
    if name == "root":
        return str(copies.private)
    if name in PATHS and isinstance(value, list | tuple):  # a file that moves has its new name there, too
        return [copy(copies, name, part) for part in value]
    if name in PATHS and isinstance(value, str) and value.startswith(f"{copies.root}{os.sep}"):
        return copies.fetch(value)
    return value


OPERATIONS: dict[str, Callable[..., object]] = {
    operation.__name__: on_copies(operation)
    for operation in (
        *(suggest, record, take_back, mark, undo, accept, begin),
        *(read_results, explain, look_ahead, read_pool, backtest, list_rows, download, draw),
    )
} | {"clean": clean}
"""The operations by their names."""
