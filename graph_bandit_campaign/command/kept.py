"""Keep the command of a campaign in its file, so that a page, a program or a person can repeat it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path, PurePath
from typing import TypeVar

import msgspec

from graph_bandit_campaign.command.settings import SuggestSettings, change_files
from graph_bandit_campaign.state import CampaignState, Kept
from graph_bandit_campaign.store import portable

T = TypeVar("T")
ONCE = frozenset(
    (
        *("veto", "pin", "lift", "comment", "by", "undo", "drop_missing", "drop_source", "again", "next_batch"),
        *("overwrite", "workers"),
    )
)
"""Settings that are about one call, or how it is computed, and are not kept."""


def keep_command(settings: SuggestSettings) -> dict[str, Kept]:
    """Return the settings that differ from their defaults, with paths relative to the folder of the campaign's file.

    Args:
        settings: settings of the command.
    """
    differing = (each for each in fields(settings) if getattr(settings, each.name) != each.default)
    given = {each.name: getattr(settings, each.name) for each in differing if each.name not in ONCE}
    kept = change_files(given, lambda path: Path(portable(path, settings.state.parent)))
    kept["out"] = settings.out.resolve().name
    as_json: dict[str, Kept] = msgspec.to_builtins(kept, enc_hook=PurePath.as_posix)
    return as_json


def repeat_command(state: CampaignState, path: Path) -> SuggestSettings:
    """Return the settings of the last command of a campaign, with absolute paths.

    Args:
        state: state of the campaign.
        path: of its file.

    Raises:
        ValueError: if the file has none, or one that is not a command.
    """
    if not state.command:
        raise ValueError(f"{path.name} was written by `Campaign`. Give the command `suggest` once by hand.")
    folder = path.resolve().parent
    if once := state.command.keys() & ONCE:
        raise ValueError(f"Expected settings of `suggest` as the command in {path.name}. Got {min(once)}.")
    try:
        settings = read_settings(SuggestSettings, change_files(state.command, lambda file: folder / file), folder)
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
