"""Keep the command of a campaign in its file, so that a page, a program or a person can repeat it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path, PurePath
from typing import TypeVar, cast

import msgspec

from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.constraints.limits.wishes import FILES
from graph_bandit_campaign.pool.source import EMBEDDINGS
from graph_bandit_campaign.state import CampaignState, Kept
from graph_bandit_campaign.store import portable
from graph_bandit_campaign.text import split_name

T = TypeVar("T")
ONCE = frozenset(
    (
        *("veto", "pin", "lift", "comment", "by", "undo", "drop_missing", "drop_source", "again", "next_batch"),
        *("overwrite", "workers"),
    )
)
"""Settings that are about one call, or how it is computed, and are not kept."""
FILES_IN_TEXTS = {"features": EMBEDDINGS, "forbid": FILES, "also": ("",)}
"""Settings of texts, of which those that end so are files; of `also`, each is one, with or without a column."""


def keep_command(settings: SuggestSettings) -> dict[str, Kept]:
    """Return the settings that differ from their defaults, with paths relative to the folder of the campaign's file.

    Args:
        settings: settings of the command.
    """
    kept = _change_paths(settings, lambda path: portable(path, settings.state.parent))
    kept["out"] = settings.out.resolve().name
    differing = (each.name for each in fields(settings) if getattr(settings, each.name) != each.default)
    return {name: kept[name] for name in differing if name not in ONCE}


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
    folder, out = path.resolve().parent, state.command.get("out")
    if once := state.command.keys() & ONCE:
        raise ValueError(f"Expected settings of `suggest` as the command in {path.name}. Got {min(once)}.")
    try:
        if not isinstance(out, str) or PurePath(out).name != out:
            raise ValueError("Expected `out` to be the name of a file")
        texts = _change_texts(state.command, lambda given: str(folder / given))
        settings = read_settings(SuggestSettings, texts, folder)
    except (ValueError, TypeError) as error:
        raise ValueError(f"Expected a command of `suggest` in {path.name}. {str(error).rstrip('.')}.") from error
    if settings.state != path.resolve():
        raise ValueError(f"Expected the command in {path.name} to be of this file. It is of {settings.state.name}.")
    return settings


def read_settings(kind: type[T], given: Mapping[str, object], folder: Path = Path()) -> T:
    """Return settings of a command, given as in JSON.

    Args:
        kind: dataclass of the settings.
        given: the settings by name; others keep their defaults.
        folder: where relative paths begin.

    Raises:
        ValueError: if one is of another type, or not as the dataclass describes it.
    """

    def to_path(_: type, value: object) -> Path:
        if not isinstance(value, str | Path):
            raise TypeError(f"Expected the path of a file. Got {value!r}")
        return folder / value

    return msgspec.convert(dict(given), kind, dec_hook=to_path)


def files_of(settings: SuggestSettings) -> list[Path]:
    """Return all files and folders that a command reads or writes.

    Args:
        settings: settings of the command.
    """
    found = [settings.state]

    def note(path: Path) -> str:
        found.append(path)
        return str(path)

    _change_paths(settings, note)
    return found


def _change_paths(settings: SuggestSettings, change: Callable[[Path], str]) -> dict[str, Kept]:
    return _change_texts(cast("dict[str, Kept]", msgspec.to_builtins(settings, enc_hook=change)), change)


def _change_texts(given: Mapping[str, Kept], change: Callable[[Path], str]) -> dict[str, Kept]:
    def moved(name: str, text: str) -> str:
        if not text.lower().endswith(FILES_IN_TEXTS[name]):
            return text
        path, column = split_name(text) if name == "also" else (Path(text), None)
        return change(path) + (f":{column}" if column is not None else "")

    texts = {name: given[name] for name in FILES_IN_TEXTS if name in given}
    lists = {name: each for name, each in texts.items() if isinstance(each, tuple | list)}
    return {**given, **{name: tuple(moved(name, text) for text in each) for name, each in lists.items()}}
