"""Keep the command of a campaign in its file, so that a page, a program or a person can repeat it."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping
from pathlib import Path, PurePath

import msgspec

from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.constraints.limits.wishes import FILES
from graph_bandit_campaign.pool.source import EMBEDDINGS
from graph_bandit_campaign.state import CampaignState, Kept
from graph_bandit_campaign.text import split_name

ONCE = frozenset(
    (
        *("veto", "pin", "lift", "comment", "by", "undo", "drop_missing", "drop_source", "again", "next_batch"),
        *("overwrite", "workers", "scheduler"),
    )
)
"""Settings that are about one call, or how it is computed, and are not kept."""
PATHS = ("pool", "measured", "predictions", "html")
TEXTS = {"features": EMBEDDINGS, "forbid": FILES}
"""Settings of texts, of which those that end so are files."""
Change = Callable[[Path], str]


def keep_command(settings: SuggestSettings) -> dict[str, Kept]:
    """Return the settings that differ from their defaults, with paths relative to the folder of the campaign's file.

    Args:
        settings: settings of the command.
    """
    folder = settings.state.parent

    def portable(path: Path) -> str:
        whole = path.parent.resolve() / path.name
        try:
            return Path(os.path.relpath(whole, folder)).as_posix()
        except ValueError:  # Windows: it is on another drive
            return whole.as_posix()

    fields = {field.name: field for field in dataclasses.fields(settings) if field.name not in ONCE}
    kept: dict[str, Kept] = {}
    for name, field in fields.items():
        value = getattr(settings, name)
        if value != field.default:
            kept[name] = settings.out.resolve().name if name == "out" else _with_paths(name, value, portable)
    return kept


def repeat_command(state: CampaignState, path: Path) -> SuggestSettings:
    """Return the settings of the last command of a campaign, with absolute paths.

    Args:
        state: state of the campaign.
        path: of its file.

    Raises:
        ValueError: if the file has none, or one that is not a command.
    """
    if not state.command:
        raise ValueError(
            f"Expected a campaign that knows its command. {path.name} was written by `Campaign`. "
            "Give the command `graph-bandit suggest` once more by hand."
        )
    folder = path.resolve().parent
    if once := state.command.keys() & ONCE:
        raise ValueError(f"Expected settings of `suggest` as the command in {path.name}. Got {min(once)}.")
    try:
        fields = {
            name: _with_paths(name, value, lambda given: str(folder / given)) for name, value in state.command.items()
        }
        out = fields.get("out")
        if not isinstance(out, str) or PurePath(out).name != out:
            raise ValueError("Expected `out` to be the name of a file")
        settings = read_settings({**fields, "out": str(folder / out)})
    except (ValueError, TypeError) as error:
        raise ValueError(f"Expected a command of `suggest` in {path.name}. {str(error).rstrip('.')}.") from error
    if settings.state != path.resolve():
        raise ValueError(f"Expected the command in {path.name} to be of this file. It is of {settings.state.name}.")
    return settings


def read_settings(fields: Mapping[str, object]) -> SuggestSettings:
    """Return settings of `suggest`, given as in JSON.

    Args:
        fields: the settings by name; others keep their defaults.

    Raises:
        ValueError: if one is of another type, or not as `SuggestSettings` describes it.
    """
    return msgspec.convert(dict(fields), SuggestSettings, dec_hook=to_path)


def files_of(settings: SuggestSettings) -> list[Path]:
    """Return all files and folders that a command reads or writes.

    Args:
        settings: settings of the command.
    """
    found: list[Path] = [settings.out, settings.state]
    for field in dataclasses.fields(settings):

        def note(path: Path) -> str:
            found.append(path)
            return str(path)

        _with_paths(field.name, getattr(settings, field.name), note)
    return found


def _with_paths(name: str, value: object, change: Change) -> Kept:
    """Return a setting as it is kept, its paths changed.

    Raises:
        TypeError: if it is of another type.
    """
    if isinstance(value, tuple | list):
        return tuple(_changed(name, entry, change) for entry in value)
    if isinstance(value, str | PurePath):
        return _changed(name, value, change)
    if value is None or isinstance(value, bool | int | float):
        return value
    raise TypeError(f"Expected `{name}` to be a text, a number or a list. Got {value!r}")


def _changed(name: str, value: object, change: Change) -> str:
    text = str(value)
    if name in PATHS or text.lower().endswith(TEXTS.get(name, ())):
        return change(Path(text))
    if name == "also":
        path, column = split_name(text)
        return change(path) + (f":{column}" if column is not None else "")
    return text


def to_path(kind: type, value: object) -> object:
    """Return a path that is given as text, for settings that are read from JSON.

    Raises:
        TypeError: if another type is asked for, or given.
    """
    if kind is Path and isinstance(value, str | Path):
        return Path(value)
    raise TypeError(f"Expected text for {kind.__name__}. Got {value!r}")
